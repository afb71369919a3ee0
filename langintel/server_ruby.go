package langintel

func rubyLanguages() []Language {
	return []Language{{ID: "ruby", Patterns: []string{"*.rb", "*.rake", "*.gemspec", "*.ru", "Gemfile", "Rakefile"}}}
}

// rubyLSP is Shopify's server. It keeps a bundle of its own in .ruby-lsp.
func rubyLSP() Spec {
	return Spec{
		Name: "ruby-lsp", Group: "ruby",
		Languages: rubyLanguages(),
		Roots:     []string{"Gemfile", ".ruby-version"}, PerRoot: true,
		Program: "ruby-lsp", Local: []string{"bin/ruby-lsp"},
		// rbenv and others put stand-ins into PATH that fail for another Ruby.
		Probe:    []string{"--version"},
		Install:  &Install{Hint: "`gem install ruby-lsp` installs it"},
		RunsCode: "the Gemfile and the add-ons that it names are programs",
	}
}

// solargraph is the older one.
func solargraph() Spec {
	return Spec{
		Name: "solargraph", Group: "ruby",
		Languages: rubyLanguages(),
		Roots:     []string{"Gemfile", ".solargraph.yml"},
		Program:   "solargraph", Args: []string{"stdio"}, Local: []string{"bin/solargraph"},
		Probe:    []string{"--version"},
		Install:  &Install{Hint: "`gem install solargraph` installs it"},
		RunsCode: "it loads the plugins that .solargraph.yml and .rubocop.yml name",
		Section:  "solargraph",
		Settings: []byte(`{"diagnostics":true}`),
	}
}
