package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// copyOfProgram is the program as a file of its own, so that the test, which
// is the same program, does not count as prism-ls having started it.
func copyOfProgram(t *testing.T) string {
	t.Helper()
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	name := filepath.Join(t.TempDir(), "prism-ls")
	// What a test beside this one starts meanwhile would have the file open for writing
	// until it is another program, and nobody may run it as long (ETXTBSY).
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(file, self); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// onTerminal runs a command on a new pseudo-terminal and types the answer once
// a question is there. It returns what the terminal showed, and the exit status.
func onTerminal(t *testing.T, cmd *exec.Cmd, answer string) (string, int) {
	t.Helper()
	return onTerminalAt(t, cmd, "Type yes or no: ", answer)
}

// onTerminalAt is onTerminal for another question.
func onTerminalAt(t *testing.T, cmd *exec.Cmd, question, answer string) (string, int) {
	t.Helper()
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	stop := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	var shown bytes.Buffer
	for answered, buffer := false, make([]byte, 4096); ; {
		n, err := tty.Read(buffer)
		shown.Write(buffer[:n])
		if !answered && strings.Contains(shown.String(), question) {
			answered = true
			if _, err := io.WriteString(tty, answer+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil { // EIO: the program has ended
			break
		}
	}
	_ = cmd.Wait() // the status says the same
	return shown.String(), cmd.ProcessState.ExitCode()
}

// consent is a workspace in which a call waits for approval.
type consent struct {
	t             *testing.T
	program, root string
	state         string
	id            string
}

// offer makes the call `write .envrc`, which guarded refuses and offers.
func offer(t *testing.T) *consent {
	t.Helper()
	c := &consent{t: t, program: copyOfProgram(t), root: t.TempDir(), state: t.TempDir()}
	endAfter(t, c.root, c.state)
	result := c.write()
	if result.Error.Code != "ERR_PRISM_EXECUTION_DENIED" || result.Error.Details.ApprovalID == "" {
		t.Fatalf("%+v", result)
	}
	c.id = result.Error.Details.ApprovalID
	return c
}

type writeResult struct {
	Error struct {
		Code    string
		Details struct{ ApprovalID string }
	}
}

func (c *consent) write() writeResult {
	c.t.Helper()
	cmd := exec.Command(c.program, "call", "--json", "--root", c.root, "--state-dir", c.state, "write", "path=.envrc", "content=x")
	var out bytes.Buffer
	cmd.Stdout = &out
	_ = cmd.Run() // the object says the same
	var result writeResult
	if err := json.Unmarshal(out.Bytes(), &result); err != nil {
		c.t.Fatalf("%v: %s", err, out.String())
	}
	return result
}

func (c *consent) approve() *exec.Cmd {
	return exec.Command(c.program, "approve", c.id, "--root", c.root, "--state-dir", c.state)
}

func TestApprove(t *testing.T) {
	t.Parallel()
	c := offer(t)
	shown, status := onTerminal(t, c.approve(), "no")
	if status != 1 || !strings.Contains(shown, "Path: .envrc") {
		t.Errorf("no: %d, %s", status, shown)
	}
	if got := c.write(); got.Error.Code == "" {
		t.Fatal("written although it was declined")
	}
	shown, status = onTerminal(t, c.approve(), "yes")
	if status != 0 || !strings.Contains(shown, "approved "+c.id) {
		t.Errorf("yes: %d, %s", status, shown)
	}
	if got := c.write(); got.Error.Code != "" {
		t.Errorf("not written although it was approved: %+v", got)
	}
	if got := c.write(); got.Error.Code == "" {
		t.Error("one approval let two calls through")
	}
}

func TestApproveNeedsTerminal(t *testing.T) {
	t.Parallel()
	c := offer(t)
	cmd := exec.Command("setsid", append([]string{"-w"}, c.approve().Args...)...)
	cmd.Stdin = strings.NewReader("yes\n")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "needs a person at a terminal") {
		t.Errorf("%v: %s", err, out)
	}
}

// What prism-ls started cannot approve, on whatever terminal, in whatever
// session, with whatever environment.
func TestApproveRefusesOwnChildren(t *testing.T) {
	t.Parallel()
	script, err := exec.LookPath("script")
	if err != nil {
		t.Fatal("the test needs script(1) of util-linux to make a terminal: ", err)
	}
	c := offer(t)
	approve := fmt.Sprintf("%s approve %s --root %s --state-dir %s", c.program, c.id, c.root, c.state)
	command := fmt.Sprintf("echo yes | setsid -w env -i PATH=$PATH %s -qec '%s' /dev/null", script, approve)
	cmd := exec.Command(c.program, "call", "--json", "--profile", "trusted", "--root", c.root, "--state-dir", c.state, "shell", "command="+command)
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "a person has to do it in a terminal of their own") {
		t.Errorf("%v: %s", err, out)
	}
	if got := c.write(); got.Error.Code == "" {
		t.Error("a child approved")
	}
}

func TestTrust(t *testing.T) {
	t.Parallel()
	program, root, state := copyOfProgram(t), t.TempDir(), t.TempDir()
	file := filepath.Join(root, "prism-ls.toml")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tools := func() (string, error) {
		out, err := exec.Command(program, "tools", "--root", root, "--state-dir", state).CombinedOutput()
		return string(out), err
	}
	trust := func(more ...string) *exec.Cmd {
		return exec.Command(program, append([]string{"trust", "--root", root, "--state-dir", state}, more...)...)
	}
	put("profile = \"trusted\"\n")
	if out, err := tools(); err == nil {
		t.Errorf("a stranger's file widened: %s", out)
	}
	if shown, status := onTerminal(t, trust(), "yes"); status != 0 {
		t.Fatalf("trust: %d, %s", status, shown)
	}
	if out, err := tools(); err != nil {
		t.Errorf("a trusted file: %v: %s", err, out)
	}
	put("profile = \"trusted\"\n[shell]\npath = \"/evil\"\n")
	if out, err := tools(); err == nil || !strings.Contains(out, "has changed since") {
		t.Errorf("trust held for a changed file: %v: %s", err, out)
	}
	put("profile = \"trusted\"\n")
	if out, err := trust("--revoke").CombinedOutput(); err != nil {
		t.Errorf("revoke: %v: %s", err, out)
	}
	if out, err := tools(); err == nil {
		t.Errorf("a file whose trust was taken back: %s", out)
	}
}
