package child

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// probeLimit bounds one probe.
const probeLimit = 10 * time.Second

// Probe tells what a sandbox without network would truly hold here: a program
// of ours is confined and tries what is forbidden. A claim is made only for
// what was refused, while the same was possible outside or must be. The answer
// is kept; an error is not.
func (o *Owner) Probe(ctx context.Context) (Capabilities, error) {
	o.probing.Lock()
	defer o.probing.Unlock()
	if o.probed != nil {
		return *o.probed, nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	targets, err := newProbeTargets()
	if err != nil {
		return Capabilities{}, err
	}
	defer targets.close()
	refused, err := o.attempt(ctx, targets)
	if err != nil {
		return Capabilities{}, fmt.Errorf("child: probing the sandbox: %w", err)
	}
	found := capabilities(refused)
	o.probed = &found
	return found, nil
}

// capabilities draws the conclusions from what was refused.
func capabilities(refused map[string]bool) Capabilities {
	all := func(names ...string) bool {
		for _, name := range names {
			if !refused[name] {
				return false
			}
		}
		return true
	}
	c := Capabilities{
		// Only a program that could do its work proves anything by its failures.
		WorkspaceCoherent:  refused[tryWork],
		FilesystemIsolated: all(tryWork, tryCreate, tryTruncate, tryRemove, tryRename, tryDevice),
		NetworkIsolated:    all(tryWork, tryTCP, tryTCP6, tryUDP, tryRaw, tryLocal, tryAbstract, tryRing),
		ProcessIsolated:    all(tryWork, trySignal, tryTrace),
		PrivilegeIsolated:  all(tryWork, tryPrivileges, tryMount, tryHostName),
	}
	c.EgressRestricted = c.NetworkIsolated
	return c
}

// sandbox fills in what a sandbox asks for and returns what it will hold.
func (o *Owner) sandbox(ctx context.Context, want *Sandbox, s *spec) (Capabilities, error) {
	mode := want.mode()
	if mode == Off {
		return Capabilities{}, nil
	}
	granted, err := o.Probe(ctx)
	if err != nil {
		return Capabilities{}, err
	}
	if mode == Require && !granted.FilesystemIsolated {
		return Capabilities{}, fmt.Errorf("%w: this system does not confine writes (Landlock)", ErrSandbox)
	}
	if mode == Require && !want.AllowNetwork && !granted.NetworkIsolated {
		return Capabilities{}, fmt.Errorf("%w: this system does not close the network (seccomp)", ErrSandbox)
	}
	if !granted.FilesystemIsolated {
		return Capabilities{}, nil // Prefer: nothing is better than half of it
	}
	s.confine = true
	s.writeRoots = want.WriteRoots
	s.network = want.AllowNetwork || !granted.NetworkIsolated
	if s.network {
		granted.NetworkIsolated, granted.EgressRestricted = false, false
	}
	return granted, nil
}

// attempt runs the probe and returns the names of what it was refused.
func (o *Owner) attempt(ctx context.Context, targets *probeTargets) (map[string]bool, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	defer writer.Close()
	var args []string
	if len(o.options.Helper) > 0 {
		args = slices.Clone(o.options.Helper[1:])
	}
	args = append(args, targets.inside, targets.outside, targets.abstract.Addr().String())
	// The reaper that starts it is the helper itself.
	const path = "/proc/self/exe"
	process, err := o.start(ctx, &Command{Path: path, Stdout: writer}, &spec{
		path: path, args: append(args, roleFlag+roleProbe), env: helperEnv(),
		confine: true, writeRoots: []string{targets.inside},
	}, Capabilities{})
	writer.Close()
	if err != nil {
		if ctx.Err() == nil && o.usable() {
			o.options.Logger.Info("no sandbox", "error", err)
			return nil, nil // it cannot even be set up: an answer, not a failure
		}
		return nil, err
	}
	if _, err := process.Wait(ctx); err != nil {
		_, _ = process.Kill(0)
		return nil, err
	}
	if _, err := process.Release(); err != nil {
		return nil, err
	}
	_ = reader.SetReadDeadline(time.Now().Add(probeLimit))
	buffer := make([]byte, 4096) // a line of names; it is all in the pipe
	n, err := reader.Read(buffer)
	if err != nil {
		return nil, err
	}
	refused := map[string]bool{}
	for name := range strings.FieldsSeq(string(buffer[:n])) {
		refused[name] = true
	}
	return refused, nil
}

// usable reports whether the owner can start programs at all.
func (o *Owner) usable() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.closed && (o.options.Solo || o.guardian != nil && isClosed(o.guardian.ready))
}

// probeTargets are what a probe tries to reach.
type probeTargets struct {
	dir, inside, outside string
	local, abstract      net.Listener
}

