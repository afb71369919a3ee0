package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

const stepVariable = "PRISM_WORKSPACE_TEST_STEP"

// openRole opens the workspace that a parent test made.
func openRole() (*fixture, context.Context) {
	base := os.Getenv(baseVariable)
	f := &fixture{root: filepath.Join(base, "root"), state: filepath.Join(base, "state")}
	w, err := Open(f.root, &Options{StateDir: f.state})
	if err != nil {
		panic(err)
	}
	f.w = w
	return f, context.Background()
}

func parsed(w *Workspace, names ...string) []Path {
	var all []Path
	for _, name := range names {
		p, err := w.Parse(name)
		if err != nil {
			panic(err)
		}
		all = append(all, p)
	}
	return all
}

// killed runs a role, which prints a byte before every change, and kills it a
// random moment after one of the first three.
func (f *fixture) killed(role string, within time.Duration) {
	f.t.Helper()
	cmd := again(f.t, role, baseVariable+"="+filepath.Dir(f.root))
	cmd.Stderr = os.Stderr
	output, err := cmd.StdoutPipe()
	must(f.t, err)
	must(f.t, cmd.Start())
	if _, err := io.ReadFull(output, make([]byte, 1+rand.IntN(3))); err != nil {
		f.t.Fatalf("%s did not start: %v", role, err)
	}
	timer := time.NewTimer(time.Duration(rand.Int64N(int64(within))))
	<-timer.C
	cmd.Process.Kill()
	cmd.Wait()
}

const rewriteSize = 1_000_000

func rewriteRole() {
	f, ctx := openRole()
	p := parsed(f.w, "a")
	for i := byte(0); ; i++ {
		os.Stdout.WriteString("!")
		data := bytes.Repeat([]byte{'a' + i%26}, rewriteSize)
		if _, err := f.w.Transact(ctx, p, func(tx *Tx) error { return tx.Write(p[0], data, nil) }); err != nil {
			panic(err)
		}
	}
}

func TestKilledWhileWriting(t *testing.T) {
	f := newFixture(t)
	f.file("a", string(bytes.Repeat([]byte{'z'}, rewriteSize)))
	for range size(40, 1_000) {
		f.killed("rewrite", 25*time.Millisecond)
		data, err := os.ReadFile(filepath.Join(f.root, "a"))
		must(t, err)
		if len(data) != rewriteSize || bytes.Count(data, data[:1]) != rewriteSize {
			t.Fatalf("torn: %d bytes, %d of them %q", len(data), bytes.Count(data, data[:1]), data[0])
		}
		f.w.Close()
		f.open()
		f.expectClean()
	}
}

const generationFiles = 16

// generation takes the set from state n to n+1: 16 rewrites, a create, a
// delete, and two moves.
func generation(w *Workspace, ctx context.Context, n int) error {
	names := make([]string, generationFiles)
	for i := range names {
		names[i] = "f" + strconv.Itoa(i)
	}
	this, next := strconv.Itoa(n), strconv.Itoa(n+1)
	paths := parsed(w, append(names, "made-"+next, "made-"+this, "name-"+this, "name-"+next, "tree-"+this, "tree-"+next)...)
	rest := paths[generationFiles:]
	_, err := w.Transact(ctx, paths, func(tx *Tx) error {
		var errs []error
		for _, p := range paths[:generationFiles] {
			errs = append(errs, tx.Write(p, []byte(next), nil))
		}
		errs = append(errs, tx.Write(rest[0], []byte(next), nil), tx.Delete(rest[1], nil),
			tx.Move(rest[2], rest[3], false), tx.Move(rest[4], rest[5], false))
		return errors.Join(errs...)
	})
	return err
}

// generationOf reads the state, and fails the test if it is between two.
func (f *fixture) generationOf() int {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.root, "f0"))
	must(f.t, err)
	n, err := strconv.Atoi(string(data))
	must(f.t, err)
	this := strconv.Itoa(n)
	want := map[string]bool{".": true, "made-" + this: true, "name-" + this: true, "tree-" + this: true, "tree-" + this + "/x": true}
	for i := range generationFiles {
		f.expectText("f"+strconv.Itoa(i), this)
		want["f"+strconv.Itoa(i)] = true
	}
	for name := range f.tree() {
		if !want[name] {
			f.t.Errorf("generation %d: %s should not be there", n, name)
		}
		delete(want, name)
	}
	for name := range want {
		f.t.Errorf("generation %d: %s is missing", n, name)
	}
	return n
}

func (f *fixture) firstGeneration() {
	for i := range generationFiles {
		f.file("f"+strconv.Itoa(i), "0")
	}
	f.file("made-0", "0")
	f.file("name-0", "name")
	f.file("tree-0/x", "x")
}

