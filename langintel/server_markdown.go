package langintel

// marksman knows headings and links between Markdown files.
func marksman() Spec {
	return Spec{
		Name:      "marksman",
		Languages: []Language{{ID: "markdown", Patterns: []string{"*.md", "*.markdown"}}},
		Roots:     []string{".marksman.toml"},
		// Headings are no symbols of the workspace's code.
		FilesOnly: true,
		Program:   "marksman", Args: []string{"server"},
		Install: &Install{Hint: "`brew install marksman`, or a release of github.com/artempyanykh/marksman, installs it"},
	}
}
