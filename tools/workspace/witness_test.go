package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// account is what a transaction has said of itself.
type account struct{ witnesses []tools.Witness }

func (a *account) listen(ctx context.Context) context.Context {
	return tools.WithPlanned(ctx, func(_ context.Context, list []tools.Witness) error {
		a.witnesses = append(a.witnesses, list...)
		return nil
	})
}

// named finds the witness of a path.
func (a *account) named(t *testing.T, path string) tools.Witness {
	t.Helper()
	i := slices.IndexFunc(a.witnesses, func(w tools.Witness) bool { return w.Path == path })
	if i < 0 {
		t.Fatalf("no witness of %s in %+v", path, a.witnesses)
	}
	return a.witnesses[i]
}

func (f *fixture) looker() state.Looker {
	return func(ctx context.Context, w tools.Witness) (tools.Seen, error) { return f.w.Look(ctx, w.Path) }
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestWitnesses(t *testing.T) {
	file := func(text string) tools.Seen {
		return tools.Seen{Exists: true, Mode: 0o100644, SHA256: sumOf(text)}
	}
	dir := tools.Seen{Exists: true, Mode: 0o040755}
	none := tools.Seen{}
	for _, c := range []struct {
		name  string
		paths []string
		fn    func(*Tx, []Path) error
		want  []tools.Witness
	}{
		{"write", []string{"file"}, func(tx *Tx, p []Path) error { return tx.Write(p[0], []byte("new"), nil) },
			[]tools.Witness{{Path: "file", Before: file("old"), After: file("new")}}},
		{"write what was read", []string{"file"}, func(tx *Tx, p []Path) error {
			_, err := tx.Read(p[0], 100)
			return errors.Join(err, tx.Write(p[0], []byte("new"), nil))
		}, []tools.Witness{{Path: "file", Before: file("old"), After: file("new")}}},
		{"create with directories", []string{"x/y/new"}, func(tx *Tx, p []Path) error {
			return tx.Write(p[0], []byte("1"), &WriteOptions{CreateParents: true})
		}, []tools.Witness{{Path: "x", Aside: true, After: dir}, {Path: "x/y", Aside: true, After: dir}, {Path: "x/y/new", After: file("1")}}},
		{"delete a link", []string{"link"}, func(tx *Tx, p []Path) error { return tx.Delete(p[0], nil) },
			[]tools.Witness{{Path: "link", Before: tools.Seen{Exists: true, Mode: 0o120777, SHA256: sumOf("file")}}}},
		{"write through a link", []string{"link"}, func(tx *Tx, p []Path) error { return tx.Write(p[0], []byte("new"), nil) },
			[]tools.Witness{{Path: "file", Before: file("old"), After: file("new")}}},
		{"delete a tree", []string{"tree"}, func(tx *Tx, p []Path) error { return tx.Delete(p[0], &DeleteOptions{Recursive: true}) },
			[]tools.Witness{{Path: "tree", Before: dir}}},
		{"move over", []string{"file", "other"}, func(tx *Tx, p []Path) error { return tx.Move(p[0], p[1], true) },
			[]tools.Witness{{Path: "file", Before: file("old")}, {Path: "other", Before: file("other"), After: file("old")}}},
		{"move a tree", []string{"tree", "wood"}, func(tx *Tx, p []Path) error { return tx.Move(p[0], p[1], false) },
			[]tools.Witness{{Path: "tree", Before: dir}, {Path: "wood", After: dir}}},
		{"write and move", []string{"file", "moved"}, func(tx *Tx, p []Path) error {
			return errors.Join(tx.Write(p[0], []byte("new"), nil), tx.Move(p[0], p[1], false))
		}, []tools.Witness{{Path: "file", Before: file("old")}, {Path: "moved", After: file("new")}}},
		{"nothing new", []string{"file"}, func(tx *Tx, p []Path) error { return tx.Write(p[0], []byte("old"), nil) },
			[]tools.Witness{{Path: "file", Before: file("old"), After: file("old")}}},
		{"only a directory", []string{"d"}, func(tx *Tx, p []Path) error { return tx.Mkdir(p[0]) },
			[]tools.Witness{{Path: "d", Before: none, After: tools.Seen{Exists: true, Mode: 0o040000}}}},
		{"a name that is not UTF-8", []string{"odd\xff"}, func(tx *Tx, p []Path) error { return tx.Write(p[0], []byte("1"), nil) },
			[]tools.Witness{{Path: "odd\xff", After: file("1")}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			f.file("file", "old")
			f.file("other", "other")
			f.file("tree/a", "a")
			must(t, os.Symlink("file", filepath.Join(f.root, "link")))
			paths := f.paths(c.paths...)
			var a account
			done, err := f.w.Transact(a.listen(t.Context()), paths, func(tx *Tx) error { return c.fn(tx, paths) })
			must(t, err)
			if !slices.Equal(a.witnesses, c.want) {
				t.Errorf("got  %+v\nwant %+v", a.witnesses, c.want)
			}
			if c.name == "nothing new" {
				return
			}
			if found, why := state.Compare(t.Context(), a.witnesses, f.looker()); found != state.FoundCommitted {
				t.Errorf("afterwards: %s, %s", found, why)
			}
			_, err = f.undo(done.UndoID)
			must(t, err)
			if found, why := state.Compare(t.Context(), a.witnesses, f.looker()); found != state.FoundNotApplied {
				t.Errorf("taken back: %s, %s", found, why)
			}
		})
	}
}

func TestWitnessesOfAnUndo(t *testing.T) {
	f := newFixture(t)
	f.file("file", "old")
	done, err := f.transact(func(tx *Tx, p []Path) error {
		return errors.Join(tx.Write(p[0], []byte("new"), nil), tx.Write(p[1], []byte("made"), &WriteOptions{CreateParents: true}))
	}, "file", "x/made")
	must(t, err)
	var a account
	_, err = f.w.Undo(a.listen(t.Context()), done.UndoID)
	must(t, err)
	if w := a.named(t, "file"); w.Before.SHA256 != sumOf("new") || w.After.SHA256 != sumOf("old") {
		t.Errorf("got %+v", w)
	}
	if w := a.named(t, "x/made"); !w.Before.Exists || w.After.Exists {
		t.Errorf("got %+v", w)
	}
	if found, why := state.Compare(t.Context(), a.witnesses, f.looker()); found != state.FoundCommitted {
		t.Errorf("afterwards: %s, %s", found, why)
	}
}

// TestNothingChangesWithoutAccount: whoever keeps account can stop a change.
func TestNothingChangesWithoutAccount(t *testing.T) {
	stop := tools.Errorf(tools.CodeStateUnavailable, "no account")
	for name, change := range map[string]func(*Tx, []Path) error{
		"several": func(tx *Tx, p []Path) error {
			return errors.Join(tx.Write(p[0], []byte("new"), nil), tx.Write(p[1], []byte("made"), &WriteOptions{CreateParents: true}),
				tx.Delete(p[2], &DeleteOptions{Recursive: true}))
		},
		"directory": func(tx *Tx, p []Path) error { return tx.Mkdir(p[3]) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.file("file", "old")
			f.file("tree/a", "a")
			before := f.tree()
			paths := f.paths("file", "x/y", "tree", "d")
			ctx := tools.WithPlanned(t.Context(), func(context.Context, []tools.Witness) error { return stop })
			_, err := f.w.Transact(ctx, paths, func(tx *Tx) error { return change(tx, paths) })
			wantCode(t, err, tools.CodeStateUnavailable)
			f.expectTree(before)
		})
	}
}

