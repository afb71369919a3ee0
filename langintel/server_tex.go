package langintel

// texlab is the server for LaTeX.
func texlab() Spec {
	return Spec{
		Name: "texlab",
		Languages: []Language{
			{ID: "latex", Patterns: []string{"*.tex", "*.sty", "*.cls"}},
			{ID: "bibtex", Patterns: []string{"*.bib"}},
		},
		Roots:    []string{".texlabroot", "texlabroot", ".latexmkrc", "latexmkrc", "Tectonic.toml"},
		Program:  "texlab",
		Install:  &Install{Hint: "`cargo install --locked --git https://github.com/latex-lsp/texlab`, or a release of it, installs it"},
		RunsCode: "it has latexmk read .latexmkrc, which is a program",
	}
}
