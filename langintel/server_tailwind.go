package langintel

// tailwind adds to the servers of markup and style sheets what it knows of class
// names.
func tailwind() Spec {
	return Spec{
		Name: "tailwindcss", Title: "@tailwindcss/language-server", Lint: true,
		Languages: []Language{
			{ID: "html", Patterns: []string{"*.html", "*.htm"}},
			{ID: "css", Patterns: []string{"*.css"}},
			{ID: "scss", Patterns: []string{"*.scss"}},
			{ID: "less", Patterns: []string{"*.less"}},
			{ID: "javascriptreact", Patterns: []string{"*.jsx"}},
			{ID: "typescriptreact", Patterns: []string{"*.tsx"}},
			{ID: "svelte", Patterns: []string{"*.svelte"}},
			{ID: "vue", Patterns: []string{"*.vue"}},
			{ID: "astro", Patterns: []string{"*.astro"}},
		},
		Roots:     []string{"tailwind.config.js", "tailwind.config.cjs", "tailwind.config.mjs", "tailwind.config.ts"},
		NeedsRoot: true,
		Program:   "tailwindcss-language-server", Args: []string{"--stdio"},
		Local:    []string{"node_modules/.bin/tailwindcss-language-server"},
		Install:  &Install{Version: "0.16.0", Hint: "`npm install -g @tailwindcss/language-server@0.16.0` installs it"},
		RunsCode: "the configuration of Tailwind is a program",
		Section:  "tailwindCSS",
		Settings: []byte(`{"validate":true}`),
	}
}
