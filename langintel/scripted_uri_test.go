package langintel_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
	"github.com/prism-ls/prism-ls/tools"
)

// spellings are ways in which servers write the URI of a file; ROOT is the
// absolute path of its root.
var spellings = map[string]string{
	"plain":             "file://ROOT/a.x",
	"encoded letter":    "file://ROOT/%61.x",
	"encoded dot":       "file://ROOT/a%2Ex",
	"encoded slash":     "file://ROOT%2Fa.x",
	"lower-case escape": "file://ROOT%2fa%2ex",
	"localhost":         "file://localhostROOT/a.x",
	"upper-case scheme": "FILE://ROOT/a.x",
	"double slash":      "file://ROOT//a.x",
	"leading slashes":   "file:///ROOT/a.x",
	"no authority":      "file:ROOT/a.x",
	"dot":               "file://ROOT/./a.x",
	"there and back":    "file://ROOT/sub/../a.x",
	"encoded dots":      "file://ROOT/sub/%2e%2e/a.x",
}

// However a server spells a file, it is the same one: in places, publishes and
// edits.
func TestScriptedSpellings(t *testing.T) {
	t.Parallel()
	for name, spelling := range spellings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := scriptedRoot(t)
			uri := strings.ReplaceAll(spelling, "ROOT", filepath.ToSlash(root))
			spec, _ := scriptedSpec(t, &lsptest.Script{On: []lsptest.Rule{
				on("textDocument/didOpen", publishes(uri, `"version":1,`+problemsOf("seen"))),
				on("textDocument/didChange", publishes(uri, `"version":${version},`+problemsOf())),
				on("textDocument/references", lsptest.Action{Reply: `[{"uri":"` + uri + `","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}}}]`}),
				on("textDocument/rename", lsptest.Action{Reply: `{"changes":{"` + uri + `":[` + lspEdit(0, 0, 3, "ONE") + `]}}`}),
			}})
			b := open(t, root, &langintel.Options{Servers: []langintel.Spec{spec}, Timeout: 3 * time.Second})
			ctx := within(t, 30*time.Second)
			found, err := b.References(ctx, langintel.ReferencesQuery{Place: firstWord})
			if err != nil || len(found.Locations) != 1 || found.Locations[0].Path != "a.x" || found.Locations[0].External {
				t.Errorf("references: %+v, %v", found, err)
			}
			seen, err := b.Diagnostics(ctx, langintel.DiagnosticsQuery{Path: "a.x"})
			if err != nil || seen.Status != langintel.Complete || len(seen.Problems) != 1 || seen.Problems[0].Message != "seen" {
				t.Errorf("diagnostics: %+v, %v", seen, err)
			}
			if _, err := b.Rename(ctx, langintel.RenameQuery{Place: firstWord, NewName: "ONE"}); err != nil || !strings.HasPrefix(b.read("a.x"), "ONE two") {
				t.Errorf("rename: %v; %q", err, b.read("a.x"))
			}
		})
	}
}

// A root that is reached through a link is the root by both names.
func TestScriptedLinkedRoot(t *testing.T) {
	t.Parallel()
	for name, byLink := range map[string]bool{"server says the real name": false, "server says the link": true} {
		t.Run(name, func(t *testing.T) {
			root := scriptedRoot(t)
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(root, link); err != nil {
				t.Fatal(err)
			}
			said := root
			if byLink {
				said = link
			}
			uri := "file://" + filepath.ToSlash(said) + "/a.x"
			spec, _ := scriptedSpec(t, &lsptest.Script{On: []lsptest.Rule{
				on("textDocument/didOpen", publishes(uri, `"version":1,`+problemsOf("seen"))),
				on("textDocument/didChange", publishes(uri, `"version":${version},`+problemsOf())),
				on("textDocument/rename", lsptest.Action{Reply: `{"changes":{"` + uri + `":[` + lspEdit(0, 0, 3, "ONE") + `]}}`}),
			}})
			b := open(t, link, &langintel.Options{Servers: []langintel.Spec{spec}, Timeout: 3 * time.Second})
			ctx := within(t, 30*time.Second)
			seen, err := b.Diagnostics(ctx, langintel.DiagnosticsQuery{Path: "a.x"})
			if err != nil || seen.Status != langintel.Complete || len(seen.Problems) != 1 {
				t.Errorf("diagnostics: %+v, %v", seen, err)
			}
			if _, err := b.Rename(ctx, langintel.RenameQuery{Place: firstWord, NewName: "ONE"}); err != nil || !strings.HasPrefix(b.read("a.x"), "ONE two") {
				t.Errorf("rename: %v; %q", err, b.read("a.x"))
			}
		})
	}
}

