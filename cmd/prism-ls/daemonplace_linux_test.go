package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Where a daemon can listen, and what happens where it cannot.
func TestDaemonPlaces(t *testing.T) {
	t.Parallel()
	secure := func(t *testing.T, dir string) {
		t.Helper()
		info, err := os.Lstat(dir)
		if err != nil || info.Mode() != os.ModeDir|0o700 {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
	}
	t.Run("no runtime directory", func(t *testing.T) {
		s := newServed(t)
		s.env = []string{"XDG_RUNTIME_DIR="}
		t.Cleanup(func() { endDaemons(s.state) })
		s.call("read", "path=a.txt")
		secure(t, filepath.Join(s.state, "run"))
		if found, err := filepath.Glob(filepath.Join(s.state, "run", "*.sock")); err != nil || len(found) != 1 {
			t.Errorf("%q, %v", found, err)
		}
		s.pid() // a client that has a runtime directory finds it there
	})
	t.Run("runtime directory that cannot be used", func(t *testing.T) {
		s := newServed(t)
		s.env = []string{"XDG_RUNTIME_DIR=/dev/null/none"}
		t.Cleanup(func() { endDaemons(s.state) })
		if out, stderr := s.call("read", "path=a.txt"); out != "one\n" || stderr != "" {
			t.Errorf("%q, %q", out, stderr)
		}
		secure(t, filepath.Join(s.state, "run"))
	})
	t.Run("directory of everybody, or elsewhere", func(t *testing.T) {
		for name, make := range map[string]func(dir string) error{
			"open":    func(dir string) error { return os.MkdirAll(dir, 0o755) },
			"symlink": func(dir string) error { return os.Symlink(t.TempDir(), dir) },
		} {
			s := newServed(t)
			runtime := t.TempDir()
			s.env = []string{"XDG_RUNTIME_DIR=" + runtime}
			dir := filepath.Join(runtime, "prism-ls")
			t.Cleanup(func() { endDaemons(s.state) })
			if err := make(dir); err != nil {
				t.Fatal(err)
			}
			s.call("read", "path=a.txt")
			if inside, err := os.ReadDir(dir); err != nil || len(inside) != 0 {
				t.Errorf("%s: it was used: %v, %v", name, inside, err)
			}
			secure(t, filepath.Join(s.state, "run"))
		}
	})
	t.Run("no place at all", func(t *testing.T) {
		s := newServed(t)
		s.env = []string{"XDG_RUNTIME_DIR=/dev/null/none"}
		s.state = "/dev/null/state"
		if out, stderr := s.call("read", "path=a.txt"); out != "one\n" || stderr != "" {
			t.Errorf("%q, %q", out, stderr)
		}
	})
	t.Run("state that cannot be written", func(t *testing.T) {
		s := newServed(t)
		s.state = "/dev/null/state"
		endAfter(t, s.root, s.state)
		if out, stderr := s.call("read", "path=a.txt"); out != "one\n" || stderr != "" {
			t.Errorf("%q, %q", out, stderr)
		}
		s.pid()
	})
	t.Run("directory that vanished", func(t *testing.T) {
		t.Parallel() // it is noticed after a while
		s := newServed(t)
		runtime := t.TempDir()
		s.env = []string{"XDG_RUNTIME_DIR=" + runtime}
		s.call("--profile", "trusted", "proc_start", `{"command":"sleep","args":["1000"]}`) // which nobody can reach any more
		if got := s.status(); got.Sessions != 1 {
			t.Errorf("%+v", got)
		}
		pid := s.pid()
		if err := os.RemoveAll(filepath.Join(runtime, "prism-ls")); err != nil {
			t.Fatal(err)
		}
		s.waitEnd(pid)
	})
}

// `serve` is the daemon in the foreground, and ends it.
func TestServe(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	foreground := s.command("serve")
	var stderr bytes.Buffer
	foreground.Stderr = &stderr
	if err := foreground.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- foreground.Wait() }()
	eventually(t, "it serves", func() bool { return s.status().PID == foreground.Process.Pid })
	if out, err := s.command("serve").CombinedOutput(); err == nil || !strings.Contains(string(out), "serves "+s.root+" already") {
		t.Errorf("a second one: %v, %s", err, out)
	}
	if out, err := s.command("serve", "--detach").CombinedOutput(); err != nil || !strings.Contains(string(out), strconv.Itoa(foreground.Process.Pid)) {
		t.Errorf("--detach: %v, %s", err, out)
	}
	out, err := s.command("doctor").CombinedOutput()
	if want := fmt.Sprintf("process %d", foreground.Process.Pid); err != nil || !strings.Contains(string(out), want) {
		t.Errorf("doctor: %v, %s", err, out)
	}
	if out, err := s.command("serve", "--stop").CombinedOutput(); err != nil || !strings.Contains(string(out), "ended") {
		t.Errorf("--stop: %v, %s", err, out)
	}
	if alive(foreground.Process.Pid) && len(exited) == 0 {
		select {
		case <-exited:
		case <-time.After(patience):
			t.Error("it still runs")
		}
	}
	if out, err := s.command("serve", "--stop").CombinedOutput(); err != nil || !strings.Contains(string(out), "no daemon") {
		t.Errorf("--stop of none: %v, %s", err, out)
	}
	if out, err := s.command("serve", "--detach").CombinedOutput(); err != nil || s.pid() == foreground.Process.Pid {
		t.Errorf("--detach: %v, %s", err, out)
	}
}
