package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

func TestLinkedWorktrees(t *testing.T) {
	root := repository(t)
	g, ctx := opened(t, root), t.Context()
	config, err := os.ReadFile(filepath.Join(root, ".git", "config"))
	must(t, err)
	head := strings.TrimSpace(plain(t, root, "rev-parse", "HEAD"))
	var planned []tools.Witness
	watched := tools.WithPlanned(ctx, func(_ context.Context, w []tools.Witness) error {
		planned = w
		return nil
	})
	path := filepath.Join(t.TempDir(), "odd \"name\xff")
	w, err := g.AddWorktree(watched, path, &AddOptions{Branch: "task/one", LockReason: WorkspaceLock + "x y"})
	must(t, err)
	if *w != (LinkedWorktree{Path: path, Branch: "refs/heads/task/one", ID: head, Locked: true, LockReason: WorkspaceLock + "x y"}) {
		t.Errorf("added %+v", w)
	}
	if len(planned) != 2 || planned[0].Ref != "refs/heads/task/one" || planned[0].After.ID != head || planned[1].Ref != "HEAD" || planned[1].Repository != path {
		t.Errorf("planned %+v", planned)
	}
	all, err := g.LinkedWorktrees(ctx)
	must(t, err)
	if len(all) != 2 || !all[0].Main || all[0].Path != root || all[1] != *w {
		t.Errorf("listed %+v", all)
	}
	if err := g.RemoveWorktree(ctx, path, &RemoveOptions{Force: true}); !errors.Is(err, tools.CodeExecutionDenied) {
		t.Errorf("removing what is locked: %v", err)
	}
	if err := g.LockWorktree(ctx, path, "again"); !errors.Is(err, tools.CodeExists) || !strings.Contains(err.Error(), "x y") {
		t.Errorf("locking twice: %v", err)
	}
	must(t, g.UnlockWorktree(ctx, path))
	if err := g.UnlockWorktree(ctx, path); !errors.Is(err, tools.CodeNotFound) {
		t.Errorf("unlocking twice: %v", err)
	}
	must(t, g.LockWorktree(ctx, path, ""))
	must(t, g.UnlockWorktree(ctx, path))
	must(t, g.RemoveWorktree(watched, path, nil))
	if len(planned) != 1 || planned[0].Before.ID != head || planned[0].After.Exists {
		t.Errorf("planned %+v", planned)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the directory is still there")
	}
	plain(t, root, "rev-parse", "--verify", "task/one")
	if after, err := os.ReadFile(filepath.Join(root, ".git", "config")); err != nil || string(after) != string(config) {
		t.Errorf("the configuration has become %q, %v", after, err)
	}
}

