package child_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/child"
)

func TestMain(m *testing.M) {
	child.Main()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case ownerRole:
			os.Exit(runOwnerRole(os.Args[2:]))
		case letGoRole:
			os.Exit(runLetGoRole(os.Args[2:]))
		case soloRole:
			os.Exit(runSoloRole(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}

// These make the test binary a program that owns processes, so that a test can
// kill it.
const (
	ownerRole = "own-processes"
	letGoRole = "own-processes-and-let-go"
	soloRole  = "own-processes-alone"
)

func soak() bool { return os.Getenv("PRISM_SOAK") == "1" }

func newOwner(t testing.TB) *child.Owner {
	t.Helper()
	owner := child.NewOwner(nil)
	t.Cleanup(func() {
		if err := owner.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return owner
}

func within(t testing.TB, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

func sh(script string) child.Command {
	return child.Command{
		Path: "/bin/bash", Args: []string{"-c", script}, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
	}
}

func run(t testing.TB, owner *child.Owner, cmd child.Command) *child.RunResult {
	t.Helper()
	result, err := owner.Run(within(t, 20*time.Second), cmd, child.RunOptions{})
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return result
}

func TestExit(t *testing.T) {
	owner := newOwner(t)
	for _, test := range []struct {
		script string
		code   int
		signal syscall.Signal
	}{
		{"exit 0", 0, 0},
		{"exit 7", 7, 0},
		{"exit 255", 255, 0},
		{"kill -KILL $$", -1, syscall.SIGKILL},
		{"kill -PIPE $$", -1, syscall.SIGPIPE},
		{"kill -HUP $$", -1, syscall.SIGHUP},
	} {
		got := run(t, owner, sh(test.script)).Exit
		if got.Code != test.code || got.Signal != test.signal {
			t.Errorf("%s: code %d, signal %v", test.script, got.Code, got.Signal)
		}
	}
}

func TestRusage(t *testing.T) {
	owner := newOwner(t)
	exit := run(t, owner, sh("x=$(printf %02000000d 7); for ((i=0;i<30000;i++)); do :; done")).Exit
	if exit.User <= 0 || exit.MaxRSS < 2_000_000 || exit.MaxRSS > 1<<30 {
		t.Errorf("user %v, max rss %d", exit.User, exit.MaxRSS)
	}
}

func TestStartErrors(t *testing.T) {
	owner := newOwner(t)
	ctx := within(t, 20*time.Second)
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	var path *fs.PathError
	for _, test := range []struct {
		cmd  child.Command
		want error
		op   string
	}{
		{child.Command{Path: "/does/not/exist"}, fs.ErrNotExist, "exec"},
		{child.Command{Path: file}, fs.ErrPermission, "exec"},
		{child.Command{Path: "/bin/true", Dir: "/does/not/exist"}, fs.ErrNotExist, "chdir"},
		{child.Command{Path: "/bin/true", Dir: file}, syscall.ENOTDIR, "chdir"},
		{child.Command{Path: "/bin/true", Args: []string{strings.Repeat("x", 17<<20)}}, syscall.E2BIG, ""},
		{child.Command{Path: "/bin/true", Args: []string{strings.Repeat("x", 1<<20)}}, syscall.E2BIG, "exec"},
	} {
		_, err := owner.Start(ctx, test.cmd)
		if !errors.Is(err, test.want) {
			t.Errorf("%s in %q: %v", test.cmd.Path, test.cmd.Dir, err)
		}
		if test.op != "" && (!errors.As(err, &path) || path.Op != test.op) {
			t.Errorf("%s in %q: %v, want op %s", test.cmd.Path, test.cmd.Dir, err, test.op)
		}
	}
	for _, cmd := range []child.Command{
		{}, {Path: "true"}, {Path: "/bin/true", TTY: true}, {Path: "/bin/true", Args: []string{"a\x00b"}},
		{Path: "/bin/true", Sandbox: &child.Sandbox{Mode: "maybe"}},
		{Path: "/bin/true", Sandbox: &child.Sandbox{Mode: child.Require, WriteRoots: []string{"relative"}}},
		{Path: "/bin/true", Sandbox: &child.Sandbox{Mode: child.Require, WriteRoots: []string{"/"}}},
	} {
		if _, err := owner.Start(ctx, cmd); err == nil {
			t.Errorf("%+v was started", cmd)
		}
	}
	// What failed leaves the owner usable.
	if got := run(t, owner, sh("echo fine")); string(got.Stdout) != "fine\n" {
		t.Errorf("afterwards: %q", got.Stdout)
	}
}

func TestStreams(t *testing.T) {
	owner := newOwner(t)
	input := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	result, err := owner.Run(within(t, 20*time.Second), sh("cat; echo problem >&2"), child.RunOptions{Stdin: input})
	if err != nil || !bytes.Equal(result.Stdout, input) || string(result.Stderr) != "problem\n" {
		t.Errorf("%v, %d bytes, stderr %q", err, len(result.Stdout), result.Stderr)
	}
	result, err = owner.Run(within(t, 20*time.Second), sh("cat"), child.RunOptions{Stdin: input, MaxOutput: 1000})
	if err != nil || len(result.Stdout) != 1000 || result.StdoutBytes != int64(len(input)) {
		t.Errorf("bounded: %v, %d of %d bytes", err, len(result.Stdout), result.StdoutBytes)
	}
	// A program that does not read its input is no failure.
	result, err = owner.Run(within(t, 20*time.Second), sh("exec <&-; echo done"), child.RunOptions{Stdin: input})
	if err != nil || string(result.Stdout) != "done\n" {
		t.Errorf("unread input: %v, %q", err, result.Stdout)
	}
	if got := run(t, owner, sh("cat; readlink /proc/self/fd/0")); string(got.Stdout) != "/dev/null\n" {
		t.Errorf("no input: %q", got.Stdout)
	}
}

func TestWhatAProgramInherits(t *testing.T) {
	owner := newOwner(t)
	// A descriptor that is inheritable in this process must go no further.
	stray, err := syscall.Open("/etc/hostname", syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(stray)
	plain := func(path string, args ...string) string {
		t.Helper()
		result := run(t, owner, child.Command{Path: path, Args: args, Env: []string{"A=b", "C="}})
		return string(result.Stdout)
	}
	if got := plain("/bin/ls", "/proc/self/fd"); got != "0\n1\n2\n3\n" { // 3 is the listing itself
		t.Errorf("descriptors: %q", got)
	}
	if got := plain("/bin/cat", "/proc/self/environ"); got != "A=b\x00C=\x00" {
		t.Errorf("environment: %q", got)
	}
	// Some programs, GNU make among them, pass on the C library's own two signals
	// (32 and 33, nptl(7)) as ignored; no program can do anything about those.
	const own = 1<<31 | 1<<32
	for line := range strings.Lines(plain("/bin/grep", "-E", "^Sig(Ign|Blk|Cgt)", "/proc/self/status")) {
		name, mask, _ := strings.Cut(line, ":")
		bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
		if err != nil || bits&^own != 0 && name != "SigCgt" {
			t.Errorf("signals are not as a program expects them: %s", line)
		}
	}
	// pid, parent, group, session, terminal
	stat := strings.Fields(plain("/bin/cat", "/proc/self/stat"))
	if stat[0] != stat[4] || stat[6] != "0" {
		t.Errorf("no group of its own, or a terminal: %q", stat[:8])
	}
}

func TestLongCommand(t *testing.T) {
	owner := newOwner(t)
	args := []string{"-c", `echo $# ${#1} ${#BIG}`, "sh"}
	for range 900 {
		args = append(args, strings.Repeat("a", 1000))
	}
	got := run(t, owner, child.Command{Path: "/bin/bash", Args: args, Env: []string{"BIG=" + strings.Repeat("b", 100_000)}})
	if string(got.Stdout) != "900 1000 100000\n" {
		t.Errorf("%q", got.Stdout)
	}
}

func TestSignalAndTree(t *testing.T) {
	owner := newOwner(t)
	process, ready := startReady(t, owner, sh(`trap 'echo got; exit 3' USR1; sleep 1000 & echo ready; wait`))
	tree, err := process.Tree()
	if err != nil || len(tree) != 2 || tree[0].PID != process.PID() || !strings.Contains(tree[1].Command, "sleep") {
		t.Errorf("tree %v, %v", tree, err)
	}
	if err := process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	exit, err := process.Wait(within(t, 5*time.Second))
	if err != nil || exit.Code != 3 {
		// The group got it, so the sleep is gone too.
		t.Errorf("%v, %v", exit, err)
	}
	ready.Close()
	if report, err := process.Release(); err != nil || len(report.Survivors) != 0 {
		t.Errorf("release: %v, %v", report, err)
	}
	if err := process.Signal(syscall.SIGTERM); !errors.Is(err, child.ErrFinished) {
		t.Errorf("signal after the end: %v", err)
	}
	if report, err := process.Kill(time.Second); err != nil || len(report.Killed) != 0 {
		t.Errorf("kill after the end: %v, %v", report, err)
	}
}

// startReady starts a program and waits until it has printed a line.
func startReady(t testing.TB, owner *child.Owner, cmd child.Command) (*child.Process, *os.File) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close() })
	cmd.Stdout = writer
	process, err := owner.Start(within(t, 20*time.Second), cmd)
	writer.Close()
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	_ = reader.SetReadDeadline(time.Now().Add(20 * time.Second))
	line := make([]byte, 256)
	if n, err := reader.Read(line); err != nil {
		t.Fatalf("not ready: %v, %q", err, line[:n])
	}
	return process, reader
}

func TestWaitEndsWithItsContext(t *testing.T) {
	owner := newOwner(t)
	process, err := owner.Start(within(t, 20*time.Second), sh("sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := process.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait: %v", err)
	}
	report, err := process.Kill(time.Second)
	if err != nil || len(report.Killed) != 1 || !strings.Contains(report.Killed[0].Command, "sleep 1000") {
		t.Errorf("Kill: %v, %v", report, err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	owner := newOwner(t)
	ctx, cancel := context.WithCancel(within(t, 20*time.Second))
	file := t.TempDir() + "/up"
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if _, err := os.Stat(file); err == nil {
				return
			}
		}
	}()
	result, err := owner.Run(ctx, sh("echo first; trap '' TERM; sleep 1000 & >"+file+"; while :; do sleep 1000; done"), child.RunOptions{Grace: 100 * time.Millisecond})
	if !errors.Is(err, context.Canceled) || result == nil {
		t.Fatalf("%v, %+v", err, result)
	}
	if string(result.Stdout) != "first\n" || result.Exit.Signal != syscall.SIGKILL || len(result.Tree.Killed) < 2 {
		t.Errorf("%+v", result)
	}
}

func TestBackgroundChildHoldsNoRun(t *testing.T) {
	owner := newOwner(t)
	started := time.Now()
	result := run(t, owner, sh("(setsid sleep 1000 &) ; sleep 1000 & echo hello"))
	if string(result.Stdout) != "hello\n" || result.Exit.Code != 0 || len(result.Tree.Killed) != 2 {
		t.Errorf("%+v", result)
	}
	if spent := time.Since(started); spent > 2*time.Second {
		t.Errorf("took %v", spent)
	}
}

func TestManyAtOnceBesideExec(t *testing.T) {
	owner := newOwner(t)
	rounds := 50
	if soak() {
		rounds = 1000
	}
	var wait sync.WaitGroup
	for i := range rounds {
		wait.Go(func() {
			result, err := owner.Run(t.Context(), sh(fmt.Sprintf("echo %d; exit %d", i, i%100)), child.RunOptions{})
			if err != nil || result.Exit.Code != i%100 || string(result.Stdout) != fmt.Sprintln(i) {
				t.Errorf("%d: %v, %+v", i, err, result)
			}
		})
		if i%50 < 10 {
			wait.Go(func() {
				if err := exec.Command("/bin/true").Run(); err != nil {
					t.Errorf("os/exec beside it: %v", err)
				}
			})
		}
		if i%50 == 49 {
			wait.Wait()
		}
	}
}

func TestClosedOwner(t *testing.T) {
	owner := child.NewOwner(nil)
	if err := owner.Close(); err != nil {
		t.Errorf("closing an owner that did nothing: %v", err)
	}
	if _, err := owner.Start(t.Context(), sh("true")); !errors.Is(err, child.ErrClosed) {
		t.Errorf("Start: %v", err)
	}
	if err := owner.Close(); err != nil {
		t.Errorf("again: %v", err)
	}
}

func TestHelper(t *testing.T) {
	for _, helper := range []string{"/bin/true", "/does/not/exist"} {
		owner := child.NewOwner(&child.Options{Helper: []string{helper}})
		if _, err := owner.Start(within(t, 20*time.Second), sh("true")); err == nil {
			t.Errorf("%s is no helper, but something was started", helper)
		}
		if err := owner.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	owner := child.NewOwner(&child.Options{Helper: []string{"/proc/self/exe", "ignored"}})
	defer owner.Close()
	cmd := sh("echo works; pwd")
	cmd.Sandbox = &child.Sandbox{Mode: child.Prefer}
	here, err := os.Getwd()
	if got := run(t, owner, cmd); err != nil || string(got.Stdout) != "works\n"+here+"\n" {
		t.Errorf("%q", got.Stdout)
	}
}

func TestLookPath(t *testing.T) {
	if got, err := child.LookPath("true", []string{"A=b", "PATH=:relative:/nowhere:/usr/bin:/bin"}); err != nil || got != "/usr/bin/true" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := child.LookPath("true", []string{"PATH=."}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("relative entry: %v", err)
	}
}

// TestAfterEnd: what is to run after a program's end runs once, whenever it is
// asked for.
func TestAfterEnd(t *testing.T) {
	owner := newOwner(t)
	process, err := owner.Start(within(t, 20*time.Second), sh("exit 4"))
	if err != nil {
		t.Fatal(err)
	}
	codes := make(chan int, 3)
	after := func() {
		exit, err := process.Wait(t.Context())
		if err != nil {
			t.Error(err)
		}
		codes <- exit.Code
	}
	process.AfterEnd(after)
	<-process.Done()
	process.AfterEnd(after)
	for range 2 {
		if code := <-codes; code != 4 {
			t.Errorf("exit %d", code)
		}
	}
	if len(codes) != 0 {
		t.Error("one ran twice")
	}
}
