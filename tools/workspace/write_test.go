package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

func TestWriteKeepsEveryByteAndTheMode(t *testing.T) {
	f := newFixture(t)
	for _, text := range []string{"", "a\r\nb\r\n", "\xff\xfe\x00bin\x80\x00", strings.Repeat("x", 3<<20)} {
		path := f.file("a.bin", "old")
		must(t, os.Chmod(path, 0o751))
		done, err := f.write("a.bin", text, nil)
		must(t, err)
		f.expectText("a.bin", text)
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode().Perm() != 0o751 {
			t.Errorf("mode %v, want 0751", info.Mode())
		}
		if done.SHA256["a.bin"] != hashOf([]byte(text)) || done.UndoID == "" || done.Degraded != "" {
			t.Errorf("committed %+v", done)
		}
		_, err = f.undo(done.UndoID)
		must(t, err)
		f.expectText("a.bin", "old")
	}
	f.expectClean()
}

func TestWriteNewFileHasTheUmask(t *testing.T) {
	f := newFixture(t)
	_, err := f.write("x/y/z.txt", "z", &WriteOptions{CreateParents: true})
	must(t, err)
	probe, err := os.OpenFile(filepath.Join(f.root, "probe"), os.O_CREATE|os.O_WRONLY, 0o666)
	must(t, err)
	want, _ := probe.Stat()
	probe.Close()
	got, err := os.Stat(filepath.Join(f.root, "x/y/z.txt"))
	must(t, err)
	if got.Mode() != want.Mode() {
		t.Errorf("mode %v, want %v", got.Mode(), want.Mode())
	}
}

func TestWriteRefusals(t *testing.T) {
	f := newFixture(t)
	f.file("dir/a", "a")
	must(t, os.Link(f.file("h1", "h"), filepath.Join(f.root, "h2")))
	before := f.tree()
	cases := []struct {
		path string
		opts *WriteOptions
		code tools.Code
	}{
		{"dir", nil, tools.CodeNotFile},
		{".", nil, tools.CodeNotFile},
		{"new/", nil, tools.CodeNotFile},
		{"dir/a/", nil, tools.CodeNotFound},
		{"none/a", nil, tools.CodeNotFound},
		{"dir/a/b", &WriteOptions{CreateParents: true}, tools.CodeNotFound},
		{"dir/a", &WriteOptions{MustNotExist: true}, tools.CodeExists},
		{"dir/a", &WriteOptions{ExpectSHA256: hashOf([]byte("b"))}, tools.CodeFileChanged},
		{"dir/none", &WriteOptions{ExpectSHA256: hashOf([]byte("b"))}, tools.CodeFileChanged},
		{"h1", nil, tools.CodeHardlink},
		{strings.Repeat("n", 256), nil, tools.CodeToolInput},
	}
	for _, c := range cases {
		_, err := f.write(c.path, "new", c.opts)
		if !errors.Is(err, c.code) {
			t.Errorf("write %.40s %+v: %v, want %s", c.path, c.opts, err, c.code)
		}
	}
	f.expectTree(before)
	_, err := f.write("dir/a", "new", &WriteOptions{ExpectSHA256: hashOf([]byte("a"))})
	must(t, err)
	_, err = f.write("h1", "new", &WriteOptions{AllowHardlink: true})
	must(t, err)
	f.expectText("h2", "h")
	_, err = f.write(strings.Repeat("n", 255), "long", nil)
	must(t, err)
}

