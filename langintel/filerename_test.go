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

// quiet publishes nothing for every file that the tests here open or change, so
// that no delta waits.
func quiet() []lsptest.Rule {
	var publish []lsptest.Action
	for _, name := range []string{"a.x", "b.x", "c.x", "moved/a.x", "dir/in.x", "dir/sub/deep.x", "new/in.x", "new/sub/deep.x", "far/new/in.x", "far/new/sub/deep.x", "n/b.x"} {
		publish = append(publish, lsptest.Action{Notify: `{"method":"textDocument/publishDiagnostics","params":{"uri":"${root}/` + name + `","diagnostics":[]}}`})
	}
	return []lsptest.Rule{on("textDocument/didOpen", publish...), on("textDocument/didChange", publish...)}
}

func lspEdit(line, from, to int, text string) string {
	return fmt.Sprintf(`{"range":{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}},"newText":%q}`, line, from, line, to, text)
}

func filters(list ...string) string {
	return `{"hoverProvider":true,"textDocumentSync":1,"workspace":{"fileOperations":{"willRename":{"filters":[` + strings.Join(list, ",") + `]},"didRename":{"filters":[` + strings.Join(list, ",") + `]}}}}`
}

const everyX = `{"scheme":"file","pattern":{"glob":"**/*.x","matches":"file"}}`

func sent(record *lsptest.Record, t *testing.T, method string) []lsptest.Message {
	t.Helper()
	return slices.DeleteFunc(record.Messages(t), func(m lsptest.Message) bool { return m.Method != method })
}

func TestScriptedRenameFile(t *testing.T) {
	t.Parallel()
	follow := `{"documentChanges":[{"textDocument":{"uri":"${root}/b.x","version":null},"edits":[` + lspEdit(0, 4, 7, "moved/a.x") + `]},
		{"textDocument":{"uri":"${root}/a.x","version":null},"edits":[` + lspEdit(0, 0, 3, "ONE") + `]}]}`
	b, record := scripted(t, &lsptest.Script{Capabilities: filters(everyX), On: append(quiet(), on("workspace/willRenameFiles", lsptest.Action{Reply: follow}))},
		&langintel.Options{Timeout: 2 * time.Second})
	b.write("b.x", "use a.x\nand\r\n")
	before := map[string]string{"a.x": b.read("a.x"), "b.x": b.read("b.x")}
	q := langintel.RenameFileQuery{From: "a.x", To: "moved/a.x", AlsoText: true, ChangeOptions: langintel.ChangeOptions{DryRun: true}}
	dry, err := b.RenameFile(within(t, 20*time.Second), q)
	if err != nil || dry.Status != langintel.Complete || dry.Edits != 2 || !slices.Equal(dry.Files, []string{"a.x", "b.x", "moved/a.x"}) {
		t.Fatalf("%+v, %v", dry, err)
	}
	for _, want := range []string{"rename from a.x\nrename to moved/a.x\n", "-use a.x\n+use moved/a.x\n"} {
		if !strings.Contains(dry.Patch, want) {
			t.Errorf("no %q in\n%s", want, dry.Patch)
		}
	}
	if b.read("a.x") != before["a.x"] || len(sent(record, t, "workspace/didRenameFiles")) != 0 {
		t.Fatal("a dry run did something")
	}
	var asked []string
	q.DryRun = false
	q.Authorise = func(_ context.Context, patch string, paths []string) error {
		if asked = paths; patch != dry.Patch {
			t.Errorf("another patch than the dry run's:\n%s", patch)
		}
		return nil
	}
	done, err := b.RenameFile(within(t, 20*time.Second), q)
	if err != nil || done.UndoID == "" || done.DeltaOf.Status != langintel.Complete || !slices.Equal(asked, dry.Files) {
		t.Fatalf("%+v, asked for %q, %v", done, asked, err)
	}
	if got := b.read("moved/a.x"); !strings.HasPrefix(got, "ONE two\n") || b.read("b.x") != "use moved/a.x\nand\r\n" {
		t.Errorf("%q, %q", got, b.read("b.x"))
	}
	if _, err := os.Stat(filepath.Join(b.dir, "a.x")); !os.IsNotExist(err) {
		t.Errorf("the old file is there: %v", err)
	}
	told := record.Wait(t, "workspace/didRenameFiles", 1)
	if text := string(told[0].Params); !strings.Contains(text, `/a.x","newUri"`) || !strings.Contains(text, "/moved/a.x") {
		t.Errorf("%s", text)
	}
	if _, err := b.work.Undo(within(t, 20*time.Second), done.UndoID); err != nil {
		t.Fatal(err)
	}
	for name, want := range before {
		if b.read(name) != want {
			t.Errorf("%s after the undo is %q", name, b.read(name))
		}
	}
}

