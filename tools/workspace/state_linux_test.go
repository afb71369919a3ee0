package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"golang.org/x/sys/unix"
)

// expectDegraded checks a workspace whose state directory cannot be used.
func (f *fixture) expectDegraded() {
	f.t.Helper()
	f.file("a", "one")
	f.file("b", "two")
	done, err := f.write("a", "written", nil)
	must(f.t, err)
	if done.UndoID != "" || done.Degraded == "" {
		f.t.Errorf("committed %+v, want a degraded one", done)
	}
	f.expectText("a", "written")
	_, err = f.write("new/deep/c", "made", &WriteOptions{CreateParents: true})
	must(f.t, err)
	must(f.t, os.RemoveAll(filepath.Join(f.root, "new")))
	before := f.tree()
	_, err = f.transact(func(tx *Tx, p []Path) error {
		return errors.Join(tx.Write(p[0], []byte("x"), nil), tx.Write(p[1], []byte("y"), nil))
	}, "a", "b")
	wantCode(f.t, err, tools.CodeStateUnavailable)
	f.expectTree(before)
	if _, err := f.w.ReadFile(context.Background(), f.paths("a")[0], 100); err != nil {
		f.t.Error(err)
	}
	_, err = f.move("a", "moved", false)
	must(f.t, err)
	_, err = f.remove("moved", nil)
	must(f.t, err)
	f.expectGone("moved")
	f.expectClean()
}

// expectWhole checks that changes are undoable again.
func (f *fixture) expectWhole() {
	f.t.Helper()
	f.file("a", "one")
	f.file("b", "two")
	before := f.tree()
	done, err := f.transact(func(tx *Tx, p []Path) error {
		return errors.Join(tx.Write(p[0], []byte("x"), nil), tx.Write(p[1], []byte("y"), nil))
	}, "a", "b")
	must(f.t, err)
	if done.UndoID == "" {
		f.t.Fatalf("committed %+v", done)
	}
	_, err = f.undo(done.UndoID)
	must(f.t, err)
	f.expectTree(before)
}

func TestWithoutAStateDirectory(t *testing.T) {
	f := newFixture(t)
	must(t, f.w.Close())
	blocked := filepath.Join(filepath.Dir(f.root), "blocked")
	must(t, os.WriteFile(blocked, nil, 0o600))
	for name, state := range map[string]string{"none": "", "below a file": filepath.Join(blocked, "state")} {
		t.Run(name, func(t *testing.T) {
			g := &fixture{t: t, root: f.root, state: state}
			g.open()
			g.expectDegraded()
			if _, err := g.undo("0000000000000000-00000000"); !errors.Is(err, tools.CodeStateUnavailable) {
				t.Errorf("undo: %v", err)
			}
		})
	}
}

func TestDegradedWritersStillExcludeEachOther(t *testing.T) {
	f := newFixture(t)
	f.file("a", "")
	var errs = make(chan error, 4)
	for range cap(errs) {
		w, err := Open(f.root, nil)
		must(t, err)
		defer w.Close()
		go func() { errs <- editMany(w, "a", 2, 10) }()
	}
	for range cap(errs) {
		must(t, <-errs)
	}
	f.expectLines(cap(errs) * 20)
}

func TestStateDirectoryRemovedUnderUs(t *testing.T) {
	f := newFixture(t)
	f.expectWhole()
	must(t, os.RemoveAll(f.state))
	f.file("a", "one")
	_, err := f.write("a", "two", nil)
	must(t, err)
	f.expectWhole()
	f.expectClean()
}

func TestOpeningAndReadingMakesNoState(t *testing.T) {
	f := newFixture(t)
	f.file("a", "one")
	_, err := f.w.ReadFile(t.Context(), f.paths("a")[0], 100)
	must(t, err)
	if _, err := os.Lstat(f.state); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state directory was made: %v", err)
	}
	_, err = f.write("a", "two", nil)
	must(t, err)
	info, err := os.Lstat(f.state)
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("state directory mode %v, want 0700", info.Mode())
	}
}

func TestLockFileDoesNotGrow(t *testing.T) {
	f := newFixture(t)
	for i := range 50 {
		_, err := f.write(strconv.Itoa(i), "x", nil)
		must(t, err)
	}
	info, err := os.Lstat(filepath.Join(f.state, "locks"))
	must(t, err)
	if !info.Mode().IsRegular() || info.Size() != 0 {
		t.Errorf("locks: %v, %d bytes", info.Mode(), info.Size())
	}
}

