package procsess

import (
	"bufio"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// listeningPorts returns the TCP ports, over IPv4 and IPv6, that these processes
// themselves listen on, each in its own network namespace: sorted, each once. What
// is not readable counts as none.
func listeningPorts(pids []int) []int {
	// By network namespace: which sockets are open, and one process to ask through.
	type namespace struct {
		pid     int
		sockets map[uint64]bool
	}
	spaces := map[string]*namespace{}
	for _, pid := range pids {
		sockets := socketsOf(pid)
		if len(sockets) == 0 {
			continue
		}
		name, err := os.Readlink(procPath(pid, "ns/net"))
		if err != nil {
			continue
		}
		space := spaces[name]
		if space == nil {
			space = &namespace{pid: pid, sockets: map[uint64]bool{}}
			spaces[name] = space
		}
		for _, inode := range sockets {
			space.sockets[inode] = true
		}
	}
	own, _ := os.Readlink("/proc/thread-self/ns/net")
	var ports []int
	for name, space := range spaces {
		listeners, err := []listener(nil), errors.ErrUnsupported
		if name == own {
			listeners, err = askListeners()
		}
		if err != nil {
			listeners = readListeners(space.pid)
		}
		for _, l := range listeners {
			if space.sockets[l.inode] {
				ports = append(ports, l.port)
			}
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// procPath is a file of a process in proc(5).
func procPath(pid int, name string) string {
	return "/proc/" + strconv.Itoa(pid) + "/" + name
}

// socketsOf returns the inodes of a process's open sockets (proc_pid_fd(5)).
func socketsOf(pid int) (inodes []uint64) {
	target := make([]byte, 64)
	_ = eachDescriptor(pid, func(dir int, name string) bool {
		n, err := unix.Readlinkat(dir, name, target)
		if err != nil {
			return true
		}
		number, ok := strings.CutPrefix(string(target[:n]), "socket:[")
		if !ok {
			return true
		}
		if inode, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 64); err == nil {
			inodes = append(inodes, inode)
		}
		return true
	})
	return inodes
}

// eachDescriptor calls do for the open descriptors of a process, as names in the
// directory that holds them, until it returns false.
func eachDescriptor(pid int, do func(dir int, name string) bool) error {
	return eachEntry(procPath(pid, "fd"), do)
}

// eachEntry calls do for the entries of a directory of proc(5) until it returns
// false. Many are read in a row, and package os would take three times as long.
func eachEntry(path string, do func(dir int, name string) bool) error {
	dir, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	buffer := make([]byte, 4<<10)
	for {
		n, err := unix.ReadDirent(dir, buffer)
		if err != nil || n == 0 {
			return err
		}
		_, _, names := unix.ParseDirent(buffer[:n], -1, nil)
		for _, name := range names {
			if !do(dir, name) {
				return nil
			}
		}
	}
}

// listener is a socket that listens.
type listener struct {
	inode uint64
	port  int
}

// tcpListen is the state in which a socket listens (TCP_LISTEN, tcp_states.h).
const tcpListen = 10

// diagID and the two below are sock_diag(7)'s.
type diagID struct {
	sourcePort, destinationPort [2]byte // in network order
	source, destination         [4]uint32
	device                      uint32
	cookie                      [2]uint32
}

type diagRequest struct {
	header                     unix.NlMsghdr
	family, protocol, ext, pad uint8
	states                     uint32
	id                         diagID
}

type diagAnswer struct {
	family, state, timer, retrans uint8
	id                            diagID
	expires, received, sent       uint32
	uid, inode                    uint32
}

// sockDiagByFamily is SOCK_DIAG_BY_FAMILY.
const sockDiagByFamily = 20

// askListeners asks the kernel for the listening sockets of this network namespace
// only. /proc/net/tcp costs a walk over the table of all connections, more than a
// millisecond on a large machine even while it is empty.
func askListeners() ([]listener, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	limit := unix.NsecToTimeval(int64(time.Second))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return nil, err
	}
	var all []listener
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		request := diagRequest{family: family, protocol: unix.IPPROTO_TCP, states: 1 << tcpListen}
		size := unsafe.Sizeof(request)
		request.header = unix.NlMsghdr{Len: uint32(size), Type: sockDiagByFamily, Flags: unix.NLM_F_REQUEST | unix.NLM_F_DUMP}
		bytes := unsafe.Slice((*byte)(unsafe.Pointer(&request)), size)
		if err := unix.Sendto(fd, bytes, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
			return nil, err
		}
		found, err := diagAnswers(fd)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// diagAnswers reads the answers to one request.
func diagAnswers(fd int) (found []listener, err error) {
	buffer := make([]byte, 32<<10) // what the kernel sends at most in one piece
	for {
		n, _, err := unix.Recvfrom(fd, buffer, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		messages, err := syscall.ParseNetlinkMessage(buffer[:n])
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			switch m.Header.Type {
			case unix.NLMSG_DONE:
				return found, nil
			case unix.NLMSG_ERROR:
				return nil, errors.ErrUnsupported
			}
			if len(m.Data) < int(unsafe.Sizeof(diagAnswer{})) {
				return nil, errors.ErrUnsupported
			}
			answer := (*diagAnswer)(unsafe.Pointer(&m.Data[0]))
			port := binary.BigEndian.Uint16(answer.id.sourcePort[:])
			found = append(found, listener{inode: uint64(answer.inode), port: int(port)})
		}
	}
}

// readListeners reads them from /proc/PID/net/tcp and tcp6 (proc_pid_net(5)), for
// another network namespace, or where the kernel does not answer.
func readListeners(pid int) (found []listener) {
	for _, name := range []string{"net/tcp", "net/tcp6"} {
		file, err := os.Open(procPath(pid, name))
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			const local, state, inode = 1, 3, 9
			fields := strings.Fields(lines.Text())
			if len(fields) <= inode || fields[state] != "0A" {
				continue
			}
			_, hex, _ := strings.Cut(fields[local], ":")
			port, err := strconv.ParseUint(hex, 16, 16)
			number, err2 := strconv.ParseUint(fields[inode], 10, 64)
			if err == nil && err2 == nil {
				found = append(found, listener{inode: number, port: int(port)})
			}
		}
		file.Close()
	}
	return found
}
