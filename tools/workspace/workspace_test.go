package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

const roleVariable = "PRISM_WORKSPACE_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		playRole(role)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// soak reports whether the full sizes are to run.
func soak() bool { return os.Getenv("PRISM_SOAK") == "1" }

// size is how often to do something: quick by default, full in a soak.
func size(quick, full int) int {
	if soak() {
		return full
	}
	return quick
}

// fixture is a root and a state directory.
type fixture struct {
	t           testing.TB
	root, state string
	w           *Workspace
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	base := t.TempDir()
	f := &fixture{t: t, root: filepath.Join(base, "root"), state: filepath.Join(base, "state")}
	must(t, os.Mkdir(f.root, 0o755))
	f.open()
	return f
}

// open opens the workspace, again if need be.
func (f *fixture) open() *Workspace {
	f.t.Helper()
	w, err := Open(f.root, &Options{StateDir: f.state})
	must(f.t, err)
	f.t.Cleanup(func() { w.Close() })
	f.w = w
	return w
}

func (f *fixture) file(name, text string) string {
	f.t.Helper()
	path := filepath.Join(f.root, name)
	must(f.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(f.t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func (f *fixture) paths(names ...string) []Path {
	f.t.Helper()
	var all []Path
	for _, name := range names {
		p, err := f.w.Parse(name)
		must(f.t, err)
		all = append(all, p)
	}
	return all
}

func (f *fixture) transact(fn func(*Tx, []Path) error, names ...string) (*Committed, error) {
	f.t.Helper()
	paths := f.paths(names...)
	return f.w.Transact(context.Background(), paths, func(tx *Tx) error { return fn(tx, paths) })
}

func (f *fixture) write(name, text string, opts *WriteOptions) (*Committed, error) {
	f.t.Helper()
	return f.transact(func(tx *Tx, p []Path) error { return tx.Write(p[0], []byte(text), opts) }, name)
}

func (f *fixture) remove(name string, opts *DeleteOptions) (*Committed, error) {
	f.t.Helper()
	return f.transact(func(tx *Tx, p []Path) error { return tx.Delete(p[0], opts) }, name)
}

func (f *fixture) move(from, to string, overwrite bool) (*Committed, error) {
	f.t.Helper()
	return f.transact(func(tx *Tx, p []Path) error { return tx.Move(p[0], p[1], overwrite) }, from, to)
}

// tree is everything below the root: path to a description of it.
func (f *fixture) tree() map[string]string {
	f.t.Helper()
	return treeOf(f.t, f.root)
}

func treeOf(t testing.TB, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String() + " "
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += hashOf(data)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += target
		}
		found[rel] = text
		return nil
	})
	must(t, err)
	return found
}

// expectTree compares the tree with an earlier one.
func (f *fixture) expectTree(want map[string]string) {
	f.t.Helper()
	got := f.tree()
	for name := range want {
		if got[name] != want[name] {
			f.t.Errorf("%s: have %q, want %q", name, got[name], want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			f.t.Errorf("%s is new: %q", name, got[name])
		}
	}
}

func (f *fixture) expectText(name, want string) {
	f.t.Helper()
	got, err := os.ReadFile(filepath.Join(f.root, name))
	if err != nil || string(got) != want {
		f.t.Errorf("%s holds %.60q (%v), want %.60q", name, got, err, want)
	}
}

func (f *fixture) expectGone(name string) {
	f.t.Helper()
	if _, err := os.Lstat(filepath.Join(f.root, name)); !errors.Is(err, fs.ErrNotExist) {
		f.t.Errorf("%s is there (%v), want nothing", name, err)
	}
}

// expectClean checks that no temporary file is left anywhere below the root.
func (f *fixture) expectClean() {
	f.t.Helper()
	for name := range f.tree() {
		if strings.HasPrefix(filepath.Base(name), ".prism-") {
			f.t.Errorf("left behind: %s", name)
		}
	}
}

func (f *fixture) undo(id string) ([]string, error) {
	return f.w.Undo(context.Background(), id)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t testing.TB, err error, codes ...tools.Code) {
	t.Helper()
	if !slices.ContainsFunc(codes, func(code tools.Code) bool { return errors.Is(err, code) }) {
		t.Errorf("error %v, want %v", err, codes)
	}
}

func TestPresent(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	w, err := Open(root, &Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	if err := w.Present(); err != nil {
		t.Error(err)
	}
	if err := os.Rename(root, root+".aside"); err != nil {
		t.Fatal(err)
	}
	if err := w.Present(); !errors.Is(err, tools.CodeNotFound) {
		t.Errorf("moved away: %v", err)
	}
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := w.Present(); !errors.Is(err, tools.CodeNotFound) {
		t.Errorf("another in its place: %v", err)
	}
}
