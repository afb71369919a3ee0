package langintel

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// intelephense serves PHP. Without a licence it does not offer rename,
// implementations and declarations; that shows in what it advertises.
func intelephense() Spec {
	return Spec{
		Name: "intelephense", Title: "Intelephense", Group: "php",
		Languages: []Language{{ID: "php", Patterns: []string{"*.php", "*.phtml"}}},
		Roots:     []string{"composer.json"},
		Program:   "intelephense", Args: []string{"--stdio"},
		Local:   []string{"node_modules/.bin/intelephense"},
		Install: &Install{NPM: []string{"intelephense@1.18.5"}, Version: "1.18.5"},
		Section: "intelephense",
		Settings: jsontext.Value(`{"telemetry":{"enabled":false},"diagnostics":{"enable":true},` +
			// A file that is too large is not indexed, and nothing says so.
			`"files":{"maxSize":10000000}}`),
		InitOptions: func(p Project) (jsontext.Value, error) {
			options := struct {
				Storage string `json:"storagePath,omitzero"`
				Global  string `json:"globalStoragePath,omitzero"`
			}{p.Cache, p.Cache}
			return json.Marshal(options)
		},
		// It begins to index a moment after its start, also when it has all of it stored.
		Ready: AfterProgress(3 * time.Second),
		// What it publishes before that is an empty placeholder.
		Fresh: Pushes(phpLag),
	}
}

const (
	// phpLag and yamlLag are how long the servers wait for more changes before they
	// look at a text, and a little.
	phpLag  = 1100 * time.Millisecond
	yamlLag = 300 * time.Millisecond
)

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
