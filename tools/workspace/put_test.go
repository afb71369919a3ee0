package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

func (f *fixture) put(name string, entry Entry) (*Committed, error) {
	return f.transact(func(tx *Tx, p []Path) error { return tx.Put(p[0], entry) }, name)
}

// TestPutAndUndo: whatever the entry was, it becomes what is asked for, by itself:
// what a link leads to is not written. An undo brings the old one back.
func TestPutAndUndo(t *testing.T) {
	f := newFixture(t)
	f.file("file", "old")
	f.file("private", "old")
	f.file("target", "not to be touched")
	must(t, os.Chmod(filepath.Join(f.root, "private"), 0o710))
	must(t, os.Symlink("target", filepath.Join(f.root, "link")))
	before := f.tree()
	for _, c := range []struct {
		name  string
		entry Entry
		want  string
	}{
		{"file", Entry{Data: []byte("new"), Executable: true}, "-rwxr-xr-x " + hashOf([]byte("new"))},
		{"file", Entry{Data: []byte("old"), Executable: true}, "-rwxr-xr-x " + hashOf([]byte("old"))},
		{"private", Entry{Data: []byte("new")}, "-rw------- " + hashOf([]byte("new"))},
		{"private", Entry{Data: []byte("new"), Executable: true}, "-rwx--x--- " + hashOf([]byte("new"))},
		{"link", Entry{Data: []byte("new")}, "-rw-r--r-- " + hashOf([]byte("new"))},
		{"link", Entry{Data: []byte("../outside"), Link: true}, "Lrwxrwxrwx ../outside"},
		{"file", Entry{Data: []byte("target"), Link: true}, "Lrwxrwxrwx target"},
		{"a/b/new", Entry{Data: []byte("new"), Executable: true}, "-rwxr-xr-x " + hashOf([]byte("new"))},
		{"a/link", Entry{Data: []byte("b"), Link: true}, "Lrwxrwxrwx b"},
		{"empty", Entry{}, "-rw-r--r-- " + hashOf(nil)},
	} {
		done, err := f.put(c.name, c.entry)
		must(t, err)
		if got := f.tree()[c.name]; got != c.want {
			t.Errorf("%s is %q, want %q", c.name, got, c.want)
		}
		f.expectText("target", "not to be touched")
		f.expectClean()
		_, err = f.undo(done.UndoID)
		must(t, err)
		f.expectTree(before)
	}
}

func TestPutRefuses(t *testing.T) {
	f := newFixture(t)
	f.file("file", "old")
	f.file("dir/x", "x")
	f.file("linked", "old")
	must(t, os.Link(filepath.Join(f.root, "linked"), filepath.Join(f.root, "name")))
	before := f.tree()
	for name, code := range map[string]tools.Code{"dir": tools.CodeNotFile, ".": tools.CodeNotFile, "linked": tools.CodeHardlink, "file/x": tools.CodeNotFound} {
		_, err := f.put(name, Entry{Data: []byte("new")})
		wantCode(t, err, code)
	}
	_, err := f.put("file", Entry{Link: true})
	wantCode(t, err, tools.CodeToolInput)
	_, err = f.transact(func(tx *Tx, p []Path) error {
		return errors.Join(tx.Write(p[0], []byte("a"), nil), tx.Put(p[0], Entry{Data: []byte("b")}))
	}, "file")
	wantCode(t, err, tools.CodeToolInput)
	f.expectTree(before)
}
