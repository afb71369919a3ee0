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

func TestLSPRenameFileTool(t *testing.T) {
	h, rules := newShop(t)
	for _, in := range []args{
		{}, {"from": "a"}, {"to": "b"}, {"newName": "x", "from": "a", "to": "b"}, {"symbol": "Shelf", "from": "a", "to": "b"}, {"symbol": "Shelf"}, {"newName": ""},
	} {
		h.fails("lsp_rename", in, tools.CodeToolInput)
	}
	in := args{"from": "label/label.go", "to": "label/names.go"}
	done, text := h.wire("lsp_rename", in, `{"status": "partial", "server": "", "barrier": "request", "edits": 0, "files": ["label/label.go", "label/names.go"],
		"reason": "no language server here takes part in renaming this file, so references to its path are as they were",
		"delta": {"status": "complete", "introduced": [], "fixed": [], "unchanged": 0, "unknown": 0}}`, "patch", "undoId")
	if !strings.HasPrefix(text, "[partial: no language server") || !strings.Contains(done["patch"].(string), "rename to label/names.go") {
		t.Errorf("%s\n%s", text, done["patch"])
	}
	if len(rules.actions) != 1 || !slices.Equal(rules.actions[0].Paths, []string{"label/label.go", "label/names.go"}) {
		t.Errorf("the policy was shown %+v", rules.actions)
	}
	h.ok("undo", args{"undoId": done["undoId"]}, nil)
	h.content("label/label.go")
}

func TestLSPCodeActionsTool(t *testing.T) {
	h, rules := newShop(t)
	text := "package till\n\nimport \"os\"\n"
	h.write("till/more.go", text)
	list, _ := h.wire("lsp_code_actions", args{"path": "till/more.go", "line": 1, "kinds": []string{"source.organizeImports"}}, `{`+completeAnswer+`}`, "actions")
	action := list["actions"].([]any)[0].(map[string]any)
	id := action["id"].(string)
	delete(action, "id")
	if diff := cmp.Diff(map[string]any{"title": "Organize Imports", "kind": "source.organizeImports", "preferred": false, "server": "gopls"}, action); diff != "" {
		t.Error(diff)
	}
	dry, _ := h.wire("lsp_code_actions", args{"apply": id, "dryRun": true}, `{`+completeAnswer+`, "edits": 1, "files": ["till/more.go"]}`, "patch")
	if h.content("till/more.go") != text || len(rules.actions) != 0 {
		t.Error("a dry run did something")
	}
	rules.forbid = true
	h.fails("lsp_code_actions", args{"apply": id}, tools.CodeExecutionDenied)
	rules.forbid = false
	done, said := h.wire("lsp_code_actions", args{"apply": id}, `{`+completeAnswer+`, "edits": 1, "files": ["till/more.go"]}`, "patch", "undoId", "delta")
	if done["patch"] != dry["patch"] || strings.Contains(h.content("till/more.go"), "os") || len(done["delta"].(map[string]any)["fixed"].([]any)) != 1 {
		t.Errorf("%s\n%v", h.content("till/more.go"), done)
	}
	if !strings.HasPrefix(said, "Applied: 1 edits in 1 files\n  till/more.go\nundoId ") {
		t.Errorf("%s", said)
	}
	h.fails("lsp_code_actions", args{"apply": id}, tools.CodeLSPStale)
	h.fails("lsp_code_actions", args{"apply": "none"}, tools.CodeToolInput)
	h.fails("lsp_code_actions", args{"path": "till/more.go", "line": 1, "dryRun": true}, tools.CodeToolInput)
	h.fails("lsp_code_actions", args{"path": "till/more.go", "line": 3, "endLine": 1}, tools.CodeOutOfRange)
}

// A profile that forbids every change still lets a model look at one.
func TestLSPDryRunsAreReads(t *testing.T) {
	h, _ := newShop(t)
	rules := &frozenPolicy{}
	var list []*tools.Tool
	for _, tool := range h.registry.Tools() {
		list = append(list, h.registry.Tool(tool.Spec().Name))
	}
	var err error
	if h.registry, err = tools.NewRegistry(list, &tools.RegistryOptions{Policy: rules}); err != nil {
		t.Fatal(err)
	}
	for _, in := range []struct {
		tool string
		in   args
	}{
		{"lsp_rename", args{"symbol": "Shelf.Add", "newName": "Put", "dryRun": true}},
		{"lsp_code_actions", args{"path": "till/till.go", "line": 8}},
		{"lsp_symbol_body", args{"symbol": "Shelf.Add", "op": "read"}},
		{"lsp_format", args{"path": "till/till.go", "dryRun": true}},
	} {
		h.ok(in.tool, in.in, nil)
	}
	for _, in := range []struct {
		tool string
		in   args
	}{
		{"lsp_rename", args{"symbol": "Shelf.Add", "newName": "Put"}},
		{"lsp_symbol_body", args{"symbol": "dotty.Make", "op": "delete"}},
	} {
		h.fails(in.tool, in.in, tools.CodeExecutionDenied)
	}
}

// frozenPolicy allows nothing that changes anything.
type frozenPolicy struct{}

func (frozenPolicy) Decide(_ context.Context, action tools.Action) tools.Decision {
	if action.Mutation == tools.MutatesNothing {
		return tools.Decision{Verdict: tools.Allow}
	}
	return tools.Decision{Verdict: tools.Forbid, Reason: "nothing changes here"}
}

