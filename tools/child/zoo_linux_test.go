package child_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/child"
)

// shape is a script that starts processes in every way to get away. NUM is a
// number that only its own processes carry, so that survivors are found by
// looking at the whole machine, not by asking the code under test.
type shape struct {
	name   string
	script string
	sleeps int // how many "sleep NUM" it comes to
	tty    bool
}

func shapes() []shape {
	return []shape{
		{"zoo", `
sleep NUM &
( sleep NUM & )
nohup sleep NUM >/dev/null 2>&1 &
setsid sleep NUM &
( setsid bash -c 'sleep NUM & sleep NUM & wait; : NUM' & )
bash -c 'trap "" TERM HUP INT; sleep NUM & sleep NUM; : NUM' &
setsid -f setsid -f sleep NUM
echo ready
sleep NUM
: NUM`, 10, false},
		{"cleared session, leader gone", `env -i setsid -f /bin/sleep NUM; echo ready; exit 0`, 1, false},
		{"double fork, cleared", `(env -i /bin/bash -c '(/bin/sleep NUM &); exit' &); echo ready; sleep NUM`, 2, false},
		{"disowned", `sleep NUM & disown -a; echo ready; exit 0`, 1, false},
		{"ignores TERM", `trap "" TERM HUP INT; sleep NUM & echo ready; while :; do sleep NUM; done`, 2, false},
		{"stopped", `sleep NUM & until grep -q sleep /proc/$!/comm; do :; done; kill -STOP $!; echo ready; kill -STOP $$; : NUM`, 1, false},
		{"interactive", `sleep NUM & sleep NUM & echo ready; exec bash --norc -i; : NUM`, 2, true},
	}
}

// numbers hands out the NUMs.
type numbers struct{ next atomic.Int64 }

func (n *numbers) take() string {
	// Distinct between test processes, too.
	return fmt.Sprintf("%d%04d", 1_000_000+os.Getpid(), n.next.Add(1))
}

// carriers returns the live processes whose command line has the number, as
// "pid command"; with sleeping, only those that are "sleep NUM" itself.
func carriers(number string, sleeping bool) []string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(line), number) {
			continue
		}
		words := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
		if sleeping && (len(words) != 2 || filepath.Base(words[0]) != "sleep") {
			continue
		}
		pid := filepath.Base(filepath.Dir(file))
		if pid != strconv.Itoa(os.Getpid()) && !strings.Contains(string(line), ownerRole) {
			found = append(found, pid+" "+strings.Join(words, " "))
		}
	}
	return found
}

