package child_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/child"
)

// runSoloRole owns one tree by itself, and closes when its input ends.
func runSoloRole(args []string) int {
	owner := child.NewOwner(&child.Options{Solo: true})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := sh(args[1])
	if args[0] == "tty" {
		_, slave, err := terminal()
		if err != nil {
			return 1
		}
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.TTY = slave, slave, slave, true
	}
	process, err := owner.Start(ctx, cmd)
	if err != nil {
		fmt.Println("failed:", err)
		return 1
	}
	fmt.Println("up")
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		switch input.Text() {
		case "kill":
			report, err := process.Kill(100 * time.Millisecond)
			fmt.Println(len(report.Killed) > 0, len(report.Survivors), err)
		case "helpers":
			fmt.Println(child.GuardianPID(owner))
		case "second":
			cmd := sh("true")
			cmd.Sandbox = &child.Sandbox{Mode: child.Prefer}
			second, err := owner.Start(ctx, cmd)
			if err != nil {
				fmt.Println(err)
				continue
			}
			fmt.Println(second.Wait(ctx))
		}
	}
	if err := owner.Close(); err != nil {
		fmt.Println("close:", err)
		return 1
	}
	return 0
}

// solo runs the role and returns how to ask it.
func solo(t *testing.T, terminal, script string) (owner *exec.Cmd, ask func(what string) string, end func()) {
	t.Helper()
	owner, stdin, said := startRole(t, soloRole, terminal, script)
	ask = func(what string) string {
		if what != "" {
			_, _ = io.WriteString(stdin, what+"\n")
		}
		line, _ := said.ReadString('\n')
		return strings.TrimSpace(line)
	}
	if got := ask(""); got != "up" {
		t.Fatalf("owner said %q", got)
	}
	return owner, ask, func() { stdin.Close() }
}

func TestSoloLeavesNothing(t *testing.T) {
	numbers := &numbers{}
	for _, shape := range shapes() {
		for _, way := range []string{"kill", "close"} {
			t.Run(way+"/"+shape.name, func(t *testing.T) {
				number, terminal := numbers.take(), "pipe"
				if shape.tty {
					terminal = "tty"
				}
				owner, ask, end := solo(t, terminal, strings.ReplaceAll(shape.script, "NUM", number))
				shape.awaitUp(t, number)
				if way == "kill" {
					if got := ask("kill"); got != "true 0 <nil>" {
						t.Errorf("kill: %s", got)
					}
					checkGone(t, number, 0)
					if got := ask("second"); got != "exit 0 <nil>" {
						t.Errorf("afterwards: %s", got)
					}
				}
				if got := ask("helpers"); got != "0" {
					t.Errorf("a guardian: %s", got)
				}
				end()
				if err := owner.Wait(); err != nil {
					t.Errorf("close: %v", err)
				}
				checkGone(t, number, 0)
			})
		}
	}
}

// A solo owner's process is what holds what it let go: Close waits for that.
func TestSoloWaitsForWhatItLetGo(t *testing.T) {
	numbers := &numbers{}
	for _, terminal := range []string{"tty", "pipe"} {
		number, dir := numbers.take(), t.TempDir()
		script := strings.ReplaceAll(strings.ReplaceAll(talker, "DIR", dir), "NUM", number)
		owner, end, pid, _ := startLetGo(t, "solo", terminal, script)
		end()
		goes(t, dir, "1")
		if !alive(pid) {
			t.Error("Close did not wait")
		}
		endAll(t, number)
		if err := owner.Wait(); err != nil {
			t.Errorf("%s: %v", terminal, err)
		}
	}
}

func TestSoloRunsOneAtATime(t *testing.T) {
	if os.Getenv(soloRole) == "" {
		cmd := exec.CommandContext(within(t, 60*time.Second), "/proc/self/exe", "-test.run=^TestSoloRunsOneAtATime$")
		cmd.Env = append(os.Environ(), soloRole+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	owner := child.NewOwner(&child.Options{Solo: true})
	defer owner.Close()
	first, err := owner.Start(within(t, 20*time.Second), sh("sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := owner.Start(ctx, sh("true")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second one beside it: %v", err)
	}
	if err := first.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := run(t, owner, sh("echo next")); string(got.Stdout) != "next\n" {
		t.Errorf("after it: %q", got.Stdout)
	}
}
