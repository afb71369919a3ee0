package builtin_test

import (
	"context"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/policy"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// watcher is a policy that allows everything, remembers what it was asked, and
// may do something between its answer and the act.
type watcher struct {
	seen []tools.Action
	then func()
}

func (w *watcher) Decide(_ context.Context, action tools.Action) tools.Decision {
	w.seen = append(w.seen, action)
	if w.then != nil {
		w.then()
	}
	return tools.Decision{Verdict: tools.Allow}
}

func watched(t *testing.T) (*host, *watcher) {
	w := &watcher{}
	return newHost(t, func(_ *builtin.Deps, o *tools.RegistryOptions) { o.Policy = w }), w
}

// TestActions: what a policy sees is where things really lead.
func TestActions(t *testing.T) {
	h, w := watched(t)
	h.write("real/file.txt", "content")
	h.write("real/other", "x")
	h.write("scripts/pre-commit", "x")
	h.write(".env", "A=1")
	must(t, os.Mkdir(h.path(".git"), 0o755))
	must(t, os.Symlink("real", h.path("linked")))
	h.write("conf/npm", "content")
	must(t, os.Symlink("conf", h.path(".vscode")))
	must(t, os.Symlink("conf/npm", h.path(".npmrc")))
	must(t, os.Symlink("../scripts", h.path(".git/hooks")))
	must(t, os.Symlink("file.txt", h.path("real/alias")))
	edits := []args{{"oldText": "content", "newText": "changed"}}
	for _, c := range []struct {
		tool string
		in   args
		want tools.Action
	}{
		{"read", args{"path": "linked/alias"}, tools.Action{Kind: tools.KindRead, Paths: []string{"real/file.txt"}, Risk: tools.RiskLow}},
		{"read", args{"path": "./.env"}, tools.Action{Kind: tools.KindRead, Paths: []string{".env"}, Risk: tools.RiskLow}},
		{"repo_list", args{}, tools.Action{Kind: tools.KindRead, Paths: []string{"."}, Risk: tools.RiskLow}},
		{"repo_search", args{"query": "x", "path": "linked"}, tools.Action{Kind: tools.KindSearch, Paths: []string{"real"}, Risk: tools.RiskLow}},
		{"write", args{"path": "linked/new", "content": "abc"}, tools.Action{Kind: tools.KindEdit, Paths: []string{"real/new"}, Content: hashOf("abc"), Risk: tools.RiskLow}},
		// A hook by its name, whatever it is a link to.
		{"write", args{"path": ".git/hooks/pre-commit", "content": ""}, tools.Action{Kind: tools.KindEdit, Paths: []string{"scripts/pre-commit", ".git/hooks/pre-commit"}, Content: hashOf(""), Risk: tools.RiskLow}},
		// And under any other name that leads there.
		{"write", args{"path": "scripts/post-commit", "content": ""}, tools.Action{Kind: tools.KindEdit, Paths: []string{"scripts/post-commit", ".git/hooks/post-commit"}, Content: hashOf(""), Risk: tools.RiskLow}},
		{"write", args{"path": "conf/tasks.json", "content": ""}, tools.Action{Kind: tools.KindEdit, Paths: []string{"conf/tasks.json", ".vscode/tasks.json"}, Content: hashOf(""), Risk: tools.RiskLow}},
		{"edit", args{"path": "conf/npm", "edits": edits}, tools.Action{Kind: tools.KindEdit, Paths: []string{"conf/npm", ".vscode/npm", ".npmrc"}, Risk: tools.RiskLow}},
		{"edit", args{"path": "linked/file.txt", "edits": edits}, tools.Action{Kind: tools.KindEdit, Paths: []string{"real/file.txt"}, Risk: tools.RiskLow}},
		{"move", args{"from": "linked/alias", "to": "real/moved"}, tools.Action{Kind: tools.KindMove, Paths: []string{"real/alias", "real/moved"}, Risk: tools.RiskMedium}},
		{"delete", args{"path": "linked/other"}, tools.Action{Kind: tools.KindDelete, Paths: []string{"real/other"}, Entries: 1, Risk: tools.RiskMedium}},
		{"delete", args{"path": "linked"}, tools.Action{Kind: tools.KindDelete, Paths: []string{"linked"}, Entries: 1, Risk: tools.RiskMedium}},
		{"delete", args{"path": "real", "recursive": true}, tools.Action{Kind: tools.KindDelete, Paths: []string{"real"}, Entries: 4, Recursive: true, Risk: tools.RiskHigh}},
		{"shell", args{"command": "true", "cwd": "scripts"}, tools.Action{Kind: tools.KindExecute, Paths: []string{"scripts"}, Command: "true", Risk: tools.RiskHigh}},
	} {
		w.seen = nil
		h.ok(c.tool, c.in, nil)
		if len(w.seen) != 1 {
			t.Fatalf("%s: the policy was asked %d times", c.tool, len(w.seen))
		}
		got := w.seen[0]
		if c.tool == "edit" && len(got.Content) == 64 {
			got.Content = ""
		}
		c.want.Operation, c.want.Mutation, c.want.Owner, c.want.Session = c.tool, got.Mutation, "o", "s"
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %v:\ngot  %+v\nwant %+v", c.tool, c.in, got, c.want)
		}
	}
}

