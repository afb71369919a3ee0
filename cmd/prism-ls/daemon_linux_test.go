package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A call says the same with a daemon and without, and the second finds the daemon
// of the first.
func TestDaemonServesCalls(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	s.put("latin1.txt", "caf\xe9\n")
	for _, args := range [][]string{
		{"--json", "read", "path=a.txt"},
		{"read", "path=a.txt", "lineNumbers=true"},
		{"--json", "repo_search", `{"query":"one"}`},
		{"read", "path=latin1.txt"},
		{"--json", "--profile", "trusted", "shell", `command=printf 'a<b>&\351\n'`},
	} {
		warm, _ := s.call(args...)
		alone, _ := s.call(append([]string{"--no-daemon"}, args...)...)
		if warm != alone {
			t.Errorf("%v: %q with the daemon, %q without", args, warm, alone)
		}
	}
	for _, args := range [][]string{{"--json", "read", "path=none"}, {"--json", "rea", "path=a.txt"}, {"--json", "read", "{"}, {"--json", "read", "limit=x", "path=a.txt"}} {
		warm, alone := s.command("call", args...), s.command("call", append([]string{"--no-daemon"}, args...)...)
		got, _ := warm.Output()
		want, _ := alone.Output()
		if string(got) != string(want) || warm.ProcessState.ExitCode() != alone.ProcessState.ExitCode() || len(got) == 0 {
			t.Errorf("%v: %q (%d) with the daemon, %q (%d) without", args, got, warm.ProcessState.ExitCode(), want, alone.ProcessState.ExitCode())
		}
	}
	pid := s.pid()
	s.call("read", "path=a.txt")
	if again := s.pid(); again != pid {
		t.Errorf("another daemon, %d after %d", again, pid)
	}
}

// However many clients start at once, one daemon lives.
func TestDaemonIsTheOnlyOne(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	var calls sync.WaitGroup
	for range 6 {
		calls.Go(func() { s.call("read", "path=a.txt") })
	}
	calls.Wait()
	mark := "serve\x00--spawned\x00--root\x00" + s.root + "\x00"
	eventually(t, "the daemons that were too late end", func() bool { return len(running(t, mark)) <= 1 })
	if got := running(t, mark); len(got) != 1 {
		t.Errorf("%d daemons: %q", len(got), got)
	}
	s.pid()
}

// A daemon that was killed leaves a socket that nobody listens on.
func TestDaemonLeftStaleSocket(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	s.call("read", "path=a.txt")
	first := s.pid()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.waitEnd(first)
	if out, stderr := s.call("read", "path=a.txt"); out != "one\n" || stderr != "" {
		t.Errorf("%q, %q", out, stderr)
	}
	if second := s.pid(); second == first {
		t.Error("the dead daemon answers")
	}
}

// A daemon that ends in the middle of a call: what is not known is said, and the
// session goes on with another daemon.
func TestDaemonEndsMidCall(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		signal syscall.Signal
		called string // what the command line is told: an orderly end is one
	}{
		"killed": {syscall.SIGKILL, "ERR_PRISM_INTERNAL"}, "ended": {syscall.SIGTERM, "ERR_PRISM_ABORTED"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServed(t)
			a := s.agent("--profile", "trusted")
			a.shell(7, "sleep 1000")
			called := s.command("call", "--json", "--profile", "trusted", "shell", "command=touch called; sleep 1000")
			var out bytes.Buffer
			called.Stdout = &out
			if err := called.Start(); err != nil {
				t.Fatal(err)
			}
			a.eventually("both run", func() bool { _, err := os.Stat(filepath.Join(s.root, "called")); return err == nil })
			pid := s.pid()
			if err := syscall.Kill(pid, end.signal); err != nil {
				t.Fatal(err)
			}
			r := a.receive()
			if string(r.ID) != "7" || !r.Result.IsError || !strings.Contains(r.raw, "ERR_PRISM_INTERNAL") || !strings.Contains(r.raw, "unknown") {
				t.Errorf("the agent was told %s", r.raw)
			}
			err := called.Wait()
			if called.ProcessState.ExitCode() != 1 || !strings.Contains(out.String(), end.called) {
				t.Errorf("the command line: %v, %s", err, out.String())
			}
			s.waitEnd(pid)
			a.startCall(8, "read", `{"path":"a.txt"}`)
			if r := a.receive(); string(r.ID) != "8" || len(r.Result.Content) == 0 || r.Result.Content[0].Text != "one\n" {
				t.Errorf("afterwards: %s", r.raw)
			}
			if s.pid() == pid {
				t.Error("the dead daemon answers")
			}
			a.startCall(9, "write", `{"path":"b.txt","content":"x"}`)
			a.receive()
			audit, err := os.ReadFile(filepath.Join(s.state, "audit.jsonl"))
			if owners := regexp.MustCompile(`"owner":"[^"]*-[0-9]+"`).FindAllString(string(audit), -1); err != nil || len(owners) < 2 || owners[0] != owners[len(owners)-1] {
				t.Errorf("the agent is not who it was: %q, %v", owners, err)
			}
		})
	}
}

