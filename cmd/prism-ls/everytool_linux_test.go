package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// otherClient is a client of the TypeScript SDK, testdata/servers/calls.mjs, with one
// connection to a server.
type otherClient struct {
	t     *testing.T
	in    io.WriteCloser
	lines chan string
	done  chan error
}

// newOtherClient starts it in the inspector's workspace.
func newOtherClient(in *inspector) *otherClient {
	in.t.Helper()
	script, err := filepath.Abs(filepath.Join("..", "..", "testdata", "servers", "calls.mjs"))
	if err != nil {
		in.t.Fatal(err)
	}
	cmd := exec.CommandContext(in.t.Context(), in.node, script, "prism-ls", "mcp", "--root", in.root, "--state-dir", in.state)
	cmd.Stderr = os.Stderr
	c := &otherClient{t: in.t, lines: make(chan string), done: make(chan error, 1)}
	if c.in, err = cmd.StdinPipe(); err != nil {
		in.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		in.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		in.t.Fatal(err)
	}
	go func() {
		defer close(c.lines)
		for reader := bufio.NewReader(out); ; {
			line, err := reader.ReadString('\n')
			if err != nil {
				c.done <- cmd.Wait()
				return
			}
			c.lines <- line
		}
	}()
	return c
}

// next reads a line of what the client prints.
func (c *otherClient) next(into any) {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatalf("the client ended: %v", <-c.done)
		}
		if err := json.Unmarshal([]byte(line), into); err != nil {
			c.t.Fatalf("%v: %s", err, line)
		}
	case <-time.After(3 * patience):
		c.t.Fatal("no answer")
	}
}

// args are the members of a call's input.
type args map[string]any

func (c *otherClient) call(tool string, in args) inspected {
	c.t.Helper()
	if in == nil {
		in = args{}
	}
	line, err := json.Marshal(map[string]any{"name": tool, "arguments": in})
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		c.t.Fatal(err)
	}
	var result inspected
	c.next(&result)
	return result
}

// everyTool calls each tool once. What it says, or that it fails, shows that the
// call has arrived; what tools do is tested where they are.
var everyTool = []struct {
	tool string
	in   args
	says string
	fail bool
}{
	{"write", args{"path": "notes.txt", "content": "one two\n"}, "notes.txt", false},
	{"read", args{"path": "notes.txt"}, "one two", false},
	{"edit", args{"path": "notes.txt", "edits": []args{{"oldText": "one", "newText": "1"}}}, "replaced 1", false},
	{"repo_list", args{"maxDepth": 1}, "notes.txt", false},
	{"repo_search", args{"query": "1 two"}, "notes.txt:1:1:1 two", false},
	{"glob", args{"pattern": "*.txt"}, "notes.txt", false},
	{"move", args{"from": "notes.txt", "to": "moved.txt"}, "moved.txt", false},
	{"delete", args{"path": "moved.txt"}, "moved.txt", false},
	{"shell", args{"command": "echo $((6*7))"}, "42", false},
	{"git_status", nil, "clean", false},
	{"git_diff", nil, "", false},
	{"git_log", nil, "a shop", false},
	{"git_show", args{"ref": "HEAD", "path": "go.mod"}, "module", false},
	{"git_blame", args{"path": "go.mod"}, "module", false},
	{"git_pr_handoff", args{"base": "HEAD"}, "", false},
	{"git_branch", args{"op": "list"}, "* ", false},
	{"git_worktree", args{"op": "list"}, "[main]", false},
	{"git_apply", args{"op": "check", "patch": "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n"}, "new.txt", false},
	{"git_restore", args{"paths": []string{"missing"}, "from": "HEAD"}, "ERR_PRISM_NOT_FOUND", true},
	{"git_commit", args{"message": "m", "paths": []string{"missing"}}, "ERR_PRISM_", true}, // nothing there, or nobody to do it
	{"coding_check", args{"name": "test"}, "ERR_PRISM_CHECK_UNKNOWN", true},
	{"lsp_symbols", args{"path": "stock/stock.go"}, "function", false},
	{"lsp_definition", args{"symbol": "stock.New"}, "stock/stock.go", false},
	{"lsp_references", args{"symbol": "stock.New"}, "stock/stock.go", false},
	{"lsp_hover", args{"symbol": "stock.New"}, "func New", false},
	{"lsp_diagnostics", args{"path": "stock/stock.go"}, "(no matches)", false},
	{"lsp_rename", args{"symbol": "stock.New", "newName": "Open"}, "0 introduced", false},
	{"undo", nil, "stock/stock.go", false},
	{"lsp_hierarchy", args{"symbol": "stock.New", "kind": "calls", "direction": "in"}, "stock", false},
	{"lsp_symbol_body", args{"symbol": "stock.New", "op": "read"}, "func New", false},
	{"lsp_code_actions", args{"path": "stock/stock.go", "line": 1}, "", false},
	{"lsp_format", args{"path": "stock/stock.go"}, "", false},
	{"lsp_status", nil, "gopls", false},
	{"proc_start", args{"command": "echo up; cat", "durable": true, "readyWhen": args{"match": "up"}}, ", ready", false},
	{"proc_list", nil, "running", false},
	{"proc_wait", args{"match": "up", "cursor": 0}, "match \"up\"", false},
	{"proc_resize", args{"columns": 80, "rows": 24}, "running", false},
	{"proc_input", args{"text": "typed\n", "waitMs": 2000}, "typed", false},
	{"proc_output", args{"cursor": 0}, "up\ntyped", false},
	{"proc_signal", args{"signal": "SIGCONT"}, "running", false},
	{"proc_kill", nil, "killed", false},
	{"proc_release", nil, "ERR_PRISM_PROCESS_STATE", true},
	{"ask_user_decision", args{"question": "Which?", "options": []args{choice("x"), choice("y")}}, "ERR_PRISM_DECISION_UNSUPPORTED", true},
}

func choice(id string) args {
	three := []string{"a", "b", "c"}
	return args{"id": id, "label": id, "pros": three, "cons": three}
}

// TestEveryToolByAnotherClient: another implementation of MCP lists the tools and
// calls each.
func TestEveryToolByAnotherClient(t *testing.T) {
	t.Parallel()
	client := newOtherClient(newInspector(t))
	var listed struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	client.next(&listed)
	undoID, session := "", ""
	called := map[string]bool{}
	for _, c := range everyTool {
		in := args{}
		for name, value := range c.in {
			in[name] = value
		}
		if c.tool == "undo" {
			in["undoId"] = undoID
		}
		if strings.HasPrefix(c.tool, "proc_") && session != "" && c.tool != "proc_list" {
			in["id"] = session
		}
		result := client.call(c.tool, in)
		called[c.tool] = true
		text := result.text()
		if result.IsError != c.fail || !strings.Contains(text, c.says) {
			t.Errorf("%s %v: error %t, text %q, want %q", c.tool, in, result.IsError, text, c.says)
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
	client.in.Close()
	select {
	case _, ok := <-client.lines:
		if ok {
			t.Error("the client says more than it was asked")
		}
	case <-time.After(patience):
		t.Error("the client does not end")
	}
}
