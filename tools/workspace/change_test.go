package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

func TestDeleteAndUndo(t *testing.T) {
	f := newFixture(t)
	f.file("a.txt", "x")
	f.file("d/sub/x", "1")
	f.file("d/run.sh", "#!/bin/sh\n")
	must(t, os.Chmod(filepath.Join(f.root, "d/run.sh"), 0o755))
	must(t, os.Chmod(filepath.Join(f.root, "d/sub"), 0o700))
	must(t, os.Symlink("/etc/hostname", filepath.Join(f.root, "d/out")))
	must(t, os.Symlink("a.txt", filepath.Join(f.root, "s")))
	must(t, os.Mkdir(filepath.Join(f.root, "e"), 0o750))
	before := f.tree()
	for _, c := range []struct {
		path    string
		opts    *DeleteOptions
		entries int
	}{
		{"a.txt", nil, 1},
		{"e", nil, 1},
		{"s", nil, 1},
		{"d", &DeleteOptions{Recursive: true}, 5},
	} {
		done, err := f.remove(c.path, c.opts)
		must(t, err)
		f.expectGone(c.path)
		f.expectClean()
		if done.Entries != c.entries || done.UndoID == "" {
			t.Errorf("delete %s: %+v, want %d entries", c.path, done, c.entries)
		}
		_, err = f.undo(done.UndoID)
		must(t, err)
		f.expectTree(before)
		_, err = f.undo(done.UndoID)
		wantCode(t, err, tools.CodeNotFound)
	}
	if _, err := os.Stat("/etc/hostname"); err != nil {
		t.Error(err)
	}
}

func TestDeleteRefusals(t *testing.T) {
	f := newFixture(t)
	for i := range 20 {
		f.file("d/e/"+strconv.Itoa(i), "x")
	}
	before := f.tree()
	for _, c := range []struct {
		path string
		opts *DeleteOptions
		code tools.Code
	}{
		{"d", nil, tools.CodeNotEmpty},
		{"none", nil, tools.CodeNotFound},
		{".", &DeleteOptions{Recursive: true}, tools.CodePathEscape},
		{"d", &DeleteOptions{Recursive: true, MaxEntries: 21}, tools.CodeLimit},
		{"d", &DeleteOptions{Recursive: true, MaxEntries: 100_001}, tools.CodeToolInput},
		{"d", &DeleteOptions{Recursive: true, MaxEntries: -1}, tools.CodeToolInput},
	} {
		_, err := f.remove(c.path, c.opts)
		wantCode(t, err, c.code)
	}
	f.expectTree(before)
	done, err := f.remove("d", &DeleteOptions{Recursive: true, MaxEntries: 22})
	must(t, err)
	if done.Entries != 22 {
		t.Errorf("%d entries, want 22", done.Entries)
	}
}

func TestMoveAndUndo(t *testing.T) {
	f := newFixture(t)
	f.file("a", "x")
	f.file("b", "y")
	f.file("d/x", "1")
	must(t, os.Chmod(filepath.Join(f.root, "a"), 0o604))
	must(t, os.Symlink("a", filepath.Join(f.root, "l")))
	before := f.tree()
	for _, c := range []struct {
		from, to  string
		overwrite bool
	}{{"a", "c", false}, {"a", "b", true}, {"d", "e", false}, {"a", "d/a", false}, {"l", "m", false}, {"l", "b", true}} {
		done, err := f.move(c.from, c.to, c.overwrite)
		must(t, err)
		f.expectGone(c.from)
		if got := f.tree()[c.to]; got != before[c.from] {
			t.Errorf("%s → %s: %q, want %q", c.from, c.to, got, before[c.from])
		}
		f.expectClean()
		_, err = f.undo(done.UndoID)
		must(t, err)
		f.expectTree(before)
	}
}

