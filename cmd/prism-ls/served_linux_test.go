package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/daemon"
)

// served is a workspace whose daemon a test looks at.
type served struct {
	t           *testing.T
	program     string
	root, state string
	env         []string // beside the test's own
}

func newServed(t *testing.T) *served {
	t.Helper()
	s := &served{t: t, program: "prism-ls", root: t.TempDir(), state: t.TempDir()}
	s.put("a.txt", "one\n")
	endAfter(t, s.root, s.state)
	return s
}

func (s *served) put(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.root, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *served) command(verb string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), s.program, append([]string{verb, "--root", s.root, "--state-dir", s.state}, args...)...)
	cmd.Env = append(os.Environ(), s.env...)
	return cmd
}

// call makes a call that must end well, and returns what it printed.
func (s *served) call(args ...string) (out, stderr string) {
	s.t.Helper()
	cmd := s.command("call", args...)
	var text, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &errors
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("%v: %v: %s%s", args, err, text.String(), errors.String())
	}
	return text.String(), errors.String()
}

// dialer reaches the daemon as a client of this test.
func (s *served) dialer(environ ...string) *daemon.Dialer {
	s.t.Helper()
	system := config.ReadSystem()
	for _, entry := range append(s.env, environ...) {
		if dir, ok := strings.CutPrefix(entry, "XDG_RUNTIME_DIR="); ok {
			system.RuntimeHome = dir
		}
	}
	cfg, err := config.Load(system, config.Flags{Root: s.root, StateDir: s.state})
	if err != nil {
		s.t.Fatal(err)
	}
	return &daemon.Dialer{Config: cfg, Build: build()}
}

// status is what the daemon says of itself; a PID of 0 is none.
func (s *served) status() daemon.Status {
	s.t.Helper()
	status, _, err := s.dialer().Find(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return status
}

// pid is the process of the daemon, which must be there.
func (s *served) pid() int {
	s.t.Helper()
	pid := s.status().PID
	if pid == 0 {
		s.t.Fatal("there is no daemon")
	}
	return pid
}

// waitEnd waits until a process has ended.
func (s *served) waitEnd(pid int) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("process %d ends", pid), func() bool { return !alive(pid) })
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

func eventually(t *testing.T, what string, reached func() bool) {
	t.Helper()
	(&server{t: t, stderr: &bytes.Buffer{}}).eventually(what, reached)
}

// agent is an MCP client of the workspace.
func (s *served) agent(flags ...string) *server {
	s.t.Helper()
	a := startAs(s.t, s.program, s.root, s.state, flags...)
	a.initialize()
	return a
}
