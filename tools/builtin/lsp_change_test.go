package builtin_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prism-ls/prism-ls/tools"
)

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