// A name of any characters reaches the server as a URI of that name.
func TestScriptedOddNames(t *testing.T) {
	t.Parallel()
	b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{on("textDocument/hover", lsptest.Action{Reply: aHover})}}, nil)
	names := []string{"é 日本.x", "a#b.x", "a%41.x", "a?b.x", "a+b&c.x", "a:b.x", "[a]{b}.x", "a\\b.x", "😀.x", "sub/c:/d.x", "a;b=c,d.x", "%2e%2e.x"}
	for _, name := range names {
		b.write(name, "one two\n")
		got, err := b.Hover(within(t, 20*time.Second), langintel.Place{Path: name, Line: 1, Column: 1})
		if err != nil || got.Text != "fine" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	opened := record.Wait(t, "textDocument/didOpen", len(names))
	for i, name := range names {
		var params struct {
			TextDocument struct {
				URI string `json:"uri"`
			} `json:"textDocument"`
		}
		if err := json.Unmarshal(opened[i].Params, &params); err != nil {
			t.Fatal(err)
		}
		parsed, err := url.Parse(params.TextDocument.URI)
		if err != nil || parsed.Path != filepath.Join(b.dir, name) || parsed.RawQuery != "" || parsed.Fragment != "" {
			t.Errorf("%s is sent as %s: %v", name, params.TextDocument.URI, err)
		}
	}
}

// No form of an edit, and no spelling of a name, reaches anything outside the
// root, and what else the edit holds is not done either.
func TestScriptedOutside(t *testing.T) {
	t.Parallel()
	targets := map[string]string{
		"elsewhere":      "file:///etc/hostname",
		"beside":         "file://PARENT/beside.x",
		"dots":           "${root}/../beside.x",
		"encoded dots":   "${root}/%2e%2e/beside.x",
		"encoded slash":  "${root}%2F..%2Fbeside.x",
		"through a link": "${root}/out/beside.x",
		"a link":         "${root}/out.x",
		"the root":       "${root}",
		"longer root":    "${root}2/beside.x",
		"drive":          "file:///c%3A/a.x",
		"drive, plain":   "file:///C:/a.x",
		"a host":         "file://example.com${path}/a.x",
		"no file":        "untitled:a.x",
		"http":           "http://localhost/a.x",
		"relative":       "a.x",
		"NUL":            "${root}/a%00.x",
		"bad escape":     "${root}/a%zz.x",
		"empty":          "",
		"git":            "${root}/.git/config",
		"git by case":    "${root}/.GIT/config",
		"git by link":    "${root}/g/config",
		"an editor's":    "${root}/.vscode/tasks.json",
	}
	forms := map[string]string{
		"changes":         `{"changes":{"${root}/a.x":[EDIT],"URI":[EDIT]}}`,
		"documentChanges": `{"documentChanges":[{"textDocument":{"uri":"${root}/a.x","version":null},"edits":[EDIT]},{"textDocument":{"uri":"URI","version":null},"edits":[EDIT]}]}`,
		"create":          `{"documentChanges":[{"textDocument":{"uri":"${root}/a.x","version":null},"edits":[EDIT]},{"kind":"create","uri":"URI","options":{"overwrite":true}}]}`,
		"rename to":       `{"documentChanges":[{"textDocument":{"uri":"${root}/a.x","version":null},"edits":[EDIT]},{"kind":"rename","oldUri":"${root}/a.x","newUri":"URI","options":{"overwrite":true}}]}`,
		"rename from":     `{"documentChanges":[{"textDocument":{"uri":"${root}/a.x","version":null},"edits":[EDIT]},{"kind":"rename","oldUri":"URI","newUri":"${root}/new.x"}]}`,
		"delete":          `{"documentChanges":[{"textDocument":{"uri":"${root}/a.x","version":null},"edits":[EDIT]},{"kind":"delete","uri":"URI","options":{"recursive":true}}]}`,
	}
	root := scriptedRoot(t)
	parent := filepath.Dir(root)
	files := map[string]string{"beside.x": "one two\n", "root2/beside.x": "one two\n", "root/.git/config": "[core]\n", "root/.vscode/tasks.json": "{}\n"}
	for name, text := range files {
		path := filepath.Join(parent, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"out": "..", "out.x": "../beside.x", "g": ".git"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	script := &lsptest.Script{On: quiet()}
	type row struct{ name, form string }
	var rows []row
	for name, target := range targets {
		target = strings.NewReplacer("PARENT", filepath.ToSlash(parent), "${path}", filepath.ToSlash(root)).Replace(target)
		for form, text := range forms {
			rows = append(rows, row{name, form})
			reply := strings.NewReplacer("URI", target, "EDIT", lspEdit(0, 0, 3, "ONE")).Replace(text)
			script.On = append(script.On, lsptest.Rule{Method: "textDocument/rename", Nth: len(rows), Do: []lsptest.Action{{Reply: reply}}})
		}
	}
	spec, record := scriptedSpec(t, script)
	b := open(t, root, &langintel.Options{Servers: []langintel.Spec{spec}, Timeout: 2 * time.Second})
	before := treeOf(t, parent)
	for i, row := range rows {
		_, err := b.Rename(within(t, 20*time.Second), langintel.RenameQuery{Place: firstWord, NewName: "ONE"})
		if !errors.Is(err, tools.CodeLSPWorkspace) {
			t.Errorf("%s, %s: %v", row.form, row.name, err)
		}
		if asked := len(record.Of(t, "textDocument/rename")); asked != i+1 {
			t.Fatalf("%s, %s: %d renames were asked for, want %d", row.form, row.name, asked, i+1)
		}
	}
	sameTree(t, treeOf(t, parent), before)
	if t.Failed() {
		return
	}
	t.Log(fmt.Sprint(len(rows), " edits"))
}
