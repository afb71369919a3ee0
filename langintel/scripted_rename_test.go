package langintel_test

import (
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

func TestScriptedRename(t *testing.T) {
	t.Parallel()
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
		"needs a person":  {reply: `{"changes":{"${root}/a.x":[` + annotated(edit(0, 3, "x")) + `]},"changeAnnotations":{"a":{"label":"danger","needsConfirmation":true}}}`, code: tools.CodeLSPWorkspace},
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

// annotated is an edit that refers to the change annotation a.
func annotated(edit string) string {
	return strings.Replace(edit, "{", `{"annotationId":"a",`, 1)
}
