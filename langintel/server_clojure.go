package langintel

// clojure is clojure-lsp.
func clojure() Spec {
	return Spec{
		Name:      "clojure-lsp",
		Languages: []Language{{ID: "clojure", Patterns: []string{"*.clj", "*.cljs", "*.cljc", "*.edn"}}},
		Roots:     []string{"deps.edn", "project.clj", "build.boot", "shadow-cljs.edn", "bb.edn"},
		Program:   "clojure-lsp",
		Install:   &Install{Hint: "`brew install clojure-lsp/brew/clojure-lsp-native`, or a release of it, installs it"},
		RunsCode:  "it has the build tool tell the class path, and project.clj is a program",
	}
}
