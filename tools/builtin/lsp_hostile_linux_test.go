package builtin_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/builtin"
)

// Whatever path a tool of this group is given, it shows and changes nothing that is
// outside of the root.
func TestLSPHostilePaths(t *testing.T) {
	h, _ := newShop(t)
	const mark = "OutsideOfTheRoot"
	outside := filepath.Join(t.TempDir(), "out.go")
	secret := "package out\n\nfunc " + mark + "()   {}\n"
	if err := os.WriteFile(outside, []byte(secret), 0o644); err != nil {
		t.Fatal(err)
	}
	beside, err := filepath.Rel(h.root, outside)
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"abs.go": outside, "rel.go": beside, "dangling.go": outside + "x", "loop.go": "loop.go", "outdir": filepath.Dir(outside)} {
		if err := os.Symlink(target, h.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	// In a directory that the go command leaves alone: it waits for a pipe for ever.
	if err := errors.Join(os.Mkdir(h.path("_odd"), 0o755), syscall.Mkfifo(h.path("_odd/fifo.go"), 0o644)); err != nil {
		t.Fatal(err)
	}
	odd := []string{"a\n.go", "bad\uFFFD.go"} // legal names here, to which something may be moved
	hostile := append(odd,
		beside, outside, "/"+outside, "till/../"+beside, "~root/out.go", "file://"+outside, "file://host"+outside,
		"file://"+h.root+"/%2e%2e/out.go", "a\x00.go", "abs.go", "rel.go", "outdir/out.go", "dangling.go", "loop.go", "_odd/fifo.go", "/proc/self/root"+outside,
		"/dev/fd/0", strings.Repeat("d/", 2048)+"out.go", strings.Repeat("n", 256)+".go", ".",
	)
	before := h.content("till/till.go")
	for _, path := range hostile {
		for _, c := range []struct {
			tool string
			in   args
		}{
			{"lsp_symbols", args{"path": path}},
			{"lsp_definition", args{"path": path, "line": 3, "column": 6}},
			{"lsp_references", args{"path": path, "line": 3, "symbol": mark}},
			{"lsp_hover", args{"path": path, "symbol": mark}},
			{"lsp_hierarchy", args{"path": path, "line": 3, "column": 6, "kind": "calls", "direction": "in"}},
			{"lsp_diagnostics", args{"path": path}},
			{"lsp_code_actions", args{"path": path, "line": 3}},
			{"lsp_format", args{"path": path}},
			{"lsp_symbol_body", args{"path": path, "line": 3, "column": 6, "op": "delete"}},
			{"lsp_rename", args{"path": path, "line": 3, "column": 6, "newName": "Other"}},
			{"lsp_rename", args{"from": path, "to": "stolen.go"}},
			{"lsp_rename", args{"from": "till/till.go", "to": path}},
		} {
			if to, _ := c.in["to"].(string); slices.Contains(odd, to) {
				continue
			}
			began := time.Now()
			result := h.call(c.tool, c.in)
			if took := time.Since(began); took > 10*time.Second { // the first one starts the server
				t.Errorf("%s %q took %v", c.tool, c.in, took)
			}
			var answer builtin.LSPAnswer
			if result.Err == nil && (json.Unmarshal(result.Metadata, &answer) != nil || answer.Status != "unsupported") {
				t.Errorf("%s %q: no error, %s", c.tool, c.in, result.Metadata)
			}
			if strings.Contains(textOf(result), mark+"()") {
				t.Errorf("%s %q shows what is outside: %s", c.tool, c.in, textOf(result))
			}
		}
	}
	if got, err := os.ReadFile(outside); err != nil || string(got) != secret {
		t.Errorf("outside is %q, %v", got, err)
	}
	if got := h.content("till/till.go"); got != before {
		t.Errorf("till.go is %q", got)
	}
	if _, err := os.Lstat(h.path("stolen.go")); err == nil {
		t.Error("something was moved in")
	}
	for _, name := range odd {
		for _, move := range [][2]string{{"till/till.go", name}, {name, "till/till.go"}} {
			result := h.call("lsp_rename", args{"from": move[0], "to": move[1]})
			if result.Err != nil || h.content(move[1]) != before {
				t.Errorf("%q: %v, %s", move, result.Err, result.Metadata)
			}
		}
	}
}
