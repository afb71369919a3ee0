package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/daemon"
	"github.com/prism-ls/prism-ls/tools"
)

// The daemon has nothing of the client that started it: no session, directory,
// descriptor or secret. What the client knows as a secret is still taken out.
func TestDaemonIsApartFromItsClient(t *testing.T) {
	t.Parallel()
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

// Clients of one daemon keep their own profile.
func TestDaemonKeepsProfilesApart(t *testing.T) {
	t.Parallel()
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

// A person's word given at the terminal of a call counts, through the daemon.
func TestDaemonAsksAtTheTerminal(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
