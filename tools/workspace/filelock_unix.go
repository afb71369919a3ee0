//go:build unix

package workspace

import (
	"os"
	"syscall"
)

// tryLockFile takes an exclusive lock on file (flock(2)) that ends when the
// file is closed, which the end of the process does too.
func tryLockFile(file *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch err {
		case nil:
			return true, nil
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return false, nil
		default:
			return false, err
		}
	}
}