// Which servers are asked is up to their filters.
func TestScriptedRenameFileFilters(t *testing.T) {
	t.Parallel()
	filter := func(glob, more string) string {
		return fmt.Sprintf(`{"pattern":{"glob":%q%s}}`, glob, more)
	}
	for name, c := range map[string]struct {
		capabilities string
		from, to     string
		want         bool
	}{
		"suffix":               {filters(filter("**/*.x", "")), "a.x", "b.x", true},
		"another suffix":       {filters(filter("**/*.y", "")), "a.x", "b.x", false},
		"braces":               {filters(filter("**/*.{y,x}", "")), "a.x", "b.x", true},
		"relative to the root": {filters(filter("*.x", "")), "a.x", "b.x", true},
		"any of several":       {filters(filter("**/*.y", ""), filter("**/a.*", "")), "a.x", "b.x", true},
		"scheme":               {filters(`{"scheme":"untitled","pattern":{"glob":"**/*.x"}}`), "a.x", "b.x", false},
		"folders only":         {filters(filter("**/*", `,"matches":"folder"`)), "a.x", "b.x", false},
		"a folder":             {filters(filter("**/*", `,"matches":"folder"`)), "dir", "new", true},
		"a folder by files":    {filters(filter("**/*", `,"matches":"file"`)), "dir", "new", false},
		"either":               {filters(filter("**", "")), "dir", "new", true},
		"case":                 {filters(filter("**/*.X", "")), "a.x", "b.x", false},
		"ignored case":         {filters(filter("**/*.X", `,"options":{"ignoreCase":true}`)), "a.x", "b.x", true},
		"a broken glob":        {filters(filter("**/*.{x", "")), "a.x", "b.x", false},
		"nothing registered":   {scriptedCapabilities, "a.x", "b.x", false},
	} {
		t.Run(name, func(t *testing.T) {
			b, record := scripted(t, &lsptest.Script{Capabilities: c.capabilities, On: append(quiet(), on("workspace/willRenameFiles", lsptest.Action{Reply: "null"}))},
				&langintel.Options{Timeout: 2 * time.Second})
			b.write("dir/in.x", "in\n")
			b.write("dir/sub/deep.x", "deep\n")
			b.write("dir/other.bin", "\x00\x01")
			done, err := b.RenameFile(within(t, 20*time.Second), langintel.RenameFileQuery{From: c.from, To: c.to})
			if err != nil {
				t.Fatal(err)
			}
			if asked := len(sent(record, t, "workspace/willRenameFiles")) == 1; asked != c.want {
				t.Errorf("asked: %v", asked)
			}
			if partial := done.Status == langintel.Partial && strings.Contains(done.Reason, "references to its path are as they were"); partial == c.want {
				t.Errorf("%+v", done.Answer)
			}
			if _, err := os.Stat(filepath.Join(b.dir, c.to)); err != nil {
				t.Error(err)
			}
			if _, err := b.work.Undo(within(t, 20*time.Second), done.UndoID); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("registered later", func(t *testing.T) {
		register := `{"method":"client/registerCapability","params":{"registrations":[{"id":"r","method":"workspace/willRenameFiles","registerOptions":{"filters":[` + filter("**/*.x", "") + `]}}]}}`
		b, record := scripted(t, &lsptest.Script{On: append(quiet(), on("initialized", lsptest.Action{Request: register, Await: true}), on("textDocument/hover", lsptest.Action{Reply: aHover}),
			on("workspace/willRenameFiles", lsptest.Action{Reply: `{"changes":{"${root}/a.x":[` + lspEdit(0, 0, 3, "ONE") + `]}}`}))}, &langintel.Options{Timeout: 2 * time.Second})
		if _, err := hover(b); err != nil {
			t.Fatal(err)
		}
		record.Wait(t, "", 1) // the answer to the registration
		done, err := b.RenameFile(within(t, 20*time.Second), langintel.RenameFileQuery{From: "a.x", To: "b.x"})
		if err != nil || done.Status != langintel.Complete || !strings.HasPrefix(b.read("b.x"), "ONE") || len(sent(record, t, "workspace/willRenameFiles")) != 1 {
			t.Fatalf("%+v, %v", done, err)
		}
	})
}

// A directory moves with everything in it, also with what is edited on the way.
func TestScriptedRenameDirectory(t *testing.T) {
	t.Parallel()
	folder := `{"pattern":{"glob":"**","matches":"folder"}}`
	for name, reply := range map[string]string{
		"whole":  `{"changes":{"${root}/a.x":[` + lspEdit(0, 0, 3, "ONE") + `]}}`,
		"edited": `{"changes":{"${root}/a.x":[` + lspEdit(0, 0, 3, "ONE") + `],"${root}/dir/sub/deep.x":[` + lspEdit(0, 0, 4, "DEEP") + `]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := scripted(t, &lsptest.Script{Capabilities: filters(folder), On: append(quiet(), on("workspace/willRenameFiles", lsptest.Action{Reply: reply}))},
				&langintel.Options{Timeout: 2 * time.Second})
			b.write("dir/in.x", "in\n")
			b.write("dir/sub/deep.x", "deep\n")
			b.write("dir/other.bin", "\x00\x01")
			if err := os.Mkdir(filepath.Join(b.dir, "dir", "empty"), 0o755); err != nil {
				t.Fatal(err)
			}
			before := treeOf(t, b.dir)
			done, err := b.RenameFile(within(t, 20*time.Second), langintel.RenameFileQuery{From: "dir", To: "far/new"})
			if err != nil || done.DeltaOf.Status != langintel.Complete {
				t.Fatalf("%+v, %v", done, err)
			}
			want := map[string]string{"a.x": "ONE two\né日本😀 three\n", "far/": "", "far/new/": "", "far/new/empty/": "", "far/new/sub/": "", "far/new/in.x": "in\n", "far/new/other.bin": "\x00\x01", "far/new/sub/deep.x": "deep\n"}
			if name == "edited" {
				want["far/new/sub/deep.x"] = "DEEP\n"
			}
			sameTree(t, treeOf(t, b.dir), want)
			for _, must := range []string{"dir/in.x", "far/new/in.x", "dir/other.bin", "far/new/sub/deep.x"} {
				if !slices.Contains(done.Files, must) {
					t.Errorf("%s is not among %q", must, done.Files)
				}
			}
			if !strings.Contains(done.Patch, "rename from dir/other.bin\nrename to far/new/other.bin\n") {
				t.Errorf("%s", done.Patch)
			}
			if _, err := b.work.Undo(within(t, 20*time.Second), done.UndoID); err != nil {
				t.Fatal(err)
			}
			after := treeOf(t, b.dir)
			if name == "edited" {
				delete(before, "dir/empty/") // an empty directory is no file
			}
			sameTree(t, after, before)
		})
	}
}

func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, name)
		switch {
		case err != nil || rel == ".":
			return err
		case d.IsDir():
			out[filepath.ToSlash(rel)+"/"] = ""
			return nil
		}
		if d.Type()&os.ModeSymlink != 0 {
			out[filepath.ToSlash(rel)], err = os.Readlink(name)
			return err
		}
		data, err := os.ReadFile(name)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sameTree(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, text := range got {
		if expected, ok := want[name]; !ok || text != expected {
			t.Errorf("%s is %q, want %q (%v)", name, text, expected, ok)
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
}

// What two servers want is one change, unless they contradict each other.
func TestScriptedRenameFileAtTwoServers(t *testing.T) {
	t.Parallel()
	same := lspEdit(0, 0, 3, "ONE")
	for name, c := range map[string]struct {
		second string
		want   string
		code   tools.Code
	}{
		"the same":        {same, "ONE two\n", ""},
		"more":            {same + "," + lspEdit(0, 4, 7, "TWO"), "ONE TWO\n", ""},
		"contradicting":   {lspEdit(0, 0, 3, "EINS"), "", tools.CodeLSPWorkspace},
		"overlapping":     {lspEdit(0, 2, 5, "-"), "", tools.CodeLSPWorkspace},
		"inserted before": {lspEdit(0, 0, 0, ">"), "", tools.CodeLSPWorkspace},
	} {
		t.Run(name, func(t *testing.T) {
			answer := func(edits string) *lsptest.Script {
				return &lsptest.Script{Capabilities: filters(everyX), On: append(quiet(), on("workspace/willRenameFiles", lsptest.Action{Reply: `{"changes":{"${root}/a.x":[` + edits + `]}}`}))}
			}
			program, args, _ := lsptest.Command(t, answer(c.second))
			second := langintel.Spec{Name: "second", Lint: true, Program: program, Args: args, Languages: []langintel.Language{{ID: "x", Patterns: []string{"*.x"}}}}
			b, _ := scripted(t, answer(same), &langintel.Options{Timeout: 2 * time.Second, Servers: []langintel.Spec{second}})
			before := treeOf(t, b.dir)
			done, err := b.RenameFile(within(t, 20*time.Second), langintel.RenameFileQuery{From: "a.x", To: "b.x"})
			if c.code != "" {
				if !errors.Is(err, c.code) {
					t.Fatalf("%+v, %v", done, err)
				}
				sameTree(t, treeOf(t, b.dir), before)
				return
			}
			if err != nil || done.Server != "scripted, second" || !strings.HasPrefix(b.read("b.x"), c.want) {
				t.Fatalf("%+v, %v: %q", done, err, b.read("b.x"))
			}
		})
	}
}

func TestRenameFileRefusals(t *testing.T) {
	b, _ := scripted(t, &lsptest.Script{Capabilities: filters(everyX), On: append(quiet(), on("workspace/willRenameFiles", lsptest.Action{Error: `{"code":1,"message":"no"}`}))}, nil)
	b.write("b.x", "b\n")
	b.write("dir/in.x", "in\n")
	before := treeOf(t, b.dir)
	for name, c := range map[string]struct {
		from, to string
		code     tools.Code
	}{
		"no from":          {"", "c.x", tools.CodeToolInput},
		"no to":            {"a.x", "", tools.CodeToolInput},
		"missing":          {"none.x", "c.x", tools.CodeNotFound},
		"outside":          {"a.x", "../c.x", tools.CodePathEscape},
		"exists":           {"a.x", "b.x", tools.CodeExists},
		"a directory":      {"a.x", "dir", tools.CodeExists},
		"itself":           {"a.x", "./a.x", tools.CodeNoChange},
		"into itself":      {"dir", "dir/sub", tools.CodeLSPWorkspace},
		"the root":         {".", "c", tools.CodePathEscape},
		"a server says no": {"a.x", "c.x", tools.CodeLSPServer},
	} {
		t.Run(name, func(t *testing.T) {
			if done, err := b.RenameFile(within(t, 20*time.Second), langintel.RenameFileQuery{From: c.from, To: c.to}); !errors.Is(err, c.code) {
				t.Errorf("%+v, %v", done, err)
			}
		})
	}
	sameTree(t, treeOf(t, b.dir), before)
}
