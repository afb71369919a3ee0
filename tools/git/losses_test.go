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

// TestHiddenChangesMerge: what a person has told git not to look at is theirs all the same: a
// checkpoint has it, a patch is applied to it and not over it, and a worktree with it is
// not removed.
func TestHiddenChangesMerge(t *testing.T) {
	for _, bit := range []string{"--assume-unchanged", "--skip-worktree"} {
		root := repository(t)
		write(t, root, "a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
		plain(t, root, "commit", "-q", "-a", "-m", "lines")
		write(t, root, "a.txt", "one\n2\n3\n4\n5\n6\n7\n8\n9\n")
		patch := plain(t, root, "diff")
		linked := filepath.Join(t.TempDir(), "linked")
		plain(t, root, "worktree", "add", "-q", linked)
		for _, dir := range []string{root, linked} {
			plain(t, dir, "checkout", "-q", "--", ".")
			plain(t, dir, "update-index", bit, "a.txt")
			write(t, dir, "a.txt", "1\n2\n3\n4\n5\n6\n7\n8\nmine\n")
		}
		g, ws := opened(t, root), files(t, root)
		index := plain(t, root, "ls-files", "-v")
		c, err := g.Checkpoint(t.Context(), nil)
		must(t, err)
		if got := plain(t, root, "show", c.Ref+":a.txt"); !strings.Contains(got, "mine") {
			t.Errorf("%s: the checkpoint has %q", bit, got)
		}
		if _, err := apply(t, g, ws, &PatchOptions{Patch: []byte(patch)}); err != nil {
			t.Errorf("%s: %v", bit, err)
		}
		if got, _ := os.ReadFile(filepath.Join(root, "a.txt")); string(got) != "one\n2\n3\n4\n5\n6\n7\n8\nmine\n" {
			t.Errorf("%s: patched, it is %q", bit, got)
		}
		if got := plain(t, root, "ls-files", "-v"); got != index {
			t.Errorf("%s: the index has become %q", bit, got)
		}
		if err := g.RemoveWorktree(t.Context(), linked, nil); !errors.Is(err, tools.CodeGitDirty) {
			t.Errorf("%s: the worktree: %v", bit, err)
		}
	}
}

// TestRemoveKeeps: with a worktree go neither a commit that only it is at, be its
// directory there or not, nor what a rebase has put aside, nor the directory that is
// being worked in.
func TestRemoveKeeps(t *testing.T) {
	root := repository(t)
	g, ctx := opened(t, root), t.Context()
	gone := filepath.Join(t.TempDir(), "gone")
	plain(t, root, "worktree", "add", "-q", "--detach", gone)
	plain(t, gone, "commit", "-q", "--allow-empty", "-m", "only here")
	must(t, os.RemoveAll(gone))
	if err := g.RemoveWorktree(ctx, gone, nil); !errors.Is(err, tools.CodeGitRef) {
		t.Errorf("its directory is gone: %v", err)
	}

	rebasing := filepath.Join(t.TempDir(), "rebasing")
	plain(t, root, "worktree", "add", "-q", "-b", "rebasing", rebasing)
	plain(t, rebasing, "commit", "-q", "--allow-empty", "-m", "second")
	write(t, rebasing, "a.txt", "put aside\n")
	edit := plainCommand(rebasing, "-c", "sequence.editor=printf 'break\\n' >", "rebase", "-q", "-i", "--autostash", "HEAD~")
	edit.Env = append(edit.Env, "GIT_SEQUENCE_EDITOR=printf 'break\\n' >")
	if out, err := edit.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if plain(t, rebasing, "status", "--porcelain") != "" {
		t.Fatal("the rebase has put nothing aside")
	}
	if err := g.RemoveWorktree(ctx, rebasing, nil); !errors.Is(err, tools.CodeGitConflict) {
		t.Errorf("in the middle of a rebase: %v", err)
	}

	own := filepath.Join(t.TempDir(), "own")
	plain(t, root, "worktree", "add", "-q", "-b", "own", own)
	for _, force := range []bool{false, true} {
		if err := opened(t, own).RemoveWorktree(ctx, own, &RemoveOptions{Force: force}); !errors.Is(err, tools.CodeExecutionDenied) {
			t.Errorf("itself, force %v: %v", force, err)
		}
	}
	if _, err := os.Stat(filepath.Join(own, "a.txt")); err != nil {
		t.Errorf("the directory that is worked in: %v", err)
	}
}

// TestCommitUnmerged: a conflict that a stash has left is not committed, as git does not.
func TestCommitUnmerged(t *testing.T) {
	root := repository(t)
	write(t, root, "a.txt", "stashed\n")
	plain(t, root, "stash", "-q")
	write(t, root, "a.txt", "committed\n")
	plain(t, root, "commit", "-q", "-a", "-m", "second")
	failing(t, root, "stash", "pop")
	before := state(t, root)
	for _, paths := range [][]string{{"a.txt"}, {"."}} {
		if _, err := opened(t, root).Commit(t.Context(), &CommitOptions{Message: "m", Paths: paths, Checkpoint: true}); !errors.Is(err, tools.CodeGitConflict) || state(t, root) != before {
			t.Errorf("%q: %v", paths, err)
		}
	}
}

// TestCommitKeepsIndexMode: whoever could read the index can read the new one.
func TestCommitKeepsIndexMode(t *testing.T) {
	root := repository(t)
	index := filepath.Join(root, ".git", "index")
	write(t, root, "a.txt", "two\n")
	plain(t, root, "add", "a.txt")
	must(t, os.Chmod(index, 0o664))
	must(t, errorOf(opened(t, root).Commit(t.Context(), &CommitOptions{Message: "m", Paths: []string{"a.txt"}})))
	if info, err := os.Stat(index); err != nil || info.Mode().Perm()&0o044 != 0o044 {
		t.Errorf("the index has mode %v, %v", info.Mode(), err)
	}
}

// TestCheckpointLineEnds: a repository that refuses some line ends refuses no checkpoint.
func TestCheckpointLineEnds(t *testing.T) {
	root := repository(t)
	plain(t, root, "config", "core.autocrlf", "input")
	plain(t, root, "config", "core.safecrlf", "true")
	write(t, root, "a.txt", "one\r\ntwo\r\n")
	c, err := opened(t, root).Checkpoint(t.Context(), nil)
	must(t, err)
	if got := plain(t, root, "show", c.Ref+":a.txt"); got != "one\ntwo\n" {
		t.Errorf("the checkpoint has %q", got)
	}
}

// TestCommitIndexCannotFollow: when the new index cannot take the place of the old one,
// the branch is where it was.
func TestCommitIndexCannotFollow(t *testing.T) {
	root := repository(t)
	write(t, root, "a.txt", "two\n")
	head, index := plain(t, root, "rev-parse", "HEAD"), filepath.Join(root, ".git", "index")
	ctx := tools.WithPlanned(t.Context(), func(context.Context, []tools.Witness) error {
		must(t, os.Rename(index, index+".kept"))
		return os.MkdirAll(filepath.Join(index, "full"), 0o755)
	})
	_, err := opened(t, root).Commit(ctx, &CommitOptions{Message: "m", Paths: []string{"a.txt"}})
	must(t, os.RemoveAll(index))
	must(t, os.Rename(index+".kept", index))
	if err == nil || plain(t, root, "rev-parse", "HEAD") != head {
		t.Errorf("%v, and HEAD is at %s, not %s", err, plain(t, root, "rev-parse", "HEAD"), head)
	}
}

// TestCommitProcesses: a commit with a checkpoint takes few enough processes.
func TestCommitProcesses(t *testing.T) {
	root := repository(t)
	write(t, root, "a.txt", "two\n")
	write(t, root, "new", "new\n")
	if count := counted(t, "commit", root); count > 30 {
		t.Errorf("a commit with a checkpoint takes %d processes", count)
	} else {
		t.Logf("figure: processes of git for a commit with a checkpoint = %d", count)
	}
}
