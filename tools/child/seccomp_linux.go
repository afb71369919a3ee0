//go:build amd64 || arm64

package child

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data (seccomp(2)), low words on little endian.
const (
	dataNumber = 0
	dataArch   = 4
	dataArg0   = 16
	dataArg2   = 32
)

const (
	retAllow  = unix.SECCOMP_RET_ALLOW
	retDenied = unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
	retAbsent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// closeNetwork leaves the calling thread, and what it starts, local sockets
// that connect to nothing: pairs, and what needs only the kernel (interface
// lists over netlink). connect(2) goes altogether: a filter cannot read the
// address, and a local socket can lead to a service that acts for the caller.
// io_uring goes because its operations pass no filter; programs fall back.
func closeNetwork() error {
	filter := networkFilter()
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER,
		uintptr(unsafe.Pointer(&program)), 0, 0, 0)
	runtime.KeepAlive(filter)
	return errnoOrNil(errno)
}

func networkFilter() []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	give := func(result uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: result}
	}
	// unless skips n instructions when the loaded value is not k.
	unless := func(k uint32, n uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: n}
	}
	below := func(k uint32, n uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: k, Jf: n}
	}
	return []unix.SockFilter{
		// Another calling convention has other numbers: none of it.
		load(dataArch),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: auditArch, Jt: 1},
		give(retAbsent),
		load(dataNumber),
		below(foreignNumbers, 1),
		give(retAbsent),
		unless(unix.SYS_IO_URING_SETUP, 1),
		give(retAbsent),
		unless(unix.SYS_CONNECT, 1),
		give(retDenied),
		unless(unix.SYS_SOCKET, 7),
		load(dataArg0),
		unless(unix.AF_UNIX, 1),
		give(retAllow),
		unless(unix.AF_NETLINK, 2),
		load(dataArg2),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.NETLINK_ROUTE, Jt: 1},
		give(retDenied),
		give(retAllow),
	}
}
