package child_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/child"
)

// talker writes more than any pipe or terminal holds, a round whenever there is
// a new file "go", and counts its rounds in a file; it notes a hang-up, and the end
// of its input. NUM finds it.
const talker = `cd DIR
trap 'echo hup >>trouble' HUP
exec 3<&0
{ while read -r line <&3; do :; done; echo eof >>trouble; } &
setsid sleep NUM &
echo ready
n=0
while :; do
  if [ -e go ]; then rm go; head -c 300000 /dev/zero | tr '\0' x; n=$((n+1)); echo $n >count.new; mv count.new count; fi
  sleep 0.01
done
: NUM`

// goes has the talker write, and waits until it could.
func goes(t *testing.T, dir, round string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Second, "the program writes on", func() bool {
		count, _ := os.ReadFile(filepath.Join(dir, "count"))
		return string(count) == round+"\n"
	})
	if trouble, err := os.ReadFile(filepath.Join(dir, "trouble")); err == nil {
		t.Errorf("the program noticed: %q", trouble)
	}
}

// endAll ends what a test let go, reapers and all.
func endAll(t *testing.T, number string) {
	eventually(t, 10*time.Second, "what was let go can be ended", func() bool {
		left := carriers(number, false)
		for _, line := range left {
			var pid int
			if _, err := fmt.Sscan(line, &pid); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		return len(left) == 0
	})
}

// startTalker starts one on a terminal or on pipes, and returns what to let go with it.
func startTalker(ctx context.Context, owner *child.Owner, script string, tty bool) (process *child.Process, keep []*os.File, err error) {
	cmd := sh(script)
	var theirs []*os.File
	if tty {
		master, slave, err := terminal()
		if err != nil {
			return nil, nil, err
		}
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.TTY = slave, slave, slave, true
		keep, theirs = []*os.File{master}, []*os.File{slave}
	} else {
		input, typing, err := os.Pipe()
		if err != nil {
			return nil, nil, err
		}
		reading, output, err := os.Pipe()
		if err != nil {
			return nil, nil, err
		}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = input, output, output
		keep, theirs = []*os.File{reading, typing}, []*os.File{input, output}
	}
	process, err = owner.Start(ctx, cmd)
	for _, file := range theirs {
		file.Close()
	}
	if err == nil {
		_, err = bufio.NewReader(keep[0]).ReadString('\n')
	}
	return process, keep, err
}

// runLetGoRole owns a talker that it lets go and one that it does not.
func runLetGoRole(args []string) int {
	options := &child.Options{Solo: args[0] == "solo"}
	owner := child.NewOwner(options)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	process, keep, err := startTalker(ctx, owner, args[2], args[1] == "tty")
	if err == nil && !options.Solo {
		_, _, err = startTalker(ctx, owner, args[3], args[1] == "tty")
	}
	if err == nil {
		err = process.LetGo(keep...)
	}
	if err != nil {
		fmt.Println("failed:", err)
		return 1
	}
	for _, file := range keep {
		file.Close()
	}
	if options.Solo {
		fmt.Println(os.Getpid(), os.Getpid())
	} else {
		fmt.Println(child.GuardianPID(owner), child.ReaperPID(process))
	}
	_, _ = io.ReadAll(os.Stdin)
	if err := owner.Close(); err != nil {
		fmt.Println("close:", err)
	}
	return 0
}

// startRole runs this program again in a role, and returns how to talk to it.
func startRole(t *testing.T, args ...string) (role *exec.Cmd, stdin io.WriteCloser, said *bufio.Reader) {
	t.Helper()
	role = exec.CommandContext(within(t, 60*time.Second), "/proc/self/exe", args...)
	stdin, err := role.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := role.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := role.Start(); err != nil {
		t.Fatal(err)
	}
	return role, stdin, bufio.NewReader(stdout)
}

// startLetGo runs the role, and returns when what it lets go is on its own.
func startLetGo(t *testing.T, kind, terminal string, scripts ...string) (owner *exec.Cmd, end func(), guardian, reaper int) {
	t.Helper()
	owner, stdin, said := startRole(t, append([]string{letGoRole, kind, terminal}, scripts...)...)
	line, _ := said.ReadString('\n')
	if _, err := fmt.Sscan(line, &guardian, &reaper); err != nil {
		t.Fatalf("owner said %q", line)
	}
	return owner, func() { stdin.Close() }, guardian, reaper
}

func TestWhatIsLetGoLivesOn(t *testing.T) {
	endings := map[string]func(owner *exec.Cmd, end func(), guardian int){
		"owner closed":  func(_ *exec.Cmd, end func(), _ int) { end() },
		"owner killed":  func(owner *exec.Cmd, _ func(), _ int) { _ = owner.Process.Kill() },
		"guardian lost": func(_ *exec.Cmd, end func(), guardian int) { _ = syscall.Kill(guardian, syscall.SIGKILL); end() },
		"both killed": func(owner *exec.Cmd, _ func(), guardian int) {
			_ = syscall.Kill(guardian, syscall.SIGKILL)
			_ = owner.Process.Kill()
		},
	}
	numbers := &numbers{}
	for name, finish := range endings {
		for _, terminal := range []string{"tty", "pipe"} {
			t.Run(name+"/"+terminal, func(t *testing.T) {
				free, kept, dir := numbers.take(), numbers.take(), t.TempDir()
				script := strings.ReplaceAll(strings.ReplaceAll(talker, "DIR", dir), "NUM", free)
				sibling := strings.ReplaceAll(strings.ReplaceAll(talker, "DIR", t.TempDir()), "NUM", kept)
				owner, end, guardian, reaper := startLetGo(t, "helpers", terminal, script, sibling)
				t.Cleanup(func() { endAll(t, free) })
				goes(t, dir, "1")
				finish(owner, end, guardian)
				if err := owner.Wait(); name == "owner closed" && err != nil {
					t.Errorf("owner: %v", err)
				}
				checkGone(t, kept, 2*time.Second)
				eventually(t, 2*time.Second, "guardian gone", func() bool { return !alive(guardian) })
				goes(t, dir, "2")
				if !alive(reaper) {
					t.Error("the reaper of what was let go is gone")
				}
				endAll(t, free)
				eventually(t, 2*time.Second, "the reaper ends with its tree", func() bool { return !alive(reaper) })
			})
		}
	}
}

func TestLetGoIsTheEndForItsOwner(t *testing.T) {
	owner, numbers := newOwner(t), &numbers{}
	number, dir := numbers.take(), t.TempDir()
	script := strings.ReplaceAll(strings.ReplaceAll(talker, "DIR", dir), "NUM", number)
	process, keep, err := startTalker(within(t, 20*time.Second), owner, script, true)
	if err != nil {
		t.Fatal(err)
	}
	defer endAll(t, number)
	if err := process.LetGo(keep[0], keep[0], keep[0], keep[0]); err == nil {
		t.Error("more files were taken than there are")
	}
	if err := process.LetGo(keep...); err != nil {
		t.Fatal(err)
	}
	keep[0].Close()
	if _, err := process.Wait(t.Context()); !errors.Is(err, child.ErrLetGo) {
		t.Errorf("Wait: %v", err)
	}
	if err := process.Signal(syscall.SIGTERM); !errors.Is(err, child.ErrFinished) {
		t.Errorf("Signal: %v", err)
	}
	if report, err := process.Kill(time.Second); err != nil || len(report.Killed) != 0 {
		t.Errorf("Kill: %v, %v", report, err)
	}
	if err := process.LetGo(); !errors.Is(err, child.ErrFinished) {
		t.Errorf("again: %v", err)
	}
	goes(t, dir, "1")
	if got := run(t, owner, sh("echo on")); string(got.Stdout) != "on\n" {
		t.Errorf("the owner afterwards: %q", got.Stdout)
	}

	ended, err := owner.Start(within(t, 20*time.Second), sh("true"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ended.Release(); err != nil {
		t.Fatal(err)
	}
	if err := ended.LetGo(); !errors.Is(err, child.ErrFinished) {
		t.Errorf("of what has ended: %v", err)
	}
}

// Letting go and closing at the same time: what LetGo says is what has happened.
func TestLetGoWhileTheOwnerCloses(t *testing.T) {
	numbers, rounds := &numbers{}, 5
	if soak() {
		rounds = 200
	}
	for range rounds {
		number := numbers.take()
		owner := child.NewOwner(nil)
		process, err := owner.Start(within(t, 20*time.Second), sh("sleep "+number+"; : "+number))
		if err != nil {
			t.Fatal(err)
		}
		closed := make(chan error, 1)
		go func() { closed <- owner.Close() }()
		letGo := process.LetGo()
		if err := <-closed; err != nil {
			t.Errorf("Close: %v", err)
		}
		if letGo != nil {
			checkGone(t, number, 2*time.Second)
			continue
		}
		if len(carriers(number, false)) == 0 {
			t.Error("let go, and gone")
		}
		endAll(t, number)
	}
}
