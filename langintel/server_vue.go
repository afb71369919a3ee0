package langintel

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-ls/prism-ls/tools"
)

// vue is the last line of @vue/language-server that knows TypeScript by itself:
// since 3.0 the client has to pass questions on to a server of TypeScript.
func vue() Spec {
	return Spec{
		Name: "vue", Title: "@vue/language-server",
		Languages: []Language{{ID: "vue", Patterns: []string{"*.vue"}}},
		Roots:     []string{"package.json", "tsconfig.json", "vite.config.ts", "vue.config.js"},
		Program:   "vue-language-server", Args: []string{"--stdio"},
		Local:       []string{"node_modules/.bin/vue-language-server"},
		Install:     &Install{Version: "2.2.12", Hint: "`npm install -g @vue/language-server@2.2.12 typescript@5.9.3` installs it"},
		RunsCode:    "tsconfig.json can name plugins of the Vue compiler, which it loads",
		InitOptions: vueOptions,
	}
}

func vueOptions(p Project) (jsontext.Value, error) {
	library, err := typeScriptLibrary("vue", p)
	if err != nil {
		return nil, err
	}
	options := struct {
		TypeScript typeScriptOptions `json:"typescript"`
		Vue        struct {
			HybridMode bool `json:"hybridMode"`
		} `json:"vue"`
	}{TypeScript: typeScriptOptions{library}}
	return json.Marshal(options)
}

// typeScriptOptions are what servers built on Volar want to know of TypeScript.
type typeScriptOptions struct {
	Library string `json:"tsdk"`
}

// typeScriptLibrary returns the directory of the TypeScript that a server uses:
// the project's where that is trusted, else the one beside the server. TypeScript
// 7 has no tsserverlibrary.
func typeScriptLibrary(server string, p Project) (string, error) {
	const library = "typescript/lib"
	for _, dir := range []string{p.Local(library), p.Module(library)} {
		if dir != "" {
			return dir, nil
		}
	}
	return "", tools.Errorf(tools.CodeLSPServer, "%s needs the npm package typescript (5.9 or earlier) in the project or beside it", server)
}
