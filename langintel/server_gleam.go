package langintel

// gleam is the server inside of the compiler.
func gleam() Spec {
	return Spec{
		Name:      "gleam",
		Languages: []Language{{ID: "gleam", Patterns: []string{"*.gleam"}}},
		Roots:     []string{"gleam.toml"}, NeedsRoot: true, PerRoot: true,
		Program: "gleam", Args: []string{"lsp"},
		Install:  &Install{Hint: "it comes with Gleam: https://gleam.run/getting-started/installing"},
		RunsCode: "it builds the packages that gleam.toml names, with rebar3 where they are Erlang's",
	}
}
