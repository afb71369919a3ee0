package langintel_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
)

const noProblems = `{"kind":"full","items":[]}`

// wanting is a registration for file events.
func wanting(pattern string) lsptest.Action {
	return lsptest.Action{Request: fmt.Sprintf(`{"method":"client/registerCapability","params":{"registrations":[{"id":%q,"method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":%q}]}}]}}`, pattern, pattern)}
}

// reading opens a workspace for a scripted server that reads the disk, and is asked
// for diagnostics.
func reading(t *testing.T, rules ...lsptest.Rule) (*bench, *lsptest.Record) {
	t.Helper()
	spec, record := scriptedSpec(t, &lsptest.Script{
		Capabilities: `{"hoverProvider":true,"textDocumentSync":1,"diagnosticProvider":{}}`,
		On:           append(rules, on("textDocument/diagnostic", lsptest.Action{Reply: noProblems}), on("textDocument/hover", lsptest.Action{Reply: aHover})),
	})
	spec.ReadsDisk, spec.Roots, spec.Reads = true, []string{"x.mod"}, []string{"*.data"}
	return open(t, scriptedRoot(t), &langintel.Options{Servers: []langintel.Spec{spec}}), record
}

func diagnose(t *testing.T, b *bench, name string) {
	t.Helper()
	got, err := b.Diagnostics(within(t, 20*time.Second), langintel.DiagnosticsQuery{Path: name})
	if err != nil || got.Status != langintel.Complete {
		t.Fatalf("%+v, %v", got, err)
	}
}

// heard is what a server has received, as "method" or for what is about files
// "method file file …".
func heard(t *testing.T, record *lsptest.Record) []string {
	t.Helper()
	var out []string
	for _, m := range record.Messages(t) {
		line := m.Method
		for part := range strings.SplitSeq(string(m.Params), `"`) {
			if strings.HasPrefix(part, "file://") && m.Method != "initialize" {
				line += " " + filepath.Base(part)
			}
		}
		out = append(out, line)
	}
	return out
}

// inOrder reports whether the lines are among what was heard, in their order.
func inOrder(list []string, lines ...string) bool {
	for _, line := range lines {
		i := slices.Index(list, line)
		if i < 0 {
			return false
		}
		list = list[i+1:]
	}
	return true
}

// happened reports whether the events have one of a kind (LSP 3.17 §fileChangeType)
// for a file.
func happened(events string, kind int, name string) bool {
	for event := range strings.SplitSeq(events, "{") {
		if strings.Contains(event, fmt.Sprintf(`"type":%d`, kind)) && strings.Contains(event, "/"+name+`"`) {
			return true
		}
	}
	return false
}

// A server may answer from the disk before it has registered for what it read, or
// never register: it hears of changes all the same, before the next question.
func TestScriptedReadsDiskUnregistered(t *testing.T) {
	for name, rules := range map[string][]lsptest.Rule{
		"never":            nil,
		"after its answer": {{Method: "textDocument/diagnostic", Nth: 2, Do: []lsptest.Action{{Reply: noProblems}, wanting("**/*.x")}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, record := reading(t, rules...)
			const pull = "textDocument/diagnostic a.x"
			diagnose(t, b, "a.x")
			for _, file := range []string{"a.x", "a.x", "x.mod", "b.data"} {
				b.write(file, "other\n")
				diagnose(t, b, "a.x")
			}
			list := heard(t, record)
			if want := []string{pull, "workspace/didChangeWatchedFiles a.x", pull, "workspace/didChangeWatchedFiles a.x", pull, "workspace/didChangeWatchedFiles x.mod", pull, "workspace/didChangeWatchedFiles b.data", pull}; !inOrder(list, want...) {
				t.Errorf("it heard %q", list)
			}
			if slices.Contains(list, "textDocument/didOpen a.x") {
				t.Errorf("a file of which it was told was opened: %q", list)
			}
		})
	}
}

// Of a file whose changes nobody watches the server gets the text itself.
func TestScriptedReadsDiskUnwatched(t *testing.T) {
	b, record := reading(t)
	const name = "node_modules/b.x"
	b.write(name, "one\n")
	diagnose(t, b, name)
	b.write(name, "two\n")
	diagnose(t, b, name)
	if list := heard(t, record); !inOrder(list, "textDocument/didOpen b.x", "textDocument/diagnostic b.x", "textDocument/didChange b.x", "textDocument/diagnostic b.x") {
		t.Errorf("it heard %q", list)
	}
}

