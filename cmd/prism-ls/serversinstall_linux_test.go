package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/langintel"
)

// small is a workspace in which a server has one thing to find.
type small struct {
	files map[string]string // the first by name that matches is asked about
	ask   string
	want  string // in the outline; of a linter, in the diagnostics
}

// smallWorkspaces are by the server's name, else by its group or first language.
func smallWorkspaces() map[string]small {
	code := func(name, text, want string) small { return small{map[string]string{name: text}, name, want} }
	ts := small{map[string]string{"a.ts": "export function found(): number { return 1; }\n", "tsconfig.json": "{}\n"}, "a.ts", "found"}
	return map[string]small{
		"go":         {map[string]string{"go.mod": "module example.com/a\n\ngo 1.24\n", "a.go": "package a\n\nfunc Found() {}\n"}, "a.go", "Found"},
		"typescript": ts, "javascript": ts,
		"python":      code("a.py", "def found() -> int:\n    return 1\n", "found"),
		"c":           code("a.c", "int found(void) { return 1; }\n", "found"),
		"cpp":         code("a.cpp", "int found() { return 1; }\n", "found"),
		"rust":        {map[string]string{"Cargo.toml": "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "src/main.rs": "fn main() { found() }\n\nfn found() {}\n"}, "src/main.rs", "found"},
		"shellscript": code("a.sh", "#!/bin/bash\nfound() { echo hi; }\nfound\n", "found"),
		"yaml":        code("a.yaml", "found: 1\n", "found"),
		"json":        code("a.json", "{\"found\": 1}\n", "found"),
		"html":        code("a.html", "<html><body><p id=\"found\">x</p></body></html>\n", "found"),
		"css":         code("a.css", ".found { color: red }\n", "found"),
		"php":         code("a.php", "<?php\nfunction found() { return 1; }\n", "found"),
		"dockerfile":  code("Dockerfile", "FROM scratch AS found\nCOPY . /\n", "FROM"),
		"svelte":      code("A.svelte", "<script>\n  let found = 1;\n</script>\n<p>{found}</p>\n", "found"),
		"prisma":      code("schema.prisma", "model Found {\n  id Int @id\n}\n", "Found"),
		"toml":        code("a.toml", "[found]\na = 1\n", "found"),
		"proto":       {map[string]string{"buf.yaml": "version: v2\n", "a.proto": "syntax = \"proto3\";\n\npackage a;\n\nmessage Found {}\n"}, "a.proto", "Found"},
		"fortran":     code("a.f90", "module found\nend module found\n", "found"),
		"deno":        {map[string]string{"deno.json": "{}\n", "a.ts": "export function found(): number { return 1; }\n"}, "a.ts", "found"},
		"eslint":      {map[string]string{"eslint.config.js": "module.exports = [{ rules: { 'no-var': 'error' } }];\n", "package.json": "{}\n", "a.js": "var found = 1;\n"}, "a.js", "no-var"},
		"biome":       {map[string]string{"biome.json": "{}\n", "a.js": "debugger;\n"}, "a.js", "noDebugger"},
		"ruff":        {map[string]string{"pyproject.toml": "[tool.ruff]\n", "a.py": "import os\n"}, "a.py", "F401"},
	}
}

// PRISM_SERVERS=1 installs every server that prism-ls can install, as a person
// would, and has each answer one question. PRISM_SERVERS=NAME does one.
func TestServersInstall(t *testing.T) {
	asked := os.Getenv("PRISM_SERVERS")
	if asked == "" {
		t.Skip("it downloads and installs servers for minutes; make servers runs it")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(cache, "prism-ls-test", "installed")
	var table bytes.Buffer
	rows := tabwriter.NewWriter(&table, 0, 8, 2, ' ', 0)
	fmt.Fprintln(rows, "server\tversion\tinstalled in\tfirst answer\tanswer")
	for _, spec := range langintel.Catalogue() {
		if spec.Install == nil || spec.Install.Hint != "" || asked != "1" && asked != spec.Name {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) { tryServer(t, &spec, state, rows) })
	}
	if err := rows.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", table.String())
}

func tryServer(t *testing.T, spec *langintel.Spec, state string, rows *tabwriter.Writer) {
	began := time.Now()
	var installed struct {
		Installed []installedObject `json:"installed"`
	}
	decodeRun(t, &installed, "servers", "install", spec.Name, "--yes", "--json", "--root", t.TempDir(), "--state-dir", state)
	took := time.Since(began).Round(time.Second).String()
	if len(installed.Installed) == 1 && installed.Installed[0].Already {
		took = "there already"
	}
	root, given := layOut(t, spec)
	cfg, err := config.Locate(config.ReadSystem(), config.Flags{Root: root, StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.TrustFile(true); err != nil {
		t.Fatal(err)
	}
	user := filepath.Join(t.TempDir(), "user.toml")
	text := fmt.Sprintf("[language]\ninstall = \"never\"\n[language.servers.%s]\nprefer = true\n", spec.Name)
	if err := os.WriteFile(user, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tool := "lsp_symbols"
	if spec.Lint {
		tool = "lsp_diagnostics"
	}
	began = time.Now()
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		Metadata struct {
			Status string `json:"status"`
			Server string `json:"server"`
			Reason string `json:"reason"`
		} `json:"metadata"`
	}
	decodeRun(t, &result, "call", tool, "path="+given.ask, "--json", "--root", root, "--state-dir", state, "--config", user)
	answer := "none"
	if len(result.Content) > 0 {
		answer = oneLine(result.Content[0].Text)
	}
	fmt.Fprintf(rows, "%s\t%s\t%s\t%s\t%.60s\n", spec.Name, spec.Install.Version, took, time.Since(began).Round(10*time.Millisecond), answer)
	if !strings.Contains(answer, given.want) || !spec.Lint && result.Metadata.Server != spec.Name {
		t.Errorf("%s: %s %s %q, want %s in it", result.Metadata.Server, result.Metadata.Status, result.Metadata.Reason, answer, given.want)
	}
}

// layOut makes the small workspace of a server.
func layOut(t *testing.T, spec *langintel.Spec) (string, small) {
	t.Helper()
	all := smallWorkspaces()
	given, ok := all[spec.Name]
	for _, name := range []string{spec.Group, spec.Languages[0].ID} {
		if !ok {
			given, ok = all[name]
		}
	}
	if !ok {
		t.Fatalf("there is no small workspace for %s", spec.Name)
	}
	root := t.TempDir()
	for name, text := range given.files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root, given
}

// decodeRun runs a command line in this process and reads the object it prints.
func decodeRun(t *testing.T, into any, args ...string) {
	t.Helper()
	var out, stderr bytes.Buffer
	if status := run(args, nil, &out, &stderr); status != 0 {
		t.Fatalf("prism-ls %s: %s", strings.Join(args, " "), stderr.String())
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		t.Fatalf("prism-ls %s: %v: %s", strings.Join(args, " "), err, out.String())
	}
}
