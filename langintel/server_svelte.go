package langintel

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// svelte is svelte-language-server. It takes TypeScript from beside itself.
func svelte() Spec {
	return Spec{
		Name: "svelte", Title: "svelte-language-server",
		Languages: []Language{{ID: "svelte", Patterns: []string{"*.svelte"}}},
		Roots:     []string{"svelte.config.js", "svelte.config.mjs", "package.json", "tsconfig.json", "jsconfig.json"},
		Program:   "svelteserver", Args: []string{"--stdio"},
		Local:   []string{"node_modules/.bin/svelteserver"},
		Install: &Install{Version: "0.18.4", NPM: []string{"svelte-language-server@0.18.4", "typescript@5.9.3"}},
		InitOptions: func(p Project) (jsontext.Value, error) {
			// Else it imports svelte.config.js, and the project's own compiler and
			// Prettier.
			return jsontext.Value(`{"isTrusted":` + strconv.FormatBool(p.Trusted) + `}`), nil
		},
		Degraded: func(p Project) string {
			if p.Has("tsconfig.json") || p.Has("jsconfig.json") {
				return ""
			}
			return "there is no tsconfig.json or jsconfig.json: which files belong together is guessed"
		},
	}
}