func TestMoveRefusals(t *testing.T) {
	f := newFixture(t)
	f.file("a", "x")
	f.file("b", "y")
	f.file("d/x", "1")
	before := f.tree()
	for _, c := range []struct {
		from, to  string
		overwrite bool
		code      tools.Code
	}{
		{"a", "b", false, tools.CodeExists},
		{"a", "d", true, tools.CodeExists},
		{"d", "a", true, tools.CodeExists},
		{"none", "c", false, tools.CodeNotFound},
		{"a", "none/c", false, tools.CodeNotFound},
		{"a", "a", true, tools.CodeToolInput},
		{"a", "./d/../a", true, tools.CodeToolInput},
		{"d", "d/sub", false, tools.CodeToolInput},
		{"a", "c/", false, tools.CodeToolInput},
		{".", "c", false, tools.CodePathEscape},
		{"a", ".", true, tools.CodeExists},
	} {
		_, err := f.move(c.from, c.to, c.overwrite)
		if err == nil {
			t.Errorf("move %s → %s worked", c.from, c.to)
		}
		wantCode(t, err, c.code)
	}
	f.expectTree(before)
}

func TestMoveOntoItsOwnHardLink(t *testing.T) {
	f := newFixture(t)
	must(t, os.Link(f.file("a", "x"), filepath.Join(f.root, "b")))
	before := f.tree()
	done, err := f.move("a", "b", true)
	must(t, err)
	f.expectGone("a")
	f.expectText("b", "x")
	_, err = f.undo(done.UndoID)
	must(t, err)
	f.expectTree(before)
}

func TestMkdirAndMoveIntoIt(t *testing.T) {
	f := newFixture(t)
	f.file("a", "x")
	before := f.tree()
	done, err := f.transact(func(tx *Tx, p []Path) error {
		must(t, tx.Mkdir(p[0]))
		wantCode(t, tx.Mkdir(p[0]), tools.CodeExists)
		must(t, tx.Mkdir(p[1]))
		return tx.Move(p[2], p[3], false)
	}, "new", "new/deep", "a", "new/deep/a")
	must(t, err)
	f.expectText("new/deep/a", "x")
	_, err = f.undo(done.UndoID)
	must(t, err)
	f.expectTree(before)
}

func TestUndoOnlyWhileFilesAreAsLeft(t *testing.T) {
	f := newFixture(t)
	f.file("a", "1")
	f.file("d/x", "1")
	f.file("keep", "k")
	for name, c := range map[string]struct {
		change  func() (*Committed, error)
		disturb func()
	}{
		"edited":           {func() (*Committed, error) { return f.write("a", "2", nil) }, func() { f.file("a", "3") }},
		"edited file gone": {func() (*Committed, error) { return f.write("a", "4", nil) }, func() { os.Remove(filepath.Join(f.root, "a")) }},
		"new file edited":  {func() (*Committed, error) { return f.write("n", "2", nil) }, func() { f.file("n", "3") }},
		"deleted is back":  {func() (*Committed, error) { return f.remove("keep", nil) }, func() { f.file("keep", "other") }},
		"moved edited":     {func() (*Committed, error) { return f.move("d", "e", false) }, func() { f.file("e/x", "22") }},
	} {
		f.file("a", "1")
		done, err := c.change()
		must(t, err)
		c.disturb()
		before := f.tree()
		_, err = f.undo(done.UndoID)
		if err == nil {
			t.Errorf("%s: the undo went through", name)
		}
		wantCode(t, err, tools.CodeFileChanged)
		f.expectTree(before)
	}
}

// TestUndoPaths: what an undo would change can be told before, and telling it
// changes nothing.
func TestUndoPaths(t *testing.T) {
	f := newFixture(t)
	f.file("a", "one")
	wrote, err := f.write("d/e/new", "text", &WriteOptions{CreateParents: true})
	if err != nil {
		t.Fatal(err)
	}
	moved, err := f.move("a", "b", false)
	if err != nil {
		t.Fatal(err)
	}
	before := f.tree()
	for id, want := range map[string][]string{wrote.UndoID: {"d", "d/e", "d/e/new"}, moved.UndoID: {"a", "b"}} {
		got, err := f.w.UndoPaths(id)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("paths of %s: %q, %v, want %q", id, got, err, want)
		}
		if _, err := f.w.Undo(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if _, err := f.w.UndoPaths(id); !errors.Is(err, tools.CodeNotFound) {
			t.Errorf("after the undo: %v", err)
		}
	}
	if len(before) == len(f.tree()) {
		t.Error("nothing was undone")
	}
}

