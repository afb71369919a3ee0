package procsess

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/prism-ls/prism-ls/tools/child"
)

// testPath is where programs are that every user may run.
const testPath = "PATH=/usr/local/bin:/usr/bin:/bin"

// console is a program on a terminal of its own, seen by what is tested here and
// nothing else of a session.
type console struct {
	t       testing.TB
	master  *os.File
	process *child.Process
	written atomic.Int64 // when, in Unix nanoseconds
	typed   atomic.Int64

	mu   sync.Mutex
	text strings.Builder
}

// newTerminal opens a terminal whose master knows deadlines.
func newTerminal(t testing.TB) (master, slave *os.File) {
	t.Helper()
	blocking, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer blocking.Close()
	if err := pty.Setsize(slave, &pty.Winsize{Cols: 120, Rows: 40}); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Dup(int(blocking.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	syscall.CloseOnExec(fd)
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	master = os.NewFile(uintptr(fd), "master")
	t.Cleanup(func() { master.Close(); slave.Close() })
	return master, slave
}

// newTestOwner owns the processes of one test.
func newTestOwner(t testing.TB) *child.Owner {
	t.Helper()
	owner := child.NewOwner(nil)
	t.Cleanup(func() { owner.Close() })
	return owner
}

// startConsole runs a program until the test ends.
func startConsole(t *testing.T, owner *child.Owner, name string, args ...string) *console {
	t.Helper()
	return startConsoleIn(t, owner, t.TempDir(), append([]string{name}, args...))
}

func startConsoleIn(t testing.TB, owner *child.Owner, dir string, argv []string) *console {
	t.Helper()
	path, err := child.LookPath(argv[0], []string{testPath})
	if err != nil {
		missing(t, argv[0])
	}
	master, slave := newTerminal(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	process, err := owner.Start(ctx, child.Command{
		Path: path, Args: argv[1:], Dir: dir, TTY: true, Stdin: slave, Stdout: slave, Stderr: slave,
		Env: []string{testPath, "TERM=xterm-256color", "HOME=" + dir, "LANG=C.UTF-8", "npm_config_update_notifier=false"},
	})
	if err != nil {
		t.Fatal(err)
	}
	slave.Close()
	c := &console{t: t, master: master, process: process}
	c.written.Store(time.Now().UnixNano())
	drained := make(chan struct{})
	go func() { defer close(drained); c.drain() }()
	t.Cleanup(func() {
		if _, err := process.Kill(0); err != nil {
			t.Error(err)
		}
		master.Close()
		<-drained
	})
	return c
}

func (c *console) drain() {
	buffer := make([]byte, 64<<10)
	for {
		n, err := c.master.Read(buffer)
		c.mu.Lock()
		c.text.Write(buffer[:n])
		c.mu.Unlock()
		c.written.Store(time.Now().UnixNano())
		if err != nil {
			return
		}
	}
}

func (c *console) output() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

func (c *console) write(text string) {
	c.t.Helper()
	_ = c.master.SetWriteDeadline(time.Now().Add(10 * time.Second))
	c.typed.Store(time.Now().UnixNano())
	if _, err := c.master.WriteString(text); err != nil {
		c.t.Fatal(err)
	}
	c.typed.Store(time.Now().UnixNano())
}

// shows waits until the program has written text.
func (c *console) shows(text string) {
	c.t.Helper()
	c.until(func() bool { return strings.Contains(c.output(), text) }, "output with "+text)
}

// until waits for something to become true.
func (c *console) until(is func() bool, what string) {
	c.t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("no %s after 30 s; written was %.2000q", what, c.output())
		}
	}
}

// missing ends a test whose component is not on this machine.
func missing(t testing.TB, name string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed (testdata/servers/install.sh)", name)
	}
	t.Skipf("%s is not installed (testdata/servers/install.sh)", name)
}

// openToAll lets every user reach a directory of this test's.
func openToAll(t *testing.T, dir string) {
	t.Helper()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for dir = filepath.Dir(dir); dir != os.TempDir() && strings.HasPrefix(dir, os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
