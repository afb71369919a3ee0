package procsess

import "golang.org/x/sys/unix"

// olderCallOf knows the calls that newer architectures do without.
func olderCallOf(number int64) callKind {
	switch number {
	case unix.SYS_POLL:
		return pollCall
	case unix.SYS_SELECT:
		return selectCall
	case unix.SYS_EPOLL_WAIT:
		return epollCall
	}
	return otherCall
}
