package taskspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// TestNothingHides: what a work tree holds is seen and comes back, whatever the
// repository's own settings and other repositories say of it.
func TestNothingHides(t *testing.T) {
	t.Parallel()
	all := Policy{Dirty: true, Unowned: true, MovedHead: true, Locked: true}
	for name, hide := range map[string]func(t *testing.T, f *fixture, path string){
		"a repository made of a tracked directory": func(t *testing.T, _ *fixture, path string) {
			inner := filepath.Join(path, "src")
			plain(t, inner, "init", "-q")
			plain(t, inner, "add", "-A")
			plain(t, inner, "commit", "-q", "-m", "inner")
			plain(t, inner, "gc", "-q") // which leaves directories empty that it needs
		},
		"another case, where case is said not to count": func(t *testing.T, f *fixture, path string) {
			plain(t, f.at("shop"), "config", "core.ignoreCase", "true")
			write(t, path, "A.txt", "another file\n")
		},
		"settings of the work tree's own": func(t *testing.T, f *fixture, path string) {
			write(t, path, "new", "x")
			plain(t, f.at("shop"), "config", "extensions.worktreeConfig", "true")
			plain(t, path, "config", "--worktree", "core.worktree", f.at("shop"))
		},
		"no untracked files": func(t *testing.T, f *fixture, path string) {
			plain(t, f.at("shop"), "config", "status.showUntrackedFiles", "no")
			plain(t, f.at("shop"), "config", "core.trustctime", "false")
			must(t, os.Symlink("a.txt", filepath.Join(path, "link")))
		},
		"an exclude of everything": func(t *testing.T, f *fixture, path string) {
			write(t, f.at("shop", ".git"), "info/exclude", "*\n")
			write(t, path, "new", "x")
		},
		"attributes and a filter": func(t *testing.T, f *fixture, path string) {
			write(t, f.at("shop", ".git"), "info/attributes", "* filter=same text eol=crlf\n")
			plain(t, f.at("shop"), "config", "filter.same.clean", "echo one")
			write(t, path, "a.txt", "not one\n")
		},
		"a sparse work tree": func(t *testing.T, _ *fixture, path string) {
			plain(t, path, "sparse-checkout", "set", "--no-cone", "a.txt")
			write(t, path, "src/b.txt", "written all the same\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			_, path := f.make("t")
			hide(t, f, path)
			want := everything(t, path)
			if _, err := f.m.Cleanup(t.Context(), ada, "t", Policy{}); err == nil {
				t.Error("cleaned up unasked")
			}
			expectTree(t, "after the refusal", everything(t, path), want)
			_, err := f.m.Cleanup(t.Context(), ada, "t", all)
			must(t, err)
			_ = os.Remove(f.at("shop", ".git", "info", "attributes")) // files of a filter are not made, rather than as they are not
			_, err = f.m.Undo(t.Context(), ada, "t")
			must(t, err)
			got := everything(t, path)
			for name, text := range want {
				if got[name] != text {
					t.Errorf("after undo: %q is %q, want %q", name, got[name], text)
				}
			}
			if _, err := os.Stat(filepath.Join(path, "src", ".git")); err == nil {
				plain(t, filepath.Join(path, "src"), "fsck")
			}
		})
	}
}

// everything is all below a work tree, but for its own .git; of repositories within also
// what is in theirs.
func everything(t *testing.T, path string) map[string]string {
	t.Helper()
	found := map[string]string{}
	must(t, filepath.WalkDir(path, func(full string, entry fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(path, full)
		if err != nil || rel == ".git" || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(full)
		found[rel] = string(data)
		return err
	}))
	return found
}

// TestMovedWithGit: what somebody has moved elsewhere is not taken for missing.
func TestMovedWithGit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, path := f.make("t")
	write(t, path, "precious", "x")
	plain(t, f.at("shop"), "worktree", "move", "-f", "-f", path, f.at("moved"))
	_, err := f.m.Cleanup(t.Context(), ada, "t", Policy{Dirty: true, Unowned: true, MovedHead: true, Locked: true, Missing: true})
	f.expectCode("cleanup", err, tools.CodeWorkspaceUnknown)
	if data, err := os.ReadFile(f.at("moved", "precious")); string(data) != "x" {
		t.Errorf("the file is %q, %v", data, err)
	}
}