func TestFileChangedTellsTheCurrentHash(t *testing.T) {
	f := newFixture(t)
	path := f.file("a", "one")
	for name, interfere := range map[string]func(){
		"replaced": func() {
			must(t, os.WriteFile(path+".x", []byte("two"), 0o644))
			must(t, os.Rename(path+".x", path))
		},
		"in place, same size and time": func() {
			info, _ := os.Stat(path)
			must(t, os.WriteFile(path, []byte("two"), 0o644))
			must(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f.file("a", "one")
			_, err := f.transact(func(tx *Tx, p []Path) error {
				if _, err := tx.Read(p[0], 1<<20); err != nil {
					return err
				}
				interfere()
				return tx.Write(p[0], []byte("mine"), nil)
			}, "a")
			var coded *tools.Error
			if !errors.As(err, &coded) || coded.Code != tools.CodeFileChanged {
				t.Fatalf("error %v, want FILE_CHANGED", err)
			}
			if detail, ok := coded.Details.(Changed); !ok || detail.Path != "a" || detail.CurrentSHA256 != hashOf([]byte("two")) {
				t.Errorf("details %+v", coded.Details)
			}
			f.expectText("a", "two")
			f.expectClean()
		})
	}
}

func TestFileChangedAtTheLastMoment(t *testing.T) {
	// A stranger's rename between the last look and our own: the stranger's file
	// must survive. The seam strikes right before the exchange.
	f := newFixture(t)
	path := f.file("a", "one")
	struck := false
	f.w.seam = &seam{at: func(step, name string) error {
		if step == "exchange" && !struck {
			struck = true
			must(t, os.WriteFile(path+".x", []byte("stranger"), 0o644))
			must(t, os.Rename(path+".x", path))
		}
		return nil
	}}
	_, err := f.write("a", "mine", nil)
	wantCode(t, err, tools.CodeFileChanged)
	f.expectText("a", "stranger")
	f.expectClean()
	if !struck {
		t.Error("the seam was never reached")
	}
}

func TestCreatedByAnotherInTheMeantime(t *testing.T) {
	f := newFixture(t)
	_, err := f.transact(func(tx *Tx, p []Path) error {
		f.file("a", "stranger")
		return tx.Write(p[0], []byte("mine"), nil)
	}, "a")
	wantCode(t, err, tools.CodeFileChanged)
	f.expectText("a", "stranger")
	f.expectClean()
}

func TestWriteThroughSymlink(t *testing.T) {
	f := newFixture(t)
	f.file("d/target", "old")
	must(t, os.Symlink("d/target", filepath.Join(f.root, "rel")))
	must(t, os.Symlink(filepath.Join(f.root, "d/target"), filepath.Join(f.root, "abs")))
	must(t, os.Symlink("d/none", filepath.Join(f.root, "dangling")))
	for link, target := range map[string]string{"rel": "d/target", "abs": "d/target", "dangling": "d/none"} {
		done, err := f.write(link, "through "+link, nil)
		must(t, err)
		f.expectText(target, "through "+link)
		if got, err := os.Readlink(filepath.Join(f.root, link)); err != nil || got == "" {
			t.Errorf("%s is no link any more: %v", link, err)
		}
		if done.Files[0] != target {
			t.Errorf("files %v, want %s", done.Files, target)
		}
	}
}

func TestTransactionSeesItsOwnChanges(t *testing.T) {
	f := newFixture(t)
	f.file("a", "one")
	done, err := f.transact(func(tx *Tx, p []Path) error {
		a, b := p[0], p[1]
		must(t, tx.Write(a, []byte("two"), nil))
		content, err := tx.Read(a, 100)
		must(t, err)
		if string(content.Data) != "two" {
			t.Errorf("read %q after write", content.Data)
		}
		must(t, tx.Move(a, b, false))
		if _, err := tx.Read(a, 100); !errors.Is(err, tools.CodeNotFound) {
			t.Errorf("read after move: %v", err)
		}
		content, err = tx.Read(b, 100)
		must(t, err)
		must(t, tx.Write(b, append(content.Data, " and three"...), nil))
		return nil
	}, "a", "b")
	must(t, err)
	f.expectGone("a")
	f.expectText("b", "two and three")
	_, err = f.undo(done.UndoID)
	must(t, err)
	f.expectText("a", "one")
	f.expectGone("b")
	f.expectClean()
}

