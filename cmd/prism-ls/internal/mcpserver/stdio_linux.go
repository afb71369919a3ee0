package mcpserver

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// ClaimStdout takes standard output for the protocol: it returns a new
// descriptor for it and points descriptor 1 at standard error, so that a stray
// print of any code, Go or not, cannot break a frame.
func ClaimStdout() (*os.File, error) {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	if err := unix.Dup3(2, 1, 0); err != nil {
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("dup3", err)
	}
	return os.NewFile(uintptr(fd), "protocol"), nil
}

// WatchClosed calls gone once when nobody can read what is written to out any
// more (poll(2): POLLERR on a pipe, POLLHUP on a socket). stop ends the watch
// and waits for it.
func WatchClosed(out *os.File, gone func()) (stop func(), err error) {
	var wakeup [2]int
	if err := unix.Pipe2(wakeup[:], unix.O_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	fds := []unix.PollFd{{Fd: int32(out.Fd())}, {Fd: int32(wakeup[0]), Events: unix.POLLIN}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			_, err := unix.Poll(fds, -1)
			switch {
			case err == unix.EINTR:
				continue
			case err != nil || fds[1].Revents != 0:
				return
			case fds[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0:
				gone()
				return
			}
		}
	}()
	var once sync.Once
	return func() {
		once.Do(func() {
			_ = unix.Close(wakeup[1]) // the poll sees POLLHUP on the other end
			<-done
			_ = unix.Close(wakeup[0])
		})
	}, nil
}