// TestUndoAfterTheBranch: a branch that went on, is checked out elsewhere or was
// deleted does not keep a cleanup from being undone.
func TestUndoAfterTheBranch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		work func(t *testing.T, path string)
		do   func(t *testing.T, f *fixture)
		ref  string
	}{
		"went on": {nil, func(t *testing.T, f *fixture) {
			plain(t, f.at("shop"), "switch", "-q", "task/t")
			plain(t, f.at("shop"), "commit", "-q", "--allow-empty", "-m", "on")
			plain(t, f.at("shop"), "switch", "-q", "main")
		}, ""},
		"is checked out elsewhere": {nil, func(t *testing.T, f *fixture) { plain(t, f.at("shop"), "switch", "-q", "task/t") }, ""},
		"was deleted":              {nil, func(t *testing.T, f *fixture) { plain(t, f.at("shop"), "branch", "-D", "task/t") }, "refs/heads/task/t"},
		"is where it was":          {nil, func(*testing.T, *fixture) {}, "refs/heads/task/t"},
		"has work and is elsewhere": {func(t *testing.T, p string) {
			plain(t, p, "commit", "-q", "--allow-empty", "-m", "work")
			write(t, p, "new", "x")
		}, func(t *testing.T, f *fixture) { plain(t, f.at("shop"), "switch", "-q", "task/t") }, ""},
		"has work and was deleted": {func(t *testing.T, p string) {
			plain(t, p, "commit", "-q", "--allow-empty", "-m", "work")
			write(t, p, "new", "x")
		}, func(t *testing.T, f *fixture) { plain(t, f.at("shop"), "branch", "-D", "task/t") }, "refs/heads/task/t"},
		"gave its name to a longer": {nil, func(t *testing.T, f *fixture) {
			plain(t, f.at("shop"), "branch", "-D", "task/t")
			plain(t, f.at("shop"), "branch", "task/t/x")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			_, path := f.make("t")
			if c.work != nil {
				c.work(t, path)
			}
			head, want := plain(t, path, "rev-parse", "HEAD"), tree(t, path)
			_, err := f.m.Cleanup(t.Context(), ada, "t", Policy{Dirty: true})
			must(t, err)
			c.do(t, f)
			_, err = f.m.Undo(t.Context(), ada, "t")
			must(t, err)
			expectTree(t, "the work tree", tree(t, path), want)
			if now := plain(t, path, "rev-parse", "HEAD"); now != head {
				t.Errorf("HEAD was at %s and is at %s", head, now)
			}
			ref, _ := gitCommand(path, "symbolic-ref", "-q", "HEAD").Output()
			if got := strings.TrimSpace(string(ref)); got != c.ref {
				t.Errorf("HEAD is %q, want %q", got, c.ref)
			}
		})
	}
}

// TestRepositoryGone: the workspace of a repository that is no more can be closed, once
// nothing of it is left that could be lost.
func TestRepositoryGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, path := f.make("t")
	must(t, os.RemoveAll(f.at("shop")))
	_, err := f.m.Cleanup(t.Context(), ada, "t", Policy{Missing: true, Dirty: true})
	f.expectCode("with its work tree there", err, tools.CodeWorkspaceUnknown)
	must(t, os.Rename(path, f.at("kept")))
	_, err = f.m.Cleanup(t.Context(), ada, "t", Policy{})
	f.expectCode("without a policy", err, tools.CodeWorkspaceUnknown)
	_, err = f.m.Cleanup(t.Context(), ada, "t", Policy{Missing: true})
	must(t, err)
	must(t, f.m.Remove(t.Context(), ada, "t"))
}

// TestLinkedAndOnAnotherDisk: the directory for workspaces may be a link, and on
// another file system than the repositories.
func TestLinkedAndOnAnotherDisk(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other, err := os.MkdirTemp("/dev/shm", "taskspace")
	if err != nil {
		t.Skip("no other file system: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(other) })
	must(t, os.Symlink(other, f.at("state")))
	_, path := f.make("t")
	soil(t, path)
	want := tree(t, path)
	for range 2 {
		_, err = f.m.Verify(t.Context(), ada, "t", false)
		must(t, err)
		_, err = f.m.Cleanup(t.Context(), ada, "t", Policy{Dirty: true})
		must(t, err)
		f.expectNothingLeft()
		_, err = f.m.Undo(t.Context(), ada, "t")
		must(t, err)
		expectTree(t, "after undo", tree(t, path), want)
	}
}

// TestHalfRemoved: git may be ended when it has removed any of the files of its own
// directory for a work tree. The cleanup goes on, and takes nothing else for the work
// tree: here the configured repository is somebody's linked one.
func TestHalfRemoved(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gitdir", "commondir", "HEAD", "index", "locked", "gitdir commondir HEAD index logs refs ORIG_HEAD"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			plain(t, f.at("shop"), "worktree", "add", "-q", "-b", "mine", f.at("mine"))
			write(t, f.at("mine"), "precious", "x")
			f.opts.Repositories["shop"] = f.at("mine")
			f.open()
			space, path := f.make("t")
			write(t, path, "new", "x")
			f.m.seam = &seam{at: func(step string) error {
				if step == "remove" {
					return errInjected
				}
				return nil
			}}
			_, err := f.m.Cleanup(t.Context(), ada, "t", Policy{Dirty: true})
			if !errors.Is(err, errInjected) {
				t.Fatal(err)
			}
			f.m.seam = nil
			wt := &space.Repositories[0]
			must(t, os.RemoveAll(f.m.leaving(space, wt)))
			for _, file := range strings.Fields(name) {
				must(t, os.RemoveAll(f.at("shop", ".git", "worktrees", wt.Admin, file)))
			}
			_, err = f.m.Cleanup(t.Context(), ada, "t", Policy{Dirty: true})
			must(t, err)
			if data, err := os.ReadFile(f.at("mine", "precious")); string(data) != "x" {
				t.Fatalf("somebody's own work tree has %q, %v", data, err)
			}
			_, err = f.m.Undo(t.Context(), ada, "t")
			must(t, err)
			if data, err := os.ReadFile(filepath.Join(path, "new")); string(data) != "x" {
				t.Errorf("the file is %q, %v", data, err)
			}
		})
	}
}

