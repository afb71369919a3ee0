package taskspace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// soil makes a work tree as dirty as one can be: commits on the branch and on none,
// staged, changed, deleted, new and ignored files, links, modes, and odd names.
func soil(t testing.TB, path string) {
	t.Helper()
	write(t, path, "committed.txt", "on the branch\n")
	plain(t, path, "add", "-A")
	plain(t, path, "commit", "-q", "-m", "on the branch")
	plain(t, path, "switch", "-q", "--detach")
	write(t, path, "orphan.txt", "on no branch\n")
	plain(t, path, "add", "-A")
	plain(t, path, "commit", "-q", "-m", "on no branch")
	plain(t, path, "switch", "-q", "task/t")
	write(t, path, "src/b.txt", "staged\n")
	plain(t, path, "add", "src/b.txt")
	write(t, path, "src/b.txt", "staged, and changed again\n")
	must(t, os.Remove(filepath.Join(path, "src/c.txt")))
	write(t, path, "new/deep/file", "new\n")
	must(t, os.Chmod(filepath.Join(path, "a.txt"), 0o755))
	write(t, path, "trace.log", "ignored\n")
	write(t, path, "build/out/x", "ignored, deep\n")
	must(t, os.Symlink("../elsewhere", filepath.Join(path, "link")))
	for _, name := range []string{"sp ace", "quo\"te", "new\nline", "tab\tbed", "non-utf8-\xff", "-dash", "emoji-🦊", "crlf"} {
		write(t, path, name, name+"\r\n")
	}
	write(t, path, "secret", "not for others\n")
	must(t, os.Chmod(filepath.Join(path, "secret"), 0o600))
}

// TestNothingIsLost: all that a work tree holds comes back, also when the repository
// has forgotten what only the work tree had.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	for _, forgotten := range []bool{false, true} {
		t.Run(fmt.Sprintf("forgotten=%v", forgotten), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			_, path := f.make("t")
			soil(t, path)
			orphan := plain(t, path, "rev-parse", "HEAD@{1}")
			want, staged, status := tree(t, path), plain(t, path, "ls-files", "-s"), plain(t, path, "status", "--porcelain", "-uall", "--ignored")
			space, err := f.m.Cleanup(t.Context(), ada, "t", Policy{Dirty: true})
			must(t, err)
			f.expectNothingLeft()
			if saved := space.Repositories[0].Saved; len(saved) != 1 || saved[0].Files == nil || saved[0].Commits == nil {
				t.Fatalf("saved: %+v", saved)
			}
			if forgotten {
				for _, ref := range strings.Fields(plain(t, f.at("shop"), "for-each-ref", "--format=%(refname)", "refs/prism")) {
					plain(t, f.at("shop"), "update-ref", "-d", ref)
				}
				plain(t, f.at("shop"), "reflog", "expire", "--expire=now", "--all")
				plain(t, f.at("shop"), "gc", "-q", "--prune=now")
			}
			space, err = f.m.Undo(t.Context(), ada, "t")
			must(t, err)
			expectTree(t, "the work tree", tree(t, path), want)
			if now := plain(t, path, "ls-files", "-s"); now != staged {
				t.Errorf("the index was\n%s\nand is\n%s", staged, now)
			}
			if now := plain(t, path, "status", "--porcelain", "-uall", "--ignored"); now != status {
				t.Errorf("status was\n%s\nand is\n%s", status, now)
			}
			if text := plain(t, path, "show", orphan+":orphan.txt"); text != "on no branch" {
				t.Errorf("the commit on no branch: %q", text)
			}
			plain(t, path, "fsck", "--connectivity-only")
			// All of that once more: what the first cleanup had pinned stays.
			_, err = f.m.Cleanup(t.Context(), ada, "t", Policy{Dirty: true})
			must(t, err)
			_, err = f.m.Undo(t.Context(), ada, "t")
			must(t, err)
			expectTree(t, "the second time", tree(t, path), want)
			if text := plain(t, path, "show", orphan+":orphan.txt"); text != "on no branch" {
				t.Errorf("the commit on no branch, the second time: %q", text)
			}
			_, err = f.m.Cleanup(t.Context(), ada, "t", Policy{Dirty: true})
			must(t, err)
			must(t, f.m.Remove(t.Context(), ada, "t"))
			if refs := plain(t, f.at("shop"), "for-each-ref", "refs/prism"); refs != "" {
				t.Errorf("refs are left: %s", refs)
			}
			if page, err := f.stores.Artifacts().List(t.Context(), ada, "", 0); err != nil || len(page.Artifacts) != 0 {
				t.Errorf("artifacts are left: %+v, %v", page, err)
			}
			_ = space
		})
	}
}