// TestLookIsNotFooled: what is at a witness's path only by way of a link that is new
// is not what was meant.
func TestLookIsNotFooled(t *testing.T) {
	f := newFixture(t)
	f.file("real/a", "1")
	must(t, os.Symlink("real", filepath.Join(f.root, "dir")))
	if _, err := f.w.Look(t.Context(), "dir/a"); err == nil {
		t.Error("a directory that became a link is looked through")
	}
	must(t, os.Symlink("/", filepath.Join(f.root, "out")))
	if _, err := f.w.Look(t.Context(), "out/etc/passwd"); err == nil {
		t.Error("a link that leads out is looked through")
	}
	seen, err := f.w.Look(t.Context(), "real/a/below/a/file")
	must(t, err)
	if seen.Exists {
		t.Errorf("got %+v", seen)
	}
}

// TestLargeFilesAreNotRead: nothing is claimed of what was not looked at.
func TestLargeFilesAreNotRead(t *testing.T) {
	f := newFixture(t)
	file, err := os.Create(filepath.Join(f.root, "large"))
	must(t, err)
	must(t, file.Truncate(witnessBytes+1))
	must(t, file.Close())
	paths := f.paths("large", "moved")
	var a account
	_, err = f.w.Transact(a.listen(t.Context()), paths, func(tx *Tx) error { return tx.Move(paths[0], paths[1], false) })
	must(t, err)
	if w := a.named(t, "moved"); w.After.SHA256 != "" || !w.After.Exists {
		t.Errorf("got %+v", w)
	}
	found, why := state.Compare(t.Context(), a.witnesses, f.looker())
	if found != state.FoundUnknown || !strings.Contains(why, "moved") {
		t.Errorf("got %s, %s", found, why)
	}
}
