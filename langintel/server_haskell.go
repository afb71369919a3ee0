package langintel

// haskell is the Haskell Language Server; the wrapper chooses the build that fits
// the project's GHC.
func haskell() Spec {
	return Spec{
		Name: "haskell-language-server",
		Languages: []Language{
			{ID: "haskell", Patterns: []string{"*.hs"}},
			{ID: "literate haskell", Patterns: []string{"*.lhs"}},
			{ID: "cabal", Patterns: []string{"*.cabal"}},
		},
		Roots:   []string{"hie.yaml", "stack.yaml", "cabal.project", "package.yaml"},
		Program: "haskell-language-server-wrapper", Args: []string{"--lsp"}, Aliases: []string{"haskell-language-server"},
		Install:  &Install{Hint: "`ghcup install hls` installs it"},
		RunsCode: "it has cabal or stack set the project up, and Template Haskell runs as it compiles",
	}
}
