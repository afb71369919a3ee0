package workspace

import (
	"bytes"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// setOwner reports whether the file now has that owner and group.
func setOwner(f *os.File, uid, gid uint32) (bool, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &st); err != nil {
		return false, err
	}
	if st.Uid == uid && st.Gid == gid {
		return true, nil
	}
	err := unix.Fchown(int(f.Fd()), int(uid), int(gid))
	if err == unix.EPERM || err == unix.EINVAL {
		// Not the superuser: the group alone can be kept where we are a member of it.
		_ = unix.Fchown(int(f.Fd()), -1, int(gid))
		return false, nil
	}
	return err == nil, err
}

func setMode(f *os.File, mode fs.FileMode) error {
	return unix.Fchmod(int(f.Fd()), rawMode(mode))
}

// readXAttrs returns what can be read; a file system without extended
// attributes has none.
func readXAttrs(f *os.File) map[string][]byte {
	fd := int(f.Fd())
	size, err := unix.Flistxattr(fd, nil)
	if err != nil || size == 0 {
		return nil
	}
	list := make([]byte, size)
	if size, err = unix.Flistxattr(fd, list); err != nil {
		return nil
	}
	found := map[string][]byte{}
	for name := range bytes.SplitSeq(list[:size], []byte{0}) {
		if len(name) == 0 {
			continue
		}
		n, err := unix.Fgetxattr(fd, string(name), nil)
		if err != nil {
			continue
		}
		value := make([]byte, n)
		if n, err = unix.Fgetxattr(fd, string(name), value); err == nil {
			found[string(name)] = value[:n]
		}
	}
	return found
}

// writeXAttrs sets them; those that take a privilege we lack, or that the file
// system does not know, are left out. Running out of room is an error.
func writeXAttrs(f *os.File, xattrs map[string][]byte) error {
	for name, value := range xattrs {
		err := unix.Fsetxattr(int(f.Fd()), name, value, 0)
		if isFull(err) {
			return err
		}
	}
	return nil
}

// setTimes keeps the modification time of a copy; failing to is no harm.
func setTimes(f *os.File, st *stat) {
	when := unix.NsecToTimespec(st.mtime)
	_ = unix.UtimesNanoAt(int(f.Fd()), "", []unix.Timespec{when, when}, unix.AT_EMPTY_PATH)
}
