package main

import (
	"bytes"
	"encoding/json"

	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools/builtin"
)

// desk is a workspace with the commands of a person on it.
type desk struct {
	t             *testing.T
	program, root string
	state         string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, program: copyOfProgram(t), root: t.TempDir(), state: t.TempDir()}
	endAfter(t, d.root, d.state)
	return d
}

func (d *desk) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(d.program, append([]string{name, "--root", d.root, "--state-dir", d.state}, args...)...)
	cmd.Env = append(os.Environ(), "PRISM_LS_NO_DAEMON=", "XDG_RUNTIME_DIR="+d.state)
	return cmd
}

// run runs a command to its end.
func (d *desk) run(name string, args ...string) (stdout, stderr string, status int) {
	d.t.Helper()
	cmd := d.command(name, args...)
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	stop := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	_ = cmd.Run() // the status says the same
	return out.String(), failed.String(), cmd.ProcessState.ExitCode()
}

// start starts a session as an agent's call does, and returns its ID.
func (d *desk) start(name, line string, more ...string) string {
	d.t.Helper()
	stdout, stderr, status := d.run("call", append([]string{"--profile", "trusted", "--json", "proc_start", "name=" + name, "command=" + line}, more...)...)
	var result struct{ Metadata builtin.ProcStart }
	if err := json.Unmarshal([]byte(stdout), &result); err != nil || status != 0 {
		d.t.Fatalf("proc_start: %q %q %d %v", stdout, stderr, status, err)
	}
	return result.Metadata.ID
}

// listed is what ps says of a session.
func (d *desk) listed(id string) builtin.ProcSession {
	d.t.Helper()
	stdout, stderr, status := d.run("ps", "--json")
	var list builtin.ProcList
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || status != 0 {
		d.t.Fatalf("ps: %q %q %d", stdout, stderr, status)
	}
	for _, session := range list.Sessions {
		if session.ID == id {
			return session
		}
	}
	d.t.Fatalf("ps does not list %s: %s", id, stdout)
	return builtin.ProcSession{}
}

// TestPeopleSeeSessions: what an agent has started a person lists, reads and ends.
func TestPeopleSeeSessions(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.start("greeter", `printf '\033[31mred\033[0m 10%%\r\033[31mred\033[0m 99%%\n'; exec sleep 300`)
	d.start("other", "cat")
	var stdout, stderr string
	until(t, "the output is there", func() bool {
		stdout, stderr, _ = d.run("logs", "greeter")
		return strings.Contains(stdout, "99%\n")
	})
	if stdout != "red 99%\n" {
		t.Errorf("logs: %q, %q", stdout, stderr)
	}
	if stdout, _, _ := d.run("logs", "--raw", id); stdout != "\x1b[31mred\x1b[0m 10%\r\x1b[31mred\x1b[0m 99%\r\n" {
		t.Errorf("raw: %q", stdout)
	}
	if s := d.listed(id); s.Name != "greeter" || s.State != "running" || s.Owner != "cli" || !s.PTY {
		t.Errorf("listed as %+v", s)
	}
	stdout, _, _ = d.run("ps")
	if lines := strings.Split(strings.TrimSpace(stdout), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "ID ") || !strings.HasPrefix(lines[1], id+"  greeter  running") {
		t.Errorf("ps: %q", stdout)
	}

	// A follower is told of the end.
	follow := d.command("logs", "-f", "greeter")
	var followed bytes.Buffer
	follow.Stdout = &followed
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, status := d.run("stop", "greeter")
	if status != 0 || !strings.HasPrefix(stdout, id+": killed SIG") {
		t.Errorf("stop: %q %q %d", stdout, stderr, status)
	}
	stop := time.AfterFunc(patience, func() { _ = follow.Process.Kill() })
	if err := follow.Wait(); err != nil || followed.String() != "red 99%\n" {
		t.Errorf("followed %q, %v", followed.String(), err)
	}
	stop.Stop()
	if s := d.listed(id); s.State != "killed" || s.Exit == nil || s.Exit.By != "kill" {
		t.Errorf("listed as %+v", s)
	}
	for _, args := range [][]string{{"logs", "nobody"}, {"stop", "nobody"}, {"attach", "othe"}} {
		if _, stderr, status := d.run(args[0], args[1:]...); status == 0 || !strings.Contains(stderr, "ERR_PRISM_NOT_FOUND") || args[1] == "othe" && !strings.Contains(stderr, "other") {
			t.Errorf("%v: %q %d", args, stderr, status)
		}
	}
	if _, stderr, status := d.run("attach", "other"); status != exitUsage || !strings.Contains(stderr, "logs -f") {
		t.Errorf("attach without a terminal: %q %d", stderr, status)
	}
	if _, stderr, status := d.run("stop", "other", "--signal", "SIGNAL"); status != exitUsage {
		t.Errorf("stop with a strange signal: %q %d", stderr, status)
	}
}

