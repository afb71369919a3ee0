package builtin_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/search"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

func TestMain(m *testing.M) {
	child.Main()
	procsess.Main()
	os.Exit(m.Run())
}

// soak is whether the full sizes are asked for.
func soak() bool { return os.Getenv("PRISM_SOAK") == "1" }

// host is a workspace with the core tools on it.
type host struct {
	t        testing.TB
	root     string
	ws       *workspace.Workspace
	owner    *child.Owner
	deps     *builtin.Deps
	registry *tools.Registry
}

// newHost makes one. adjust may change what the tools and the registry get.
func newHost(t testing.TB, adjust func(*builtin.Deps, *tools.RegistryOptions)) *host {
	t.Helper()
	return hostAt(t, t.TempDir(), t.TempDir(), adjust)
}

func hostAt(t testing.TB, root, state string, adjust func(*builtin.Deps, *tools.RegistryOptions)) *host {
	t.Helper()
	ws, err := workspace.Open(root, &workspace.Options{StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	owner := child.NewOwner(nil)
	t.Cleanup(func() {
		if err := owner.Close(); err != nil {
			t.Error(err)
		}
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	searcher, err := search.New(ws, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, root: ws.Root(), ws: ws, owner: owner}
	h.deps = &builtin.Deps{
		Workspace: ws, Searcher: searcher, Owner: owner, ReadPaths: builtin.NewReadPathSet(),
		Shell: builtin.ShellOptions{Environment: os.Environ(), SpillDir: t.TempDir()},
	}
	opts := &tools.RegistryOptions{}
	if adjust != nil {
		adjust(h.deps, opts)
	}
	list, err := builtin.Core(h.deps)
	if err != nil {
		t.Fatal(err)
	}
	if h.registry, err = tools.NewRegistry(list, opts); err != nil {
		t.Fatal(err)
	}
	return h
}

// args are the members of a call's input.
type args map[string]any

func (h *host) call(name string, in args) *tools.Result {
	h.t.Helper()
	return h.callAs(h.t.Context(), name, in, tools.CallOptions{Session: "s", Owner: "o"})
}

func (h *host) callAs(ctx context.Context, name string, in args, opts tools.CallOptions) *tools.Result {
	h.t.Helper()
	text, err := json.Marshal(in)
	if err != nil {
		h.t.Fatal(err)
	}
	result := h.registry.Call(ctx, name, text, opts)
	h.fits(result)
	return result
}

// ok makes a call that has to succeed, and fills metadata.
func (h *host) ok(name string, in args, metadata any) string {
	h.t.Helper()
	result := h.call(name, in)
	if result.Err != nil {
		h.t.Fatalf("%s %v: %v", name, in, result.Err)
	}
	if metadata != nil {
		if err := json.Unmarshal(result.Metadata, metadata); err != nil {
			h.t.Fatal(err)
		}
	}
	return textOf(result)
}

// fails makes a call that has to fail with code, and returns the result.
func (h *host) fails(name string, in args, code tools.Code) *tools.Result {
	h.t.Helper()
	result := h.call(name, in)
	if result.Err == nil || result.Err.Code != code {
		h.t.Fatalf("%s %v: got %v, want %s", name, in, result.Err, code)
	}
	return result
}

func textOf(result *tools.Result) string {
	text := ""
	for i, block := range result.Content {
		if block.Type != "text" {
			continue
		}
		if i > 0 {
			text += "\n"
		}
		text += block.Text
	}
	return text
}

func (h *host) path(rel string) string { return filepath.Join(h.root, filepath.FromSlash(rel)) }

func (h *host) write(rel, content string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(h.path(rel)), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(h.path(rel), []byte(content), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) content(rel string) string {
	h.t.Helper()
	data, err := os.ReadFile(h.path(rel))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(data)
}

// block is a content block of a result.
type block = tools.Block

func callOptions() tools.CallOptions { return tools.CallOptions{Session: "s", Owner: "o"} }

// fits checks that the metadata of a result is what the tool's schema says.
func (h *host) fits(result *tools.Result) {
	h.t.Helper()
	tool := h.registry.Tool(result.Tool)
	if tool == nil || result.Err != nil {
		return
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(tool.OutputSchema(), &schema); err != nil {
		h.t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(result.Metadata, &value); err != nil {
		h.t.Fatal(err)
	}
	if err := resolved.Validate(value); err != nil {
		h.t.Errorf("%s: the metadata does not fit its schema: %v\n%s", result.Tool, err, result.Metadata)
	}
}

// must ends the test on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
