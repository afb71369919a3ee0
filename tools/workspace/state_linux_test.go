package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
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

const mountsVariable = "PRISM_WORKSPACE_TEST_MOUNTS"

// inNamespace starts the running test again in a mount namespace of its own and
// reports true there. Outside it reports what came of it, and false.
func inNamespace(t *testing.T) bool {
	t.Helper()
	if os.Getenv(mountsVariable) != "" {
		must(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
		return true
	}
	self, err := os.Executable()
	must(t, err)
	cmd := again(t, "")
	cmd.Path, cmd.Args = self, []string{self, "-test.run=^" + t.Name() + "$", "-test.v"}
	cmd.Env = append(os.Environ(), mountsVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	output, err := cmd.CombinedOutput()
	if errors.Is(err, os.ErrPermission) && os.Geteuid() != 0 {
		t.Skip("this system lets only the superuser mount")
	}
	if err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	return false
}

func mountTmpfs(t *testing.T, at, options string) {
	t.Helper()
	must(t, os.MkdirAll(at, 0o755))
	must(t, unix.Mount("tmpfs", at, "tmpfs", 0, options))
	t.Cleanup(func() { unix.Unmount(at, unix.MNT_DETACH) })
}

// fill takes all space of a file system; the file it returns frees it again.
func fill(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "filler")
	file, err := os.Create(name)
	must(t, err)
	defer file.Close()
	for chunk := 1 << 16; chunk > 0; {
		if _, err := file.Write(make([]byte, chunk)); err != nil {
			chunk /= 2
		}
	}
	return name
}

func TestFullFileSystems(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	t.Run("space", func(t *testing.T) {
		f := newFixture(t)
		f.w.Close()
		mountTmpfs(t, f.root, "size=256k")
		f.open()
		f.file("a", "one")
		before := f.tree()
		for range size(20, 200) {
			_, err := f.write("a", string(bytes.Repeat([]byte{'x'}, 300_000)), nil)
			wantCode(t, err, tools.CodeNoSpace)
			_, err = f.write("b", string(bytes.Repeat([]byte{'x'}, 300_000)), nil)
			wantCode(t, err, tools.CodeNoSpace)
			_, err = f.transact(func(tx *Tx, p []Path) error {
				return errors.Join(tx.Write(p[0], make([]byte, 200_000), nil), tx.Write(p[1], make([]byte, 200_000), nil))
			}, "a", "b")
			wantCode(t, err, tools.CodeNoSpace)
		}
		f.expectTree(before)
		f.expectWhole()
	})
	t.Run("inodes", func(t *testing.T) {
		f := newFixture(t)
		f.w.Close()
		mountTmpfs(t, f.root, "nr_inodes=6")
		f.open()
		for i := 0; ; i++ {
			if os.WriteFile(filepath.Join(f.root, strconv.Itoa(i)), []byte("x"), 0o644) != nil {
				os.Remove(filepath.Join(f.root, strconv.Itoa(i)))
				break
			}
		}
		before := f.tree()
		for range size(20, 200) {
			_, err := f.write("0", "y", nil)
			wantCode(t, err, tools.CodeNoSpace)
		}
		f.expectTree(before)
		_, err := f.remove("0", nil)
		must(t, err)
	})
	t.Run("state", func(t *testing.T) {
		f := newFixture(t)
		mountTmpfs(t, f.state, "size=64k,mode=700")
		full := fill(t, f.state)
		f.expectDegraded()
		must(t, os.Remove(full))
		f.expectWhole()
		fill(t, f.state)
		f.expectDegraded()
	})
	t.Run("state, read-only", func(t *testing.T) {
		f := newFixture(t)
		must(t, os.Mkdir(f.state, 0o700))
		must(t, unix.Mount(f.state, f.state, "", unix.MS_BIND, ""))
		t.Cleanup(func() { unix.Unmount(f.state, unix.MNT_DETACH) })
		must(t, unix.Mount("", f.state, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
		f.expectDegraded()
		must(t, unix.Mount("", f.state, "", unix.MS_BIND|unix.MS_REMOUNT, ""))
		f.expectWhole()
	})
}

func TestMounts(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	t.Run("state on another file system", func(t *testing.T) {
		f := newFixture(t)
		mountTmpfs(t, f.state, "size=8m,mode=700")
		f.changeable()
		before := f.tree()
		for name := range changes {
			must(t, changes[name](f.w, t.Context()))
			f.expectClean()
			ids := listing(f.w.store.undo())
			_, err := f.undo(ids[len(ids)-1][:len("0000000000000000-00000000")])
			must(t, err)
			f.expectTree(before)
		}
	})
	t.Run("bind mount inside", func(t *testing.T) {
		f := newFixture(t)
		elsewhere := filepath.Join(filepath.Dir(f.root), "elsewhere")
		must(t, os.Mkdir(elsewhere, 0o755))
		must(t, os.MkdirAll(filepath.Join(f.root, "d/mnt"), 0o755))
		f.file("a", "one")
		f.file("tree/x", "x")
		must(t, unix.Mount(elsewhere, filepath.Join(f.root, "d/mnt"), "", unix.MS_BIND, ""))
		t.Cleanup(func() { unix.Unmount(filepath.Join(f.root, "d/mnt"), unix.MNT_DETACH) })
		f.file("d/mnt/f", "f")
		before := f.tree()
		_, err := f.write("d/mnt/f", "g", nil)
		must(t, err)
		f.expectText("d/mnt/f", "g")
		for _, path := range []string{"d/mnt", "d"} {
			_, err := f.remove(path, &DeleteOptions{Recursive: true})
			wantCode(t, err, tools.CodePermission)
		}
		_, err = f.write("d/mnt/f", "f", nil)
		must(t, err)
		f.expectTree(before)
		for _, c := range [][2]string{{"a", "d/mnt/a"}, {"tree", "d/mnt/tree"}, {"d/mnt/f", "f"}} {
			done, err := f.move(c[0], c[1], false)
			must(t, err)
			f.expectGone(c[0])
			_, err = f.undo(done.UndoID)
			must(t, err)
			f.expectTree(before)
		}
	})
	t.Run("read-only root", func(t *testing.T) {
		f := newFixture(t)
		f.file("a", "one")
		f.w.Close()
		must(t, unix.Mount(f.root, f.root, "", unix.MS_BIND, ""))
		t.Cleanup(func() { unix.Unmount(f.root, unix.MNT_DETACH) })
		must(t, unix.Mount("", f.root, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
		f.open()
		before := f.tree()
		_, err := f.write("a", "two", nil)
		wantCode(t, err, tools.CodePermission)
		_, err = f.write("b", "two", nil)
		wantCode(t, err, tools.CodePermission)
		_, err = f.remove("a", nil)
		wantCode(t, err, tools.CodePermission)
		_, err = f.move("a", "b", false)
		wantCode(t, err, tools.CodePermission)
		f.expectTree(before)
	})
}

func TestAttributesStay(t *testing.T) {
	if !inNamespace(t) { // a tmpfs has extended attributes wherever this runs
		return
	}
	f := newFixture(t)
	f.w.Close()
	mountTmpfs(t, f.root, "size=4m")
	f.open()
	path := f.file("a", "one")
	must(t, os.Chmod(path, 0o640|os.ModeSetgid))
	attributes := map[string]string{"user.note": "kept", "trusted.note": "kept"}
	for name, value := range attributes {
		if err := unix.Setxattr(path, name, []byte(value), 0); err != nil {
			t.Logf("%s is not tried: %v", name, err)
			delete(attributes, name)
		}
	}
	acl := []byte{2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 4, 0, 1, 0, 0, 0, 4, 0, 4, 0, 255, 255, 255, 255, 16, 0, 4, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255}
	if err := unix.Setxattr(path, "system.posix_acl_access", acl, 0); err == nil {
		attributes["system.posix_acl_access"] = string(acl)
	}
	if os.Geteuid() == 0 && os.Chown(path, 1234, 5678) == nil {
		must(t, os.Chmod(path, 0o640|os.ModeSetgid))
	}
	if len(attributes) == 0 {
		t.Fatal("no extended attribute could be set")
	}
	want, err := os.Stat(path)
	must(t, err)
	check := func(what, name string) {
		t.Helper()
		got, err := os.Stat(filepath.Join(f.root, name))
		must(t, err)
		a, b := want.Sys().(*syscall.Stat_t), got.Sys().(*syscall.Stat_t)
		if got.Mode() != want.Mode() || a.Uid != b.Uid || a.Gid != b.Gid {
			t.Errorf("%s: %v %d:%d, want %v %d:%d", what, got.Mode(), b.Uid, b.Gid, want.Mode(), a.Uid, a.Gid)
		}
		for attribute, value := range attributes {
			buf := make([]byte, 256)
			n, err := unix.Getxattr(filepath.Join(f.root, name), attribute, buf)
			if err != nil || string(buf[:n]) != value {
				t.Errorf("%s: %s is %q (%v), want %q", what, attribute, buf[:max(n, 0)], err, value)
			}
		}
	}
	done, err := f.write("a", "two", nil)
	must(t, err)
	check("write", "a")
	_, err = f.undo(done.UndoID) // the state directory is on another file system here
	must(t, err)
	f.expectText("a", "one")
	check("undo of a write", "a")
	done, err = f.remove("a", nil)
	must(t, err)
	_, err = f.undo(done.UndoID)
	must(t, err)
	check("undo of a delete", "a")
	done, err = f.move("a", "b", false)
	must(t, err)
	check("move", "b")
	_, err = f.undo(done.UndoID)
	must(t, err)
	check("undo of a move", "a")
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