// TestStopGivesTime: the signal and the grace time are the person's choice.
func TestStopGivesTime(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.start("polite", `trap 'echo bye; exit 9' INT; echo armed; while :; do sleep 0.05; done`, `readyWhen={"match":"armed"}`)
	stdout, stderr, status := d.run("stop", id, "--signal", "INT", "--grace", "30s")
	if status != 0 || stdout != id+": exited 9\n" {
		t.Errorf("stop: %q %q %d", stdout, stderr, status)
	}
	id = d.start("deaf", `trap '' INT TERM HUP; echo armed; while :; do sleep 0.05; done`, `readyWhen={"match":"armed"}`)
	stdout, stderr, status = d.run("stop", "deaf", "--signal", "INT", "--grace", "100ms")
	if status != 0 || stdout != id+": killed SIGKILL\n" {
		t.Errorf("stop: %q %q %d", stdout, stderr, status)
	}
}

// TestDurableSessionsNeedNoDaemon: they are there when it has gone.
func TestDurableSessionsNeedNoDaemon(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.start("lasting", `echo up; cat`, "durable=true", `readyWhen={"match":"up"}`)
	gone := d.start("passing", `echo up; cat`)
	if stdout, stderr, status := d.run("serve", "--stop"); status != 0 {
		t.Fatalf("serve --stop: %q %q", stdout, stderr)
	}
	if s := d.listed(id); s.State != "running" || !s.Durable || s.Name != "lasting" {
		t.Errorf("listed as %+v", s)
	}
	if stdout, _, _ := d.run("ps"); strings.Contains(stdout, gone) {
		t.Errorf("one that is not durable is listed: %q", stdout)
	}
	if stdout, stderr, _ := d.run("logs", "lasting"); stdout != "up\n" {
		t.Errorf("logs: %q, %q", stdout, stderr)
	}
	if stdout, stderr, status := d.run("stop", "lasting"); status != 0 || !strings.Contains(stdout, "killed") {
		t.Errorf("stop: %q %q %d", stdout, stderr, status)
	}
}

// until looks until it holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// seat is a person's terminal with an attached command on it.
type seat struct {
	t        *testing.T
	tty, dev *os.File
	cmd      *exec.Cmd
	before   unix.Termios
	mu       sync.Mutex
	shown    bytes.Buffer
	ended    chan error
}

// sit attaches at a terminal of that size.
func (d *desk) sit(columns, rows int, args ...string) *seat {
	d.t.Helper()
	tty, dev, err := pty.Open()
	if err != nil {
		d.t.Fatal(err)
	}
	s := &seat{t: d.t, tty: tty, dev: dev, cmd: d.command("attach", args...), ended: make(chan error, 1)}
	s.resize(columns, rows)
	s.before = s.modes()
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = dev, dev, dev
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := tty.Read(buffer)
			s.mu.Lock()
			s.shown.Write(buffer[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() { s.ended <- s.cmd.Wait() }()
	d.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		dev.Close()
		tty.Close()
	})
	return s
}

