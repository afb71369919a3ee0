package workspace

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// pathLocks are all the locks between processes, as single bytes of one empty
// file: an open file description lock (fcntl(2)) needs no byte to exist, so
// the file never grows, and the kernel drops the locks of a process that ends.
type pathLocks struct{ file *os.File }

func openPathLocks(path string) (*pathLocks, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &pathLocks{file: file}, nil
}

func (l *pathLocks) close() { l.file.Close() }

// stale reports whether the file was removed, so that others lock another one.
func (l *pathLocks) stale() bool {
	var st unix.Stat_t
	return unix.Fstat(int(l.file.Fd()), &st) != nil || st.Nlink == 0
}

// lock waits for a key of up to 61 bits. Every key is two bytes: a waiter holds
// the gate while it waits for the lock, so that a busy process which lets go
// and asks again at once finds itself behind it.
func (l *pathLocks) lock(ctx context.Context, key uint64) (release func(), err error) {
	at := int64(key) << 1
	if err := poll(ctx, func() (bool, error) { return l.try(at + 1) }); err != nil {
		return nil, err
	}
	err = poll(ctx, func() (bool, error) { return l.try(at) })
	l.unlock(at + 1)
	if err != nil {
		return nil, err
	}
	return func() { l.unlock(at) }, nil
}

func (l *pathLocks) try(at int64) (bool, error) {
	err := l.set(unix.F_WRLCK, at)
	if err == unix.EAGAIN || err == unix.EACCES {
		return false, nil
	}
	return err == nil, err
}

func (l *pathLocks) unlock(at int64) { _ = l.set(unix.F_UNLCK, at) }

func (l *pathLocks) set(kind int16, at int64) error {
	lock := unix.Flock_t{Type: kind, Start: at, Len: 1}
	return retry(func() error { return unix.FcntlFlock(l.file.Fd(), unix.F_OFD_SETLK, &lock) })
}