func TestNoDescriptorLeaks(t *testing.T) {
	f := newFixture(t)
	f.changeable()
	work := func() {
		for _, change := range changes {
			_ = change(f.w, t.Context())
			_, _ = f.w.Resolve("tree/link")
			_, _ = f.w.Resolve("none/none")
			_, _ = f.w.Resolve("file/none")
		}
		_, _ = f.w.OpenDir(f.paths("file")[0])
		f.changeable2()
	}
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		return len(entries)
	}
	work()
	before := count()
	for range 5 {
		work()
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// changeable2 lays the files of changeable out again.
func (f *fixture) changeable2() {
	entries, err := os.ReadDir(f.root)
	must(f.t, err)
	for _, entry := range entries {
		must(f.t, os.RemoveAll(filepath.Join(f.root, entry.Name())))
	}
	f.changeable()
}

// Without renameat2's exchange, and without links as well, files are replaced
// in other ways; see replaceKept and replaceMoved.
func TestPoorFileSystems(t *testing.T) {
	poor := map[string]map[string]error{
		"no exchange":          {"exchange": unix.EINVAL},
		"no exchange, no link": {"exchange": unix.EINVAL, "rename new": unix.EINVAL, "link": unix.EPERM},
	}
	for mode, lacking := range poor {
		for name := range changes {
			t.Run(mode+"/"+name, func(t *testing.T) {
				t.Parallel()
				before, after := statesOf(t, name)
				for at := 0; ; at++ {
					f := newFixture(t)
					f.changeable()
					steps := 0
					f.w.seam = &seam{at: func(step, _ string) error {
						if steps++; steps == at {
							return unix.EIO
						}
						return lacking[step]
					}}
					f.w.store.seam = f.w.seam
					err := changes[name](f.w, t.Context())
					reached := steps >= at
					f.w.seam, f.w.store.seam = nil, nil
					f.w.Close()
					f.open()
					if err != nil {
						f.expectTree(before)
					} else {
						f.expectTree(after)
					}
					if t.Failed() || at == 0 && err != nil {
						t.Fatalf("at step %d: %v", at, err)
					}
					if !reached {
						break
					}
				}
			})
		}
	}
}

func TestReadOnlyRoots(t *testing.T) {
	f := newFixture(t)
	extra := filepath.Join(filepath.Dir(f.root), "extra")
	must(t, os.Mkdir(extra, 0o755))
	must(t, os.WriteFile(filepath.Join(extra, "x"), []byte("extra"), 0o644))
	must(t, os.Symlink("/etc/hostname", filepath.Join(extra, "out")))
	given := filepath.Join(filepath.Dir(f.root), "given")
	must(t, os.Symlink(f.root, given))
	f.file("a", "one")
	w, err := Open(given, &Options{StateDir: f.state, ReadRoots: []string{extra}, Home: filepath.Join(f.root, "home")})
	must(t, err)
	defer w.Close()
	f.w = w
	f.file("home/h", "home")
	for path, want := range map[string]string{
		"a": "one", filepath.Join(f.root, "a"): "one", filepath.Join(given, "a"): "one", "file://" + given + "/a": "one",
		filepath.Join(extra, "x"): "extra", "~/h": "home", "./d/../a": "one",
	} {
		content, err := w.ReadFile(t.Context(), f.paths(path)[0], 100)
		must(t, err)
		if string(content.Data) != want {
			t.Errorf("%s: %q, want %q", path, content.Data, want)
		}
	}
	for _, change := range []func() (*Committed, error){
		func() (*Committed, error) { return f.write(filepath.Join(extra, "x"), "new", nil) },
		func() (*Committed, error) { return f.remove(filepath.Join(extra, "x"), nil) },
		func() (*Committed, error) { return f.move(filepath.Join(extra, "x"), "b", false) },
		func() (*Committed, error) { return f.move("a", filepath.Join(extra, "b"), false) },
	} {
		_, err := change()
		wantCode(t, err, tools.CodePermission)
	}
	_, err = w.ReadFile(t.Context(), f.paths(filepath.Join(extra, "out"))[0], 100)
	wantCode(t, err, tools.CodePathEscape)
	if p := f.paths(filepath.Join(extra, "x"))[0]; p.Rel != filepath.Join(extra, "x") || w.Abs(p) != p.Rel || !p.ReadOnly() {
		t.Errorf("path %+v, absolute %s", p, w.Abs(p))
	}
	_, err = Open(fmt.Sprintf("%s-none", f.root), nil)
	wantCode(t, err, tools.CodeNotFound)
}