// TestAddWorktreeRefuses: what cannot be made is refused, and nothing is made.
func TestAddWorktreeRefuses(t *testing.T) {
	root := repository(t)
	plain(t, root, "branch", "there")
	plain(t, root, "update-ref", "refs/remotes/origin/far", "HEAD")
	plain(t, root, "config", "remote.origin.url", "x")
	plain(t, root, "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
	plain(t, root, "config", "worktree.guessRemote", "true")
	g, ctx, dir := opened(t, root), t.Context(), t.TempDir()
	config, err := os.ReadFile(filepath.Join(root, ".git", "config"))
	must(t, err)
	must(t, os.Symlink("nowhere", filepath.Join(dir, "dead")))
	for name, c := range map[string]struct {
		path string
		opts AddOptions
		code tools.Code
	}{
		"a bad name":          {"w", AddOptions{Branch: "a..b"}, tools.CodeGitRef},
		"an option":           {"w", AddOptions{Branch: "--detach"}, tools.CodeGitRef},
		"another's name":      {"w", AddOptions{Branch: "@{-1}"}, tools.CodeGitRef},
		"no such start":       {"w", AddOptions{Branch: "new", Start: "nothing"}, tools.CodeGitRef},
		"an option as start":  {"w", AddOptions{Branch: "new", Start: "-f"}, tools.CodeToolInput},
		"a branch and start":  {"w", AddOptions{Branch: "there", Start: "HEAD"}, tools.CodeGitRef},
		"a branch in use":     {"w", AddOptions{Branch: "main"}, tools.CodeGitRef},
		"behind a dead link":  {"dead/w", AddOptions{Branch: "new"}, tools.CodeNotFound},
		"a place that is had": {"", AddOptions{Branch: "new"}, tools.CodeExists},
		"a reason with lines": {"w", AddOptions{Branch: "new", LockReason: "a\nb"}, tools.CodeToolInput},
		"too many allowed":    {"w", AddOptions{Branch: "new", Limit: 17}, tools.CodeToolInput},
	} {
		if _, err := g.AddWorktree(ctx, filepath.Join(dir, c.path), &c.opts); !errors.Is(err, c.code) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if _, err := g.AddWorktree(ctx, "relative", nil); !errors.Is(err, tools.CodeToolInput) {
		t.Errorf("a relative path: %v", err)
	}
	if all, err := g.LinkedWorktrees(ctx); err != nil || len(all) != 1 {
		t.Errorf("made %+v, %v", all, err)
	}
	// A branch that only the remote has is made anew, here, and tracks nothing.
	must(t, errOf(g.AddWorktree(ctx, filepath.Join(dir, "far"), &AddOptions{Branch: "far"})))
	if after, err := os.ReadFile(filepath.Join(root, ".git", "config")); err != nil || string(after) != string(config) {
		t.Errorf("the configuration has become %q, %v", after, err)
	}
	must(t, errOf(g.AddWorktree(ctx, filepath.Join(dir, "on", "the way", "there"), &AddOptions{Branch: "there"})))
	must(t, errOf(g.AddWorktree(ctx, filepath.Join(dir, "none"), &AddOptions{Start: "main"})))
	must(t, errOf(g.AddWorktree(ctx, filepath.Join(dir, "four"), &AddOptions{Branch: "four"})))
	if _, err := g.AddWorktree(ctx, filepath.Join(dir, "five"), &AddOptions{Branch: "five"}); !errors.Is(err, tools.CodeLimit) {
		t.Errorf("a fifth: %v", err)
	}
	if _, ok, _ := g.branchAt(ctx, "five"); ok {
		t.Error("the refused worktree has left a branch")
	}
	must(t, errOf(g.AddWorktree(ctx, filepath.Join(dir, "five"), &AddOptions{Branch: "five", LockReason: WorkspaceLock + "five"})))
}

func errOf(_ *LinkedWorktree, err error) error { return err }

// TestRemoveWorktreeLosesNothing: what is in no commit, or in one that nothing keeps,
// stays; force is explicit.
func TestRemoveWorktreeLosesNothing(t *testing.T) {
	root := repository(t)
	write(t, root, ".gitignore", "*.ignored\n")
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "ignore")
	g, ctx, dir := opened(t, root), t.Context(), t.TempDir()
	add := func(name string) string {
		path := filepath.Join(dir, name)
		must(t, errOf(g.AddWorktree(ctx, path, &AddOptions{Start: "main"})))
		return path
	}
	for name, c := range map[string]struct {
		spoil func(path string)
		code  tools.Code
	}{
		"changed":   {func(path string) { write(t, path, "a.txt", "changed\n") }, tools.CodeGitDirty},
		"untracked": {func(path string) { write(t, path, "deep/new", "new\n") }, tools.CodeGitDirty},
		"ignored":   {func(path string) { write(t, path, "x.ignored", "new\n") }, tools.CodeGitDirty},
		"unkept": {func(path string) {
			write(t, path, "a.txt", "changed\n")
			plain(t, path, "commit", "-q", "-a", "-m", "kept by nothing")
		}, tools.CodeGitRef},
	} {
		path := add(name)
		c.spoil(path)
		before := snapshot(t, path)
		if err := g.RemoveWorktree(ctx, path, nil); !errors.Is(err, c.code) || snapshot(t, path) != before {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
		must(t, g.RemoveWorktree(ctx, path, &RemoveOptions{Force: true}))
	}
	gone := add("gone")
	must(t, os.RemoveAll(gone))
	if w, err := g.FindWorktree(ctx, gone); err != nil || w.Missing == "" {
		t.Errorf("one whose directory is gone: %+v, %v", w, err)
	}
	must(t, g.RemoveWorktree(ctx, gone, nil))
	if err := g.RemoveWorktree(ctx, root, &RemoveOptions{Force: true}); !errors.Is(err, tools.CodeToolInput) {
		t.Errorf("the main worktree: %v", err)
	}
	if err := g.RemoveWorktree(ctx, dir, nil); !errors.Is(err, tools.CodeNotFound) {
		t.Errorf("what is none: %v", err)
	}
}

// TestAddWorktreeNeedsFilter: files that would come out other than they were written
// are not checked out.
func TestAddWorktreeNeedsFilter(t *testing.T) {
	root := repository(t)
	write(t, root, "sub/.gitattributes", "*.bin filter=lfs\n")
	write(t, root, "sub/x.bin", "pointer\n")
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "large")
	path := filepath.Join(t.TempDir(), "w")
	if _, err := opened(t, root).AddWorktree(t.Context(), path, &AddOptions{Branch: "new"}); !errors.Is(err, tools.CodeGitLFS) || !strings.Contains(err.Error(), "sub/x.bin") {
		t.Errorf("without the filter: %v", err)
	}
	allowing := newRunner(t, &Options{Filters: []Filter{{Name: "lfs", Clean: "sed s/large/pointer/", Smudge: "sed s/pointer/large/"}}})
	g, err := allowing.Repository(t.Context(), root)
	must(t, err)
	must(t, errOf(g.AddWorktree(t.Context(), path, &AddOptions{Branch: "new"})))
	if data, err := os.ReadFile(filepath.Join(path, "sub/x.bin")); err != nil || string(data) != "large\n" {
		t.Errorf("with the filter: %q, %v", data, err)
	}
}

// TestAddWorktreeFails: when git cannot write a worktree, no branch is left of it.
func TestAddWorktreeFails(t *testing.T) {
	root := repository(t)
	blob := strings.TrimSpace(plain(t, root, "rev-parse", "HEAD:a.txt"))
	must(t, os.Remove(filepath.Join(root, ".git", "objects", blob[:2], blob[2:])))
	g, path := opened(t, root), filepath.Join(t.TempDir(), "linked")
	if _, err := g.AddWorktree(t.Context(), path, &AddOptions{Branch: "task"}); !errors.Is(err, tools.CodeGitFailed) {
		t.Errorf("added: %v", err)
	}
	if _, err := os.Lstat(path); err == nil || plain(t, root, "branch", "--list", "task") != "" {
		t.Error("a directory or a branch is left")
	}
}
