package langintel

import (
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-ls/prism-ls/tools"
)

// tsLanguages are what every TypeScript server serves.
func tsLanguages() []Language {
	return []Language{
		{ID: "typescript", Patterns: []string{"*.ts", "*.mts", "*.cts"}},
		{ID: "typescriptreact", Patterns: []string{"*.tsx"}},
		{ID: "javascript", Patterns: []string{"*.js", "*.mjs", "*.cjs"}},
		{ID: "javascriptreact", Patterns: []string{"*.jsx"}},
	}
}

func tsRoots() []string { return []string{"tsconfig.json", "jsconfig.json", "package.json"} }

// The pinned TypeScript: 7 has no tsserver any more.
const tsserverVersion = "5.9.3"

// tsRequest is the command of both servers that passes a request on to tsserver.
const tsRequest = "typescript.tsserverRequest"

// typescriptLanguageServer is the server that most editors but VS Code use; it
// drives TypeScript's own tsserver. Answers across projects hold back until the
// projects that are open are loaded, and those that refer to them; see tsPrime.
func typescriptLanguageServer() Spec {
	return Spec{
		Name: "typescript-language-server", Title: "TypeScript (tsserver)", Group: "typescript",
		Languages: tsLanguages(), Roots: tsRoots(),
		Program: "typescript-language-server", Args: []string{"--stdio"},
		Local:       []string{"node_modules/.bin/typescript-language-server"},
		Install:     &Install{NPM: []string{"typescript-language-server@5.3.0", "typescript@" + tsserverVersion}, Version: "5.3.0"},
		InitOptions: tsInitOptions,
		Degraded:    tsDegraded,
		Ready:       Blocks(), Fresh: SyncCommand(tsRequest),
		Prime: tsPrime, Dependents: tsDependents,
		// After a refactoring it wants an editor to ask for a better name.
		Answers: map[string]jsontext.Value{"_typescript.rename": jsontext.Value("null")},
		// _typescript.applyCodeAction is none of them: it can have packages installed.
		EditCommands: []string{"_typescript.applyRefactoring", "_typescript.applyWorkspaceEdit", "_typescript.organizeImports", "_typescript.applyCompletionCodeAction"},
	}
}

// tsInitOptions pins the tsserver that runs. Without a path the server takes the
// workspace's, which is the workspace's code.
func tsInitOptions(p Project) (jsontext.Value, error) {
	path := tsserver(p)
	if path == "" {
		return nil, errNoTypeScript()
	}
	return encodeJSON(struct {
		Tsserver    tsserverOptions `json:"tsserver"`
		NoTypings   bool            `json:"disableAutomaticTypingAcquisition"`
		HostInfo    string          `json:"hostInfo"`
		Preferences tsPreferences   `json:"preferences"`
	}{
		Tsserver: tsserverOptions{
			Path: path,
			// The one for syntax alone answers first, and knows of one file.
			UseSyntaxServer: "never",
			// Its own watching notices a change a second late; ours is announced
			// before the next question.
			UseClientFileWatcher: true,
		},
		NoTypings: true, // it would have npm download packages
		HostInfo:  "prism-ls",
	})
}

type tsserverOptions struct {
	Path                 string `json:"path"`
	UseSyntaxServer      string `json:"useSyntaxServer"`
	UseClientFileWatcher bool   `json:"useClientFileWatcher"`
}

// tsPreferences has a rename change every use of a name. With aliases the
// importing files would go on with the old one.
type tsPreferences struct {
	Aliases bool `json:"providePrefixAndSuffixTextForRename"`
}

func errNoTypeScript() error {
	return tools.Errorf(tools.CodeLSPServer, "there is no TypeScript with a tsserver beside the server, and the workspace's own is used only where it is trusted; npm install -g typescript@%s", tsserverVersion)
}

// encodeJSON is for what is made of this program's own structs.
func encodeJSON(from any) (jsontext.Value, error) {
	text, err := json.Marshal(from)
	if err != nil {
		return nil, tools.Errorf(tools.CodeInternal, "%w", err)
	}
	return text, nil
}

// tsserver is the tsserver.js to run: a trusted project's own, else the one
// beside the server.
func tsserver(p Project) string {
	const rel = "typescript/lib/tsserver.js"
	if local := p.Local(rel); local != "" {
		return local
	}
	return p.Module(rel)
}

