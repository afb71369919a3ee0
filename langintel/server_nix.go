package langintel

func nixLanguages() []Language { return []Language{{ID: "nix", Patterns: []string{"*.nix"}}} }

// nilServer looks at Nix files without evaluating them.
func nilServer() Spec {
	return Spec{
		Name: "nil", Group: "nix",
		Languages: nixLanguages(), Roots: []string{"flake.nix"},
		Program: "nil",
		Install: &Install{Hint: "`nix profile install github:oxalica/nil` installs it"},
		Section: "nil",
		// Fetching and evaluating what a flake names is nothing to do unasked.
		Settings: []byte(`{"nix":{"flake":{"autoArchive":false,"autoEvalInputs":false}}}`),
	}
}

// nixd evaluates them.
func nixd() Spec {
	return Spec{
		Name: "nixd", Group: "nix",
		Languages: nixLanguages(), Roots: []string{"flake.nix"},
		Program:  "nixd",
		Install:  &Install{Hint: "`nix profile install nixpkgs#nixd` installs it"},
		RunsCode: "it evaluates the project, which can build and run derivations",
	}
}