// Of two builds the new one takes over from a daemon that nobody needs, and does
// without one that somebody needs, which then ends.
func TestDaemonOfAnotherBuild(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	s.call("read", "path=a.txt")
	first := s.pid()
	other := *s
	other.program = copyOfProgram(t)
	if out, stderr := other.call("read", "path=a.txt"); out != "one\n" || stderr != "" {
		t.Errorf("%q, %q", out, stderr)
	}
	second := s.pid()
	if second == first {
		t.Fatal("the other build's daemon serves")
	}
	s.waitEnd(first)
	a := other.agent() // keeps the second one busy
	a.startCall(1, "read", `{"path":"a.txt"}`)
	a.receive()
	out, stderr := s.call("read", "path=a.txt")
	if out != "one\n" || !strings.Contains(stderr, "another build") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("%q, %q", out, stderr)
	}
	if !alive(second) {
		t.Error("the daemon left its client")
	}
	a.startCall(2, "read", `{"path":"a.txt"}`)
	if r := a.receive(); r.Result.IsError || r.Error != nil {
		t.Error(r.raw)
	}
	a.in.Close()
	s.waitEnd(second)
}

// A daemon ends when nobody has needed it for a while, and not before.
func TestDaemonEndsWhenIdle(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	file := filepath.Join(t.TempDir(), "user.toml")
	if err := os.WriteFile(file, []byte("[daemon]\nidle_seconds = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := s.agent("--config", file)
	a.startCall(1, "read", `{"path":"a.txt"}`)
	a.receive()
	pid := s.pid()
	begin := time.Now()
	a.in.Close()
	s.waitEnd(pid)
	if lived := time.Since(begin); lived < time.Second {
		t.Errorf("it ended after %s", lived)
	}
	if left, err := filepath.Glob(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "prism-ls", "*.sock")); err != nil {
		t.Fatal(err)
	} else if s.status().PID != 0 {
		t.Errorf("it can still be reached: %q", left)
	}
	other := filepath.Join(t.TempDir(), "bad.toml")
	if err := os.WriteFile(other, []byte("[daemon]\nidle_seconds = 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := s.command("call", "--config", other, "read", "path=a.txt")
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "daemon.idle_seconds") {
		t.Errorf("%v, %s", err, out)
	}
}

// An edited configuration counts from the next client on.
func TestDaemonReadsConfigurationAnew(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	file := filepath.Join(t.TempDir(), "user.toml")
	for _, step := range []struct{ text, want string }{
		{"", "one\n"},
		{"exclude_tools = [\"read\"]\n[language]\nmax_servers = 2\n", "ERR_PRISM_TOOL_UNKNOWN"},
		{"[language]\nmax_servers = 3\n", "one\n"},
	} {
		if err := os.WriteFile(file, []byte(step.text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, _ := s.command("call", "--config", file, "read", "path=a.txt").CombinedOutput() // the text says how it ended
		if !strings.Contains(string(out), step.want) {
			t.Errorf("%q: %s", step.text, out)
		}
	}
	s.pid()
}

// An interrupted call ends, and what it ran ends with it.
func TestDaemonCallInterrupted(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	mark := fmt.Sprintf("6%08d", os.Getpid())
	cmd := s.command("call", "--json", "--profile", "trusted", "shell", "command=touch up; sleep "+mark)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command runs", func() bool { return len(running(t, "sleep\x00"+mark)) > 0 })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the status says the same
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(out.String(), "ERR_PRISM_ABORTED") {
		t.Errorf("%d, %s", cmd.ProcessState.ExitCode(), out.String())
	}
	eventually(t, "the command ends", func() bool { return len(running(t, "sleep\x00"+mark)) == 0 })
}