// vtsls drives tsserver through VS Code's own extension.
func vtsls() Spec {
	return Spec{
		Name: "vtsls", Title: "TypeScript (VS Code's)", Group: "typescript",
		Languages: tsLanguages(), Roots: tsRoots(),
		Program: "vtsls", Args: []string{"--stdio"},
		Local:     []string{"node_modules/.bin/vtsls"},
		Install:   &Install{NPM: []string{"@vtsls/language-server@0.3.0"}, Version: "0.3.0"},
		Configure: vtslsSettings,
		Degraded:  tsDegraded,
		// It takes the end of the new text for that of the old one.
		RangedChanges: true,
		Ready:         Blocks(), Fresh: SyncCommand(tsRequest),
		Prime: tsPrime, Dependents: tsDependents,
		EditCommands: []string{"_typescript.didApply*"}, // what was edited is counted there
	}
}

// vtslsSettings are as in tsInitOptions. Its client-side watching
// (tsserver.watchOptions "vscode") ends the server, so it watches for itself.
func vtslsSettings(p Project) (jsontext.Value, error) {
	type language struct {
		Preferences struct {
			Aliases bool `json:"useAliasesForRenames"`
		} `json:"preferences"`
	}
	var out struct {
		TypeScript struct {
			language
			Tsserver struct {
				UseSyntaxServer string `json:"useSyntaxServer"`
			} `json:"tsserver"`
			NoTypings bool `json:"disableAutomaticTypeAcquisition"`
		} `json:"typescript"`
		JavaScript language `json:"javascript"`
		Vtsls      struct {
			TypeScript struct {
				Tsdk string `json:"globalTsdk,omitzero"`
			} `json:"typescript"`
			Workspace bool `json:"autoUseWorkspaceTsdk"`
		} `json:"vtsls"`
	}
	out.TypeScript.Tsserver.UseSyntaxServer = "never"
	out.TypeScript.NoTypings = true
	out.Vtsls.Workspace = false
	if path := tsserver(p); path != "" { // else it has one of its own
		out.Vtsls.TypeScript.Tsdk = filepath.Dir(path)
	}
	return encodeJSON(out)
}

// tsgo is TypeScript 7, which is a language server itself. It reads the disk, and
// a question about a file loads the file's project.
func tsgo() Spec {
	const version = "7.0.0-dev.20260707.2"
	return Spec{
		Name: "tsgo", Title: "TypeScript 7", Group: "typescript",
		Languages: tsLanguages(), Roots: tsRoots(),
		Program: "tsgo", Args: []string{"--lsp", "--stdio"},
		Local:     []string{"node_modules/.bin/tsgo"},
		Install:   &Install{NPM: []string{"@typescript/native-preview@" + version}, Version: version},
		Degraded:  tsDegraded,
		Ready:     Blocks(),
		ReadsDisk: true,
		Reads:     []string{"*.json"},
		Prime:     tsPrime, Dependents: tsDependents,
	}
}

// tsDegraded says which TypeScript is really used where that is not the
// project's, and what a project without configuration costs.
func tsDegraded(p Project) string {
	if !p.Has("tsconfig.json") && !p.Has("jsconfig.json") && len(p.Files.Match("tsconfig*.json")) == 0 && len(p.Files.Match("jsconfig.json")) == 0 {
		return "no tsconfig.json or jsconfig.json: every file is a program of its own, with what it imports; a tsconfig.json makes one of them"
	}
	own := filepath.Join(p.Root, "node_modules", "typescript")
	wanted, used := packageVersion(own), tsserver(p)
	if wanted == "" || used == "" || filepath.Dir(filepath.Dir(used)) == own {
		return ""
	}
	reason := "it has no tsserver.js"
	if !p.Trusted {
		reason = "the workspace is not trusted"
	}
	return "TypeScript " + packageVersion(filepath.Dir(filepath.Dir(used))) + " beside the server is used, and not the project's " + wanted + ": " + reason
}

// packageVersion is the version of an installed npm package, "" if it is none.
func packageVersion(dir string) string {
	data, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return ""
	}
	var p struct {
		Version string `json:"version"`
	}
	if decodeJSON(data, &p) != nil {
		return ""
	}
	return oneLine(p.Version, 60)
}