// refused is one reason for which a work tree is not removed.
type refused struct {
	name    string
	do      func(t *testing.T, f *fixture, path string)
	code    tools.Code
	policy  Policy
	lifts   bool // policy lifts it
	restore bool // and undo brings the same tree back
}

func refusals() []refused { return slices.Concat(ofContent(), ofPlace(), ofHead()) }

// ofContent are refusals for what a work tree holds.
func ofContent() []refused {
	return []refused{
		{"changed", func(t *testing.T, _ *fixture, p string) { write(t, p, "a.txt", "changed") }, tools.CodeWorkspaceDirty, Policy{Dirty: true}, true, true},
		{"same size and time", func(t *testing.T, _ *fixture, p string) {
			info, err := os.Stat(filepath.Join(p, "a.txt"))
			must(t, err)
			write(t, p, "a.txt", "eno\n")
			must(t, os.Chtimes(filepath.Join(p, "a.txt"), info.ModTime(), info.ModTime()))
		}, tools.CodeWorkspaceDirty, Policy{Dirty: true}, true, true},
		{"untracked", func(t *testing.T, _ *fixture, p string) { write(t, p, "new", "x") }, tools.CodeWorkspaceDirty, Policy{Dirty: true}, true, true},
		{"ignored", func(t *testing.T, _ *fixture, p string) { write(t, p, "x.log", "x") }, tools.CodeWorkspaceDirty, Policy{Dirty: true}, true, true},
		{"ignored, declared", func(t *testing.T, _ *fixture, p string) { write(t, p, "sub/node_modules/x", "x") }, tools.CodeWorkspaceDirty, Policy{Ignored: []string{"node_modules"}}, true, false},
		{"ignored, another declared", func(t *testing.T, _ *fixture, p string) { write(t, p, "x.log", "x") }, tools.CodeWorkspaceDirty, Policy{Ignored: []string{"node_modules"}}, false, false},
		{"declared and not ignored", func(t *testing.T, _ *fixture, p string) { write(t, p, "out/x", "x") }, tools.CodeWorkspaceDirty, Policy{Ignored: []string{"out"}}, false, false},
		{"ignored by the person alone", func(t *testing.T, f *fixture, p string) {
			write(t, f.at("shop", ".git"), "info/exclude", "mine\n")
			write(t, p, "mine", "x")
		}, tools.CodeWorkspaceDirty, Policy{Dirty: true}, true, true},
		{"assumed unchanged", func(t *testing.T, _ *fixture, p string) {
			plain(t, p, "update-index", "--assume-unchanged", "a.txt")
			write(t, p, "a.txt", "hidden")
		}, tools.CodeWorkspaceDirty, Policy{Dirty: true}, true, true},
		{"skipped", func(t *testing.T, _ *fixture, p string) {
			plain(t, p, "update-index", "--skip-worktree", "a.txt")
			write(t, p, "a.txt", "hidden")
		}, tools.CodeWorkspaceDirty, Policy{Dirty: true}, true, true},
		{"deleted", func(t *testing.T, _ *fixture, p string) { must(t, os.Remove(filepath.Join(p, "src/b.txt"))) }, tools.CodeWorkspaceDirty, Policy{Dirty: true}, true, true},
		{"staged and taken back", func(t *testing.T, _ *fixture, p string) {
			write(t, p, "a.txt", "staged")
			plain(t, p, "add", "-A")
			write(t, p, "a.txt", "one\n")
		}, tools.CodeWorkspaceDirty, Policy{Dirty: true}, true, true},
		{"a file for a directory", func(t *testing.T, _ *fixture, p string) {
			must(t, os.RemoveAll(filepath.Join(p, "src")))
			write(t, p, "src", "a file")
		}, tools.CodeWorkspaceDirty, Policy{Dirty: true}, true, true},
		{"a directory for a file", func(t *testing.T, _ *fixture, p string) {
			must(t, os.Remove(filepath.Join(p, "a.txt")))
			write(t, p, "a.txt/x", "below")
		}, tools.CodeWorkspaceDirty, Policy{Dirty: true}, true, true},
		{"a link out", func(t *testing.T, _ *fixture, p string) { must(t, os.Symlink("/etc", filepath.Join(p, "etc"))) }, tools.CodeWorkspaceDirty, Policy{Dirty: true}, true, true},
		{"a repository within", func(t *testing.T, _ *fixture, p string) {
			write(t, p, "inner/f", "x")
			plain(t, filepath.Join(p, "inner"), "init", "-q")
			plain(t, filepath.Join(p, "inner"), "add", "-A")
			plain(t, filepath.Join(p, "inner"), "commit", "-q", "-m", "inner")
		}, tools.CodeWorkspaceDirty, Policy{Dirty: true}, true, true},
		{"a merge under way", func(t *testing.T, _ *fixture, p string) { conflict(t, p) }, tools.CodeWorkspaceDirty, Policy{Dirty: true}, true, true},
		{"a submodule", func(t *testing.T, f *fixture, p string) {
			plain(t, p, "-c", "protocol.file.allow=always", "submodule", "add", "-q", f.at("lib"), "sub")
			plain(t, p, "commit", "-q", "-m", "sub")
		}, tools.CodeWorkspaceDirty, Policy{Dirty: true, MovedHead: true, Unowned: true, Locked: true}, false, false},
	}
}