// TestConsentBindsContent: two writes of one path differ to whoever consents.
func TestConsentBindsContent(t *testing.T) {
	h, w := watched(t)
	h.write("a", "x")
	for _, content := range []string{"one", "two"} {
		h.ok("write", args{"path": "b", "content": content}, nil)
		h.ok("edit", args{"path": "a", "edits": []args{{"oldText": "x", "newText": content}}, "dryRun": true}, nil)
	}
	if w.seen[0].Digest() == w.seen[2].Digest() || w.seen[1].Digest() == w.seen[3].Digest() {
		t.Error("another content has the same digest")
	}
	if w.seen[1].Mutation != tools.MutatesNothing {
		t.Errorf("a dry run mutates: %s", w.seen[1].Mutation)
	}
}

// TestConsentBindsSafeguards: a call that goes without a safeguard is another one.
func TestConsentBindsSafeguards(t *testing.T) {
	h, w := watched(t)
	h.write("a", "x")
	edits := []args{{"oldText": "x", "newText": "y"}}
	for _, c := range []struct {
		tool   string
		in     args
		option string
	}{
		{"write", args{"path": "b", "content": "x"}, "force"},
		{"write", args{"path": "b", "content": "x"}, "allowHardlink"},
		{"edit", args{"path": "a", "edits": edits, "dryRun": true}, "force"},
		{"edit", args{"path": "a", "edits": edits, "dryRun": true}, "allowHardlink"},
	} {
		w.seen = nil
		h.ok(c.tool, c.in, nil)
		c.in[c.option] = true
		h.ok(c.tool, c.in, nil)
		if w.seen[0].Digest() == w.seen[1].Digest() {
			t.Errorf("%s: a consent without %s is one with it", c.tool, c.option)
		}
	}
}

// TestDeleteTakesWhatWasCounted: what came after the policy agreed stays.
func TestDeleteTakesWhatWasCounted(t *testing.T) {
	h, w := watched(t)
	h.write("tree/a", "x")
	w.then = func() { h.write("tree/late", "y") }
	h.fails("delete", args{"path": "tree", "recursive": true}, tools.CodeFileChanged)
	if h.content("tree/a") != "x" || h.content("tree/late") != "y" {
		t.Error("something is gone")
	}
	h.write("file", "x")
	w.then = func() {
		must(t, os.Remove(h.path("file")))
		h.write("file/in", "y")
	}
	h.fails("delete", args{"path": "file", "recursive": true}, tools.CodeFileChanged)
	if h.content("file/in") != "y" {
		t.Error("a directory went where a file was agreed to")
	}
	w.then = nil
	h.ok("delete", args{"path": "tree", "recursive": true}, nil)
}

// TestMovedAfterApproval: a path that leads elsewhere once it was approved is
// not acted on.
func TestMovedAfterApproval(t *testing.T) {
	edits := []args{{"oldText": "content", "newText": "changed"}}
	for _, c := range []struct {
		tool string
		in   args
	}{
		{"read", args{"path": "dir/file"}}, {"write", args{"path": "dir/file", "content": "x"}}, {"edit", args{"path": "dir/file", "edits": edits}},
		{"repo_list", args{"path": "dir"}}, {"repo_search", args{"path": "dir", "query": "content"}}, {"glob", args{"path": "dir", "pattern": "**/*"}},
		{"delete", args{"path": "dir/file"}}, {"move", args{"from": "dir/file", "to": "moved"}}, {"move", args{"from": "plain", "to": "dir/new"}},
		{"shell", args{"command": "touch ran", "cwd": "dir"}},
	} {
		h, w := watched(t)
		h.write("dir/file", "content")
		h.write("other/file", "content")
		h.write("plain", "content")
		var before map[string]entryState
		w.then = func() {
			must(t, os.Rename(h.path("dir"), h.path("was")))
			must(t, os.Symlink("other", h.path("dir")))
			before = snapshot(t, h.root)
		}
		h.fails(c.tool, c.in, tools.CodeFileChanged)
		if after := snapshot(t, h.root); !reflect.DeepEqual(before, after) {
			t.Errorf("%s %v: something was done", c.tool, c.in)
		}
	}
}

