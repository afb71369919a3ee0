package langintel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
	"github.com/prism-ls/prism-ls/tools"
)

const scriptedCapabilities = `{"hoverProvider":true,"referencesProvider":true,"renameProvider":true,"textDocumentSync":1}`

// scripted opens a workspace with one file, "a.x", for a scripted server.
func scripted(t *testing.T, script *lsptest.Script, opts *langintel.Options) (*bench, *lsptest.Record) {
	t.Helper()
	if script.Capabilities == "" {
		script.Capabilities = scriptedCapabilities
	}
	program, args, record := lsptest.Command(t, script)
	if opts == nil {
		opts = &langintel.Options{}
	}
	opts.Servers = append([]langintel.Spec{{
		Name: "scripted", Program: program, Args: args, Section: "scripted", Settings: []byte(`{"a":1,"b":{"c":[true]}}`),
		Languages: []langintel.Language{{ID: "x", Patterns: []string{"*.x"}}},
	}}, opts.Servers...)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.x"), []byte("one two\né日本😀 three\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return open(t, dir, opts), record
}

func on(method string, do ...lsptest.Action) lsptest.Rule {
	return lsptest.Rule{Method: method, Do: do}
}

func hover(b *bench) (*langintel.HoverResult, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return b.Hover(ctx, langintel.Place{Path: "a.x", Line: 1, Column: 1})
}

const aHover = `{"contents":{"kind":"plaintext","value":"fine"}}`

// Servers do the base protocol in many ways.
func TestScriptedFraming(t *testing.T) {
	body := `{"jsonrpc":"2.0","method":"window/logMessage","params":{"type":3,"message":"日本 😀"}}`
	for name, c := range map[string]struct {
		do   []lsptest.Action
		want tools.Code
	}{
		"split anywhere":    {do: []lsptest.Action{{Reply: aHover, Split: 1}}},
		"split in threes":   {do: []lsptest.Action{{Notify: `{"method":"x","params":{"s":"日本"}}`, Split: 3}, {Reply: aHover, Split: 7}}},
		"extra headers":     {do: []lsptest.Action{{Raw: fmt.Sprintf("Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:%d\r\nX: y\r\n\r\n%s", len(body), body)}, {Reply: aHover}}},
		"unknown messages":  {do: []lsptest.Action{{Notify: `{"method":"$/strange"}`}, {Request: `{"method":"strange/request"}`, Await: true}, {Reply: aHover}}},
		"noise":             {do: []lsptest.Action{{Raw: "starting up...\nplease wait\n"}, {Reply: aHover}}, want: tools.CodeLSPFraming},
		"not JSON":          {do: []lsptest.Action{{Raw: "Content-Length: 4\r\n\r\n{{{{"}, {Reply: aHover}}, want: tools.CodeLSPFraming},
		"no length":         {do: []lsptest.Action{{Raw: "Content-Type: x\r\n\r\n{}"}, {Reply: aHover}}, want: tools.CodeLSPFraming},
		"huge length":       {do: []lsptest.Action{{Raw: "Content-Length: 99999999999\r\n\r\n{}"}, {Reply: aHover}}, want: tools.CodeLSPFraming},
		"negative length":   {do: []lsptest.Action{{Raw: "Content-Length: -1\r\n\r\n{}"}, {Reply: aHover}}, want: tools.CodeLSPFraming},
		"endless line":      {do: []lsptest.Action{{Raw: strings.Repeat("x", 100_000)}, {Reply: aHover}}, want: tools.CodeLSPFraming},
		"end in a message":  {do: []lsptest.Action{{Raw: "Content-Length: 400\r\n\r\n{"}, {Exit: 1}}, want: tools.CodeLSPServer},
		"answer of another": {do: []lsptest.Action{{Raw: "Content-Length: 38\r\n\r\n" + `{"jsonrpc":"2.0","id":99,"result":{} }`}, {Reply: aHover}}},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{on("textDocument/hover", c.do...)}}, nil)
			got, err := hover(b)
			if c.want == "" && (err != nil || got.Text != "fine") || c.want != "" && !errors.Is(err, c.want) {
				t.Fatalf("%+v, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestScriptedMessageCap(t *testing.T) {
	big := `{"contents":"` + strings.Repeat("x", 1<<20) + `\u001b[31m<b>"}`
	script := &lsptest.Script{On: []lsptest.Rule{on("textDocument/hover", lsptest.Action{Reply: big})}}
	b, _ := scripted(t, script, nil)
	got, err := hover(b)
	if err != nil || len(got.Text) > 17<<10 || !strings.HasPrefix(got.Text, "xxx") {
		t.Fatalf("%d bytes, %v", len(got.Text), err)
	}
	b, _ = scripted(t, script, &langintel.Options{MaxMessageBytes: 1 << 20})
	if _, err = hover(b); !errors.Is(err, tools.CodeLSPFraming) {
		t.Fatal(err)
	}
}

func TestScriptedTextIsData(t *testing.T) {
	b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{on("textDocument/hover", lsptest.Action{Reply: `{"contents":["a\u001b[31m\u202eb",{"language":"x","value":"c\u0000"}]}`})}}, nil)
	got, err := hover(b)
	if want := "a\\x1b[31m\\u202eb\n\n```x\nc\\x00\n```"; err != nil || got.Text != want {
		t.Fatalf("%q, %v; want %q", got.Text, err, want)
	}
}