// eventually looks until it holds.
func eventually(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(limit)
	for !holds() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

func alive(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	after := string(data[strings.LastIndexByte(string(data), ')')+1:])
	return !strings.HasPrefix(after, " Z") && !strings.HasPrefix(after, " X")
}

// release starts the shape and waits until all of it is up.
func (s shape) release(t testing.TB, owner *child.Owner, number string) *child.Process {
	t.Helper()
	cmd := sh(strings.ReplaceAll(s.script, "NUM", number))
	if s.tty {
		_, slave := openTerminal(t)
		cmd.Stdin, cmd.Stderr, cmd.TTY = slave, slave, true
	}
	process, _ := startReady(t, owner, cmd)
	s.awaitUp(t, number)
	return process
}

func (s shape) awaitUp(t testing.TB, number string) {
	t.Helper()
	eventually(t, 20*time.Second, "all sleeps of "+s.name, func() bool { return len(carriers(number, true)) == s.sleeps })
}

// endings are the ways for a tree to end. Each returns when nothing may be left,
// except those where the system has to notice first: they return the time it may take.
func endings() map[string]func(t *testing.T, owner *child.Owner, process *child.Process) time.Duration {
	return map[string]func(t *testing.T, owner *child.Owner, process *child.Process) time.Duration{
		"kill with grace": func(t *testing.T, _ *child.Owner, process *child.Process) time.Duration {
			checkReport(t)(process.Kill(100 * time.Millisecond))
			return 0
		},
		"kill": func(t *testing.T, _ *child.Owner, process *child.Process) time.Duration {
			checkReport(t)(process.Kill(0))
			return 0
		},
		"release": func(t *testing.T, _ *child.Owner, process *child.Process) time.Duration {
			_ = process.Signal(syscall.SIGKILL)
			checkReport(t)(process.Release())
			return 0
		},
		"close": func(t *testing.T, owner *child.Owner, _ *child.Process) time.Duration {
			if err := owner.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			return 0
		},
		"guardian killed": func(t *testing.T, owner *child.Owner, process *child.Process) time.Duration {
			_ = syscall.Kill(child.GuardianPID(owner), syscall.SIGKILL)
			_, _ = process.Wait(within(t, 5*time.Second))
			return 2 * time.Second
		},
		"reaper killed": func(t *testing.T, _ *child.Owner, process *child.Process) time.Duration {
			_ = syscall.Kill(child.ReaperPID(process), syscall.SIGKILL)
			checkReport(t)(process.Kill(0))
			return 0
		},
		"reaper stopped": func(t *testing.T, owner *child.Owner, process *child.Process) time.Duration {
			_ = syscall.Kill(child.ReaperPID(process), syscall.SIGSTOP)
			if err := owner.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			return 0
		},
	}
}

// roundsOf says how often. Endings that leave TERM its time take half a second.
func roundsOf(ending, shape string) int {
	switch {
	case ending == "reaper stopped":
		return 1
	case soak() && (shape == "zoo" || ending == "kill"):
		return 200
	case soak():
		return 20
	case shape != "zoo" || os.Getenv(nobody) != "":
		return 1
	case ending == "close" || ending == "guardian killed":
		return 3
	default:
		return 10
	}
}

func checkReport(t *testing.T) func(child.KillReport, error) {
	return func(report child.KillReport, err error) {
		t.Helper()
		if err != nil || len(report.Survivors) != 0 {
			t.Errorf("report %+v, %v", report, err)
		}
	}
}

func TestNothingIsLeft(t *testing.T) {
	numbers := &numbers{}
	for name, end := range endings() {
		for _, shape := range shapes() {
			if name == "reaper stopped" && shape.name != "zoo" {
				continue // it takes the owner some seconds to give up on the reaper
			}
			t.Run(name+"/"+shape.name, func(t *testing.T) {
				owner := newOwner(t)
				for range roundsOf(name, shape.name) {
					if name == "close" {
						owner = newOwner(t)
					}
					number := numbers.take()
					process := shape.release(t, owner, number)
					limit := end(t, owner, process)
					checkGone(t, number, limit)
				}
			})
		}
	}
}

func checkGone(t *testing.T, number string, limit time.Duration) {
	t.Helper()
	if limit > 0 {
		eventually(t, limit, "nothing left", func() bool { return len(carriers(number, false)) == 0 })
	}
	if left := carriers(number, false); len(left) > 0 {
		t.Fatalf("%d left: %v", len(left), left)
	}
}

// runOwnerRole owns one tree, says so, and would go on for ever.
func runOwnerRole(args []string) int {
	owner := child.NewOwner(nil)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	process, err := owner.Start(ctx, sh(args[0]))
	if err != nil {
		fmt.Println("failed:", err)
		return 1
	}
	fmt.Println(child.GuardianPID(owner), child.ReaperPID(process))
	select {}
}

func TestNothingIsLeftOfAKilledOwner(t *testing.T) {
	rounds, numbers := roundsOf("close", "zoo"), &numbers{}
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		for range rounds {
			number := numbers.take()
			zoo := shapes()[0]
			owner, _, said := startRole(t, ownerRole, strings.ReplaceAll(zoo.script, "NUM", number))
			line, _ := said.ReadString('\n')
			var guardian, reaper int
			if _, err := fmt.Sscan(line, &guardian, &reaper); err != nil {
				t.Fatalf("owner said %q", line)
			}
			zoo.awaitUp(t, number)
			_ = owner.Process.Signal(sig)
			_ = owner.Wait()
			checkGone(t, number, 2*time.Second)
			eventually(t, 2*time.Second, "helpers gone", func() bool { return !alive(guardian) && !alive(reaper) })
		}
	}
}

