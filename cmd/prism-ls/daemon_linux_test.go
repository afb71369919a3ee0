package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/daemon"
	"github.com/prism-ls/prism-ls/tools"
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

// A call says the same with a daemon and without, and the second finds the daemon
// of the first.
func TestDaemonServesCalls(t *testing.T) {
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

// The daemon has nothing of the client that started it: no session, directory,
// descriptor or secret. What the client knows as a secret is still taken out.
func TestDaemonIsApartFromItsClient(t *testing.T) {
	s := newServed(t)
	s.env = []string{"SOME_TOKEN=a-very-secret-value"}
	s.put("secret.txt", "a-very-secret-value\n")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd := s.command("call", "read", "path=secret.txt")
	cmd.ExtraFiles = []*os.File{write}
	out, err := cmd.Output()
	if err != nil || strings.Contains(string(out), "very-secret") {
		t.Errorf("%q, %v", out, err)
	}
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	_ = read.SetReadDeadline(time.Now().Add(patience)) // pipes of this kind have deadlines
	if n, err := read.Read(make([]byte, 1)); n != 0 || os.IsTimeout(err) {
		t.Errorf("somebody has the descriptor open: %d, %v", n, err)
	}
	pid := s.pid()
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || bytes.Contains(environ, []byte("SOME_TOKEN")) {
		t.Errorf("environment: %q, %v", environ, err)
	}
	if cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err != nil || cwd != "/" {
		t.Errorf("directory: %s, %v", cwd, err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := bytes.Cut(stat, []byte(") "))
	if fields := strings.Fields(string(after)); fields[3] != strconv.Itoa(pid) { // proc_pid_stat(5): session
		t.Errorf("session %s", fields[3])
	}
}

// A daemon that was killed leaves a socket that nobody listens on.
func TestDaemonLeftStaleSocket(t *testing.T) {
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

// Where a daemon can listen, and what happens where it cannot.
func TestDaemonPlaces(t *testing.T) {
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

// Clients of one daemon keep their own profile.
func TestDaemonKeepsProfilesApart(t *testing.T) {
	s := newServed(t)
	narrow, wide := s.agent("--profile", "read-only"), s.agent("--profile", "trusted")
	ask := func(a *server, id int, name string) reply {
		a.startCall(id, "write", fmt.Sprintf(`{"path":%q,"content":"x"}`, name))
		return a.receive()
	}
	if r := ask(narrow, 1, "n.txt"); !strings.Contains(r.raw, "ERR_PRISM_EXECUTION_DENIED") {
		t.Error(r.raw)
	}
	if r := ask(wide, 1, "w.txt"); r.Result.IsError {
		t.Error(r.raw)
	}
	if r := ask(narrow, 2, "n.txt"); !strings.Contains(r.raw, "ERR_PRISM_EXECUTION_DENIED") {
		t.Error(r.raw)
	}
	if got := s.status(); got.Clients != 2 {
		t.Errorf("%+v", got)
	}
}

// An interrupted call ends, and what it ran ends with it.
func TestDaemonCallInterrupted(t *testing.T) {
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

// A person's word given at the terminal of a call counts, through the daemon.
func TestDaemonAsksAtTheTerminal(t *testing.T) {
	s := newServed(t)
	s.program = copyOfProgram(t)
	for answer, status := range map[string]int{"no": 1, "yes": 0} {
		shown, got := onTerminal(t, s.command("call", "write", "path=.envrc", "content="+answer), answer)
		if got != status || !strings.Contains(shown, "Path: .envrc") {
			t.Errorf("%s: %d, %s", answer, got, shown)
		}
	}
	if text, err := os.ReadFile(filepath.Join(s.root, ".envrc")); err != nil || string(text) != "yes" {
		t.Errorf("%q, %v", text, err)
	}
	s.pid()
}

// yes is an approver that agrees to everything.
type yes struct{}

func (yes) Approve(context.Context, tools.Action, string) (bool, error) { return true, nil }

// liar is a client that says yes to whatever it is asked. It is run as a program of
// its own: prism-liar ROOT STATE FILE.
func liar() {
	args := os.Args[1:]
	cfg, err := config.Load(config.ReadSystem(), config.Flags{Root: args[0], StateDir: args[1]})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	d := &daemon.Dialer{Config: cfg}
	status, found, err := d.Find(context.Background())
	if err != nil || !found {
		fmt.Println("no daemon:", err)
		os.Exit(1)
	}
	d.Build = status.Build
	input, err := json.Marshal(map[string]string{"path": args[2], "content": "x"})
	if err != nil {
		panic(err)
	}
	settings := &daemon.Settings{Flags: config.Flags{Root: cfg.Root, StateDir: cfg.StateDir}, System: cfg.System}
	result, err := d.Call(context.Background(), settings, &daemon.Call{Tool: "write", Input: input}, daemon.CallOptions{Approver: yes{}})
	switch {
	case err != nil:
		fmt.Println("refused:", err)
	case result.Err != nil:
		fmt.Println("failed:", result.Err)
	default:
		fmt.Println("written")
	}
}

// Nothing that prism-ls started can consent, whatever it says; and what is confined
// cannot have the daemon do what it may not do itself.
func TestDaemonBelievesNoClient(t *testing.T) {
	s := newServed(t)
	s.program = copyOfProgram(t)
	s.call("read", "path=a.txt")
	line := func(file string) string { return fmt.Sprintf("prism-liar %s %s %s", s.root, s.state, file) }
	word := strings.Fields(line(".envrc"))
	if out, err := exec.Command(word[0], word[1:]...).CombinedOutput(); err != nil || !strings.Contains(string(out), "written") {
		t.Errorf("a person's program: %v, %s", err, out)
	}
	out, _ := s.call("--profile", "trusted", "shell", "command="+line(".npmrc"))
	if !strings.Contains(out, "failed: ERR_PRISM_EXECUTION_DENIED") {
		t.Errorf("in a command of prism-ls: %s", out)
	}
	if _, err := os.Stat(filepath.Join(s.root, ".npmrc")); err == nil {
		t.Error("a command consented to its own action")
	}
	denied, _ := s.command("call", "shell", "command="+line("free.txt")).CombinedOutput() // guarded: confined, or not at all
	if _, err := os.Stat(filepath.Join(s.root, "free.txt")); err == nil || strings.Contains(string(denied), "written") {
		t.Errorf("a confined command was served: %s", denied)
	}
	if !strings.Contains(string(denied), "no daemon") && !strings.Contains(string(denied), "refused") && !strings.Contains(string(denied), "approve") {
		t.Errorf("a confined command: %s", denied)
	}
	if out, _ := s.command("call", "shell", "command=prism-ls call --root "+s.root+" --state-dir "+s.state+" read path=a.txt").CombinedOutput(); !strings.Contains(string(out), "approve") && string(out) != "one\n" {
		t.Errorf("a call of a confined command: %s", out) // it neither finds nor starts a daemon, and does without at once
	}
	unprivileged := exec.Command("setpriv", append([]string{"--no-new-privs"}, word...)...)
	if out, err := unprivileged.CombinedOutput(); err == nil || !strings.Contains(string(out), "no daemon") {
		t.Errorf("confined in another way: %v, %s", err, out)
	}
}
