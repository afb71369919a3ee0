package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/origin"
)

// peer is the process at the other end of a connection, as the kernel knows it.
type peer struct {
	pid int
	fd  int // pidfd_open(2)
}

// soPeerPidFD is SO_PEERPIDFD (unix(7), since Linux 6.5).
const soPeerPidFD = 77

// checkPeer returns the process that connected, or that listens, if it is this
// user's and confined as this one is. The caller closes it.
func checkPeer(conn *net.UnixConn) (*peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	p := &peer{fd: -1}
	var cred *unix.Ucred
	controlErr := raw.Control(func(fd uintptr) {
		if cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err != nil {
			return
		}
		p.pid = int(cred.Pid)
		if pidfd, optErr := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, soPeerPidFD); optErr == nil {
			p.fd = pidfd
		} else {
			p.fd, err = unix.PidfdOpen(p.pid, 0)
		}
	})
	if err = errors.Join(controlErr, err); err != nil {
		p.close()
		return nil, err
	}
	if err := p.check(int(cred.Uid)); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *peer) check(uid int) error {
	if uid != os.Getuid() {
		return errOtherUser
	}
	theirs, err := confinementOf(fmt.Sprint(p.pid))
	if err != nil {
		return err
	}
	ours, err := confinementOf("self")
	if err != nil {
		return err
	}
	if theirs != ours {
		return errConfined
	}
	return p.alive() // else what was read may be of another process with its number
}

// alive returns an error when the process has ended.
func (p *peer) alive() error {
	fds := []unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	switch {
	case err != nil:
		return os.NewSyscallError("poll", err)
	case n > 0:
		return errors.New("it has ended")
	}
	return nil
}

// notOurs returns an error if prism-ls started the process.
func (p *peer) notOurs() error {
	if err := origin.NotStarted(p.pid); err != nil {
		return err
	}
	return p.alive()
}

func (p *peer) close() {
	if p.fd >= 0 {
		_ = unix.Close(p.fd)
	}
}

// confinementOf says what a process may not do that others of its user may: its
// namespaces, capabilities, no_new_privs (without which nothing that is not root
// puts a Landlock domain or a filter on itself) and seccomp filters (proc(5)).
func confinementOf(pid string) (string, error) {
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for line := range bytes.Lines(status) {
		for _, name := range []string{"CapPrm:", "CapBnd:", "NoNewPrivs:", "Seccomp:", "Seccomp_filters:"} {
			if bytes.HasPrefix(line, []byte(name)) {
				text.Write(line)
			}
		}
	}
	for _, name := range []string{"ns/mnt", "ns/user", "ns/pid", "ns/net", "root"} {
		link, err := os.Readlink("/proc/" + pid + "/" + name)
		if err != nil {
			return "", err
		}
		text.WriteString(link + "\n")
	}
	return text.String(), nil
}

// watchHangup calls gone once when the other end is closed in both directions, or
// its process has ended. stop ends the watch and waits for it.
func watchHangup(conn *net.UnixConn, gone func()) (stop func(), err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var watched int
	controlErr := raw.Control(func(fd uintptr) {
		watched, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 3)
	})
	if err = errors.Join(controlErr, err); err != nil {
		return nil, err
	}
	var wakeup [2]int
	if err := unix.Pipe2(wakeup[:], unix.O_CLOEXEC); err != nil {
		_ = unix.Close(watched)
		return nil, os.NewSyscallError("pipe2", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer unix.Close(watched)
		fds := []unix.PollFd{{Fd: int32(watched)}, {Fd: int32(wakeup[0]), Events: unix.POLLIN}}
		for {
			_, err := unix.Poll(fds, -1)
			switch {
			case err == unix.EINTR:
				continue
			case err != nil || fds[1].Revents != 0:
				return
			case fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0:
				gone()
				return
			}
		}
	}()
	return func() {
		_ = unix.Close(wakeup[1])
		<-done
		_ = unix.Close(wakeup[0])
	}, nil
}