// A command that kills its own reaper is lost, with all it started.
func TestReaperKilledByItsCommand(t *testing.T) {
	owner, numbers := newOwner(t), &numbers{}
	number := numbers.take()
	process, err := owner.Start(within(t, 20*time.Second), sh(strings.ReplaceAll(`(setsid sleep NUM &); kill -9 $PPID; sleep NUM`, "NUM", number)))
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := process.Wait(within(t, 10*time.Second)); err == nil {
		t.Errorf("exit %v is known", exit)
	}
	checkReport(t)(process.Kill(time.Second))
	checkGone(t, number, 0)
	if got := run(t, owner, sh("echo on")); string(got.Stdout) != "on\n" {
		t.Errorf("afterwards %q", got.Stdout)
	}
}

func TestOwnerGoesOnWithoutItsGuardian(t *testing.T) {
	owner := newOwner(t)
	for range 5 {
		run(t, owner, sh("true"))
		guardian := child.GuardianPID(owner)
		_ = syscall.Kill(guardian, syscall.SIGKILL)
		// At once, and again when the loss has been noticed everywhere.
		result, err := owner.Run(within(t, 20*time.Second), sh("echo on"), child.RunOptions{})
		if !errors.Is(err, child.ErrLost) && (err != nil || string(result.Stdout) != "on\n") {
			t.Errorf("%v, %+v", err, result)
		}
		eventually(t, 5*time.Second, "guardian gone", func() bool { return child.GuardianPID(owner) != guardian })
	}
	eventually(t, 5*time.Second, "works again", func() bool {
		result, err := owner.Run(within(t, 20*time.Second), sh("echo on"), child.RunOptions{})
		return err == nil && string(result.Stdout) == "on\n"
	})
}

func TestTreeThatGrowsWhileItIsKilled(t *testing.T) {
	owner, numbers := newOwner(t), &numbers{}
	rounds := 3
	if soak() {
		rounds = 20
	}
	scripts := map[string]string{
		// 2^7 shells, growing while the kill begins.
		"tree": `f() { if [ $1 -ge 6 ]; then exec sleep NUM; fi; f $(($1+1)) & f $(($1+1)) & wait; : NUM; }; echo ready; f 0`,
		// One that is never in one place, at most 3000 times.
		"hops": `hop() { if [ $1 -gt 0 ]; then setsid -f bash -c "$(declare -f hop); hop $(($1-1)) NUM"; fi; }; echo ready; hop 3000`,
		// One that starts its children again.
		"supervisor": `trap "" TERM; echo ready; for i in {1..2000}; do sleep NUM & sleep NUM; wait; done`,
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			for range rounds {
				number := numbers.take()
				process, _ := startReady(t, owner, sh(strings.ReplaceAll(script, "NUM", number)))
				checkReport(t)(process.Kill(20 * time.Millisecond))
				checkGone(t, number, 0)
			}
		})
	}
}

func TestGraceLetsAProgramClearUp(t *testing.T) {
	owner := newOwner(t)
	file := filepath.Join(t.TempDir(), "cleared")
	process, _ := startReady(t, owner, sh(`trap 'echo yes >"`+file+`"; exit 4' TERM; echo ready; while :; do sleep 0.01; done`))
	started := time.Now()
	checkReport(t)(process.Kill(10 * time.Second))
	exit, err := process.Wait(t.Context())
	if err != nil || exit.Code != 4 || time.Since(started) > 5*time.Second {
		t.Errorf("%v, %v after %v", exit, err, time.Since(started))
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "yes\n" {
		t.Errorf("%q, %v", got, err)
	}
}
