package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// programs are what the test program is under other names.
func programs() map[string]func() {
	return map[string]func(){"prism-ls": main, "prism-liar": liar}
}

// supervised runs the tests with sockets in a directory of their own, and fails
// when a daemon is left at the end.
type supervised struct{ m *testing.M }

func (s supervised) Run() int {
	dir, err := os.MkdirTemp("", "prism-ls-run-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv("XDG_RUNTIME_DIR", dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := s.m.Run()
	for _, left := range endDaemons(dir) {
		fmt.Fprintln(os.Stderr, "a daemon was left:", left)
		code = 1
	}
	return code
}

// endDaemons ends every daemon that listens below a directory, waits for it, and
// returns what they said of themselves.
func endDaemons(dir string) []string {
	var ended []string
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSocket != 0 {
			if said, ok := endDaemon(path); ok {
				ended = append(ended, said)
			}
		}
		return nil // what vanishes meanwhile is nobody's
	})
	return ended
}

// endDaemon ends the daemon behind a socket.
func endDaemon(socket string) (said string, ok bool) {
	dir, err := os.Open(filepath.Dir(socket))
	if err != nil {
		return "", false
	}
	defer dir.Close()
	conn, err := net.Dial("unix", fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(socket))) // the path may be too long
	if err != nil {
		return "", false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience)) // a socket takes deadlines
	if _, err := conn.Write([]byte(`{"protocol":1,"kind":"stop"}` + "\n")); err != nil {
		return "", false
	}
	lines := bufio.NewReader(conn)
	said, err = lines.ReadString('\n')
	if err != nil {
		return "", false
	}
	_, _ = lines.ReadString('\n') // the end of its process
	return strings.TrimSpace(said), true
}

// endAfter ends the daemon of a workspace when the test is over.
func endAfter(t testing.TB, root, state string) {
	t.Helper()
	t.Cleanup(func() { stopWorkspace(t, root, state) })
}

// stopWorkspace ends the daemon of a workspace, if there is one.
func stopWorkspace(t testing.TB, root, state string) {
	t.Helper()
	a := &app{in: strings.NewReader(""), out: &strings.Builder{}, err: os.Stderr}
	a.flags.Root, a.flags.StateDir = root, state
	if err := a.stopDaemon(); err != nil {
		t.Errorf("the daemon of %s: %v", root, err)
	}
}
