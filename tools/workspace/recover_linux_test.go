package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// crashedAt leaves what a process leaves that ends at the given step of a change.
func (f *fixture) crashedAt(change string, at int) {
	f.t.Helper()
	cmd := again(f.t, "crash", baseVariable+"="+filepath.Dir(f.root), "PRISM_WORKSPACE_TEST_CHANGE="+change, stepVariable+"="+strconv.Itoa(at))
	if output, err := cmd.CombinedOutput(); err == nil || len(output) > 0 {
		f.t.Fatalf("the process did not crash at step %d: %v %s", at, err, output)
	}
}

// stepsTo counts the steps of a change up to the last of one kind.
func stepsTo(t *testing.T, change, kind string) int {
	f := newFixture(t)
	f.changeable()
	n, found := 0, 0
	f.w.seam = &seam{at: func(step, _ string) error {
		if n++; step == kind {
			found = n
		}
		return nil
	}}
	f.w.store.seam = f.w.seam
	must(t, changes[change](f.w, t.Context()))
	if found == 0 {
		t.Fatalf("%s has no step %q", change, kind)
	}
	return found
}

func TestTheNextTransactionRecoversFirst(t *testing.T) {
	at := stepsTo(t, "several", "exchange") + 1
	f := newFixture(t)
	f.changeable()
	before := f.tree()
	f.crashedAt("several", at)
	if sameTree(f.tree(), before) {
		t.Fatal("the crash left nothing to recover")
	}
	// This workspace was open all the time, as other processes' are.
	_, err := f.write("file", "written after", nil)
	must(t, err)
	f.expectText("file", "written after")
	f.file("file", "old")
	f.expectTree(before)
}

func TestWhatTheLivingHaveUnderWayIsLeftAlone(t *testing.T) {
	for _, change := range []string{"write", "several"} {
		f := newFixture(t)
		f.changeable()
		_, after := statesOf(t, change)
		visits := 0
		visit := func(step, _ string) error {
			if step == "exchange" || step == "sync" {
				visits++
				other, err := Open(f.root, &Options{StateDir: f.state})
				must(t, err)
				must(t, other.Close())
			}
			return nil
		}
		f.w.seam = &seam{at: visit}
		must(t, changes[change](f.w, t.Context()))
		f.w.seam = nil
		f.expectTree(after)
		if visits < 2 {
			t.Errorf("%s: %d visits", change, visits)
		}
	}
}

func TestOnlyRecordedNamesAreSwept(t *testing.T) {
	at := stepsTo(t, "write", "exchange")
	f := newFixture(t)
	f.changeable()
	f.file(".prism-0123456789abcdef.tmp", "the user's own")
	f.file("tree/.prism-0123456789abcdef.tmp", "the user's own")
	before := f.tree()
	f.crashedAt("write", at)
	if sameTree(f.tree(), before) {
		t.Fatal("the crash left no temporary file")
	}
	f.w.Close()
	f.open()
	f.expectTree(before)
	if left := listing(f.w.store.writers()); len(left) != 0 {
		t.Errorf("writer files left: %v", left)
	}
}

// A stranger's file that an interrupted exchange had caught goes back to its
// name: nobody but the stranger knows its content.
func TestAStrangersFileSurvivesTheCrash(t *testing.T) {
	f := newFixture(t)
	path := f.file("file", "old")
	f.file("tree/x", "x")
	done, err := f.write("other", "makes the store", nil)
	must(t, err)
	if done.UndoID == "" {
		t.Fatal(done.Degraded)
	}
	stat := func(name string) *ident {
		st, err := f.w.areas[0].dir.stat(name)
		must(t, err)
		return identOf(&st)
	}
	o := &op{Kind: kindPut, Dir: ".", Name: "file", Temp: raw(tempName()), Tomb: raw(tempName()), Old: stat("file")}
	must(t, os.WriteFile(path+".new", []byte("ours"), 0o644))
	o.New = stat("file.new")
	must(t, os.WriteFile(path+".stranger", []byte("stranger"), 0o644))
	must(t, os.Rename(path+".stranger", filepath.Join(f.root, string(o.Temp))))
	must(t, os.Rename(path+".new", path))
	file, err := createLocked(filepath.Join(f.w.store.writers(), "gone"))
	must(t, err)
	s := &slots{file: file}
	_, err = s.take(o)
	must(t, err)
	must(t, file.Close())
	f.w.Close()
	f.open()
	f.expectText("file", "stranger")
	f.expectClean()
}

func TestADirectoryThatMovesAwayIsNotWrittenTo(t *testing.T) {
	f := newFixture(t)
	f.file("d/a", "one")
	outside := filepath.Join(filepath.Dir(f.root), "outside")
	_, err := f.transact(func(tx *Tx, p []Path) error {
		return errors.Join(tx.Write(p[0], []byte("two"), nil), os.Rename(filepath.Join(f.root, "d"), outside))
	}, "d/a")
	if err == nil {
		t.Error("the write followed its directory out of the root")
	}
	data, readErr := os.ReadFile(filepath.Join(outside, "a"))
	if readErr != nil || string(data) != "one" {
		t.Errorf("outside: %q %v", data, readErr)
	}
}
