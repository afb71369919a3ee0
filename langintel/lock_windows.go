package langintel

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"

	"github.com/prism-ls/prism-ls/tools"
)

// lockFile takes a lock that ends with the process, and waits for it until ctx
// ends.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, tools.AsError(err)
	}
	for {
		flags := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY)
		err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
			_ = file.Close()
			return nil, tools.AsError(err)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			_ = file.Close()
			return nil, tools.AsError(ctx.Err())
		}
	}
}
