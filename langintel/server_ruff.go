package langintel

// ruff lints and formats Python beside the server of the language.
func ruff() Spec {
	return Spec{
		Name: "ruff", Lint: true,
		Languages: []Language{{ID: "python", Patterns: []string{"*.py", "*.pyi"}}},
		Roots:     []string{"ruff.toml", ".ruff.toml", "pyproject.toml"}, NeedsRoot: true,
		Program: "ruff", Args: []string{"server"},
		Local:   []string{".venv/bin/ruff", "venv/bin/ruff"},
		Install: &Install{Hint: "`uv tool install ruff`, or `pipx install ruff`, installs it"},
		Ready:   Blocks(),
	}
}
