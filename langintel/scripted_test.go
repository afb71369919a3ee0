package langintel_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
)

const scriptedCapabilities = `{"hoverProvider":true,"referencesProvider":true,"renameProvider":true,"textDocumentSync":1}`

// scripted opens a workspace with one file, "a.x", for a scripted server. Beside
// the workspace is nothing else in its directory.
func scripted(t *testing.T, script *lsptest.Script, opts *langintel.Options) (*bench, *lsptest.Record) {
	t.Helper()
	if opts == nil {
		opts = &langintel.Options{}
	}
	spec, record := scriptedSpec(t, script)
	opts.Servers = append([]langintel.Spec{spec}, opts.Servers...)
	return open(t, scriptedRoot(t), opts), record
}

// scriptedSpec describes a scripted server for *.x.
func scriptedSpec(t *testing.T, script *lsptest.Script) (langintel.Spec, *lsptest.Record) {
	t.Helper()
	if script.Capabilities == "" {
		script.Capabilities = scriptedCapabilities
	}
	program, args, record := lsptest.Command(t, script)
	return langintel.Spec{
		Name: "scripted", Program: program, Args: args, Section: "scripted", Settings: []byte(`{"a":1,"b":{"c":[true]}}`),
		Languages: []langintel.Language{{ID: "x", Patterns: []string{"*.x"}}},
	}, record
}

func scriptedRoot(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.x"), []byte("one two\né日本😀 three\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func on(method string, do ...lsptest.Action) lsptest.Rule {
	return lsptest.Rule{Method: method, Do: do}
}

// publishes is a publish of diagnostics with the members after the URI.
func publishes(uri, rest string) lsptest.Action {
	return lsptest.Action{Notify: `{"method":"textDocument/publishDiagnostics","params":{"uri":"` + uri + `",` + rest + `}}`}
}

// problemsOf is the diagnostics member with one error for each message.
func problemsOf(messages ...string) string {
	items := make([]string, len(messages))
	for i, message := range messages {
		items[i] = `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"severity":1,"message":"` + message + `"}`
	}
	return `"diagnostics":[` + strings.Join(items, ",") + "]"
}

// raw is a whole message.
func raw(body string) lsptest.Action {
	return lsptest.Action{Raw: fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)}
}

func later(ms int, a lsptest.Action) lsptest.Action {
	a.After = ms
	return a
}

var firstWord = langintel.Place{Path: "a.x", Line: 1, Column: 1}

func hover(b *bench) (*langintel.HoverResult, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return b.Hover(ctx, firstWord)
}

const aHover = `{"contents":{"kind":"plaintext","value":"fine"}}`

// fine asks, and fails the test unless the server answers.
func fine(t *testing.T, b *bench) {
	t.Helper()
	if got, err := hover(b); err != nil || got.Text != "fine" {
		t.Fatalf("%+v, %v", got, err)
	}
}

// eventually looks until it holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	const limit = 15 * time.Second
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(limit)
	for !holds() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// statusOf is the status of one server.
func statusOf(t testing.TB, b *bench, name string) langintel.ServerStatus {
	t.Helper()
	list, err := b.Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no server %s: %+v", name, list)
	return langintel.ServerStatus{}
}
