package langintel

func tomlLanguages() []Language {
	return []Language{{ID: "toml", Patterns: []string{"*.toml", "Cargo.lock", "uv.lock", "poetry.lock"}}}
}

// taplo and tombi look at one file at a time, with the JSON schema that is known
// for its name.
func taplo() Spec {
	return Spec{
		Name: "taplo", Group: "toml",
		Languages: tomlLanguages(), FilesOnly: true,
		Program: "taplo", Args: []string{"lsp", "stdio"},
		Install: &Install{Hint: "`cargo install --locked --features lsp taplo-cli` installs it; tombi is simpler"},
		Ready:   Blocks(),
	}
}

func tombi() Spec {
	return Spec{
		Name: "tombi", Group: "toml",
		Languages: tomlLanguages(), FilesOnly: true,
		Program: "tombi", Args: []string{"lsp"},
		Local:   []string{"node_modules/.bin/tombi", ".venv/bin/tombi"},
		Install: &Install{Version: "0.11.7", NPM: []string{"tombi@0.11.7"}},
		Ready:   Blocks(),
	}
}
