package procsess

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools"
)

// bootID names this run of the machine (random(4)). Numbers of processes and their
// start times mean nothing in another.
func bootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", tools.Errorf(tools.CodeRecoveryUnsupported, "the kernel does not say which run of the machine this is: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}

// processAt looks at a process; Started is 0 if there is none.
func processAt(pid int) processRef {
	ref := processRef{PID: pid}
	var buffer [1024]byte
	data, err := readProc("/proc/"+strconv.Itoa(pid)+"/stat", buffer[:])
	if err != nil {
		return ref
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	const started = 19
	if len(fields) > started {
		ref.Started, _ = strconv.ParseUint(string(fields[started]), 10, 64)
	}
	return ref
}

// newMark makes a session's secret.
func newMark() string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // it ends the program rather than fail
	return hex.EncodeToString(random[:])
}

// hashOf is what may be written down of a mark, or of arguments.
func hashOf(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// socketName is short whatever a session is called.
func socketName(session string) string { return hashOf("socket", session)[:24] + ".sock" }

// socketDir is an open directory of sockets. They are reached through its descriptor
// in /proc/self/fd, so that the address is short however long the directory's path
// (unix(7): at most 107 bytes), and in the directory that was looked at.
type socketDir struct{ fd int }

// openSocketDir opens the directory, which must be this user's alone; with create
// it is made so.
func openSocketDir(path string, create bool) (*socketDir, error) {
	unfit := func(err error) error {
		return tools.Errorf(tools.CodeStateUnavailable, "the directory of durable sessions cannot be used: %w", err)
	}
	if create {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, unfit(err)
		}
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, unfit(&os.PathError{Op: "open", Path: path, Err: err})
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		unix.Close(fd)
		return nil, unfit(err)
	}
	if int(stat.Uid) != os.Geteuid() || stat.Mode&0o077 != 0 {
		unix.Close(fd)
		return nil, tools.Errorf(tools.CodeStateUnavailable, "%s must belong to this user alone (mode 0700), it is of user %d and mode %04o", path, stat.Uid, stat.Mode&0o7777)
	}
	return &socketDir{fd: fd}, nil
}

func (d *socketDir) address(name string) string {
	return "/proc/self/fd/" + strconv.Itoa(d.fd) + "/" + name
}

func (d *socketDir) remove(name string) error {
	return unix.Unlinkat(d.fd, name, 0)
}

func (d *socketDir) close() { unix.Close(d.fd) }

// checkPeer refuses another user at the other end, and returns that end's number: of
// a connected socket the process that connected, or listened (unix(7), SO_PEERCRED).
func checkPeer(fd int) (pid int, err error) {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, tools.Errorf(tools.CodeRecoveryUntrusted, "who is at the other end of the socket is not known: %w", err)
	}
	if int(peer.Uid) != os.Geteuid() {
		return 0, tools.Errorf(tools.CodeRecoveryUntrusted, "the other end of the socket is user %d, must be %d", peer.Uid, os.Geteuid())
	}
	return int(peer.Pid), nil
}
