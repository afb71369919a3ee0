package langintel

// sourceKit is the server of the Swift toolchain.
func sourceKit() Spec {
	return Spec{
		Name: "sourcekit-lsp", Title: "SourceKit-LSP",
		Languages: []Language{{ID: "swift", Patterns: []string{"*.swift"}}},
		Roots:     []string{"buildServer.json", "Package.swift", "compile_commands.json"},
		Program:   "sourcekit-lsp",
		Install:   &Install{Hint: "it comes with Swift: https://www.swift.org/install"},
		RunsCode:  "Package.swift is a program, and packages bring plugins",
	}
}