func (s *seat) resize(columns, rows int) {
	s.t.Helper()
	if err := pty.Setsize(s.tty, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *seat) modes() unix.Termios {
	s.t.Helper()
	modes, err := unix.IoctlGetTermios(int(s.dev.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return *modes
}

func (s *seat) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

func (s *seat) sees(text string) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(s.text(), text); {
		if time.Now().After(deadline) {
			s.t.Fatalf("the terminal does not show %q, but %q", text, s.text())
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (s *seat) types(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.tty, text); err != nil {
		s.t.Fatal(err)
	}
}

// leaves waits for the command's end, and looks whether the terminal is as before.
func (s *seat) leaves(status int) {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.t.Fatalf("attach does not end; it shows %q", s.text())
	}
	if got := s.cmd.ProcessState.ExitCode(); got != status {
		s.t.Errorf("exit status %d, want %d; it showed %q", got, status, s.text())
	}
	if now := s.modes(); now != s.before {
		s.t.Errorf("the terminal was left as %+v, and was %+v", now, s.before)
	}
}

// TestAttach: a person types and sees, in a window of any size, and leaves the
// session as it was.
func TestAttach(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	// A read that gives up now and then, so that the trap can run.
	id := d.start("chat", `exec bash -c 'trap "stty size" WINCH; echo before; while :; do IFS= read -r -t 0.1 line && echo "got $line"; done'`, `readyWhen={"match":"before"}`)
	first := d.sit(100, 30, "chat")
	first.sees("before")
	first.sees("30 100")
	first.types("one\r")
	first.sees("got one")
	second := d.sit(90, 25, id, "--detach-keys", "ctrl-p,ctrl-q")
	second.sees("got one")
	second.sees("25 90")
	second.types("two\r")
	first.sees("got two")
	second.sees("got two")
	first.resize(70, 20)
	first.sees("20 70")
	second.types("\x10\x11")
	second.sees("detached from " + id)
	second.leaves(0)
	first.types("three\r")
	first.sees("got three")
	first.types("\x1d")
	first.leaves(0)
	until(t, "the session has its size again", func() bool {
		stdout, _, _ := d.run("logs", id)
		return strings.HasSuffix(stdout, "40 120\n")
	})
	if s := d.listed(id); s.State != "running" {
		t.Errorf("after everybody has left: %+v", s)
	}
}

// TestAttachLeavesTheTerminal as it was, whichever way it ends.
func TestAttachLeavesTheTerminal(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, c := range []struct {
		name   string
		end    func(s *seat, id string)
		status int
	}{
		{"told to end", func(s *seat, _ string) { _ = s.cmd.Process.Signal(syscall.SIGTERM) }, exitFailed},
		{"hung up", func(s *seat, _ string) { _ = s.cmd.Process.Signal(syscall.SIGHUP) }, exitFailed},
		{"the program ends", func(s *seat, _ string) { s.types("q") }, 0},
		{"the session is stopped", func(_ *seat, id string) { d.run("stop", id) }, 0},
		{"the daemon is killed", func(*seat, string) {
			stdout, _, _ := d.run("serve", "--stop")
			if !strings.Contains(stdout, "ended") {
				t.Errorf("serve --stop: %q", stdout)
			}
		}, exitFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			// It takes the alternate screen, the mouse and raw mode, asks where the cursor
			// is, and takes nothing back.
			id := d.start("", `stty raw -echo; printf '\033[?1049h\033[?1000h\033[?25l\033[6nfull screen'; while [ "$(dd bs=1 count=1 2>/dev/null)" != q ]; do :; done`, `readyWhen={"match":"full screen"}`)
			s := d.sit(80, 24, id)
			s.sees("full screen")
			until(t, "it is in raw mode", func() bool { return s.modes() != s.before })
			c.end(s, id)
			if c.name == "the daemon is killed" {
				c.status = s.ended0(c.status)
			}
			s.leaves(c.status)
			// What it wrote last may still be on its way through the terminal.
			until(t, "the alternate screen is left", func() bool {
				shown := s.text()
				return strings.LastIndex(shown, "\x1b[?1049l") > strings.LastIndex(shown, "\x1b[?1049h")
			})
			if shown := s.text(); strings.Contains(shown, "\x1b[6n") {
				t.Errorf("the terminal was shown %q", shown)
			}
		})
	}
}

// ended0 is the status to expect where either is right: the end of the session may
// be told before the connection is gone.
func (s *seat) ended0(status int) int {
	err := <-s.ended
	s.ended <- err
	if code := s.cmd.ProcessState.ExitCode(); code == 0 || code == status {
		return code
	}
	return status
}

// TestAttachedAreNotSlowedDown: a terminal that nobody reads holds up neither the
// program nor who else is attached.
func TestAttachedAreNotSlowedDown(t *testing.T) {
	d := newDesk(t)
	id := d.start("flood", `read go; i=0; while [ $i -lt 20000 ]; do echo "line $i of very many"; i=$((i+1)); done; echo all done; cat`)
	stuck := d.command("attach", id)
	tty, dev, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	defer dev.Close()
	stuck.Stdin, stuck.Stdout, stuck.Stderr = dev, dev, dev
	stuck.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := stuck.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = stuck.Process.Kill()
		_ = stuck.Wait() // it was killed
	}()
	s := d.sit(80, 24, id)
	s.types("go\r")
	s.sees("all done")
	s.types("\x1d")
	s.leaves(0)
}

// TestAgentComesBack: an agent that is started anew has its sessions, and another
// at the same time has none of them.
func TestAgentComesBack(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	agent := func() *server {
		a := startAs(t, s.program, s.root, s.state, "--profile", "trusted")
		a.initialize()
		return a
	}
	ask := func(a *server, tool, arguments string) string {
		a.startCall(1, tool, arguments)
		r := a.receive()
		if len(r.Result.Content) != 1 {
			t.Fatal(r.raw)
		}
		return r.Result.Content[0].Text
	}
	first, second := agent(), agent()
	text := ask(first, "proc_start", `{"command": "echo mine; cat", "readyWhen": {"match": "mine"}}`)
	id, _, _ := strings.Cut(text, ":")
	if got := ask(second, "proc_output", `{"id": "`+id+`"}`); !strings.HasPrefix(got, "ERR_PRISM_PROCESS_OWNERSHIP") {
		t.Errorf("another agent got %q", got)
	}
	first.in.Close()
	<-first.exited
	var again *server
	until(t, "the daemon has seen the first one's end", func() bool {
		again = agent()
		if strings.HasPrefix(ask(again, "proc_list", `{}`), id) {
			return true
		}
		again.in.Close()
		<-again.exited
		return false
	})
	if got := ask(again, "proc_output", `{"id": "`+id+`"}`); !strings.HasPrefix(got, "mine\n[running, ") {
		t.Errorf("the agent that came back got %q", got)
	}
	if got := ask(second, "proc_list", `{}`); got != "(no sessions)" {
		t.Errorf("the other agent lists %q", got)
	}
}
