package langintel_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
)

// A publish counts only when it is of the text that was asked about.
func TestScriptedPublishedVersions(t *testing.T) {
	publish := func(version int, message string) lsptest.Action {
		return lsptest.Action{Notify: fmt.Sprintf(`{"method":"textDocument/publishDiagnostics","params":{"uri":"${root}/a.x","version":%d,"diagnostics":[{"range":{"start":{"line":1,"character":6},"end":{"line":1,"character":11}},"severity":1,"code":7,"message":%q}]}}`, version, message)}
	}
	b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{
		on("textDocument/didOpen", publish(1, "first")),
		{Method: "textDocument/didChange", Nth: 1, Do: []lsptest.Action{publish(1, "late"), {Sleep: 100}, publish(2, "second"), publish(1, "overtaken")}},
		{Method: "textDocument/didChange", Nth: 2},
	}}, &langintel.Options{Timeout: 2 * time.Second})
	check := func(status langintel.Status, message string) {
		t.Helper()
		got, err := b.Diagnostics(within(t, 20*time.Second), langintel.DiagnosticsQuery{Path: "a.x"})
		if err != nil || got.Status != status || len(got.Problems) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		if p := got.Problems[0]; p.Message != message || p.Line != 2 || p.Column != 6 || p.EndColumn != 11 || p.Code != "7" {
			t.Errorf("%+v, want %q", p, message)
		}
	}
	check(langintel.Complete, "first")
	b.write("a.x", "zero\n"+"é日本😀 three\n")
	check(langintel.Complete, "second")
	b.write("a.x", "silence\n"+"é日本😀 three\n")
	check(langintel.Stale, "second")
}

// judged asks about a.x and fails the test when the answer is final and wrong; exact
// wants it final and right.
func judged(t *testing.T, b *bench, exact bool, messages ...string) {
	t.Helper()
	got, err := b.Diagnostics(within(t, 30*time.Second), langintel.DiagnosticsQuery{Path: "a.x"})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, p := range got.Problems {
		found = append(found, p.Message)
	}
	right := fmt.Sprint(found) == fmt.Sprint(messages)
	if got.Status == langintel.Complete && !right || exact && (got.Status != langintel.Complete || !right) {
		t.Errorf("%q, %+v; want %q", found, got.Answer, messages)
	}
}

func (b *bench) edit(text string) {
	b.t.Helper()
	b.write("a.x", text+"\n")
	if err := b.Changed(b.t.Context(), "a.x"); err != nil {
		b.t.Fatal(err)
	}
}

// What a server publishes late for an earlier text is not taken for the present,
// whichever way it publishes, and however fast the text went back and forth.
func TestScriptedLatePublishes(t *testing.T) {
	const bad = `"text":"bad`
	for name, c := range map[string]struct {
		delay   int
		version string // member of a publish
		exact   bool
	}{
		"at once, versions":      {0, `"version":${version},`, true},
		"at once, no versions":   {0, "", true},
		"late, versions":         {400, `"version":${version},`, true},
		"a bit late, no version": {100, "", true},
		"late, no versions":      {300, "", false},
		"null versions":          {50, `"version":null,`, true},
		"version always 0":       {50, `"version":0,`, true},
		"versions of its own":    {50, `"version":1000${n},`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			say := func(messages ...string) lsptest.Action {
				return later(c.delay, publishes("${uri}", c.version+problemsOf(messages...)))
			}
			b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{
				{Method: "textDocument/didOpen", Has: bad, Do: []lsptest.Action{say("wrong")}}, on("textDocument/didOpen", say()),
				{Method: "textDocument/didChange", Has: bad, Do: []lsptest.Action{say("wrong")}}, on("textDocument/didChange", say()),
			}}, &langintel.Options{Timeout: 3 * time.Second})
			judged(t, b, true)
			b.edit("bad 1")
			judged(t, b, true, "wrong") // from here on the client knows how late it publishes
			for range 2 {
				b.edit("good 2")
				b.edit("bad 3")
				b.edit("good 4")
				judged(t, b, c.exact)
				b.edit("good 5")
				b.edit("bad 6")
				judged(t, b, c.exact, "wrong")
			}
		})
	}
}

