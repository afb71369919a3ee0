package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

// hiddenChanges is a repository with changes in files at which git was told not to look.
func hiddenChanges(t testing.TB, root string) {
	t.Helper()
	for name, flag := range map[string]string{"assumed": "--assume-unchanged", "skipped": "--skip-worktree"} {
		plain(t, root, "update-index", flag, name)
		write(t, root, name, "of a person's own\n")
	}
	if got := plain(t, root, "status", "--porcelain", "-uall", "--ignored"); got != "" {
		t.Fatalf("git sees the changes: %q", got)
	}
}

func withSettings(t testing.TB) string {
	t.Helper()
	root := repository(t)
	write(t, root, "assumed", "template\n")
	write(t, root, "skipped", "template\n")
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "settings")
	return root
}

func content(t testing.TB, root, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	must(t, err)
	return string(data)
}

// TestHiddenChanges: what a file holds at which git was told not to look is neither
// written over nor left out of a checkpoint, and how it is hidden stays as it is.
func TestHiddenChanges(t *testing.T) {
	root := withSettings(t)
	hiddenChanges(t, root)
	flags := plain(t, root, "ls-files", "-v")
	g, ws, ctx := opened(t, root), files(t, root), t.Context()

	plainSnapshot, err := g.Snapshot(ctx, nil)
	must(t, err)
	for _, name := range []string{"assumed", "skipped"} {
		patch := "diff --git a/X b/X\n--- a/X\n+++ b/X\n@@ -1 +1 @@\n-template\n+patched\n"
		if _, err := apply(t, g, ws, &PatchOptions{Patch: []byte(strings.ReplaceAll(patch, "X", name))}); !errors.Is(err, tools.CodeGitConflict) {
			t.Errorf("a patch of what %s does not hold: %v", name, err)
		}
	}
	c, err := g.Checkpoint(ctx, nil)
	must(t, err)
	for _, name := range []string{"assumed", "skipped"} {
		if got := plain(t, root, "show", c.Commit+":"+name); got != "of a person's own\n" {
			t.Errorf("the checkpoint has %q of %s", got, name)
		}
		if got := content(t, root, name); got != "of a person's own\n" {
			t.Errorf("%s is %q", name, got)
		}
	}
	if plainSnapshot.Tree != c.Tree || strings.Join(c.Paths, " ") != "assumed skipped" {
		t.Errorf("a snapshot has the tree %s, a checkpoint %s with %q", plainSnapshot.Tree, c.Tree, c.Paths)
	}

	write(t, root, "a.txt", "changed\n")
	done, err := restore(t, g, ws, &RestoreOptions{Paths: []string{"."}, From: "HEAD"})
	must(t, err)
	if strings.Join(done.Files, " ") != "a.txt" || content(t, root, "skipped") != "of a person's own\n" {
		t.Errorf("restoring all wrote %q", done.Files)
	}
	done, err = restore(t, g, ws, &RestoreOptions{Paths: []string{"skipped", "assumed"}, From: "HEAD"})
	must(t, err)
	if strings.Join(done.Files, " ") != "assumed skipped" || content(t, root, "skipped") != "template\n" {
		t.Errorf("restoring what is named wrote %q", done.Files)
	}
	if got := plain(t, root, "ls-files", "-v"); got != flags {
		t.Errorf("the index says %q, said %q", got, flags)
	}
}

// TestHiddenChangesDeleted: to restore a directory of a commit that lacks a file does
// not delete it where git was told not to look.
func TestHiddenChangesDeleted(t *testing.T) {
	root := withSettings(t)
	hiddenChanges(t, root)
	_, err := restore(t, opened(t, root), files(t, root), &RestoreOptions{Paths: []string{"."}, From: "HEAD~1"})
	if !errors.Is(err, tools.CodeNoChange) || content(t, root, "assumed") != "of a person's own\n" || content(t, root, "skipped") != "of a person's own\n" {
		t.Errorf("restored: %v", err)
	}
}

// TestSwitchHiddenChanges: a switch writes over no file at which git was told not to
// look, with a checkpoint or without.
func TestSwitchHiddenChanges(t *testing.T) {
	root := withSettings(t)
	plain(t, root, "switch", "-q", "-c", "other")
	write(t, root, "assumed", "other\n")
	write(t, root, "skipped", "other\n")
	plain(t, root, "commit", "-q", "-a", "-m", "other")
	plain(t, root, "switch", "-q", "main")
	hiddenChanges(t, root)
	for _, checkpoint := range []bool{false, true} {
		_, err := opened(t, root).Switch(t.Context(), "other", &SwitchOptions{Checkpoint: checkpoint})
		if !errors.Is(err, tools.CodeGitDirty) {
			t.Errorf("checkpoint %v: %v", checkpoint, err)
		}
	}
	if content(t, root, "assumed") != "of a person's own\n" || content(t, root, "skipped") != "of a person's own\n" {
		t.Error("a file was written over")
	}
	if refs := plain(t, root, "for-each-ref", CheckpointPrefix); refs != "" {
		t.Errorf("the refused switch has left %q", refs)
	}
}

// TestRemoveOpenedWorktree: nobody removes the worktree that they are in.
func TestRemoveOpenedWorktree(t *testing.T) {
	root := withSettings(t)
	at := filepath.Join(t.TempDir(), "linked")
	plain(t, root, "worktree", "add", "-q", "-b", "task", at)
	must(t, os.Mkdir(filepath.Join(at, "sub"), 0o755))
	for _, dir := range []string{at, filepath.Join(at, "sub")} {
		if err := opened(t, dir).RemoveWorktree(t.Context(), at, &RemoveOptions{Force: true}); !errors.Is(err, tools.CodeExecutionDenied) {
			t.Errorf("from %s: %v", dir, err)
		}
	}
	if _, err := os.Stat(filepath.Join(at, "a.txt")); err != nil {
		t.Error(err)
	}
}

// TestRemoveWorktreeKeeps: without force, a worktree goes only if nothing goes with it
// that is nowhere else.
func TestRemoveWorktreeKeeps(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, at string)
		code    tools.Code
	}{
		"hidden changes": {func(t *testing.T, at string) { hiddenChanges(t, at) }, tools.CodeGitDirty},
		"a rebase with what it put aside": {func(t *testing.T, at string) {
			write(t, at, "a.txt", "put aside\n")
			command := plainCommand(at, "rebase", "-q", "-i", "--autostash", "HEAD~1")
			command.Env = append(command.Env, "GIT_SEQUENCE_EDITOR=sed -i s/^pick/edit/")
			if out, err := command.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if got := plain(t, at, "status", "--porcelain"); got != "" {
				t.Fatalf("not clean: %q", got)
			}
			plain(t, at, "branch", "-f", "keeps-it", "HEAD")
		}, tools.CodeGitConflict},
		"a ref of its own": {func(t *testing.T, at string) {
			commit := strings.TrimSpace(plain(t, at, "commit-tree", "-m", "nowhere else", "HEAD^{tree}"))
			plain(t, at, "update-ref", "refs/worktree/mine", commit)
		}, tools.CodeGitRef},
	} {
		t.Run(name, func(t *testing.T) {
			root := withSettings(t)
			at := filepath.Join(t.TempDir(), "linked")
			plain(t, root, "worktree", "add", "-q", "-b", "task", at)
			c.prepare(t, at)
			if err := opened(t, root).RemoveWorktree(t.Context(), at, nil); !errors.Is(err, c.code) {
				t.Errorf("removed: %v", err)
			}
			if _, err := os.Stat(at); err != nil {
				t.Error(err)
			}
		})
	}
}