// TestGuardedPolicy is the shipped profile with the core tools under it.
func TestGuardedPolicy(t *testing.T) {
	shipped, err := policy.New(nil)
	must(t, err)
	h := newHost(t, func(_ *builtin.Deps, o *tools.RegistryOptions) { o.Policy = shipped })
	h.write(".env", "KEY=1")
	h.write("secret/.aws/credentials", "KEY=2")
	h.write("tree/a/b", "x")
	h.write("plain", "KEY=3")
	for _, c := range []struct {
		tool   string
		in     args
		denied bool
	}{
		{"read", args{"path": ".env"}, true},
		{"read", args{"path": "secret/.aws/credentials"}, true},
		{"repo_search", args{"query": "KEY", "path": ".env"}, true},
		{"read", args{"path": "plain"}, false},
		{"write", args{"path": ".github/workflows/ci.yml", "content": ""}, true},
		{"write", args{"path": ".git/hooks/pre-commit", "content": ""}, true},
		{"write", args{"path": "sub/.envrc", "content": ""}, true},
		{"move", args{"from": "plain", "to": ".envrc"}, true},
		{"move", args{"from": ".env", "to": "env"}, true},
		{"write", args{"path": "src/x.go", "content": ""}, false},
		{"delete", args{"path": "tree", "recursive": true}, true},
		{"delete", args{"path": "tree/a/b"}, false},
		{"shell", args{"command": "touch ran"}, true},
	} {
		result := h.call(c.tool, c.in)
		if denied := result.Err != nil && result.Err.Code == tools.CodeExecutionDenied; denied != c.denied || !denied && result.Err != nil {
			t.Errorf("%s %v: %v", c.tool, c.in, result.Err)
		}
	}
	if _, err := os.Lstat(h.path("ran")); err == nil {
		t.Error("a denied command ran")
	}
	text := h.ok("repo_search", args{"query": "KEY", "includeHidden": true, "context": 0}, nil)
	if text != "plain:1:1:KEY=3" {
		t.Errorf("a search shows %q", text)
	}
}

// TestUndoAsksLikeTheChange: taking back the change of a control file steers as
// much as the change itself.
func TestUndoAsksLikeTheChange(t *testing.T) {
	shipped, err := policy.New(nil)
	must(t, err)
	h := newHost(t, func(_ *builtin.Deps, o *tools.RegistryOptions) { o.Policy = shipped })
	for path, denied := range map[string]bool{".envrc": true, ".env": true, ".github": true, "plain": false} {
		at, err := h.ws.Parse(path)
		must(t, err)
		done, err := h.ws.Transact(t.Context(), []workspace.Path{at}, func(tx *workspace.Tx) error { return tx.Write(at, []byte("x"), nil) })
		must(t, err)
		if !denied {
			h.ok("undo", args{"undoId": done.UndoID}, nil)
			continue
		}
		h.fails("undo", args{"undoId": done.UndoID}, tools.CodeExecutionDenied)
		if h.content(path) != "x" {
			t.Errorf("%s was undone without consent", path)
		}
	}
}

// TestSandboxedShell: a command that is held may run without asking, and the
// answer says what truly held it.
func TestSandboxedShell(t *testing.T) {
	shipped, err := policy.New(nil)
	must(t, err)
	temporary, outside := t.TempDir(), t.TempDir()
	h := newHost(t, func(d *builtin.Deps, o *tools.RegistryOptions) {
		o.Policy = shipped
		d.Shell.Sandbox = child.Prefer
		d.Shell.Environment = append(slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "TMPDIR=") }), "TMPDIR="+temporary)
	})
	holds, err := h.owner.Probe(t.Context())
	must(t, err)
	in := args{"command": "echo in >inside; echo t >$TMPDIR/t; echo out >" + outside + "/file || echo refused; exec 3<>/dev/tcp/127.0.0.1/9 || echo closed"}
	result := h.call("shell", in)
	if !holds.FilesystemIsolated || !holds.NetworkIsolated {
		if os.Getenv("CI") == "true" {
			t.Errorf("no sandbox on this system: %+v", holds)
		}
		if result.Err == nil || result.Err.Code != tools.CodeExecutionDenied {
			t.Errorf("without a sandbox it must ask: %v", result.Err)
		}
		return
	}
	m := shellMetadata(t, result)
	if result.Err != nil || m.Sandbox == nil || *m.Sandbox != holds {
		t.Fatalf("%v %s", result.Err, result.Metadata)
	}
	text := textOf(result)
	if !strings.Contains(text, "refused\n") || !strings.Contains(text, "closed\n") || h.content("inside") != "in\n" {
		t.Errorf("the command said %q", text)
	}
	if _, err := os.Stat(outside + "/file"); err == nil {
		t.Error("it wrote outside")
	}
}
