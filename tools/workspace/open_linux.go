package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/prism-ls/prism-ls/tools"
	"golang.org/x/sys/unix"
)

// openFast opens a regular file with one openat2. ok is false when the walk
// has to decide.
func (w *Workspace) openFast(p Path) (file *os.File, info fs.FileInfo, ok bool, err error) {
	fd, ok, err := w.openat2(w.areas[p.area], p.sub(), unix.O_RDONLY|openSafe, beneath)
	if !ok {
		return nil, nil, false, nil
	}
	if err != nil {
		return nil, nil, true, openError(p.Rel, err)
	}
	var raw syscall.Stat_t
	if err := syscall.Fstat(fd, &raw); err != nil {
		unix.Close(fd)
		return nil, nil, true, pathError(p.Rel, err)
	}
	if raw.Mode&unix.S_IFMT != unix.S_IFREG {
		unix.Close(fd)
		return nil, nil, true, notRegular(p.Rel, modeOf(raw.Mode))
	}
	if p.slash {
		unix.Close(fd)
		return nil, nil, true, tools.Errorf(tools.CodeNotFound, "%s/ ends in a slash, but %s is not a directory", p.Rel, p.Rel)
	}
	name := path.Base(p.Rel)
	return os.NewFile(uintptr(fd), name), &fileInfo{name: name, stat: statOf(&raw)}, true, nil
}

// openError explains an open that failed. ENXIO is a socket or a device
// without a driver (open(2)).
func openError(given string, err error) error {
	if errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.ENODEV) {
		return notRegular(given, fs.ModeSocket)
	}
	return pathError(given, err)
}

func (w *Workspace) openDirFast(p Path) (file *os.File, ok bool, err error) {
	fd, ok, err := w.openat2(w.areas[p.area], p.sub(), unix.O_RDONLY|unix.O_DIRECTORY, beneath)
	if !ok || err == unix.ENOTDIR { // the walk says what it is instead
		return nil, false, nil
	}
	if err != nil {
		return nil, true, pathError(p.Rel, err)
	}
	return os.NewFile(uintptr(fd), path.Base(p.Rel)), true, nil
}

func (d *dir) openDirFile(name string) (*os.File, error) {
	fd, err := openFD(d.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}