// ofPlace are refusals for where a work tree is, and whose.
func ofPlace() []refused {
	return []refused{
		{"locked by others", func(t *testing.T, _ *fixture, p string) {
			plain(t, p, "worktree", "unlock", p)
			plain(t, p, "worktree", "lock", "--reason", "mine", p)
		}, tools.CodeWorkspaceLocked, Policy{Locked: true}, true, true},
		{"unlocked", func(t *testing.T, _ *fixture, p string) { plain(t, p, "worktree", "unlock", p) }, tools.CodeWorkspaceOwnership, Policy{Unowned: true}, true, true},
		{"another directory", func(t *testing.T, _ *fixture, p string) {
			time.Sleep(10 * time.Millisecond)
			must(t, os.CopyFS(p+"-copy", os.DirFS(p)))
			must(t, os.RemoveAll(p))
			must(t, os.Rename(p+"-copy", p))
		}, tools.CodeWorkspaceOwnership, Policy{Unowned: true, Dirty: true}, true, true},
		{"another work tree", func(t *testing.T, f *fixture, p string) {
			plain(t, f.at("shop"), "worktree", "unlock", p)
			plain(t, f.at("shop"), "worktree", "remove", p)
			plain(t, f.at("shop"), "worktree", "add", "-q", p, "task/t")
		}, tools.CodeWorkspaceOwnership, Policy{Unowned: true}, true, true},
		{"removed", func(t *testing.T, _ *fixture, p string) { must(t, os.RemoveAll(p)) }, tools.CodeWorkspaceUnknown, Policy{Missing: true}, true, false},
		{"removed with git", func(t *testing.T, f *fixture, p string) {
			plain(t, f.at("shop"), "worktree", "remove", "-f", "-f", p)
		}, tools.CodeWorkspaceUnknown, Policy{Missing: true}, true, false},
		{"moved away", func(t *testing.T, f *fixture, p string) { must(t, os.Rename(p, f.at("moved"))) }, tools.CodeWorkspaceUnknown, Policy{Dirty: true, Unowned: true, MovedHead: true, Locked: true}, false, false},
		{"moved with git", func(t *testing.T, f *fixture, p string) {
			plain(t, f.at("shop"), "worktree", "move", "-f", "-f", p, f.at("moved"))
		}, tools.CodeWorkspaceUnknown, Policy{Dirty: true, Unowned: true, MovedHead: true, Locked: true}, false, false},
		{"a link in its place", func(t *testing.T, f *fixture, p string) {
			must(t, os.Rename(p, f.at("moved")))
			must(t, os.Symlink(f.at("moved"), p))
		}, tools.CodeWorkspacePathEscape, Policy{Dirty: true, Unowned: true, MovedHead: true, Locked: true, Missing: true}, false, false},
		{"a link above it", func(t *testing.T, f *fixture, p string) {
			must(t, os.Rename(filepath.Dir(p), f.at("moved")))
			must(t, os.Symlink(f.at("moved"), filepath.Dir(p)))
		}, tools.CodeWorkspacePathEscape, Policy{Dirty: true, Unowned: true, MovedHead: true, Locked: true, Missing: true}, false, false},
		{"a repository in its place", func(t *testing.T, f *fixture, p string) {
			must(t, os.RemoveAll(p))
			plain(t, f.base, "clone", "-q", f.at("shop"), p)
		}, tools.CodeWorkspaceMain, Policy{Dirty: true, Unowned: true, MovedHead: true, Locked: true, Missing: true}, false, false},
		{"a plain directory in its place", func(t *testing.T, f *fixture, p string) {
			must(t, os.RemoveAll(p))
			write(t, p, "precious", "x")
		}, tools.CodeWorkspaceOwnership, Policy{}, false, false},
	}
}

// ofHead are refusals for what a work tree has checked out, and of which repository.
func ofHead() []refused {
	return []refused{
		{"detached", func(t *testing.T, _ *fixture, p string) {
			plain(t, p, "switch", "-q", "--detach")
			plain(t, p, "commit", "-q", "--allow-empty", "-m", "on no branch")
		}, tools.CodeWorkspaceFingerprint, Policy{MovedHead: true}, true, true},
		{"on another branch", func(t *testing.T, _ *fixture, p string) { plain(t, p, "switch", "-q", "-c", "other") }, tools.CodeWorkspaceFingerprint, Policy{MovedHead: true}, true, true},
		{"rewritten", func(t *testing.T, _ *fixture, p string) {
			plain(t, p, "commit", "-q", "--amend", "-m", "another first")
		}, tools.CodeWorkspaceFingerprint, Policy{MovedHead: true}, true, true},
		{"without a commit", func(t *testing.T, _ *fixture, p string) { plain(t, p, "switch", "-q", "--orphan", "empty") }, tools.CodeWorkspaceFingerprint, Policy{MovedHead: true, Dirty: true}, true, false},
		{"the repository is gone", func(t *testing.T, f *fixture, p string) { must(t, os.Rename(f.at("shop"), f.at("elsewhere"))) }, tools.CodeWorkspaceUnknown, Policy{Dirty: true, Unowned: true, MovedHead: true, Locked: true, Missing: true}, false, false},
	}
}

