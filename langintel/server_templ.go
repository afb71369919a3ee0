package langintel

// templ is the server of templ's components, Go inside of markup. It has gopls,
// which must be in PATH, look at the Go.
func templ() Spec {
	return Spec{
		Name:      "templ",
		Languages: []Language{{ID: "templ", Patterns: []string{"*.templ"}}},
		Roots:     []string{"go.work", "go.mod"},
		Program:   "templ", Args: []string{"lsp"},
		Install:     &Install{Version: "0.3.1118", GoPackage: "github.com/a-h/templ/cmd/templ"},
		Environment: goEnvironment,
	}
}