// A server may ask before it has answered initialize, and as many items as it
// likes.
func TestScriptedAsksBeforeInitialized(t *testing.T) {
	ask := func(text string) lsptest.Action { return lsptest.Action{Request: text, Await: true} }
	b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{
		on("initialize",
			ask(`{"method":"workspace/configuration","params":{"items":[{"section":"scripted.b.c"},{"section":"other"},{"section":"scripted"},{"section":"scripted.a"}]}}`),
			ask(`{"method":"workspace/workspaceFolders"}`),
			ask(`{"method":"client/registerCapability","params":{"registrations":[{"id":"w","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":"**/*.{x,y}"},{"globPattern":{"baseUri":"${root}/sub","pattern":"*.z"},"kind":4}]}}]}}`),
			ask(`{"method":"window/workDoneProgress/create","params":{"token":7}}`),
			ask(`{"method":"window/showMessageRequest","params":{"type":1,"message":"?","actions":[{"title":"yes"}]}}`),
			ask(`{"method":"window/showDocument","params":{"uri":"file:///x"}}`),
			ask(`{"method":"workspace/applyEdit","params":{"edit":{"changes":{}}}}`),
			ask(`{"method":"workspace/codeLens/refresh"}`),
			ask(`{"method":"no/such"}`),
			lsptest.Action{Reply: `{"capabilities":` + scriptedCapabilities + `}`}),
		on("textDocument/hover", lsptest.Action{Reply: aHover}),
	}}, nil)
	if got, err := hover(b); err != nil || got.Text != "fine" {
		t.Fatalf("%+v, %v", got, err)
	}
	var answers []string
	for _, m := range record.Messages(t) {
		if m.Method == "" {
			answers = append(answers, string(m.Result)+string(m.Error))
		}
	}
	want := []string{`[[true],null,{"a":1,"b":{"c":[true]}},1]`, `[{"uri":"file:`, `null`, `null`, `null`, `{"success":false}`, `"applied":false`, `null`, `-32601`}
	if len(answers) != len(want) {
		t.Fatalf("%q", answers)
	}
	for i, part := range want {
		if !strings.Contains(answers[i], part) {
			t.Errorf("answer %d is %s, want %s", i, answers[i], part)
		}
	}
	// What was registered is watched: braces, and a relative pattern for deletions.
	b.write("sub/b.y", "new")
	b.write("sub/c.z", "new")
	ctx := within(t, 20*time.Second)
	if err := b.Changed(ctx, "sub/b.y", "sub/c.z", "a.x"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(b.dir, "sub", "c.z")); err != nil {
		t.Fatal(err)
	}
	if err := b.Changed(ctx, "sub/c.z"); err != nil {
		t.Fatal(err)
	}
	events := record.Wait(t, "workspace/didChangeWatchedFiles", 2)
	if first := string(events[0].Params); !strings.Contains(first, "b.y") || strings.Contains(first, "c.z") || !strings.Contains(first, "a.x") {
		t.Errorf("first: %s", first)
	}
	if second := string(events[1].Params); !strings.Contains(second, "c.z") || !strings.Contains(second, `"type":3`) {
		t.Errorf("second: %s", second)
	}
}

