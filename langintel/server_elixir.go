package langintel

const elixirRuns = "it compiles the project, and macros are programs"

func elixirLanguages() []Language {
	return []Language{
		{ID: "elixir", Patterns: []string{"*.ex", "*.exs"}},
		{ID: "eelixir", Patterns: []string{"*.eex", "*.leex"}},
		{ID: "phoenix-heex", Patterns: []string{"*.heex"}},
	}
}

// expert is the official server of the Elixir team.
func expert() Spec {
	return Spec{
		Name: "expert", Group: "elixir",
		Languages: elixirLanguages(),
		Roots:     []string{"mix.exs"},
		Program:   "expert", Args: []string{"--stdio"},
		Install:  &Install{Hint: "install a release of github.com/elixir-lang/expert"},
		RunsCode: elixirRuns,
	}
}

// elixirLS is its predecessor.
func elixirLS() Spec {
	return Spec{
		Name: "elixir-ls", Group: "elixir",
		Languages: elixirLanguages(),
		Roots:     []string{"mix.exs"},
		Program:   "elixir-ls", Aliases: []string{"language_server.sh"},
		Install:  &Install{Hint: "`brew install elixir-ls`, or a release of github.com/elixir-lsp/elixir-ls, installs it"},
		RunsCode: elixirRuns,
		Section:  "elixirLS",
		// The analysis of types takes many minutes the first time; dependencies are
		// the user's to fetch.
		Settings: []byte(`{"dialyzerEnabled":false,"fetchDeps":false}`),
	}
}
