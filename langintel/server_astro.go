package langintel

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// astro is @astrojs/language-server.
func astro() Spec {
	return Spec{
		Name: "astro", Title: "@astrojs/language-server",
		Languages: []Language{{ID: "astro", Patterns: []string{"*.astro"}}},
		Roots:     []string{"astro.config.mjs", "astro.config.ts", "package.json", "tsconfig.json"},
		Program:   "astro-ls", Args: []string{"--stdio"},
		Local:    []string{"node_modules/.bin/astro-ls"},
		Install:  &Install{Version: "2.17.1", Hint: "`npm install -g @astrojs/language-server@2.17.1 typescript@5.9.3` installs it"},
		RunsCode: "it loads the project's own Astro and Prettier",
		InitOptions: func(p Project) (jsontext.Value, error) {
			library, err := typeScriptLibrary("astro", p)
			if err != nil {
				return nil, err
			}
			return json.Marshal(struct {
				TypeScript typeScriptOptions `json:"typescript"`
			}{typeScriptOptions{library}})
		},
	}
}
