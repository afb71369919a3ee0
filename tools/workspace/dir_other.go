//go:build !linux

package workspace

import (
	"errors"
	"os"
	"path"
)

// dir is a directory below an [os.Root], which contains every operation. It is
// weaker than on Linux in one way: a dir is a path, so a directory that is
// moved inside the root while a transaction works takes its steps with it.
type dir struct {
	root *os.Root
	rel  string
	seam *seam
	own  bool
}

type renameMode uint

const (
	renameReplace renameMode = iota
	renameNoReplace
	renameExchange
)

// errOther says what only Linux has; callers have another way or say so.
var errOther = errors.New("not available on this operating system")

func openRootDir(path string) (*dir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &dir{root: root, rel: ".", own: true}, nil
}

func (d *dir) close() {
	if d != nil && d.own {
		d.root.Close()
	}
}

func (d *dir) join(name string) string { return path.Join(d.rel, name) }

func (d *dir) child(name string) (*dir, error) { return d.list(name) }

func (d *dir) list(name string) (*dir, error) {
	info, err := d.root.Lstat(d.join(name))
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, notDirectory
	}
	return &dir{root: d.root, rel: d.join(name), seam: d.seam}, nil
}

func (d *dir) open(name string) (*os.File, error) {
	info, err := d.root.Lstat(d.join(name))
	if err != nil {
		return nil, err
	}
	// Opening a FIFO would wait for its other end.
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, notRegular(name, info.Mode())
	}
	return d.root.Open(d.join(name))
}

func (d *dir) openDirFile(name string) (*os.File, error) { return d.root.Open(d.join(name)) }

func (d *dir) create(name string, perm uint32) (*os.File, error) {
	if err := d.seam.before("create", name); err != nil {
		return nil, err
	}
	return d.root.OpenFile(d.join(name), os.O_RDWR|os.O_CREATE|os.O_EXCL, os.FileMode(perm))
}

func (d *dir) stat(name string) (stat, error) {
	info, err := d.root.Lstat(d.join(name))
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

func (d *dir) self() (stat, error) { return d.stat(".") }

func (d *dir) readlink(name string) (string, error) { return d.root.Readlink(d.join(name)) }

func (d *dir) rename(name string, to *dir, toName string, mode renameMode) error {
	if err := d.seam.before(mode.String(), name); err != nil {
		return err
	}
	if d.root != to.root || mode == renameExchange {
		return errOther
	}
	if mode == renameNoReplace {
		// Link is the way to create a name only if it is free; directories cannot be
		// linked, and rename(2) replaces no more than an empty one of them.
		if err := d.root.Link(d.join(name), to.join(toName)); err == nil {
			return d.root.Remove(d.join(name))
		} else if errors.Is(err, os.ErrExist) {
			return err
		}
		if _, err := to.root.Lstat(to.join(toName)); err == nil {
			return os.ErrExist
		}
	}
	return d.root.Rename(d.join(name), to.join(toName))
}

func (d *dir) link(name string, to *dir, toName string) error {
	if err := d.seam.before("link", name); err != nil {
		return err
	}
	if d.root != to.root {
		return errOther
	}
	return d.root.Link(d.join(name), to.join(toName))
}

func (d *dir) symlink(target, name string) error {
	if err := d.seam.before("symlink", name); err != nil {
		return err
	}
	return d.root.Symlink(target, d.join(name))
}

func (d *dir) special(string, *stat) error { return errOther }

func (d *dir) mkdir(name string, perm uint32) error {
	if err := d.seam.before("mkdir", name); err != nil {
		return err
	}
	return d.root.Mkdir(d.join(name), os.FileMode(perm))
}

func (d *dir) unlink(name string) error {
	if err := d.seam.before("unlink", name); err != nil {
		return err
	}
	return d.root.Remove(d.join(name))
}

func (d *dir) rmdir(name string) error { return d.unlink(name) }

// sync flushes the directory where the system can (not on Windows, whose file
// systems journal renames).
func (d *dir) sync() error {
	if err := d.seam.before("sync", "."); err != nil {
		return err
	}
	file, err := d.root.Open(d.rel)
	if err != nil {
		return err
	}
	defer file.Close()
	return syncDir(file)
}

func (d *dir) names(limit int) ([]string, error) {
	file, err := d.root.Open(d.rel)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readNames(file, limit)
}

func (d *dir) writable(string) error { return nil }

func (d *dir) mountID(string) uint64 { return 0 }

func (d *dir) tryLock() (bool, error) { return false, errOther }