func generationsRole() {
	f, ctx := openRole()
	data, err := os.ReadFile(filepath.Join(f.root, "f0"))
	if err != nil {
		panic(err)
	}
	n, _ := strconv.Atoi(string(data))
	for ; ; n++ {
		os.Stdout.WriteString("!")
		if err := generation(f.w, ctx, n); err != nil {
			panic(err)
		}
	}
}

func TestKilledInATransaction(t *testing.T) {
	f := newFixture(t)
	f.firstGeneration()
	last := 0
	for range size(40, 1_000) {
		f.killed("generations", 60*time.Millisecond)
		f.w.Close()
		f.open()
		n := f.generationOf()
		if t.Failed() {
			t.FailNow()
		}
		if n < last {
			t.Fatalf("generation %d after %d", n, last)
		}
		last = n
	}
	if last == 0 {
		t.Error("no transaction was ever finished")
	}
	if left := listing(f.w.store.journals()); len(left) != 0 {
		t.Errorf("journals left: %v", left)
	}
	t.Logf("%d generations", last)
}

// changes are the kinds of change that are tried with a fault at every step.
var changes = map[string]func(*Workspace, context.Context) error{
	"write": func(w *Workspace, ctx context.Context) error {
		return one(w, ctx, func(tx *Tx, p []Path) error { return tx.Write(p[0], []byte("new"), nil) }, "file")
	},
	"create": func(w *Workspace, ctx context.Context) error {
		return one(w, ctx, func(tx *Tx, p []Path) error {
			return tx.Write(p[0], []byte("new"), &WriteOptions{CreateParents: true})
		}, "x/y/new")
	},
	"delete": func(w *Workspace, ctx context.Context) error {
		return one(w, ctx, func(tx *Tx, p []Path) error { return tx.Delete(p[0], nil) }, "file")
	},
	"delete tree": func(w *Workspace, ctx context.Context) error {
		return one(w, ctx, func(tx *Tx, p []Path) error { return tx.Delete(p[0], &DeleteOptions{Recursive: true}) }, "tree")
	},
	"move": func(w *Workspace, ctx context.Context) error {
		return one(w, ctx, func(tx *Tx, p []Path) error { return tx.Move(p[0], p[1], false) }, "file", "tree/moved")
	},
	"move over": func(w *Workspace, ctx context.Context) error {
		return one(w, ctx, func(tx *Tx, p []Path) error { return tx.Move(p[0], p[1], true) }, "file", "other")
	},
	"put a link": func(w *Workspace, ctx context.Context) error {
		return one(w, ctx, func(tx *Tx, p []Path) error { return tx.Put(p[0], Entry{Data: []byte("tree"), Link: true}) }, "file")
	},
	"put several": func(w *Workspace, ctx context.Context) error {
		return one(w, ctx, func(tx *Tx, p []Path) error {
			return errors.Join(tx.Put(p[0], Entry{Data: []byte("new"), Executable: true}), tx.Put(p[1], Entry{Data: []byte("not a link")}),
				tx.Put(p[2], Entry{Data: []byte("name"), Link: true}), tx.Put(p[3], Entry{Data: []byte("../tree"), Link: true}), tx.Delete(p[4], nil))
		}, "file", "tree/link", "other", "x/link", "name")
	},
	"several": func(w *Workspace, ctx context.Context) error {
		_, err := several(w, ctx)
		return err
	},
}

// several writes, creates, deletes and moves in one transaction.
func several(w *Workspace, ctx context.Context) (*Committed, error) {
	p := parsed(w, "file", "x/y/new", "tree", "name", "other")
	return w.Transact(ctx, p, func(tx *Tx) error {
		return errors.Join(tx.Write(p[0], []byte("new"), nil), tx.Write(p[1], []byte("made"), &WriteOptions{CreateParents: true}),
			tx.Delete(p[2], &DeleteOptions{Recursive: true}), tx.Move(p[3], p[4], true))
	})
}

func one(w *Workspace, ctx context.Context, fn func(*Tx, []Path) error, names ...string) error {
	paths := parsed(w, names...)
	_, err := w.Transact(ctx, paths, func(tx *Tx) error { return fn(tx, paths) })
	return err
}

func (f *fixture) changeable() {
	f.file("file", "old")
	f.file("other", "other")
	f.file("name", "name")
	f.file("tree/a/b", "b")
	f.file("tree/c", "c")
	must(f.t, os.Symlink("a/b", filepath.Join(f.root, "tree/link")))
}

