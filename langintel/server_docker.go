package langintel

// dockerfileServer is npm's dockerfile-language-server-nodejs. It looks at one
// file at a time, and at nothing outside of it.
func dockerfileServer() Spec {
	return Spec{
		Name: "dockerfile", Title: "dockerfile-language-server",
		Languages: []Language{{ID: "dockerfile", Patterns: []string{"Dockerfile", "Dockerfile.*", "*.dockerfile", "Containerfile", "Containerfile.*"}}},
		FilesOnly: true,
		Program:   "docker-langserver", Args: []string{"--stdio"},
		Local:   []string{"node_modules/.bin/docker-langserver"},
		Install: &Install{Version: "0.15.0", NPM: []string{"dockerfile-language-server-nodejs@0.15.0"}},
		Ready:   Blocks(),
	}
}
