package search

import (
	"encoding/binary"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools/workspace"
)

func openRoot(w *workspace.Workspace, p workspace.Path) (int, error) { return w.OpenDirFD(p) }

func openDirAt(parent int, name string) (int, error) { return workspace.OpenDirAt(parent, name) }

func closeFD(fd int) { _ = unix.Close(fd) }

// openFileAt opens a regular file and tells its size. ok is false for anything
// that is not one (any more); then nothing is open.
func openFileAt(parent int, name string) (fd int, size int64, ok bool, err error) {
	var st syscall.Stat_t
	fd, err = workspace.OpenAt(parent, name, &st)
	if err != nil {
		return -1, 0, false, err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		closeFD(fd)
		return -1, 0, false, nil
	}
	return fd, st.Size, true, nil
}

// rewind makes an open directory be read from its start again.
func rewind(fd int) { _, _ = unix.Seek(fd, 0, unix.SEEK_SET) }

func readFD(fd int, buf []byte) (int, error) {
	for {
		n, err := unix.Read(fd, buf)
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}

// sizeAt is the size of a regular file, without opening it.
func sizeAt(parent int, name string) (size int64, ok bool) {
	var st syscall.Stat_t
	if err := workspace.StatAt(parent, name, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return 0, false
	}
	return st.Size, true
}

// vanished says that the name is gone, or has become a link, since it was listed.
func vanished(err error) bool {
	return err == unix.ENOENT || err == unix.ELOOP || err == unix.ENOTDIR
}

// The layout of struct linux_dirent64 (getdents64(2)).
const (
	direntLength = 16
	direntType   = 18
	direntName   = 19
)

// read lists an open directory, at most limit names without "." and "..".
// more says that there are others.
func (l *listing) read(fd, limit int) (more bool, err error) {
	l.reset()
	for {
		n, err := unix.Getdents(fd, l.buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return false, err
		}
		for rest := l.buf[:n]; len(rest) > direntName; {
			length := int(binary.NativeEndian.Uint16(rest[direntLength:]))
			name := unix.ByteSliceToString(rest[direntName:length])
			if name != "." && name != ".." {
				if len(l.refs) == limit {
					return true, nil
				}
				l.add(name, direntKind(fd, rest[direntType], name))
			}
			rest = rest[length:]
		}
	}
}

func direntKind(fd int, typ byte, name string) kind {
	switch typ {
	case unix.DT_REG:
		return kindFile
	case unix.DT_DIR:
		return kindDir
	case unix.DT_LNK:
		return kindLink
	case unix.DT_UNKNOWN:
		var st syscall.Stat_t
		if workspace.StatAt(fd, name, &st) == nil {
			return modeKind(st.Mode)
		}
	}
	return kindOther
}

func modeKind(mode uint32) kind {
	switch mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		return kindFile
	case syscall.S_IFDIR:
		return kindDir
	case syscall.S_IFLNK:
		return kindLink
	}
	return kindOther
}

// The buffer's size matters less than that it is used again: one directory in
// a thousand needs more than one call.
const direntBuffer = 32 << 10
