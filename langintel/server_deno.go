package langintel

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// deno serves the projects that have its configuration, in place of the other
// servers of TypeScript.
func deno() Spec {
	return Spec{
		Name: "deno", Group: "typescript",
		Languages: webLanguages(),
		Roots:     []string{"deno.json", "deno.jsonc", "deno.lock"}, NeedsRoot: true,
		Program: "deno", Args: []string{"lsp"},
		Local:       []string{"node_modules/.bin/deno"},
		Install:     &Install{Version: "2.9.6", NPM: []string{"deno@2.9.6"}},
		Environment: func(bool) map[string]string { return map[string]string{"NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1"} },
		Section:     "deno",
		Configure: func(p Project) (jsontext.Value, error) {
			return json.Marshal(struct {
				Enable bool `json:"enable"`
				// deno.json can name plugins of the linter, which are programs.
				Lint bool `json:"lint"`
				// Modules are the user's to download.
				CacheOnSave bool `json:"cacheOnSave"`
			}{Enable: true, Lint: p.Trusted})
		},
	}
}
