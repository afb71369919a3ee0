package builtin_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/child"
)

// shopPolicy notes every change that is asked for, and forbids them all when told.
type shopPolicy struct {
	forbid  bool
	actions []tools.Action
}

func (p *shopPolicy) Decide(_ context.Context, action tools.Action) tools.Decision {
	if action.Mutation != tools.MutatesLocally || len(action.Paths) == 0 {
		return tools.Decision{Verdict: tools.Allow}
	}
	p.actions = append(p.actions, action)
	if p.forbid {
		return tools.Decision{Verdict: tools.Forbid, Reason: "not in this test"}
	}
	return tools.Decision{Verdict: tools.Allow}
}

// serverDir is where the tests of all packages share installed servers.
func serverDir(t testing.TB) string {
	if dir := os.Getenv("PRISM_TEST_SERVERS"); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(cache, "prism-ls-test", "servers")
}

// newShop is a copy of the small Go workspace with the tools of language
// intelligence, and with gopls: one that cannot be had is a failure.
func newShop(t *testing.T) (*host, *shopPolicy) {
	t.Helper()
	return languageHost(t, filepath.Join("..", "..", "testdata", "workspaces", "go-shop"))
}

// languageHost is newShop over a copy of any directory.
func languageHost(t testing.TB, source string) (*host, *shopPolicy) {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	h := hostAt(t, root, t.TempDir(), nil)
	client, err := langintel.New(h.ws, h.owner, &langintel.Options{Env: child.Environment(os.Environ(), nil), ServerDir: serverDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	h.deps.Read.Dependencies = client.Dependency
	core, err := builtin.Core(h.deps)
	if err != nil {
		t.Fatal(err)
	}
	language, err := builtin.Language(client, nil)
	if err != nil {
		t.Fatal(err)
	}
	rules := &shopPolicy{}
	if h.registry, err = tools.NewRegistry(slices.Concat(core, language), &tools.RegistryOptions{Policy: rules}); err != nil {
		t.Fatal(err)
	}
	return h, rules
}

// wire makes a call and compares all of its metadata with JSON, but for the
// members that drop names, which must be there.
func (h *host) wire(name string, in args, want string, drop ...string) (metadata map[string]any, text string) {
	h.t.Helper()
	text = h.ok(name, in, &metadata)
	var expected map[string]any
	if err := json.Unmarshal([]byte(want), &expected); err != nil {
		h.t.Fatalf("%v\n%s", err, want)
	}
	rest := map[string]any{}
	for key, value := range metadata {
		if !slices.Contains(drop, key) {
			rest[key] = value
		}
	}
	for _, key := range drop {
		if metadata[key] == nil {
			h.t.Errorf("%s %v: no %s", name, in, key)
		}
	}
	if diff := cmp.Diff(expected, rest); diff != "" {
		h.t.Errorf("%s %v: want -, got +\n%s", name, in, diff)
	}
	return metadata, text
}

const completeAnswer = `"status": "complete", "server": "gopls", "barrier": "request"`

func TestLSPWire(t *testing.T) {
	h, _ := newShop(t)
	h.wire("lsp_symbols", args{"path": "stock/kinds_string.go"}, `{`+completeAnswer+`, "truncated": false, "symbols": [
		{"name": "Kinds", "namePath": "Kinds", "kind": "function", "path": "stock/kinds_string.go", "line": 6, "endLine": 6, "column": 6, "detail": "func() []string"}]}`)
	h.wire("lsp_symbols", args{"query": "Kinds"}, `{`+completeAnswer+`, "truncated": false, "symbols": [
		{"name": "Kinds", "namePath": "shop.stock.Kinds", "kind": "function", "path": "stock/kinds_string.go", "line": 6, "endLine": 6, "column": 6}]}`)
	// A server that is still at work when it is asked may be asked twice.
	add := `{"path": "stock/stock.go", "line": 23, "column": 17, "endLine": 23, "endColumn": 20, "text": "func (s *Shelf) Add(n int) {", "container": "Shelf.Add", "kind": "method"}`
	h.wire("lsp_definition", args{"path": "till/till.go", "line": 11, "symbol": "Add"},
		`{"status": "complete", "server": "gopls", "locations": [`+add+`], "total": 1, "files": ["stock/stock.go"], "truncated": false}`, "barrier")
	_, text := h.wire("lsp_references", args{"symbol": "Shelf.Add", "limit": 2}, `{"status": "complete", "server": "gopls", "total": 4, "truncated": true, "truncatedBy": "results",
		"files": ["stock/stock.go", "stock/stock_test.go", "till/till.go", "till/till_test.go"], "locations": [`+add+`,
		{"path": "stock/stock_test.go", "line": 7, "column": 4, "endLine": 7, "endColumn": 7, "text": "\ts.Add(2)", "container": "TestAdd", "kind": "function"}]}`, "nextCursor", "barrier")
	if !strings.HasPrefix(text, "4 in 4 files\nstock/stock.go\n in Shelf.Add\n  23:17 func (s *Shelf) Add(n int) {\n") || !strings.Contains(text, "[truncated by results. Use cursor=") {
		t.Errorf("%s", text)
	}
	h.wire("lsp_hover", args{"symbol": "Shelf.Add"}, `{`+completeAnswer+`, "signature": "func (s *Shelf) Add(n int)"}`, "text")
	h.write("till/till.go", strings.Replace(h.content("till/till.go"), "return true", `return len("é日本😀") + maybe`, 1))
	h.wire("lsp_diagnostics", args{"path": "till/till.go", "severity": "error"}, `{"status": "complete", "server": "gopls", "barrier": "pull", "truncated": false,
		"producers": [{"id": "gopls", "tool": "gopls", "version": "v0.23.0", "status": "ok"}],
		"diagnostics": [{"path": "till/till.go", "line": 12, "column": 23, "endLine": 12, "endColumn": 28, "severity": "error", "source": "compiler", "code": "UndeclaredName", "message": "undefined: maybe"}]}`)
	status, _ := h.wire("lsp_status", args{}, `{"status": "complete"}`, "servers")
	server := status["servers"].([]any)[0].(map[string]any)
	for _, key := range []string{"pid", "memoryBytes"} {
		if n, _ := server[key].(float64); n < 1 {
			t.Errorf("%s is %v", key, server[key])
		}
		delete(server, key)
	}
	delete(server, "progress")
	want := map[string]any{"name": "gopls", "languages": []any{"go", "go.mod", "go.work"}, "state": "ready", "version": "v0.23.0", "rootPath": ".", "restarts": 0.0}
	if diff := cmp.Diff(want, server); diff != "" {
		t.Error(diff)
	}
	stopped, _ := h.wire("lsp_status", args{"restart": "gopls"}, `{"status": "complete"}`, "servers")
	if state := stopped["servers"].([]any)[0].(map[string]any)["state"]; state != "stopped" {
		t.Errorf("told to restart, it is %v before the next question", state)
	}
	h.wire("lsp_hover", args{"symbol": "Shelf.Add"}, `{`+completeAnswer+`, "signature": "func (s *Shelf) Add(n int)"}`, "text")
	h.fails("lsp_status", args{"restart": "nobody"}, tools.CodeToolInput)
}

func TestLSPPlaces(t *testing.T) {
	h, _ := newShop(t)
	// Behind é, 日本 and 😀, columns are what a person counts.
	for line, column := range map[int]int{9: 20, 10: 21, 11: 20} {
		for _, place := range []args{{"column": column}, {"symbol": "Price"}} {
			place["path"], place["line"] = "label/label.go", line
			h.wire("lsp_definition", place, `{"status": "complete", "server": "gopls", "total": 1, "files": ["label/label.go"], "truncated": false, "locations": [
				{"path": "label/label.go", "line": 5, "column": 7, "endLine": 5, "endColumn": 12, "text": "const Price = 3", "container": "Price", "kind": "constant"}]}`, "barrier")
		}
	}
	failed := h.fails("lsp_hover", args{"symbol": "Count"}, tools.CodeLSPAmbiguous)
	for _, want := range []string{"method stock.Shelf.Count", "stock/stock.go:28:17", "stock/stock.go:14:2"} {
		if !strings.Contains(failed.Err.Message, want) {
			t.Errorf("no %q in %s", want, failed.Err.Message)
		}
	}
	h.fails("lsp_hover", args{"path": "till/till.go", "line": 8}, tools.CodeToolInput)
	h.fails("lsp_hover", args{"path": "../outside.go", "line": 1, "column": 1}, tools.CodePathEscape)
}

// What an answer named outside of the workspace can be read, and nothing else.
func TestReadDependency(t *testing.T) {
	h, _ := newShop(t)
	var found builtin.LSPLocations
	h.ok("lsp_definition", args{"path": "stock/stock.go", "line": 32, "symbol": "Sprintf"}, &found)
	dep := found.Locations[0].Path
	if !found.Locations[0].External || !strings.HasPrefix(dep, "dep:/") {
		t.Fatalf("%+v", found.Locations)
	}
	text := h.ok("read", args{"path": dep, "offset": found.Locations[0].Line, "limit": 1}, nil)
	if !strings.HasPrefix(text, "func Sprintf(") {
		t.Errorf("%s", text)
	}
	h.fails("read", args{"path": "dep:/etc/passwd"}, tools.CodeNotFound)
	h.fails("read", args{"path": strings.TrimPrefix(dep, "dep:")}, tools.CodePathEscape)
	h.fails("edit", args{"path": dep, "edits": []args{{"oldText": "func Sprintf", "newText": "func Sprintg"}}}, tools.CodeNotFound)
	h.fails("delete", args{"path": dep}, tools.CodeNotFound)
	before, err := os.ReadFile(strings.TrimPrefix(dep, "dep:"))
	if err != nil {
		t.Fatal(err)
	}
	// A new file of that name belongs to the workspace.
	h.call("write", args{"path": dep, "content": "x", "force": true})
	if after, err := os.ReadFile(strings.TrimPrefix(dep, "dep:")); err != nil || string(after) != string(before) {
		t.Errorf("the dependency was written to: %v", err)
	}
}

func TestLSPRenameTool(t *testing.T) {
	h, rules := newShop(t)
	files := []string{"stock/stock.go", "stock/stock_test.go", "till/till.go", "till/till_test.go"}
	before := map[string]string{}
	for _, name := range files {
		before[name] = h.content(name)
	}
	unchanged := func(step string) {
		t.Helper()
		for _, name := range files {
			if h.content(name) != before[name] {
				t.Errorf("%s: %s has changed", step, name)
			}
		}
	}
	rename := args{"symbol": "Shelf.Add", "newName": "Put"}
	shape := completeAnswer + `, "edits": 5, "files": ["stock/stock.go", "stock/stock_test.go", "till/till.go", "till/till_test.go"]`

	dry, text := h.wire("lsp_rename", args{"symbol": "Shelf.Add", "newName": "Put", "dryRun": true}, `{`+shape+`}`, "patch")
	unchanged("dry run")
	if len(rules.actions) != 0 || !strings.HasPrefix(text, "Would rename: 5 edits in 4 files\n") || !strings.Contains(text, "+func (s *Shelf) Put(n int) {") {
		t.Errorf("%v\n%s", rules.actions, text)
	}

	rules.forbid = true
	h.fails("lsp_rename", rename, tools.CodeExecutionDenied)
	unchanged("forbidden")
	sum := sha256.Sum256([]byte(dry["patch"].(string)))
	if len(rules.actions) != 1 || !slices.Equal(rules.actions[0].Paths, files) || rules.actions[0].Content != hex.EncodeToString(sum[:]) || rules.actions[0].Operation != "lsp_rename" {
		t.Errorf("the policy was shown %+v", rules.actions)
	}
	rules.forbid = false

	done, _ := h.wire("lsp_rename", rename, `{`+shape+`, "delta": {"status": "complete", "introduced": [], "fixed": [], "unchanged": 0, "unknown": 0}}`, "patch", "undoId")
	if done["patch"] != dry["patch"] || !strings.Contains(h.content("till/till.go"), "s.Put(-1)") {
		t.Error("the rename is not what its dry run showed")
	}
	h.ok("undo", args{"undoId": done["undoId"]}, nil)
	unchanged("undone")
}

func TestLSPRenameToolRejects(t *testing.T) {
	h, _ := newShop(t)
	dotty := "package dotty\n\nimport . \"example.com/shop/stock\"\n\n/* é日本😀 */ func Put() *Shelf { return New(\"dots\") }\n"
	h.write("dotty/dotty.go", dotty)
	h.write("stock/more.go", "package stock\n\n// Plain is there to be renamed.\nfunc Plain() {}\n")
	before := h.content("stock/more.go")
	in := args{"symbol": "stock.Plain", "newName": "Put", "rejectIf": "new_errors"}
	failed := h.fails("lsp_rename", in, tools.CodeLSPWorkspace)
	if h.content("stock/more.go") != before || h.content("dotty/dotty.go") != dotty {
		t.Error("the rejected rename is still there")
	}
	encoded, err := json.Marshal(failed.Err)
	if err != nil {
		t.Fatal(err)
	}
	var wire struct {
		Details struct{ Delta builtin.LSPDelta }
	}
	if err := json.Unmarshal(encoded, &wire); err != nil {
		t.Fatal(err)
	}
	columns := func(list []builtin.LSPProblem) {
		t.Helper()
		// In code points; in UTF-16 the name would stand at 18.
		if !slices.ContainsFunc(list, func(p builtin.LSPProblem) bool {
			return p.Path == "dotty/dotty.go" && p.Line == 5 && p.Column == 17 && p.EndColumn == 20 && p.Severity == "error"
		}) {
			t.Errorf("%+v", list)
		}
	}
	columns(wire.Details.Delta.Introduced)
	delete(in, "rejectIf")
	var kept builtin.LSPChange
	text := h.ok("lsp_rename", in, &kept)
	columns(kept.Delta.Introduced)
	if !strings.Contains(text, "dotty/dotty.go:5:17: error: ") {
		t.Errorf("%s", text)
	}
	// And back: the same problem is fixed, where it was.
	h.ok("lsp_rename", args{"path": "stock/more.go", "symbol": "Put", "newName": "Plain"}, &kept)
	columns(kept.Delta.Fixed)
}

func TestLSPToolsAreShort(t *testing.T) {
	h, _ := newShop(t)
	size := 0
	for _, tool := range h.registry.Tools() {
		if spec := tool.Spec(); spec.Toolset == "lsp" {
			size += len(spec.Name) + len(spec.Description) + len(tool.InputSchema())
		}
	}
	if size == 0 || size > 8<<10 {
		t.Errorf("names, descriptions and input schemas of lsp are %d bytes long together", size)
	}
	t.Logf("%d bytes", size)
}
