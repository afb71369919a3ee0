package langintel

import (
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/uri"
)

// eslint has the project's ESLint look at files, beside the servers of the
// languages.
func eslint() Spec {
	return Spec{
		Name: "eslint", Title: "vscode-eslint-language-server", Lint: true,
		Languages: append(webLanguages(),
			Language{ID: "vue", Patterns: []string{"*.vue"}},
			Language{ID: "svelte", Patterns: []string{"*.svelte"}},
			Language{ID: "astro", Patterns: []string{"*.astro"}}),
		Roots: []string{
			"eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts", "eslint.config.mts", "eslint.config.cts",
			".eslintrc", ".eslintrc.js", ".eslintrc.cjs", ".eslintrc.json", ".eslintrc.yaml", ".eslintrc.yml",
		},
		NeedsRoot: true,
		Program:   "vscode-eslint-language-server", Args: []string{"--stdio"},
		Local:    []string{"node_modules/.bin/vscode-eslint-language-server"},
		Install:  &Install{Version: vscodeVersion, NPM: []string{"vscode-langservers-extracted@" + vscodeVersion, "eslint@9.39.5"}},
		RunsCode: "the configuration of ESLint is a program",
		// It asks for the settings of a file without a section.
		Configure: eslintSettings,
		Answers: map[string]jsontext.Value{
			"eslint/confirmESLintExecution": jsontext.Value("4"), // approved: the workspace is trusted
			"eslint/openDoc":                jsontext.Value("{}"),
			"eslint/noLibrary":              jsontext.Value("{}"),
			"eslint/noConfig":               jsontext.Value("{}"),
			"eslint/probeFailed":            jsontext.Value("{}"),
		},
		Ready: Blocks(),
		Degraded: func(p Project) string {
			if p.Local("eslint/package.json") == "" && p.Module("eslint/package.json") != "" {
				return "the project has no ESLint in node_modules; the one beside the server is used"
			}
			return ""
		},
	}
}

// eslintSettings are those of Visual Studio Code's extension, all of which the
// server expects to be there.
func eslintSettings(p Project) (jsontext.Value, error) {
	type enable struct {
		Enable bool `json:"enable"`
	}
	settings := struct {
		Validate        string            `json:"validate"`
		Run             string            `json:"run"`
		NodePath        *string           `json:"nodePath"`
		Quiet           bool              `json:"quiet"`
		OnIgnored       string            `json:"onIgnoredFiles"`
		UseClass        bool              `json:"useESLintClass"`
		Options         map[string]string `json:"options"`
		Customizations  []string          `json:"rulesCustomizations"`
		Problems        map[string]bool   `json:"problems"`
		Format          bool              `json:"format"`
		PackageManager  string            `json:"packageManager"`
		Experimental    map[string]bool   `json:"experimental"`
		Directory       map[string]string `json:"workingDirectory"`
		WorkspaceFolder map[string]string `json:"workspaceFolder"`
		Actions         map[string]enable `json:"codeAction"`
		OnSave          map[string]string `json:"codeActionOnSave"`
	}{
		Validate: "on", Run: "onType", OnIgnored: "off", Options: map[string]string{}, Customizations: []string{},
		Problems: map[string]bool{"shortenToSingleLine": false}, PackageManager: "npm", Experimental: map[string]bool{},
		Directory:       map[string]string{"mode": "location"},
		WorkspaceFolder: map[string]string{"uri": string(uri.File(p.Root)), "name": filepath.Base(p.Root)},
		Actions:         map[string]enable{"disableRuleComment": {true}, "showDocumentation": {false}},
		OnSave:          map[string]string{"mode": "all"},
	}
	if p.Local("eslint/package.json") == "" {
		if beside := p.Module("eslint/package.json"); beside != "" {
			modules := filepath.Dir(filepath.Dir(beside))
			settings.NodePath = &modules
		}
	}
	return json.Marshal(settings)
}
