package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// The functions here visit a file or a whole directory through descriptors.
// They never follow a link.

// census is what a tree holds.
type census struct {
	entries int // the top included
	bytes   int64
	max     int
	mount   uint64
}

// count adds up the entry name of d and everything below it. It refuses, with
// nothing changed, what could not be removed in full afterwards: more than max
// entries, a directory this process may not empty, a mount point.
func (c *census) count(d *dir, name, shown string, st *stat) error {
	if c.entries++; c.entries > c.max {
		return tools.Errorf(tools.CodeLimit, "%s holds more than %d entries (maxEntries); nothing was deleted", shown, c.max)
	}
	c.bytes += st.size
	if !st.mode.IsDir() {
		return nil
	}
	if id := d.mountID(name); id != c.mount {
		return tools.Errorf(tools.CodePermission, "%s is a mount point; unmount it first", shown)
	}
	sub, err := d.list(name)
	if err != nil {
		return pathError(shown, err)
	}
	defer sub.close()
	names, err := sub.names(c.max)
	if errors.Is(err, errTooMany) {
		return tools.Errorf(tools.CodeLimit, "%s holds more than %d entries (maxEntries); nothing was deleted", shown, c.max)
	}
	if err != nil {
		return pathError(shown, err)
	}
	if len(names) > 0 {
		if err := d.writable(name); err != nil {
			return pathError(shown, err)
		}
	}
	for _, child := range names {
		st, err := sub.stat(child)
		if err != nil {
			return pathError(path.Join(shown, child), err)
		}
		if err := c.count(sub, child, path.Join(shown, child), &st); err != nil {
			return err
		}
	}
	return nil
}

// removeTree removes name and what is below it. Nothing there is no error.
func removeTree(d *dir, name string) error {
	err := d.unlink(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	st, statErr := d.stat(name)
	if statErr != nil || !st.mode.IsDir() {
		return err
	}
	sub, err := d.list(name)
	if err != nil {
		return err
	}
	defer sub.close()
	names, err := sub.names(1 << 30)
	if err != nil {
		return err
	}
	for _, child := range names {
		if err := removeTree(sub, child); err != nil {
			return err
		}
	}
	return d.rmdir(name)
}

// readNames lists an open directory; more than limit names is errTooMany.
func readNames(file *os.File, limit int) ([]string, error) {
	names, err := file.Readdirnames(limit + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(names) > limit {
		return nil, errTooMany
	}
	return names, nil
}

// digest recognises a file or a tree. For a regular file and with content set,
// it is "sha256:" and the hash of its bytes. For anything else it covers names,
// types, link targets and, by content, the bytes of every file below; without
// content ("stat:"), inodes, sizes and modification times instead.
func digest(d *dir, name string, content bool) (string, error) {
	st, err := d.stat(name)
	if err != nil {
		return "", err
	}
	if st.mode.IsRegular() && content {
		sum, err := hashFile(d, name)
		return "sha256:" + sum, err
	}
	h := sha256.New()
	if err := digestInto(h, d, name, &st, content); err != nil {
		return "", err
	}
	scheme := "stat:"
	if content {
		scheme = "tree:"
	}
	return scheme + hex.EncodeToString(h.Sum(nil)), nil
}

// digestLike computes the digest again, the way want was made.
func digestLike(d *dir, name, want string) (string, error) {
	return digest(d, name, !strings.HasPrefix(want, "stat:"))
}

func digestInto(h hash.Hash, d *dir, name string, st *stat, content bool) error {
	fmt.Fprintf(h, "%v\x00", st.mode.Type())
	switch {
	case st.mode.IsRegular() && content:
		sum, err := hashFile(d, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s\x00", sum)
	case st.mode&fs.ModeSymlink != 0:
		target, err := d.readlink(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q\x00", target)
	case !st.mode.IsDir():
		fmt.Fprintf(h, "%d %d %d\x00", st.ino, st.size, st.mtime)
	default:
		return digestDir(h, d, name, content)
	}
	return nil
}

func digestDir(h hash.Hash, d *dir, name string, content bool) error {
	sub, err := d.list(name)
	if err != nil {
		return err
	}
	defer sub.close()
	names, err := sub.names(int(limitDeleteEntries.Hard))
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, child := range names {
		st, err := sub.stat(child)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q\x00", child)
		if err := digestInto(h, sub, child, &st, content); err != nil {
			return err
		}
	}
	fmt.Fprintf(h, "end\x00")
	return nil
}

func hashFile(d *dir, name string) (string, error) {
	file, err := d.open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.CopyBuffer(h, file, make([]byte, 256<<10)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// replica makes another entry for a file, or another tree for a directory.
type replica struct {
	sync bool // flush what is copied
	copy bool // always copy, never link
}

// make replicates name of from as toName of to, which must not exist. Files
// are linked where the file system can, which keeps everything about them and
// copies nothing; otherwise bytes, mode, owner and attributes are copied.
func (r *replica) make(from *dir, name string, to *dir, toName string) error {
	st, err := from.stat(name)
	if err != nil {
		return err
	}
	if st.mode.IsDir() {
		return r.directory(from, name, to, toName)
	}
	if !r.copy {
		err := from.link(name, to, toName)
		if err == nil || errors.Is(err, fs.ErrExist) || isFull(err) {
			return err
		}
	}
	switch {
	case st.mode&fs.ModeSymlink != 0:
		target, err := from.readlink(name)
		if err != nil {
			return err
		}
		return to.symlink(target, toName)
	case !st.mode.IsRegular():
		return to.special(toName, &st)
	}
	return r.file(from, name, to, toName, &st)
}

func (r *replica) file(from *dir, name string, to *dir, toName string, st *stat) error {
	src, err := from.open(name)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := to.create(toName, 0o600)
	if err != nil {
		return err
	}
	defer dst.Close()
	if _, err := io.Copy(dst, src); err != nil { // copy_file_range(2) on Linux
		return err
	}
	if err := copyAttrs(src, dst, st); err != nil {
		return err
	}
	setTimes(dst, st)
	if r.sync {
		return dst.Sync()
	}
	return nil
}

func (r *replica) directory(from *dir, name string, to *dir, toName string) error {
	src, err := from.openDirFile(name)
	if err != nil {
		return err
	}
	defer src.Close()
	st, err := from.stat(name)
	if err != nil {
		return err
	}
	if err := to.mkdir(toName, 0o700); err != nil {
		return err
	}
	source, err := from.list(name)
	if err != nil {
		return err
	}
	defer source.close()
	target, err := to.list(toName)
	if err != nil {
		return err
	}
	defer target.close()
	names, err := source.names(int(limitDeleteEntries.Hard))
	if err != nil {
		return err
	}
	for _, child := range names {
		if err := r.make(source, child, target, child); err != nil {
			return err
		}
	}
	dst, err := to.openDirFile(toName)
	if err != nil {
		return err
	}
	defer dst.Close()
	if err := copyAttrs(src, dst, &st); err != nil {
		return err
	}
	setTimes(dst, &st)
	if r.sync {
		return target.sync()
	}
	return nil
}
