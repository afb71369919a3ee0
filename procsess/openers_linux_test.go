package procsess

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools/child"
)

func openers(t *testing.T, tree []child.Info, output ...openFile) string {
	t.Helper()
	var names []string
	for _, info := range openersOf(tree, output...) {
		names = append(names, info.Command)
	}
	return strings.Join(names, ", ")
}

// TestOpenersOfTerminal: who has left the program, but not its terminal.
func TestOpenersOfTerminal(t *testing.T) {
	owner := newTestOwner(t)
	c := startConsole(t, owner, "sh", "-c", `
		trap '' HUP
		exec 9</dev/tty # now, since it cannot be opened any more once the shell is gone
		sleep 1001 9<&- &
		setsid sleep 1002 9<&- &
		sleep 1003 <&9 9<&- >/dev/null 2>&1 &
		sleep 1004 9<&- </dev/null >/dev/null 2>&1 &
		echo started`)
	c.shows("started")
	<-c.process.Done()
	file, err := terminalFile(c.master)
	if err != nil {
		t.Fatal(err)
	}
	// The shell is gone, and with it the controlling terminal; setsid may still be
	// on its way to sleep.
	c.until(func() bool {
		tree, err := c.process.Tree()
		return err == nil && openers(t, tree, file) == "sleep 1001, sleep 1002" && len(tree) == 4
	}, "two openers")
	// They are found though nobody says where.
	if got := openers(t, nil, file); !strings.Contains(got, "sleep 1001") || !strings.Contains(got, "sleep 1002") || strings.Contains(got, "1004") {
		t.Errorf("without a tree: %q", got)
	}
	other, _ := newTerminal(t)
	if file, err = terminalFile(other); err != nil {
		t.Fatal(err)
	}
	if got := openers(t, nil, file); got != "" {
		t.Errorf("another terminal is held by %q", got)
	}
}

// TestOpenersOfTTY: /dev/tty is the terminal.
func TestOpenersOfTTY(t *testing.T) {
	owner := newTestOwner(t)
	c := startConsole(t, owner, "sh", "-c", `sleep 1003 </dev/tty >/dev/null 2>&1 & echo started; exec sleep 1000 </dev/null >/dev/null 2>&1`)
	file, err := terminalFile(c.master)
	if err != nil {
		t.Fatal(err)
	}
	c.until(func() bool {
		tree, err := c.process.Tree()
		return err == nil && openers(t, tree, file) == "sleep 1003"
	}, "the one that has it open")
}

// TestOpenersOfPipes: only who can write keeps an output open.
func TestOpenersOfPipes(t *testing.T) {
	out, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	defer outWrite.Close()
	start := func(seconds string, stdin, stdout *os.File) child.Info {
		command := exec.Command("/bin/sleep", seconds)
		command.Stdin, command.Stdout = stdin, stdout
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
		return child.Info{PID: command.Process.Pid, Command: "sleep " + seconds}
	}
	tree := []child.Info{start("1001", nil, outWrite), start("1002", out, nil), start("1003", nil, nil)}
	file, err := pipeFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if got := openers(t, tree, file); got != "sleep 1001" {
		t.Errorf("held by %q", got)
	}
	if got := openers(t, tree[1:], file); got != "sleep 1001" && got != "/bin/sleep 1001" {
		t.Errorf("beyond the tree it is held by %q", got)
	}
	if _, err := pipeFile(mustOpen(t, "/dev/null")); err == nil {
		t.Error("/dev/null is a pipe")
	}
}

func mustOpen(t *testing.T, name string) *os.File {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}