func TestScriptedDeath(t *testing.T) {
	t.Run("in flight", func(t *testing.T) {
		b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{on("textDocument/hover", lsptest.Action{Stderr: "panic: out of \x1b[1mluck\n"}, lsptest.Action{Exit: 3})}}, nil)
		if err := b.Restart(context.Background(), "scripted"); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := hover(b); !errors.Is(err, tools.CodeLSPServer) {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
	t.Run("at start, until down", func(t *testing.T) {
		b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{on("initialize", lsptest.Action{Stderr: "no \x1b[1mlicence\n"}, lsptest.Action{Exit: 3})}}, nil)
		var err error
		for range 6 {
			_, err = hover(b)
			if !errors.Is(err, tools.CodeLSPServer) {
				t.Fatal(err)
			}
		}
		if text := err.Error(); !strings.Contains(text, "down after 3 restarts") || !strings.Contains(text, `no \x1b[1mlicence`) {
			t.Errorf("%s", text)
		}
		if n := len(record.Messages(t)); n != 4 {
			t.Errorf("started %d times, want once and 3 restarts", n)
		}
		status, err := b.Status(context.Background())
		if err != nil || status[0].State != "down" || status[0].Restarts != 3 || status[0].LastError == "" {
			t.Errorf("%+v, %v", status, err)
		}
		if err := b.Restart(context.Background(), "scripted"); err != nil {
			t.Fatal(err)
		}
		if _, err = hover(b); !errors.Is(err, tools.CodeLSPServer) || len(record.Messages(t)) != 5 {
			t.Errorf("after a restart: %v", err)
		}
	})
}

func TestScriptedHang(t *testing.T) {
	t.Run("request", func(t *testing.T) {
		b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{{Method: "textDocument/hover", Nth: 2}, on("textDocument/hover", lsptest.Action{Reply: aHover})}},
			&langintel.Options{Timeout: 300 * time.Millisecond})
		if got, err := hover(b); err != nil || got.Text != "fine" {
			t.Fatalf("%+v, %v", got, err)
		}
		got, err := hover(b)
		if err != nil || got.Status != langintel.TimedOut || got.Reason == "" {
			t.Fatalf("%+v, %v", got, err)
		}
		record.Wait(t, "$/cancelRequest", 1)
		if got, err := hover(b); err != nil || got.Text != "fine" {
			t.Fatalf("%+v, %v", got, err)
		}
	})
	t.Run("reading", func(t *testing.T) {
		b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{
			{Method: "textDocument/hover", Nth: 1, Do: []lsptest.Action{{Reply: aHover}}}, on("textDocument/hover", lsptest.Action{Hang: true}),
		}}, &langintel.Options{Timeout: 300 * time.Millisecond})
		if got, err := hover(b); err != nil || got.Text != "fine" {
			t.Fatalf("%+v, %v", got, err)
		}
		// More than a pipe holds: the sender must not wait for the server.
		b.write("a.x", strings.Repeat("one two\n", 100_000))
		for range 3 {
			if got, err := hover(b); err != nil || got.Status != langintel.TimedOut {
				t.Fatalf("%+v, %v", got, err)
			}
			b.write("a.x", b.read("a.x")+"x")
		}
	})
	t.Run("start", func(t *testing.T) {
		b, _ := scripted(t, &lsptest.Script{Start: []lsptest.Action{{Hang: true}}}, &langintel.Options{StartTimeout: time.Second})
		if _, err := hover(b); !errors.Is(err, tools.CodeLSPServer) || !strings.Contains(err.Error(), "initialize") {
			t.Fatal(err)
		}
	})
}