// conflict leaves a merge that git could not finish.
func conflict(t testing.TB, path string) {
	t.Helper()
	plain(t, path, "switch", "-q", "-c", "side")
	write(t, path, "a.txt", "side\n")
	plain(t, path, "commit", "-q", "-a", "-m", "side")
	plain(t, path, "switch", "-q", "task/t")
	write(t, path, "a.txt", "here\n")
	plain(t, path, "commit", "-q", "-a", "-m", "here")
	command := gitCommand(path, "merge", "side")
	if out, err := command.CombinedOutput(); err == nil {
		t.Fatalf("no conflict: %s", out)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	t.Cleanup(func() {
		if !t.Failed() {
			t.Logf("figure: ways in which a work tree is not to be removed = %d, each refused with everything as it was", len(refusals()))
		}
	})
	for _, c := range refusals() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			_, path := f.make("t")
			c.do(t, f, path)
			before := tree(t, f.base)
			_, err := f.m.Cleanup(t.Context(), ada, "t", Policy{})
			f.expectCode("without a policy", err, c.code)
			expectTree(t, "after the refusal", tree(t, f.base), before)
			var problems []Problem
			if problems, _ = tools.AsError(err).Details.([]Problem); len(problems) == 0 {
				t.Errorf("the error has no problems: %#v", err)
			}
			space, err := f.m.Cleanup(t.Context(), ada, "t", c.policy)
			if !c.lifts {
				f.expectCode("with a policy that does not lift it", err, c.code)
				expectTree(t, "after the second refusal", tree(t, f.base), before)
				return
			}
			if err != nil || space.State != Closed {
				t.Fatalf("with the policy that lifts it: %+v, %v (%+v)", space, err, problems)
			}
			f.expectNothingLeft()
			if !c.restore {
				return
			}
			_, err = f.m.Undo(t.Context(), ada, "t")
			must(t, err)
			rel := strings.TrimPrefix(path, f.base+"/") + "/"
			want, got := map[string]string{}, tree(t, path)
			for name, text := range before {
				if inside, ok := strings.CutPrefix(name, rel); ok && inside != ".git" {
					want[inside] = text
				}
			}
			expectTree(t, "after undo", got, want)
		})
	}
}

// TestMainIsNeverRemoved: not even where the record itself says so.
func TestMainIsNeverRemoved(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	space, path := f.make("t")
	must(t, os.RemoveAll(path))
	must(t, os.Rename(f.at("shop"), path)) // the repository itself is there now
	must(t, os.Symlink(path, f.at("shop")))
	all := Policy{Dirty: true, Unowned: true, MovedHead: true, Locked: true, Missing: true}
	_, err := f.m.Cleanup(t.Context(), ada, "t", all)
	f.expectCode("the main work tree in its place", err, tools.CodeWorkspaceMain)
	if text := plain(t, path, "show", "HEAD:a.txt"); text != "one" {
		t.Errorf("the repository: %q", text)
	}
	_ = space
}

// TestWritersWhileCleaning: whoever writes by path either fails, or what was written is
// there or saved.
func TestWritersWhileCleaning(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for round := range 5 {
		task := fmt.Sprintf("t%d", round)
		_, path := f.make(task)
		stop, written := make(chan struct{}), make(chan map[string]string)
		go func() {
			done := map[string]string{}
			defer func() { written <- done }()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				name := fmt.Sprintf("w%d", i)
				if os.WriteFile(filepath.Join(path, name), []byte(name), 0o644) != nil {
					return
				}
				done[name] = "644 " + name
				time.Sleep(200 * time.Microsecond)
			}
		}()
		time.Sleep(5 * time.Millisecond)
		_, err := f.m.Cleanup(t.Context(), ada, task, Policy{Dirty: true})
		close(stop)
		want := <-written
		must(t, err)
		_, err = f.m.Undo(t.Context(), ada, task)
		must(t, err)
		got := tree(t, path)
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%s is %q, want %q", name, got[name], text)
			}
		}
		if len(want) == 0 {
			t.Error("nothing was written")
		}
		_, err = f.m.Cleanup(t.Context(), ada, task, Policy{Dirty: true})
		must(t, err)
	}
}

func TestOddFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, path := f.make("t")
	must(t, syscall.Mkfifo(filepath.Join(path, "fifo"), 0o600))
	write(t, path, "new", "x")
	done := make(chan error, 1)
	go func() {
		_, err := f.m.Cleanup(t.Context(), ada, "t", Policy{Dirty: true})
		done <- err
	}()
	select {
	case err := <-done:
		must(t, err)
	case <-time.After(30 * time.Second):
		t.Fatal("hangs at a FIFO")
	}
}
