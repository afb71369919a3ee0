package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

func restore(t testing.TB, g *Repository, ws *workspace.Workspace, opts *RestoreOptions) (*workspace.Committed, error) {
	t.Helper()
	list, err := g.CheckRestore(t.Context(), opts)
	if err != nil {
		return nil, err
	}
	return g.Restore(t.Context(), ws, RewritePaths(list), opts)
}

// TestRestoreCheckpoint: everything that a checkpoint has comes back from it, bit by
// bit, and an undo brings back what was there before that.
func TestRestoreCheckpoint(t *testing.T) {
	root := repository(t)
	dirty(t, root)
	must(t, os.RemoveAll(filepath.Join(root, "a.txt"))) // a directory where a file was is its own test
	write(t, root, "a.txt", "changed\n")
	g, ws := opened(t, root), files(t, root)
	want := snapshot(t, root)
	c, err := g.Checkpoint(t.Context(), nil)
	must(t, err)
	plain(t, root, "reset", "-q", "--hard")
	plain(t, root, "clean", "-q", "-f", "-d")
	write(t, root, "later", "not known to git\n")
	write(t, root, "tracked later", "in the index\n")
	plain(t, root, "add", "tracked later")
	after, before := snapshot(t, root), state(t, root)
	done, err := restore(t, g, ws, &RestoreOptions{Paths: []string{"."}, From: c.ID})
	must(t, err)
	must(t, os.Remove(filepath.Join(root, "later")))
	if got := snapshot(t, root); got != want {
		t.Errorf("restored:\n%s\nwant:\n%s", got, want)
	}
	write(t, root, "later", "not known to git\n")
	_, err = ws.Undo(t.Context(), done.UndoID)
	must(t, err)
	if snapshot(t, root) != after || state(t, root) != before {
		t.Errorf("undone:\n%s\nwant:\n%s", snapshot(t, root), after)
	}
	if _, err := restore(t, g, ws, &RestoreOptions{Paths: []string{"dir"}, From: c.Ref}); !errors.Is(err, tools.CodeNoChange) {
		t.Errorf("what is as it was: %v", err)
	}
}

func TestRestorePaths(t *testing.T) {
	root := repository(t)
	write(t, root, "d/one", "1\n")
	write(t, root, "d/two", "2\n")
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "d")
	plain(t, root, "rm", "-q", "d/two")
	write(t, root, "d/three", "3\n")
	write(t, root, "a.txt", "changed\n")
	plain(t, root, "add", "d/three")
	plain(t, root, "commit", "-q", "-a", "-m", "changed")
	write(t, root, "d/unknown", "?\n")
	g, ws := opened(t, root), files(t, root)
	done, err := restore(t, g, ws, &RestoreOptions{Paths: []string{"d"}, From: "HEAD~1"})
	must(t, err)
	if !slices.Equal(done.Files, []string{"d/three", "d/two"}) || done.UndoID == "" {
		t.Errorf("restored %+v", done)
	}
	if got := plain(t, root, "status", "--porcelain"); got != " D d/three\n?? d/two\n?? d/unknown\n" {
		t.Errorf("git says %q", got)
	}
	before := snapshot(t, root)
	for name, c := range map[string]struct {
		opts RestoreOptions
		code tools.Code
	}{
		"no such commit":   {RestoreOptions{Paths: []string{"a.txt"}, From: "nothing"}, tools.CodeGitRef},
		"an option":        {RestoreOptions{Paths: []string{"a.txt"}, From: "-p"}, tools.CodeToolInput},
		"no paths":         {RestoreOptions{From: "HEAD"}, tools.CodeToolInput},
		"no such path":     {RestoreOptions{Paths: []string{"a.txt", "missing"}, From: "HEAD"}, tools.CodeNotFound},
		"outside":          {RestoreOptions{Paths: []string{"../x"}, From: "HEAD"}, tools.CodePathEscape},
		"as it is":         {RestoreOptions{Paths: []string{"a.txt"}, From: "HEAD"}, tools.CodeNoChange},
		"no such id":       {RestoreOptions{Paths: []string{"a.txt"}, From: "20260101t000000z-00000000"}, tools.CodeGitRef},
		"a path of no one": {RestoreOptions{Paths: []string{"d/unknown"}, From: "HEAD"}, tools.CodeNotFound},
	} {
		if _, err := restore(t, g, ws, &c.opts); !errors.Is(err, c.code) || snapshot(t, root) != before {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	write(t, root, ".gitattributes", "*.txt filter=lfs\n")
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "filter")
	write(t, root, "a.txt", "raw\n")
	if _, err := restore(t, g, ws, &RestoreOptions{Paths: []string{"a.txt"}, From: "HEAD"}); !errors.Is(err, tools.CodeGitLFS) {
		t.Errorf("a file that needs a filter: %v", err)
	}
	// What a checkpoint has of such a file is what was on disk.
	c, err := g.Checkpoint(t.Context(), nil)
	must(t, err)
	write(t, root, "a.txt", "lost\n")
	must(t, errorOf2(restore(t, g, ws, &RestoreOptions{Paths: []string{"a.txt"}, From: c.ID})))
	if data, err := os.ReadFile(filepath.Join(root, "a.txt")); err != nil || string(data) != "raw\n" {
		t.Errorf("from the checkpoint: %q, %v", data, err)
	}
}

func errorOf2(_ *workspace.Committed, err error) error { return err }

// TestRestoreLeavesWhatChanges: a file that somebody writes after git has looked at it
// stops everything.
func TestRestoreLeavesWhatChanges(t *testing.T) {
	root := repository(t)
	write(t, root, "a.txt", "mine\n")
	g, ws := opened(t, root), files(t, root)
	r := &rewriting{g: g, ws: ws, work: nil}
	opts := &RestoreOptions{Paths: []string{"a.txt"}, From: "HEAD"}
	r.work = func(ctx context.Context) ([]Rewrite, error) {
		list, err := g.CheckRestore(ctx, opts)
		write(t, root, "a.txt", "theirs, just now\n")
		return list, err
	}
	if _, _, err := r.do(t.Context(), []string{"a.txt"}); !errors.Is(err, tools.CodeFileChanged) {
		t.Errorf("a file that changes meanwhile: %v", err)
	}
	if data, err := os.ReadFile(filepath.Join(root, "a.txt")); err != nil || string(data) != "theirs, just now\n" {
		t.Errorf("it is %q, %v", data, err)
	}
}
