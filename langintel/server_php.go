package langintel

// phpactor stands for intelephense where people have it.
func phpactor() Spec {
	return Spec{
		Name: "phpactor", Group: "php",
		Languages: []Language{{ID: "php", Patterns: []string{"*.php", "*.phtml"}}},
		Roots:     []string{"composer.json", ".phpactor.json", ".phpactor.yml"},
		Program:   "phpactor", Args: []string{"language-server"},
		Local:    []string{"vendor/bin/phpactor"},
		Install:  &Install{Hint: "https://phpactor.readthedocs.io tells how to install it"},
		RunsCode: "it loads the autoloader of the project's vendor directory, and runs the checkers that .phpactor.json names",
	}
}
