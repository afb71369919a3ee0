package langintel

import "path/filepath"

// ocaml is ocaml-lsp-server. It knows other modules by what dune has built.
func ocaml() Spec {
	return Spec{
		Name: "ocamllsp", Title: "ocaml-lsp-server",
		Languages: []Language{
			{ID: "ocaml", Patterns: []string{"*.ml"}},
			{ID: "ocaml.interface", Patterns: []string{"*.mli"}},
			{ID: "ocaml.ocamllex", Patterns: []string{"*.mll"}},
			{ID: "ocaml.menhir", Patterns: []string{"*.mly"}},
			{ID: "reason", Patterns: []string{"*.re", "*.rei"}},
			{ID: "dune", Patterns: []string{"dune", "dune-project", "dune-workspace"}},
		},
		Roots:   []string{"dune-workspace", "dune-project", "esy.json"},
		Program: "ocamllsp", Local: []string{"_opam/bin/ocamllsp"},
		Install:  &Install{Hint: "`opam install ocaml-lsp-server` installs it"},
		RunsCode: "it runs dune and the preprocessors of the project",
		Degraded: func(p Project) string {
			if p.Has("dune-project") && !p.Has(filepath.Join("_build", "default")) {
				return "nothing is built yet, so other modules are unknown; run: dune build"
			}
			return ""
		},
	}
}