func TestLSPFormatTool(t *testing.T) {
	h, rules := newShop(t)
	text := "package till\n\nfunc  Odd( ) { }\n"
	h.write("till/odd.go", text)
	dry, _ := h.wire("lsp_format", args{"path": "till/odd.go", "dryRun": true}, `{`+completeAnswer+`, "changed": true, "edits": 3, "files": ["till/odd.go"]}`, "patch")
	if h.content("till/odd.go") != text || len(rules.actions) != 0 || !strings.Contains(dry["patch"].(string), "+func Odd() {}\n") {
		t.Errorf("a dry run did something: %v", dry)
	}
	h.wire("lsp_format", args{"path": "till/odd.go"}, `{`+completeAnswer+`, "changed": true, "edits": 3, "files": ["till/odd.go"],
		"delta": {"status": "complete", "introduced": [], "fixed": [], "unchanged": 0, "unknown": 0}}`, "patch", "undoId")
	if len(rules.actions) != 1 || h.content("till/odd.go") != "package till\n\nfunc Odd() {}\n" {
		t.Errorf("%v\n%s", rules.actions, h.content("till/odd.go"))
	}
	_, said := h.wire("lsp_format", args{"path": "till/odd.go"}, `{`+completeAnswer+`, "changed": false, "edits": 0}`)
	if said != "Formatted already." || len(rules.actions) != 1 {
		t.Errorf("%s", said)
	}
}

func TestLSPHierarchyTool(t *testing.T) {
	h, _ := newShop(t)
	_, text := h.wire("lsp_hierarchy", args{"symbol": "till.Sell", "kind": "calls", "direction": "in"}, `{`+completeAnswer+`, "truncated": false, "nodes": [
		{"name": "Sell", "kind": "function", "detail": "example.com/shop/till • till.go", "depth": 0, "parent": -1, "location":
			{"path": "till/till.go", "line": 7, "column": 6, "endLine": 7, "endColumn": 10, "text": "func Sell(s *stock.Shelf) bool {", "container": "Sell", "kind": "function"}},
		{"name": "TestSell", "kind": "function", "detail": "example.com/shop/till • till_test.go", "depth": 1, "parent": 0, "sites": [12, 12], "location":
			{"path": "till/till_test.go", "line": 9, "column": 6, "endLine": 9, "endColumn": 14, "text": "func TestSell(t *testing.T) {", "container": "TestSell", "kind": "function"}}]}`)
	if want := "function Sell till/till.go:7\n  function TestSell till/till_test.go:9 (calls on line 12 12)"; text != want {
		t.Errorf("%s", text)
	}
	h.fails("lsp_hierarchy", args{"symbol": "till.Sell", "kind": "calls", "direction": "in", "depth": 6}, tools.CodeToolInput)
	h.fails("lsp_hierarchy", args{"symbol": "till.Sell", "kind": "calls"}, tools.CodeToolInput)
}

func TestLSPSymbolBodyTool(t *testing.T) {
	h, rules := newShop(t)
	place := `"path": "stock/stock.go", "namePath": "Shelf.Count", "kind": "method", "line": 28, "endLine": 28`
	_, text := h.wire("lsp_symbol_body", args{"symbol": "Shelf.Count", "op": "read"}, `{`+completeAnswer+`, `+place+`, "text": "func (s *Shelf) Count() int { return s.count }"}`)
	if want := "method Shelf.Count stock/stock.go:28-28\nfunc (s *Shelf) Count() int { return s.count }"; text != want {
		t.Errorf("%s", text)
	}
	before := h.content("stock/stock.go")
	replace := args{"symbol": "Shelf.Count", "op": "replace", "text": "func (s *Shelf) Count() int { return missing }"}
	rules.forbid = true
	h.fails("lsp_symbol_body", replace, tools.CodeExecutionDenied)
	rules.forbid = false
	if h.content("stock/stock.go") != before {
		t.Error("a forbidden change was made")
	}
	done, said := h.wire("lsp_symbol_body", replace, `{`+completeAnswer+`, `+place+`, "edits": 1, "files": ["stock/stock.go"]}`, "patch", "undoId", "delta")
	if n := len(done["delta"].(map[string]any)["introduced"].([]any)); n != 1 || !strings.Contains(said, "stock/stock.go:28:38: error: undefined: missing") {
		t.Errorf("%d introduced\n%s", n, said)
	}
	h.ok("undo", args{"undoId": done["undoId"]}, nil)
	failed := h.fails("lsp_symbol_body", args{"symbol": "till.Total", "op": "delete"}, tools.CodeLSPWorkspace)
	encoded, err := json.Marshal(failed.Err)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(encoded), `"references":[{"path":"till/till_test.go","line":15,`) {
		t.Errorf("%s", encoded)
	}
	h.wire("lsp_symbol_body", args{"symbol": "dotty.Make", "op": "delete", "dryRun": true}, `{`+completeAnswer+`, "path": "dotty/dotty.go", "namePath": "Make", "kind": "function",
		"line": 7, "endLine": 7, "edits": 1, "files": ["dotty/dotty.go"]}`, "patch")
	h.fails("lsp_symbol_body", args{"symbol": "dotty.Make", "op": "read", "dryRun": true}, tools.CodeToolInput)
}
