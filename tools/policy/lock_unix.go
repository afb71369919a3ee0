//go:build unix

package policy

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile waits for the whole-file lock that writers of the log share out.
func lockFile(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != unix.EINTR {
			return err
		}
	}
}

func unlockFile(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }
