package langintel

// prisma is the server of Prisma's schemas. Its engine is WebAssembly that comes
// with it.
func prisma() Spec {
	return Spec{
		Name: "prisma", Title: "@prisma/language-server",
		Languages: []Language{{ID: "prisma", Patterns: []string{"*.prisma"}}},
		FilesOnly: true,
		Program:   "prisma-language-server", Args: []string{"--stdio"},
		Local:   []string{"node_modules/.bin/prisma-language-server"},
		Install: &Install{Version: "31.12.10", NPM: []string{"@prisma/language-server@31.12.10"}},
		Section: "prisma",
		// Without it the server says nothing of what is wrong.
		Settings: []byte(`{"enableDiagnostics":true}`),
		Ready:    Blocks(),
	}
}