// TestMissingWithStagedContent: of a work tree that somebody has deleted, what only
// git's index still has comes back as staged content.
func TestMissingWithStagedContent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, path := f.make("t")
	write(t, path, "a.txt", "staged\n")
	plain(t, path, "add", "-A")
	must(t, os.RemoveAll(f.at("state")))
	_, err := f.m.Cleanup(t.Context(), ada, "t", Policy{Missing: true})
	must(t, err)
	plain(t, f.at("shop"), "gc", "-q", "--prune=now")
	_, err = f.m.Undo(t.Context(), ada, "t")
	must(t, err)
	if text := plain(t, path, "show", ":a.txt"); text != "staged" {
		t.Errorf("staged is %q", text)
	}
}

// TestFailureToSave: a work tree whose content cannot be saved is where it was, in use.
func TestFailureToSave(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, path := f.make("t")
	write(t, path, "new", "x")
	want := tree(t, path)
	f.m.seam = &seam{at: func(step string) error {
		if step == "artifact" {
			return errInjected
		}
		return nil
	}}
	if _, err := f.m.Cleanup(t.Context(), ada, "t", Policy{Dirty: true}); !errors.Is(err, errInjected) {
		t.Fatal(err)
	}
	f.m.seam = nil
	expectTree(t, "after the failure", tree(t, path), want)
	if space, err := f.m.Verify(t.Context(), ada, "t", false); err != nil || space.State != Active {
		t.Errorf("%+v, %v", space, err)
	}
}

// TestOwnersAtOnce: of owners that begin a workspace of the same task at once one has
// it, and is the one whose it is said to be.
func TestOwnersAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const owners = 6
	won := make(chan state.Owner, owners)
	var group sync.WaitGroup
	for i := range owners {
		owner := state.Owner{User: fmt.Sprintf("owner%d", i)}
		group.Go(func() {
			if _, err := f.m.Create(t.Context(), owner, request("t", "shop")); err == nil {
				won <- owner
			}
		})
	}
	group.Wait()
	close(won)
	var all []state.Owner
	for owner := range won {
		all = append(all, owner)
	}
	if len(all) != 1 {
		t.Fatalf("it belongs to %v", all)
	}
	if owner, err := f.m.OwnerOf(t.Context(), "t"); err != nil || owner != all[0] {
		t.Errorf("it is said to be %v's, %v; it is %v's", owner, err, all[0])
	}
	// Another's note is not taken away with one's own workspace.
	bob := state.Owner{User: "bob"}
	f.make("u")
	_, err := f.m.Cleanup(t.Context(), ada, "u", Policy{})
	must(t, err)
	must(t, f.m.unlist(t.Context(), bob, "u"))
	if owner, err := f.m.OwnerOf(t.Context(), "u"); err != nil || owner != ada {
		t.Errorf("u is said to be %v's, %v", owner, err)
	}
}

// TestCapAtOnce: tasks that begin at once have no more work trees of a repository
// together than one after the other.
func TestCapAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			_, err := f.m.Create(t.Context(), ada, request(fmt.Sprintf("t%d", i), "shop"))
			if err != nil && !errors.Is(err, tools.CodeWorkspaceLimit) && !errors.Is(err, tools.CodeLimit) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := strings.Count(plain(t, f.at("shop"), "worktree", "list"), "\n"); n != 4 {
		t.Errorf("there are %d work trees", n)
	}
}
