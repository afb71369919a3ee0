package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
)

// place is where a daemon listens: a checked directory, and a name in it. Its
// files are reached through the open directory, which nobody can put another in
// the place of, and whose path may be longer than a socket's (unix(7): 108 bytes).
type place struct {
	dir  *os.File
	path string
	name string
}

// socketName is a hash of what makes a daemon another one.
func socketName(cfg *config.Config) (string, error) {
	confinement, err := confinementOf("self")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(cfg.Root + "\x00" + cfg.StateDir + "\x00" + confinement))
	return hex.EncodeToString(sum[:8]), nil
}

// openPlace opens one of the directories of a configuration. With create it is
// made if it is missing, but not its parent's parents.
func openPlace(dir, name string, create bool) (*place, error) {
	if create {
		if err := makeDir(dir); err != nil {
			return nil, err
		}
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		if _, there := os.Lstat(dir); there == nil {
			return nil, fmt.Errorf("%s: %w", dir, errUnsafe)
		}
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	p := &place{dir: os.NewFile(uintptr(fd), dir), path: filepath.Join(dir, name+".sock"), name: name}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		p.close()
		return nil, os.NewSyscallError("fstat", err)
	}
	if int(stat.Uid) != os.Getuid() || stat.Mode&0o077 != 0 {
		p.close()
		return nil, fmt.Errorf("%s: %w", dir, errUnsafe)
	}
	if create { // tried out: a sandbox's refusal does not show in access(2)
		lock, err := p.lockFile()
		if err != nil {
			p.close()
			return nil, err
		}
		_ = lock.Close() // nothing was written
	}
	return p, nil
}

// makeDir makes the directory, and the state directory that it may stand in.
func makeDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err == nil || errors.Is(err, os.ErrExist) {
		return nil
	}
	return os.MkdirAll(dir, 0o700)
}

// choose opens the first directory that can be used to listen in.
func choose(cfg *config.Config) (*place, error) {
	name, err := socketName(cfg)
	if err != nil {
		return nil, err
	}
	failures := []error{errors.New("there is neither XDG_RUNTIME_DIR nor a state directory for its socket")}
	for i, dir := range cfg.SocketDirs() {
		p, err := openPlace(dir, name, true)
		if err == nil {
			return p, nil
		}
		if i == 0 {
			failures = nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

// everywhere opens the directories in which a daemon may listen already. One that
// is not this user's alone is passed over: whatever listens there is nobody's.
func everywhere(cfg *config.Config) ([]*place, error) {
	name, err := socketName(cfg)
	if err != nil {
		return nil, err
	}
	var places []*place
	for _, dir := range cfg.SocketDirs() {
		if p, err := openPlace(dir, name, false); err == nil {
			places = append(places, p)
		}
	}
	return places, nil
}

func (p *place) close() { _ = p.dir.Close() }

// at is a path of a file of the directory.
func (p *place) at(suffix string) string {
	return fmt.Sprintf("/proc/self/fd/%d/%s%s", p.dir.Fd(), p.name, suffix)
}

func (p *place) dial(ctx context.Context) (*net.UnixConn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", p.at(".sock"))
	if err != nil {
		return nil, err
	}
	return conn.(*net.UnixConn), nil
}

// lockFile opens the file whose lock makes a daemon the only one of its name.
func (p *place) lockFile() (*os.File, error) {
	return os.OpenFile(p.at(".lock"), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
}

// listen takes the place of a socket that nobody listens on; the caller has the
// lock.
func (p *place) listen() (*net.UnixListener, error) {
	if err := os.Remove(p.at(".sock")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.at(".sock"), Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false)
	return listener, os.Chmod(p.at(".sock"), 0o600)
}

// socket identifies the file that is listened on, nil when it is gone.
func (p *place) socket() os.FileInfo {
	info, err := os.Lstat(p.at(".sock"))
	if err != nil {
		return nil
	}
	return info
}

// removed reports whether the directory is no more.
func (p *place) removed() bool {
	var stat unix.Stat_t
	return unix.Fstat(int(p.dir.Fd()), &stat) == nil && stat.Nlink == 0
}

func (p *place) removeSocket() error { return os.Remove(p.at(".sock")) }