func TestUndoAfterRestartAndUnknownIDs(t *testing.T) {
	f := newFixture(t)
	f.file("a", "1")
	before := f.tree()
	done, err := f.transact(func(tx *Tx, p []Path) error {
		must(t, tx.Write(p[0], []byte("2"), nil))
		must(t, tx.Write(p[1], []byte("n"), &WriteOptions{CreateParents: true}))
		return tx.Write(p[2], []byte("m"), &WriteOptions{CreateParents: true})
	}, "a", "x/y/n", "x/z/m")
	must(t, err)
	must(t, f.w.Close())
	f.open()
	files, err := f.undo(done.UndoID)
	must(t, err)
	if len(files) != 3 {
		t.Errorf("files %v", files)
	}
	f.expectTree(before)
	for _, id := range []string{"", "..", "../../x", done.UndoID, "0000000000000000-00000000"} {
		_, err := f.undo(id)
		wantCode(t, err, tools.CodeNotFound)
	}
}

func TestUndoKeepsTheLastTransactions(t *testing.T) {
	f := newFixture(t)
	must(t, f.w.Close())
	w, err := Open(f.root, &Options{StateDir: f.state, UndoTransactions: 5, UndoBytes: 1000})
	must(t, err)
	t.Cleanup(func() { w.Close() })
	f.w = w
	f.file("a", "")
	var ids []string
	for i := range 8 {
		done, err := f.write("a", strconv.Itoa(i), nil)
		must(t, err)
		ids = append(ids, done.UndoID)
	}
	if kept := listing(w.store.undo()); len(kept) != 5 {
		t.Errorf("%d undo copies kept, want 5", len(kept))
	}
	for i := 7; i >= 3; i-- {
		_, err := f.undo(ids[i])
		must(t, err)
	}
	f.expectText("a", "2")
	_, err = f.undo(ids[2])
	wantCode(t, err, tools.CodeNotFound)

	// 600 bytes twice are more than 1000: only the newer stays.
	f.file("b", string(make([]byte, 600)))
	first, err := f.write("b", string(make([]byte, 600))+"1", nil)
	must(t, err)
	second, err := f.write("b", "2", nil)
	must(t, err)
	_, err = f.undo(second.UndoID)
	must(t, err)
	_, err = f.undo(first.UndoID)
	wantCode(t, err, tools.CodeNotFound)

	// What is over the bound by itself is changed, and says it cannot be undone.
	f.file("c", string(make([]byte, 1001)))
	third, err := f.write("c", "3", nil)
	must(t, err)
	if third.UndoID != "" || third.Degraded == "" {
		t.Errorf("committed %+v", third)
	}
	f.expectClean()
}

func TestUndoNeverRestoresDamagedBytes(t *testing.T) {
	f := newFixture(t)
	f.file("a", "original")
	done, err := f.transact(func(tx *Tx, p []Path) error {
		if _, err := tx.Read(p[0], 100); err != nil {
			return err
		}
		return tx.Write(p[0], []byte("new"), nil)
	}, "a")
	must(t, err)
	blobs, err := filepath.Glob(filepath.Join(f.w.store.undo(), done.UndoID+".*", "0"))
	must(t, err)
	must(t, os.WriteFile(blobs[0], []byte("\x00\x00\x00\x00\x00\x00\x00\x00"), 0o600))
	_, err = f.undo(done.UndoID)
	wantCode(t, err, tools.CodeNotFound)
	f.expectText("a", "new")
}
