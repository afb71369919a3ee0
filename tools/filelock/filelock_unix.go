//go:build unix

package filelock

import (
	"os"

	"golang.org/x/sys/unix"
)

// try uses flock(2): unlike POSIX record locks, it excludes other open files of
// the same process, and closing an unrelated one does not drop it.
func try(file *os.File) (bool, error) {
	for {
		switch err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
		case nil:
			return true, nil
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return false, nil
		default:
			return false, err
		}
	}
}

func release(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_UN) }