// What happened before a server registered for it is told when it has.
func TestScriptedLateRegistration(t *testing.T) {
	b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{
		{Method: "textDocument/hover", Nth: 3, Do: []lsptest.Action{wanting("**/*.y"), {Reply: aHover}}},
		{Method: "textDocument/hover", Nth: 5, Do: []lsptest.Action{wanting("**/*.z"), {Reply: aHover}}},
		on("textDocument/hover", lsptest.Action{Reply: aHover}),
	}}, nil)
	b.write("old.y", "1")
	fine(t, b)
	b.write("new.y", "1")
	b.write("old.y", "2")
	b.write("gone.y", "1")
	b.write("new.z", "1")
	fine(t, b)
	if err := os.Remove(filepath.Join(b.dir, "gone.y")); err != nil {
		t.Fatal(err)
	}
	b.write("new.y", "2")
	fine(t, b) // registers
	told := func() string {
		t.Helper()
		var all strings.Builder
		for _, m := range record.Of(t, "workspace/didChangeWatchedFiles") {
			all.Write(m.Params)
		}
		return all.String()
	}
	eventually(t, "the server hears of what happened before it registered", func() bool { return told() != "" })
	if got := told(); !happened(got, 1, "new.y") || !happened(got, 2, "old.y") || !happened(got, 3, "gone.y") || strings.Contains(got, ".z") {
		t.Errorf("told of %s", got)
	}
	before := len(told())
	fine(t, b)
	fine(t, b) // registers
	eventually(t, "the server hears of the rest", func() bool { return len(told()) > before })
	if got := told()[before:]; !happened(got, 1, "new.z") || strings.Contains(got, ".y") {
		t.Errorf("told of %s at the second registration", got)
	}
}

// A registration that came before an answer holds once the answer is there.
func TestScriptedRegistrationInOrder(t *testing.T) {
	b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{
		on("textDocument/hover", wanting("**/*.y"), lsptest.Action{Reply: aHover}),
	}}, nil)
	for i := range 20 {
		fine(t, b)
		name := fmt.Sprintf("f%d.y", i)
		b.write(name, "1")
		fine(t, b)
		if list := heard(t, record); !inOrder(list, "workspace/didChangeWatchedFiles "+name, "textDocument/hover a.x") {
			t.Fatalf("it heard %q", list)
		}
	}
}

// Patterns are absolute, below a base, or below the server's root, which need not be
// the workspace's.
func TestScriptedPatternsBelowRoot(t *testing.T) {
	for name, pattern := range map[string]string{
		"absolute": `"${path}/sub/lib/*.y"`, "base": `{"baseUri":"${root}/lib","pattern":"*.y"}`,
		"base with a folder": `{"baseUri":{"uri":"${root}","name":"sub"},"pattern":"lib/*.y"}`, "relative": `"lib/*.y"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := scriptedRoot(t)
			pattern = strings.ReplaceAll(pattern, "${path}", dir)
			spec, record := scriptedSpec(t, &lsptest.Script{On: []lsptest.Rule{
				on("textDocument/hover", lsptest.Action{Request: `{"method":"client/registerCapability","params":{"registrations":[{"id":"w","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":` + pattern + `}]}}]}}`}, lsptest.Action{Reply: aHover}),
			}})
			spec.Roots, spec.PerRoot = []string{"x.mod"}, true
			b := open(t, dir, &langintel.Options{Servers: []langintel.Spec{spec}})
			b.write("sub/x.mod", "")
			b.write("sub/a.x", "one\n")
			ask := func() {
				t.Helper()
				got, err := b.Hover(within(t, 20*time.Second), langintel.Place{Path: "sub/a.x", Line: 1, Column: 1})
				if err != nil || got.Text != "fine" {
					t.Fatalf("%+v, %v", got, err)
				}
			}
			ask()
			b.write("sub/lib/in.y", "1")
			b.write("sub/out.y", "1")
			ask()
			if list := heard(t, record); !inOrder(list, "workspace/didChangeWatchedFiles in.y", "textDocument/hover a.x") {
				t.Errorf("it heard %q", list)
			}
		})
	}
}

// A change that somebody announces while a server starts is not lost to it.
func TestScriptedChangeInHandshake(t *testing.T) {
	b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{
		on("initialize", lsptest.Action{Reply: `{"capabilities":` + scriptedCapabilities + `}`, After: 500}),
		on("initialized", wanting("**/*.y")),
		on("textDocument/hover", lsptest.Action{Reply: aHover}),
	}}, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = hover(b)
	}()
	eventually(t, "the server is asked to initialize", func() bool { return len(record.Of(t, "initialize")) == 1 })
	b.write("a.y", "1")
	if err := b.Changed(t.Context(), "a.y"); err != nil {
		t.Fatal(err)
	}
	<-done
	eventually(t, "the server hears of the change", func() bool {
		return inOrder(heard(t, record), "initialized", "workspace/didChangeWatchedFiles a.y")
	})
	fine(t, b)
	if got := record.Of(t, "workspace/didChangeWatchedFiles"); len(got) != 1 {
		t.Errorf("the server heard of one change %d times", len(got))
	}
}
