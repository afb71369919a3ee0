package workspace

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"golang.org/x/sys/unix"
)

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
