package workspace

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools"
)

// The functions here are for callers that visit every file of a tree and count
// system calls. They exist on Linux only; elsewhere use [Workspace.OpenDir] and
// [Workspace.OpenFile].

// RootFD returns the descriptor of the root directory. It belongs to the
// workspace: valid until Close, not to be closed, moved or read by the caller
// (open "." relative to it for that).
func (w *Workspace) RootFD() int { return w.areas[0].dir.fd }

// OpenDirFD opens a directory for listing and returns its descriptor, which
// the caller closes. Links are followed inside the root. CodeNotFound is also a root
// that was removed since it was opened, which else would only seem to be empty.
func (w *Workspace) OpenDirFD(p Path) (int, error) {
	fd, ok, err := w.openat2(w.areas[p.area], p.sub(), unix.O_RDONLY|unix.O_DIRECTORY, beneath)
	if ok && err == nil {
		var st syscall.Stat_t
		if err := syscall.Fstat(fd, &st); err == nil && st.Nlink == 0 {
			unix.Close(fd)
			return -1, tools.Errorf(tools.CodeNotFound, "%s was removed: it is not there any more", p.Rel)
		}
		return fd, nil
	}
	file, err := w.OpenDir(p)
	if err != nil {
		return -1, err
	}
	defer file.Close()
	return unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
}

// OpenAt opens the entry name of the open directory dirfd for reading and
// describes it in st. name must be one component, as a directory listing gives
// it; a symbolic link is not followed (ELOOP), a FIFO does not block, no
// terminal is gained. What was opened may be anything but a link: look at
// st.Mode. The error is a bare errno. The caller closes the descriptor.
func OpenAt(dirfd int, name string, st *syscall.Stat_t) (fd int, err error) {
	fd, err = openFD(dirfd, name, unix.O_RDONLY|unix.O_NOFOLLOW|openSafe, 0)
	if err != nil {
		return -1, err
	}
	if err := syscall.Fstat(fd, st); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// OpenDirAt opens the subdirectory name of the open directory dirfd for
// listing, without following a link. The error is a bare errno. The caller
// closes the descriptor.
func OpenDirAt(dirfd int, name string) (fd int, err error) {
	return openFD(dirfd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

// StatAt describes the entry name of the open directory dirfd without
// following a link. The error is a bare errno.
func StatAt(dirfd int, name string, st *syscall.Stat_t) error {
	return fstatat(dirfd, name, st)
}
