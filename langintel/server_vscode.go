package langintel

import "github.com/go-json-experiment/json/jsontext"

// vscodeVersion is of vscode-langservers-extracted, which has the servers for
// JSON, HTML and CSS that Visual Studio Code ships.
const vscodeVersion = "4.10.0"

// vscode is what the three have in common: they know one file at a time, and
// answer at once.
func vscode(name string, languages ...Language) Spec {
	program := "vscode-" + name + "-language-server"
	return Spec{
		Name: name, Title: program, FilesOnly: true, Languages: languages,
		Program: program, Args: []string{"--stdio"},
		Local:   []string{"node_modules/.bin/" + program},
		Install: &Install{NPM: []string{"vscode-langservers-extracted@" + vscodeVersion}, Version: vscodeVersion},
		Ready:   Blocks(),
	}
}

func vscodeJSON() Spec {
	s := vscode("json",
		Language{ID: "json", Patterns: []string{"*.json", "*.webmanifest", ".prettierrc", ".babelrc"}},
		Language{ID: "jsonc", Patterns: []string{"*.jsonc", "tsconfig*.json", "jsconfig*.json", ".eslintrc.json"}})
	// The first match names the language, and a tsconfig.json has comments.
	s.Languages[0], s.Languages[1] = s.Languages[1], s.Languages[0]
	s.Section = "json"
	s.Settings = jsontext.Value(`{"validate":{"enable":true},"format":{"enable":true}}`)
	s.InitOptions = func(Project) (jsontext.Value, error) {
		return jsontext.Value(`{"provideFormatter":true,"handledSchemaProtocols":["file"]}`), nil
	}
	// What a file's $schema names in the network it asks the client for. One that
	// allows everything says nothing false.
	s.Answers = map[string]jsontext.Value{"vscode/content": jsontext.Value(`"{}"`)}
	s.Degraded = func(Project) string { return "schemas in the network are not fetched; those in files are used" }
	return s
}

func vscodeHTML() Spec {
	s := vscode("html", Language{ID: "html", Patterns: []string{"*.html", "*.htm", "*.xhtml"}})
	s.Section = "html"
	s.Settings = jsontext.Value(`{"validate":{"scripts":true,"styles":true},"format":{"enable":true}}`)
	s.InitOptions = func(Project) (jsontext.Value, error) {
		return jsontext.Value(`{"provideFormatter":true,"embeddedLanguages":{"css":true,"javascript":true}}`), nil
	}
	return s
}

func vscodeCSS() Spec {
	s := vscode("css",
		Language{ID: "css", Patterns: []string{"*.css"}},
		Language{ID: "scss", Patterns: []string{"*.scss"}},
		Language{ID: "less", Patterns: []string{"*.less"}})
	s.Section = ""
	s.Settings = jsontext.Value(`{"css":{"validate":true},"scss":{"validate":true},"less":{"validate":true}}`)
	s.InitOptions = func(Project) (jsontext.Value, error) { return jsontext.Value(`{"provideFormatter":true}`), nil }
	return s
}
