package workspace

import (
	"errors"
	"os"
	"syscall"
)

// syncDir flushes a directory. A file system that has nothing to flush there
// says EINVAL (fsync(2)).
func syncDir(file *os.File) error {
	if err := file.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// unsupported reports whether a rename or link failed because this file system
// or kernel does not have it, rather than because of the files.
func unsupported(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EOPNOTSUPP) ||
		errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EMLINK)
}