// crashRole makes the change named in the environment and kills itself at the
// given step.
func crashRole() {
	f, ctx := openRole()
	at, _ := strconv.Atoi(os.Getenv(stepVariable))
	if file := os.Getenv(witnessVariable); file != "" {
		ctx = tools.WithPlanned(ctx, writeDown(file))
	}
	f.w.fail(func(int) error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) }, at)
	name := os.Getenv("PRISM_WORKSPACE_TEST_CHANGE")
	if name == "undo" {
		if _, err := f.w.Undo(ctx, os.Getenv("PRISM_WORKSPACE_TEST_UNDO")); err != nil {
			fmt.Println(err)
		}
		return
	}
	if err := changes[name](f.w, ctx); err != nil {
		fmt.Println(err)
	}
}

// fail lets fault happen at the nth step that changes the disk, counted from 1.
// It returns how many steps there were.
func (w *Workspace) fail(fault func(int) error, at int) (count func() int) {
	n := 0
	w.seam = &seam{at: func(string, string) error {
		if n++; n == at {
			return fault(n)
		}
		return nil
	}}
	w.store.seam = w.seam
	return func() int { return n }
}

func TestCrashAtEveryStep(t *testing.T) {
	for name := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := statesOf(t, name)
			for at := 1; ; at++ {
				f := newFixture(t)
				f.changeable()
				cmd := again(t, "crash", baseVariable+"="+filepath.Dir(f.root), "PRISM_WORKSPACE_TEST_CHANGE="+name, stepVariable+"="+strconv.Itoa(at))
				output, err := cmd.CombinedOutput()
				if len(output) > 0 {
					t.Fatalf("step %d: %s", at, output)
				}
				f.w.Close()
				f.open()
				got := f.tree()
				if !sameTree(got, before) && !sameTree(got, after) {
					t.Errorf("step %d: neither before nor after:", at)
					f.expectTree(after)
				}
				if err == nil {
					break
				}
				if again := changes[name](f.w, t.Context()); sameTree(got, before) && again != nil {
					t.Errorf("step %d: the change does not work after the crash: %v", at, again)
				}
			}
		})
	}
}

func TestCrashAtEveryStepOfAnUndo(t *testing.T) {
	for at := 1; ; at++ {
		f := newFixture(t)
		f.changeable()
		before := f.tree()
		done, err := several(f.w, t.Context())
		must(t, err)
		id := done.UndoID
		after := f.tree()
		cmd := again(t, "crash", baseVariable+"="+filepath.Dir(f.root), "PRISM_WORKSPACE_TEST_CHANGE=undo",
			"PRISM_WORKSPACE_TEST_UNDO="+id, stepVariable+"="+strconv.Itoa(at))
		output, err := cmd.CombinedOutput()
		if len(output) > 0 {
			t.Fatalf("step %d: %s", at, output)
		}
		f.w.Close()
		f.open()
		got := f.tree()
		delete(got, "x") // directories that the undone change had made go last, outside of the transaction
		delete(got, "x/y")
		trimmed := map[string]string{}
		for name, text := range after {
			if name != "x" && name != "x/y" {
				trimmed[name] = text
			}
		}
		switch {
		case sameTree(got, before):
			if info, statErr := os.Lstat(filepath.Join(f.root, "file")); statErr != nil || info.Sys().(*syscall.Stat_t).Nlink != 1 {
				t.Errorf("step %d: a restored file has a second name in the undo copy", at)
			}
		case sameTree(got, trimmed):
			_, err := f.undo(id)
			must(t, err)
			f.expectTree(before)
		default:
			t.Errorf("step %d: neither before nor after:", at)
			f.expectTree(before)
		}
		if err == nil {
			break
		}
	}
}

func sameTree(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for name := range a {
		if a[name] != b[name] {
			return false
		}
	}
	return true
}

// statesOf returns the tree before and after an undisturbed change.
func statesOf(t *testing.T, name string) (before, after map[string]string) {
	f := newFixture(t)
	f.changeable()
	before = f.tree()
	must(t, changes[name](f.w, t.Context()))
	return before, f.tree()
}

func TestErrorAtEveryStep(t *testing.T) {
	for name := range changes {
		for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
			t.Run(fmt.Sprintf("%s/%v", name, errno), func(t *testing.T) {
				t.Parallel()
				before, after := statesOf(t, name)
				for at := 1; ; at++ {
					f := newFixture(t)
					f.changeable()
					steps := f.w.fail(func(int) error { return errno }, at)
					err := changes[name](f.w, t.Context())
					reached := steps() >= at
					f.w.seam, f.w.store.seam = nil, nil
					f.w.Close()
					f.open()
					if err != nil {
						wantCode(t, err, tools.CodeIO, tools.CodeNoSpace, tools.CodeStateUnavailable)
						f.expectTree(before)
					} else {
						f.expectTree(after)
					}
					if t.Failed() {
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