func TestMoveThenWrite(t *testing.T) {
	f := newFixture(t)
	f.file("a", "one")
	before := f.tree()
	done, err := f.transact(func(tx *Tx, p []Path) error {
		must(t, tx.Move(p[0], p[1], false))
		content, err := tx.Read(p[1], 100)
		must(t, err)
		must(t, tx.Write(p[1], append(content.Data, "!"...), nil))
		return tx.Write(p[0], []byte("fresh"), nil)
	}, "a", "b")
	must(t, err)
	f.expectText("a", "fresh")
	f.expectText("b", "one!")
	_, err = f.undo(done.UndoID)
	must(t, err)
	f.expectTree(before)
}

// What is put back finds its directory made anew, when that was removed since.
func TestUndoIntoRemovedDirectories(t *testing.T) {
	f := newFixture(t)
	f.file("old/sub/a", "one")
	f.file("old/b", "two")
	before := f.tree()
	done, err := f.transact(func(tx *Tx, p []Path) error {
		must(t, tx.Mkdir(p[4]))
		must(t, tx.Move(p[0], p[1], false))
		must(t, tx.Delete(p[2], nil))
		return tx.Write(p[1], []byte("one!"), nil)
	}, "old/sub/a", "new/a", "old/b", "old", "new")
	must(t, err)
	must(t, os.Remove(filepath.Join(f.root, "old/sub")))
	must(t, os.Remove(filepath.Join(f.root, "old")))
	_, err = f.undo(done.UndoID)
	must(t, err)
	f.expectTree(before)
	f.expectClean()
}

func TestDiscardAndFailureChangeNothing(t *testing.T) {
	f := newFixture(t)
	f.file("a", "one")
	before := f.tree()
	done, err := f.transact(func(tx *Tx, p []Path) error {
		must(t, tx.Write(p[0], []byte("two"), nil))
		must(t, tx.Write(p[1], []byte("new"), nil))
		tx.Discard()
		return nil
	}, "a", "b")
	must(t, err)
	if done.SHA256["a"] != hashOf([]byte("two")) || done.UndoID != "" {
		t.Errorf("discarded: %+v", done)
	}
	mine := errors.New("mine")
	_, err = f.transact(func(tx *Tx, p []Path) error {
		must(t, tx.Write(p[0], []byte("two"), nil))
		return mine
	}, "a")
	if err != mine {
		t.Errorf("error %v, want fn's", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = f.w.Transact(ctx, f.paths("a"), func(tx *Tx) error {
		cancel()
		return tx.Write(f.paths("a")[0], []byte("two"), nil)
	})
	wantCode(t, err, tools.CodeAborted)
	f.expectTree(before)
}

func TestWaitForALockEndsWithTheContext(t *testing.T) {
	f := newFixture(t)
	other, err := Open(f.root, &Options{StateDir: f.state})
	must(t, err)
	defer other.Close()
	f.file("a", "one")
	for name, w := range map[string]*Workspace{"same workspace": f.w, "another": other} {
		t.Run(name, func(t *testing.T) {
			_, err := f.transact(func(tx *Tx, p []Path) error {
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				go func() {
					_, err := w.Transact(ctx, p, func(*Tx) error { return nil })
					done <- err
				}()
				cancel()
				wantCode(t, <-done, tools.CodeAborted)
				return nil
			}, "a")
			must(t, err)
		})
	}
}

// TestExpectedHashOfALargeFile: comparing a hash takes no memory for the file.
func TestExpectedHashOfALargeFile(t *testing.T) {
	f := newFixture(t)
	name := f.file("large", "")
	const size = 128 << 20
	must(t, os.Truncate(name, size))
	sum := sha256.New()
	for range size >> 20 {
		sum.Write(make([]byte, 1<<20))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, wrong := f.write("large", "new", &WriteOptions{ExpectSHA256: hashOf(nil)})
	_, right := f.write("large", "new", &WriteOptions{ExpectSHA256: hex.EncodeToString(sum.Sum(nil))})
	runtime.ReadMemStats(&after)
	if !errors.Is(wrong, tools.CodeFileChanged) || right != nil {
		t.Errorf("wrong hash: %v, right hash: %v", wrong, right)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > size/4 {
		t.Errorf("two comparisons took %d bytes of memory", took)
	}
}