// Servers that say nothing about a text that they have judged already are right to.
func TestScriptedSilence(t *testing.T) {
	for name, version := range map[string]string{"versions": `"version":${version},`, "no versions": ""} {
		t.Run(name, func(t *testing.T) {
			b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{
				on("textDocument/didOpen", publishes("${uri}", version+problemsOf("first"))),
				{Method: "textDocument/didChange", Nth: 1, Do: []lsptest.Action{publishes("${uri}", version+problemsOf("second"))}},
			}}, &langintel.Options{Timeout: 5 * time.Second})
			b.edit("one")
			judged(t, b, true, "first")
			began := time.Now()
			for range 3 { // the same bytes, written anew
				b.edit("one")
				judged(t, b, true, "first")
			}
			if n := len(record.Of(t, "textDocument/didChange")); n != 0 {
				t.Errorf("told of %d changes, and there are none", n)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("it took %v", took)
			}
			b.edit("two")
			judged(t, b, true, "second")
			judged(t, b, true, "second")
		})
	}
}

// Some publish an empty list first, and what they found a moment later under the
// same version.
func TestScriptedPlaceholder(t *testing.T) {
	for name, c := range map[string]struct {
		version string
		delay   int
	}{"versions": {`"version":${version},`, 20}, "no versions": {"", 80}} {
		t.Run(name, func(t *testing.T) {
			both := []lsptest.Action{publishes("${uri}", c.version+problemsOf()), later(c.delay, publishes("${uri}", c.version+problemsOf("found")))}
			b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{on("textDocument/didOpen", both...), on("textDocument/didChange", both...)}}, nil)
			for i := range 3 {
				judged(t, b, true, "found")
				b.edit(fmt.Sprint("text ", i))
			}
		})
	}
}

// While the server works on what it began after a change, its first word is not the
// last.
func TestScriptedProgressOpen(t *testing.T) {
	b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{
		on("textDocument/didOpen", publishes("${uri}", problemsOf())),
		on("textDocument/didChange", progresses("1", `{"kind":"begin","title":"checking"}`), publishes("${uri}", problemsOf()),
			later(600, publishes("${uri}", problemsOf("found"))), later(620, progresses("1", `{"kind":"end"}`))),
	}}, nil)
	judged(t, b, true)
	b.edit("text")
	judged(t, b, true, "found")
}

// When another file changed, a server is made to look again at one that it has
// judged; one that will not gives a partial answer with a reason.
func TestScriptedOtherFileChanged(t *testing.T) {
	for name, again := range map[string]bool{"looks again": true, "stays silent": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := []lsptest.Rule{
				on("initialized", lsptest.Action{Await: true, Request: `{"method":"client/registerCapability","params":{"registrations":[{"id":"w","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":"**/*.x"}]}}]}}`}),
				on("textDocument/didOpen", publishes("${uri}", `"version":${version},`+problemsOf())),
			}
			if again {
				rules = append(rules, on("textDocument/didChange", publishes("${uri}", `"version":${version},`+problemsOf("b is gone"))))
			}
			b, record := scripted(t, &lsptest.Script{On: rules}, &langintel.Options{Timeout: 8 * time.Second})
			b.write("b.x", "b\n")
			judged(t, b, true)
			if err := os.Remove(filepath.Join(b.dir, "b.x")); err != nil {
				t.Fatal(err)
			}
			if err := b.Changed(t.Context(), "b.x"); err != nil {
				t.Fatal(err)
			}
			record.Wait(t, "workspace/didChangeWatchedFiles", 1)
			if again {
				judged(t, b, true, "b is gone")
				return
			}
			got, err := b.Diagnostics(within(t, 30*time.Second), langintel.DiagnosticsQuery{Path: "a.x"})
			if err != nil || got.Status != langintel.Partial || got.Reason == "" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
