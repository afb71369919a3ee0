package langintel

// graphQL is graphql-language-service-cli. Without a configuration that names the
// schema it knows nothing.
func graphQL() Spec {
	return Spec{
		Name: "graphql", Title: "graphql-language-service-cli",
		Languages: []Language{{ID: "graphql", Patterns: []string{"*.graphql", "*.gql", "*.graphqls"}}},
		Roots: []string{
			".graphqlrc", ".graphqlrc.json", ".graphqlrc.yaml", ".graphqlrc.yml", ".graphqlrc.toml", ".graphqlrc.js", ".graphqlrc.ts",
			"graphql.config.json", "graphql.config.yaml", "graphql.config.yml", "graphql.config.toml", "graphql.config.js", "graphql.config.ts",
		},
		NeedsRoot: true, PerRoot: true,
		Program: "graphql-lsp", Args: []string{"server", "--method", "stream"},
		Local:    []string{"node_modules/.bin/graphql-lsp"},
		Install:  &Install{Version: "3.5.0", NPM: []string{"graphql-language-service-cli@3.5.0", "graphql@16.15.0"}},
		RunsCode: "graphql.config.js is a program",
	}
}
