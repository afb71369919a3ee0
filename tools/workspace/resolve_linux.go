package workspace

import (
	"io/fs"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

const beneath = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS

// maxAgain is how often an openat2 is tried again that lost a race with a
// rename somewhere on the system (openat2(2), EAGAIN).
const maxAgain = 64

// openat2 opens sub relative to an area. ok is false when the walk has to
// decide: a link that openat2 refuses to follow and that may still lead
// inside, or a system that refuses openat2 itself.
func (w *Workspace) openat2(a *area, sub string, flags, resolve uint64) (fd int, ok bool, err error) {
	if w.noOpenat2.Load() {
		return -1, false, nil
	}
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: resolve}
	for range maxAgain {
		fd, err = unix.Openat2(a.dir.fd, sub, &how)
		switch err {
		case nil:
			return fd, true, nil
		case unix.EAGAIN, unix.EINTR:
			continue
		case unix.EXDEV:
			return -1, false, nil
		case unix.ENOSYS, unix.EPERM, unix.E2BIG:
			// A filter answers EPERM for every openat2; a file never does for these flags
			// alone, and if one did the walk would say so again.
			w.noOpenat2.Store(err != unix.EPERM || w.refused(a))
			return -1, false, nil
		default:
			return -1, true, err
		}
	}
	return -1, false, nil
}

// refused reports whether openat2 fails even for the area's own directory.
func (w *Workspace) refused(a *area) bool {
	fd, err := unix.Openat2(a.dir.fd, ".", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: beneath})
	if err == nil {
		unix.Close(fd)
	}
	return err == unix.EPERM
}

// locateFast finds an entry whose directory is reached without any link, which
// is nearly every entry. nil, nil means: walk.
func (w *Workspace) locateFast(p Path, follow bool) (*spot, error) {
	sub := p.sub()
	// A hand-made Path may hold anything; only a clean one is its own real path.
	if sub == "." || path.Clean(sub) != sub || strings.HasPrefix(sub, "/") {
		return nil, nil
	}
	parent, name := path.Split(sub)
	if parent == "" {
		parent = "."
	}
	if name == ".." {
		return nil, nil
	}
	fd, ok, err := w.openat2(w.areas[p.area], parent, unix.O_RDONLY|unix.O_DIRECTORY, beneath|unix.RESOLVE_NO_SYMLINKS)
	if ok && err == unix.EACCES { // may be searched, not read; see dir.list
		fd, ok, err = w.openat2(w.areas[p.area], parent, unix.O_PATH|unix.O_DIRECTORY, beneath|unix.RESOLVE_NO_SYMLINKS)
	}
	if !ok || err != nil {
		return nil, nil
	}
	d := &dir{fd: fd, seam: w.seam}
	st, err := d.stat(name)
	if err == unix.ENOENT {
		return &spot{parent: d, name: name, real: sub}, nil
	}
	if err != nil || follow && st.mode&fs.ModeSymlink != 0 {
		d.close()
		return nil, pathError(p.Rel, err)
	}
	return &spot{parent: d, name: name, real: sub, st: st, exists: true}, nil
}
