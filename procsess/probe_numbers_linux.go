//go:build amd64 || arm64

package procsess

import "golang.org/x/sys/unix"

// callOf is the kind of a system call by its number.
func callOf(number int64) callKind {
	switch number {
	case unix.SYS_READ, unix.SYS_READV, unix.SYS_SPLICE:
		return readCall
	case unix.SYS_SENDFILE:
		return sendCall
	case unix.SYS_PPOLL:
		return pollCall
	case unix.SYS_PSELECT6:
		return selectCall
	case unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2:
		return epollCall
	case unix.SYS_ACCEPT, unix.SYS_ACCEPT4:
		return acceptCall
	case unix.SYS_IO_URING_ENTER:
		return ringCall
	case unix.SYS_RESTART_SYSCALL:
		return restartCall
	}
	return olderCallOf(number)
}
