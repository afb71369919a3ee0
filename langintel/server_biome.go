package langintel

// biome finds problems beside the servers of the languages. lsp-proxy starts a
// daemon of its own below itself.
func biome() Spec {
	return Spec{
		Name: "biome", Lint: true,
		Languages: append(webLanguages(),
			Language{ID: "json", Patterns: []string{"*.json"}},
			Language{ID: "jsonc", Patterns: []string{"*.jsonc"}},
			Language{ID: "css", Patterns: []string{"*.css"}},
			Language{ID: "graphql", Patterns: []string{"*.graphql", "*.gql"}}),
		// Without its configuration a project is not Biome's.
		Roots: []string{"biome.json", "biome.jsonc"}, NeedsRoot: true,
		Program: "biome", Args: []string{"lsp-proxy"},
		Local:   []string{"node_modules/.bin/biome"},
		Install: &Install{Version: "2.6.8", NPM: []string{"@biomejs/biome@2.6.8"}},
		Section: "biome",
		// It publishes an empty list first.
		Fresh: Pushes(0),
	}
}

// webLanguages are those that linters of JavaScript know.
func webLanguages() []Language {
	return []Language{
		{ID: "javascript", Patterns: []string{"*.js", "*.mjs", "*.cjs"}},
		{ID: "javascriptreact", Patterns: []string{"*.jsx"}},
		{ID: "typescript", Patterns: []string{"*.ts", "*.mts", "*.cts"}},
		{ID: "typescriptreact", Patterns: []string{"*.tsx"}},
	}
}