func newProbeTargets() (*probeTargets, error) {
	dir, err := os.MkdirTemp("", "prism-probe-")
	if err != nil {
		return nil, err
	}
	t := &probeTargets{dir: dir, inside: filepath.Join(dir, "inside"), outside: filepath.Join(dir, "outside")}
	err = os.Mkdir(t.inside, 0o700)
	if err == nil {
		err = os.Mkdir(t.outside, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(t.outside, "file"), []byte("content"), 0o600)
	}
	if err == nil {
		t.local, err = net.Listen("unix", filepath.Join(t.outside, "socket"))
	}
	if err == nil {
		t.abstract, err = net.Listen("unix", "@"+filepath.Base(dir))
	}
	if err != nil {
		t.close()
		return nil, fmt.Errorf("child: preparing the sandbox probe: %w", err)
	}
	return t, nil
}

func (t *probeTargets) close() {
	for _, listener := range []net.Listener{t.local, t.abstract} {
		if listener != nil {
			listener.Close()
		}
	}
	os.RemoveAll(t.dir)
}

// Names of attempts, as the probe prints those that were refused; tryWork is
// printed when what is allowed worked.
const (
	tryWork       = "work"
	tryCreate     = "create"
	tryTruncate   = "truncate"
	tryRemove     = "remove"
	tryRename     = "rename"
	tryDevice     = "device"
	tryTCP        = "tcp"
	tryTCP6       = "tcp6"
	tryUDP        = "udp"
	tryRaw        = "raw"
	tryLocal      = "local"
	tryAbstract   = "abstract"
	tryRing       = "ring"
	trySignal     = "signal"
	tryTrace      = "trace"
	tryPrivileges = "privileges"
	tryMount      = "mount"
	tryHostName   = "hostname"
)

// runProbe is the probe's role.
func runProbe(args []string) int {
	if len(args) < 4 {
		return exitMisused
	}
	given := args[len(args)-4:]
	inside, outside, abstract := given[0], given[1], given[2]
	var names []string
	if os.WriteFile(filepath.Join(inside, "file"), []byte("x"), 0o600) == nil &&
		os.Rename(filepath.Join(inside, "file"), filepath.Join(inside, "other")) == nil {
		names = append(names, tryWork)
	}
	for name, try := range attempts(inside, outside, abstract) {
		if refusedBy(try()) {
			names = append(names, name)
		}
	}
	fmt.Println(strings.Join(names, " "))
	return 0
}

// refusedBy tells a refusal from success and from other failures.
func refusedBy(err error) bool {
	for _, refusal := range []error{unix.EACCES, unix.EPERM, unix.ENOSYS, unix.EXDEV} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

func attempts(inside, outside, abstract string) map[string]func() error {
	file := filepath.Join(outside, "file")
	return map[string]func() error{
		tryCreate:   func() error { return os.WriteFile(filepath.Join(outside, "new"), nil, 0o600) },
		tryTruncate: func() error { return os.Truncate(file, 0) },
		tryRemove:   func() error { return os.Remove(file) },
		tryRename:   func() error { return os.Rename(file, filepath.Join(inside, "moved")) },
		tryDevice: func() error {
			return unix.Mknod(filepath.Join(inside, "device"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3)))
		},
		tryTCP:  func() error { return openSocket(unix.AF_INET, unix.SOCK_STREAM) },
		tryTCP6: func() error { return openSocket(unix.AF_INET6, unix.SOCK_STREAM) },
		tryUDP:  func() error { return openSocket(unix.AF_INET, unix.SOCK_DGRAM) },
		tryRaw:  func() error { return openSocket(unix.AF_PACKET, unix.SOCK_RAW) },
		tryLocal: func() error {
			return connectLocal(filepath.Join(outside, "socket"))
		},
		tryAbstract: func() error { return connectLocal(abstract) },
		tryRing: func() error {
			// Its parameters would be refused with EFAULT if it got that far.
			_, _, errno := unix.RawSyscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
			return errnoOrNil(errno)
		},
		trySignal: func() error { return unix.Kill(os.Getppid(), 0) },
		tryTrace: func() error {
			_, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid()))
			return err
		},
		tryPrivileges: func() error {
			set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
			if err != nil || set != 1 {
				return err
			}
			return unix.EPERM
		},
		tryMount: func() error {
			err := unix.Mount("none", inside, "tmpfs", 0, "")
			if err == nil {
				_ = unix.Unmount(inside, unix.MNT_DETACH)
			}
			return err
		},
		tryHostName: func() error {
			var names unix.Utsname
			if err := unix.Uname(&names); err != nil {
				return err
			}
			return unix.Sethostname([]byte(unix.ByteSliceToString(names.Nodename[:])))
		},
	}
}

func openSocket(family, kind int) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func connectLocal(name string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrUnix{Name: name})
}
