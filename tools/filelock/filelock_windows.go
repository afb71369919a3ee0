package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// place is one byte far behind any content, because locks are mandatory on
// Windows and the content has to stay readable.
func place() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }

func try(file *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, place())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func release(file *os.File) error {
	return windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, place())
}
