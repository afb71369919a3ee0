package langintel

// rServer is the R package languageserver.
func rServer() Spec {
	return Spec{
		Name: "r-languageserver", Title: "languageserver (R)",
		Languages: []Language{
			{ID: "r", Patterns: []string{"*.R", "*.r"}},
			{ID: "rmd", Patterns: []string{"*.Rmd", "*.rmd"}},
		},
		Roots:   []string{"DESCRIPTION", ".lintr", "renv.lock"},
		Program: "R", Args: []string{"--vanilla", "--no-echo", "-e", "languageserver::run()"},
		// R alone does not do.
		Probe:    []string{"--vanilla", "--no-echo", "-e", "loadNamespace('languageserver')"},
		Install:  &Install{Hint: "`install.packages(\"languageserver\")` in R installs it"},
		RunsCode: "it evaluates .lintr",
	}
}
