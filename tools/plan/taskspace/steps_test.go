package taskspace

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

var errInjected = errors.New("injected")

// failAt lets the nth step fail, counted from 1, and says which it was.
func (f *fixture) failAt(n int) (name func() string) {
	count, failed := 0, ""
	f.m.seam = &seam{at: func(step string) error {
		if step == renewStep {
			return nil
		}
		if count++; count >= n { // and everything after, as after a crash
			if failed == "" {
				failed = step
			}
			return errInjected
		}
		return nil
	}}
	return func() string { return failed }
}

// stride is how many steps a test goes on by: each is tried with PRISM_SOAK=1, and
// every third otherwise.
func stride() int {
	if os.Getenv("PRISM_SOAK") == "1" {
		return 1
	}
	return 3
}

// everyStep does something with an error from every of its steps on, until it needs no
// further one, and lets what comes after be looked at.
func everyStep(t *testing.T, prepare func(*fixture), do func(*fixture) error, after func(t *testing.T, f *fixture)) {
	for n := 1; ; n += stride() {
		f := newFixture(t)
		prepare(f)
		name := f.failAt(n)
		err := do(f)
		f.m.seam = nil
		if name() == "" {
			if err != nil {
				t.Fatalf("without a failure: %v", err)
			}
			if n < 4 {
				t.Errorf("only %d steps", n-1)
			}
			t.Logf("%d steps", n-1)
			after(t, f)
			return
		}
		if !errors.Is(err, errInjected) {
			t.Errorf("step %d (%s): %v", n, name(), err)
		}
		after(t, f)
		if t.Failed() {
			t.Fatalf("at step %d, %s", n, name())
		}
	}
}

func TestCreateFailsAtEveryStep(t *testing.T) {
	t.Parallel()
	create := func(f *fixture) error {
		_, err := f.m.Create(context.Background(), ada, request("t", "shop", "lib"))
		return err
	}
	everyStep(t, func(*fixture) {}, create, func(t *testing.T, f *fixture) {
		must(t, create(f))
		space, err := f.m.Verify(t.Context(), ada, "t", false)
		must(t, err)
		for _, wt := range space.Repositories {
			expectTree(t, wt.Path, tree(t, wt.Path), tree(t, f.at(wt.RepositoryID)))
			if status := plain(t, wt.Path, "status", "--porcelain"); status != "" {
				t.Errorf("dirty: %s", status)
			}
			if list := plain(t, f.at(wt.RepositoryID), "worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 2 || strings.Contains(list, "prunable") {
				t.Errorf("git has %s", list)
			}
		}
		_, err = f.m.Cleanup(t.Context(), ada, "t", Policy{})
		must(t, err)
		f.expectNothingLeft()
	})
}

func TestCleanupFailsAtEveryStep(t *testing.T) {
	t.Parallel()
	var want map[string]string
	var status string
	prepare := func(f *fixture) {
		space, err := f.m.Create(context.Background(), ada, request("t", "shop", "lib"))
		must(t, err)
		path := space.Repositories[0].Path
		soil(t, path)
		want, status = tree(t, path), plain(t, path, "status", "--porcelain", "-uall", "--ignored")
	}
	cleanup := func(f *fixture) error {
		_, err := f.m.Cleanup(context.Background(), ada, "t", Policy{Dirty: true, MovedHead: true})
		return err
	}
	everyStep(t, prepare, cleanup, func(t *testing.T, f *fixture) {
		must(t, cleanup(f))
		f.expectNothingLeft()
		space, err := f.m.Undo(t.Context(), ada, "t")
		must(t, err)
		path := space.Repositories[0].Path
		expectTree(t, "after cleanup and undo", tree(t, path), want)
		if now := plain(t, path, "status", "--porcelain", "-uall", "--ignored"); now != status {
			t.Errorf("status was\n%s\nand is\n%s", status, now)
		}
	})
}

func TestUndoFailsAtEveryStep(t *testing.T) {
	t.Parallel()
	var want map[string]string
	prepare := func(f *fixture) {
		space, err := f.m.Create(context.Background(), ada, request("t", "shop"))
		must(t, err)
		soil(t, space.Repositories[0].Path)
		want = tree(t, space.Repositories[0].Path)
		_, err = f.m.Cleanup(context.Background(), ada, "t", Policy{Dirty: true, MovedHead: true})
		must(t, err)
	}
	undo := func(f *fixture) error {
		_, err := f.m.Undo(context.Background(), ada, "t")
		return err
	}
	everyStep(t, prepare, undo, func(t *testing.T, f *fixture) {
		if _, err := os.Stat(f.at("state")); err != nil {
			t.Error(err)
		}
		must(t, undo(f))
		space, err := f.m.Get(t.Context(), ada, "t")
		must(t, err)
		expectTree(t, "after undo", tree(t, space.Repositories[0].Path), want)
		_, err = f.m.Cleanup(t.Context(), ada, "t", Policy{Dirty: true, MovedHead: true})
		must(t, err)
		f.expectNothingLeft()
	})
}

// TestCleanupAfterHalfAnUndo: what was saved is not forgotten.
func TestCleanupAfterHalfAnUndo(t *testing.T) {
	t.Parallel()
	for n := 2; ; n += stride() {
		f := newFixture(t)
		_, path := f.make("t")
		soil(t, path)
		want := tree(t, path)
		_, err := f.m.Cleanup(t.Context(), ada, "t", Policy{Dirty: true, MovedHead: true})
		must(t, err)
		name := f.failAt(n)
		_, err = f.m.Undo(t.Context(), ada, "t")
		f.m.seam = nil
		if name() == "" {
			must(t, err)
			return
		}
		_, err = f.m.Cleanup(t.Context(), ada, "t", Policy{Dirty: true, MovedHead: true})
		must(t, err)
		f.expectNothingLeft()
		_, err = f.m.Undo(t.Context(), ada, "t")
		must(t, err)
		expectTree(t, "step "+name(), tree(t, path), want)
		if t.Failed() {
			t.FailNow()
		}
	}
}

func TestFailedCreateChangesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	// git cannot make its directory for the second one.
	write(t, f.at("lib", ".git"), "worktrees", "in the way")
	before := plain(t, f.at("shop"), "for-each-ref")
	_, err := f.m.Create(t.Context(), ada, request("t", "shop", "lib"))
	f.expectCode("create", err, tools.CodeGitFailed)
	must(t, os.Remove(f.at("lib", ".git", "worktrees")))
	f.expectNothingLeft()
	if after := plain(t, f.at("shop"), "for-each-ref"); after != before {
		t.Errorf("refs: %s", after)
	}
	if _, err := f.m.Get(t.Context(), ada, "t"); !errors.Is(err, tools.CodeWorkspaceUnknown) {
		t.Errorf("the record: %v", err)
	}
	if _, err := f.m.Create(t.Context(), ada, request("t", "lib")); err != nil {
		t.Error(err)
	}
}