func TestScriptedRetries(t *testing.T) {
	retrigger := `{"code":-32802,"message":"later","data":{"retriggerRequest":true}}`
	for name, c := range map[string]struct {
		fault string
		times int
		want  langintel.Status
		code  tools.Code
	}{
		"content modified":          {`{"code":-32801,"message":"moved"}`, 2, langintel.Complete, ""},
		"content modified for ever": {`{"code":-32801,"message":"moved"}`, 99, langintel.Stale, ""},
		"server cancelled":          {retrigger, 2, langintel.Complete, ""},
		"not to be retriggered":     {`{"code":-32802,"message":"no","data":{"retriggerRequest":false}}`, 99, "", tools.CodeLSPServer},
		"other":                     {`{"code":1,"message":"no \u001b"}`, 99, "", tools.CodeLSPServer},
	} {
		t.Run(name, func(t *testing.T) {
			script := &lsptest.Script{}
			for n := range min(c.times, 10) {
				script.On = append(script.On, lsptest.Rule{Method: "textDocument/hover", Nth: n + 1, Do: []lsptest.Action{{Error: c.fault}}})
			}
			script.On = append(script.On, on("textDocument/hover", lsptest.Action{Reply: aHover}))
			b, _ := scripted(t, script, nil)
			got, err := hover(b)
			if c.code != "" && !errors.Is(err, c.code) || c.code == "" && (err != nil || got.Status != c.want) {
				t.Fatalf("%+v, %v", got, err)
			}
		})
	}
}

// A server that talks without end does not keep anybody waiting, and no memory.
func TestScriptedFlood(t *testing.T) {
	b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{on("textDocument/hover",
		lsptest.Action{Notify: `{"method":"textDocument/publishDiagnostics","params":{"uri":"${root}/a.x","diagnostics":[]}}`, Repeat: 20_000},
		lsptest.Action{Notify: `{"method":"$/progress","params":{"token":1,"value":{"kind":"report","message":"` + strings.Repeat("m", 1000) + `"}}}`, Repeat: 5_000},
		lsptest.Action{Reply: aHover})}}, nil)
	if got, err := hover(b); err != nil || got.Text != "fine" {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestScriptedRename(t *testing.T) {
	edit := func(from, to int, text string) string {
		return fmt.Sprintf(`{"range":{"start":{"line":0,"character":%d},"end":{"line":0,"character":%d}},"newText":%q}`, from, to, text)
	}
	change := func(uri, version string, edits ...string) string {
		return fmt.Sprintf(`{"textDocument":{"uri":%q,"version":%s},"edits":[%s]}`, uri, version, strings.Join(edits, ","))
	}
	for name, c := range map[string]struct {
		reply string
		code  tools.Code
		want  map[string]string
	}{
		"plain":           {reply: `{"changes":{"${root}/a.x":[` + edit(4, 7, "TWO") + `,` + edit(0, 3, "ONE") + `]}}`, want: map[string]string{"a.x": "ONE TWO\n"}},
		"re-spelled":      {reply: `{"changes":{"${root}/%61.x":[` + edit(0, 3, "ONE") + `]}}`, want: map[string]string{"a.x": "ONE two\n"}},
		"inserts":         {reply: `{"changes":{"${root}/a.x":[` + edit(3, 3, "1") + `,` + edit(3, 3, "2") + `]}}`, want: map[string]string{"a.x": "one12 two\n"}},
		"UTF-16":          {reply: `{"changes":{"${root}/a.x":[{"range":{"start":{"line":1,"character":6},"end":{"line":1,"character":11}},"newText":"3"}]}}`, want: map[string]string{"a.x": "one two\né日本😀 3\n"}},
		"operations":      {reply: `{"documentChanges":[{"kind":"create","uri":"${root}/n/b.x"},` + change("${root}/n/b.x", "null", edit(0, 0, "made")) + `,{"kind":"rename","oldUri":"${root}/a.x","newUri":"${root}/c.x"},` + change("${root}/c.x", "null", edit(0, 3, "ONE")) + `]}`, want: map[string]string{"n/b.x": "made", "c.x": "ONE two\n", "a.x": ""}},
		"delete":          {reply: `{"documentChanges":[{"kind":"delete","uri":"${root}/a.x"}]}`, want: map[string]string{"a.x": ""}},
		"outside":         {reply: `{"changes":{"file:///etc/passwd":[` + edit(0, 0, "x") + `]}}`, code: tools.CodeLSPWorkspace},
		"dots":            {reply: `{"changes":{"${root}/../x":[` + edit(0, 0, "x") + `]}}`, code: tools.CodeLSPWorkspace},
		"through a link":  {reply: `{"changes":{"${root}/link/passwd":[` + edit(0, 0, "x") + `]}}`, code: tools.CodeLSPWorkspace},
		"no file URI":     {reply: `{"changes":{"http://example.com/a.x":[` + edit(0, 0, "x") + `]}}`, code: tools.CodeLSPWorkspace},
		"git's own":       {reply: `{"changes":{"${root}/.git/config":[` + edit(0, 0, "x") + `]}}`, code: tools.CodeLSPWorkspace},
		"half outside":    {reply: `{"documentChanges":[` + change("${root}/a.x", "1", edit(0, 3, "x")) + `,{"kind":"create","uri":"file:///tmp/prism-outside"}]}`, code: tools.CodeLSPWorkspace},
		"overlap":         {reply: `{"changes":{"${root}/a.x":[` + edit(0, 3, "x") + `,` + edit(2, 5, "y") + `]}}`, code: tools.CodeLSPWorkspace},
		"older version":   {reply: `{"documentChanges":[` + change("${root}/a.x", "0", edit(0, 3, "x")) + `]}`, code: tools.CodeLSPStale},
		"beyond the line": {reply: `{"changes":{"${root}/a.x":[` + edit(0, 900, "x") + `]}}`, code: tools.CodeLSPStale},
		"inside a pair":   {reply: `{"changes":{"${root}/a.x":[{"range":{"start":{"line":1,"character":4},"end":{"line":1,"character":5}},"newText":"x"}]}}`, code: tools.CodeLSPStale},
		"backwards":       {reply: `{"changes":{"${root}/a.x":[` + edit(3, 0, "x") + `]}}`, code: tools.CodeLSPWorkspace},
		"needs a person":  {reply: `{"changes":{"${root}/a.x":[` + edit(0, 3, "x") + `]},"changeAnnotations":{"a":{"label":"danger","needsConfirmation":true}}}`, code: tools.CodeLSPWorkspace},
		"create existing": {reply: `{"documentChanges":[{"kind":"create","uri":"${root}/a.x"}]}`, code: tools.CodeLSPWorkspace},
		"nothing":         {reply: `null`, code: tools.CodeNoChange},
	} {
		t.Run(name, func(t *testing.T) {
			b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{
				on("textDocument/rename", lsptest.Action{Reply: c.reply}),
				on("textDocument/didChange", lsptest.Action{Notify: `{"method":"textDocument/publishDiagnostics","params":{"uri":"${root}/a.x","version":2,"diagnostics":[]}}`}),
				on("textDocument/didOpen",
					lsptest.Action{Notify: `{"method":"textDocument/publishDiagnostics","params":{"uri":"${root}/a.x","version":1,"diagnostics":[]}}`},
					lsptest.Action{Notify: `{"method":"textDocument/publishDiagnostics","params":{"uri":"${root}/c.x","diagnostics":[]}}`},
					lsptest.Action{Notify: `{"method":"textDocument/publishDiagnostics","params":{"uri":"${root}/n/b.x","diagnostics":[]}}`}),
			}}, &langintel.Options{Timeout: 2 * time.Second})
			if err := os.Symlink("/etc", filepath.Join(b.dir, "link")); err != nil {
				t.Fatal(err)
			}
			b.write(".git/config", "[core]\n")
			before := b.read("a.x")
			got, err := b.Rename(within(t, 20*time.Second), langintel.RenameQuery{Place: langintel.Place{Path: "a.x", Line: 1, Column: 1}, NewName: "new"})
			if c.code != "" {
				if !errors.Is(err, c.code) || b.read("a.x") != before {
					t.Fatalf("%+v, %v, want %s; the file: %q", got, err, c.code, b.read("a.x"))
				}
				return
			}
			if err != nil || got.UndoID == "" || got.DeltaOf.Status != langintel.Complete {
				t.Fatalf("%+v, %v", got, err)
			}
			for name, want := range c.want {
				data, err := os.ReadFile(filepath.Join(b.dir, name))
				if want == "" && !os.IsNotExist(err) || want != "" && (err != nil || !strings.HasPrefix(string(data), want)) {
					t.Errorf("%s is %q (%v), want %q", name, data, err, want)
				}
			}
			if methods := record.Messages(t); c.want["a.x"] != "" && !slices.ContainsFunc(methods, func(m lsptest.Message) bool { return m.Method == "textDocument/didChange" }) {
				t.Error("the server was not told")
			}
		})
	}
}

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
