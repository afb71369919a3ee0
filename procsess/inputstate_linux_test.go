package procsess

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/child"
)

// becomes waits until a program is found to be doing something, and stays so. What
// it must never be found doing is noticed on the way.
func becomes(t *testing.T, ev *evidence, want, never InputState) Input {
	t.Helper()
	var got Input
	same := 0
	for end := time.Now().Add(30 * time.Second); same < 10; time.Sleep(5 * time.Millisecond) {
		got = lookForInput(ev)
		if got.State == never {
			t.Fatalf("it is %s", got.State)
		}
		if same++; got.State != want {
			same = 0
		}
		if time.Now().After(end) {
			t.Fatalf("it is %s, want %s", got.State, want)
		}
	}
	return got
}

// TestInputOnTerminal: the cases beside the programs of the matrix.
func TestInputOnTerminal(t *testing.T) {
	owner := newTestOwner(t)
	python := func(script string) []string { return []string{"python3", "-c", script} }
	for _, c := range []struct {
		name        string
		argv        []string
		want, never InputState
	}{
		{"background reader is stopped", []string{"bash", "-c", "set -m; cat </dev/tty & echo ready; set +m; exec sleep 1000"}, NoInput, BlockedRead},
		{"background poll", []string{"bash", "-c", "set -m; python3 -c 'import select; print(\"ready\", flush=True); select.select([0], [], [])' & set +m; exec sleep 1000"}, NoInput, BlockedRead},
		{"reader that is stopped", shell("(sleep .3; kill -STOP $$; echo ready) & read x"), NoInput, BlockedRead},
		{"reader beside sleepers", shell("sleep 1000 & sleep 1001 & echo ready; cat"), BlockedRead, ""},
		{"reader beside a busy process", shell("(while :; do :; done) & echo ready; cat"), BlockedRead, ""},
		{"reader outside of the terminal's session", shell("echo ready; setsid -w cat"), BlockedRead, ""},
		{"read with a timeout", []string{"bash", "-c", "echo ready; read -t 1000 x"}, AcceptsInput, BlockedRead},
		{"momentary reads", shell("stty -icanon min 0 time 5; echo ready; while :; do dd bs=1 count=1 2>/dev/null; done"), AcceptsInput, BlockedRead},
		{"reader of something else", shell("echo ready; sleep 1000 | cat"), NoInput, BlockedRead},
		{"reader of another terminal", python("import os; m, s = os.openpty(); print('ready', flush=True); os.read(s, 1)"), NoInput, BlockedRead},
		{"poll of something else", python("import os, select; r, w = os.pipe(); p = select.poll(); p.register(r); print('ready', flush=True); p.poll()"), NoInput, ""},
		{"poll for writing", python("import os, select; p = select.epoll(); p.register(1, 0); print('ready', flush=True); p.poll()"), NoInput, ""},
		{"poll", python("import select; p = select.poll(); p.register(0, select.POLLIN); print('ready', flush=True); p.poll()"), AcceptsInput, BlockedRead},
		{"poll after a stop", python("import os, select; p = select.poll(); p.register(0, select.POLLIN); (os.fork() or (os.system(f'sleep .2; kill -STOP {os.getppid()}; sleep .2; kill -CONT {os.getppid()}; sleep .1; echo ready'), os._exit(0))); p.poll(1000000)"), AcceptsInput, BlockedRead},
		{"select", python("import select; print('ready', flush=True); select.select([0], [], [])"), AcceptsInput, BlockedRead},
		{"epoll", python("import select; p = select.epoll(); p.register(0, select.EPOLLIN); print('ready', flush=True); p.poll()"), AcceptsInput, BlockedRead},
		{"epoll in epoll", python("import select; p = select.epoll(); p.register(0, select.EPOLLIN); q = select.epoll(); q.register(p.fileno(), select.EPOLLIN); print('ready', flush=True); q.poll()"), AcceptsInput, BlockedRead},
		{"thread that reads beside a server", python("import socket, threading, sys; s = socket.create_server(('127.0.0.1', 0)); threading.Thread(target=sys.stdin.readline).start(); print('ready', flush=True); s.accept()"), AcceptsInput, BlockedRead},
		{"reader beside idle threads", python("import threading; e = threading.Event(); threading.Thread(target=e.wait, daemon=True).start(); input('ready')"), BlockedRead, ""},
		{"readers one after another", shell("echo ready; while :; do read x || exit; done"), BlockedRead, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			console := startConsole(t, owner, c.argv[0], c.argv[1:]...)
			console.shows("ready")
			becomes(t, console.evidence(), c.want, c.never)
		})
	}
}

// TestInputAfterTyping: a read that was just given something is not waiting any more.
// The program's answers are in a file, where they are seen as soon as they are given.
func TestInputAfterTyping(t *testing.T) {
	answers := filepath.Join(t.TempDir(), "answers")
	c := startConsole(t, newTestOwner(t), "sh", "-c", "echo ready; while read x; do sleep .05; echo $x >>"+answers+"; done")
	c.shows("ready")
	ev := c.evidence()
	want := ""
	for i := range 20 {
		becomes(t, ev, BlockedRead, "")
		want += fmt.Sprintf("%d\n", i)
		c.write(fmt.Sprintf("%d\n", i))
		for answered := false; !answered; {
			got := lookForInput(ev)
			text, err := os.ReadFile(answers)
			if err != nil && i > 0 {
				t.Fatal(err)
			}
			if answered = string(text) == want; !answered && got.State == BlockedRead {
				t.Fatalf("it is %s before it has answered", got.State)
			}
		}
	}
	ev.lastInput = time.Now
	if got := lookForInput(ev); got.State != AcceptsInput {
		t.Errorf("in the moment of typing it is %s", got.State)
	}
}

// TestInputAtTheEnd: nothing waits where nothing is left.
func TestInputAtTheEnd(t *testing.T) {
	c := startConsole(t, newTestOwner(t), "sh", "-c", "echo ready; read x")
	c.shows("ready")
	becomes(t, c.evidence(), BlockedRead, "")
	c.write("x\n")
	<-c.process.Done()
	becomes(t, c.evidence(), NoInput, BlockedRead)
}

// piped runs a program on pipes.
func piped(t *testing.T, owner *child.Owner, argv []string) (stdin *os.File, ev *evidence) {
	t.Helper()
	path, err := child.LookPath(argv[0], []string{testPath})
	if err != nil {
		missing(t, argv[0])
	}
	in, stdin, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	process, err := owner.Start(ctx, child.Command{Path: path, Args: argv[1:], Stdin: in, Env: []string{testPath}})
	in.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = process.Kill(0); stdin.Close() })
	return stdin, &evidence{stdin: stdin, leader: process.PID(), tree: process.Tree}
}

// TestInputOnPipes: without a terminal it is the pipe that counts.
func TestInputOnPipes(t *testing.T) {
	owner := newTestOwner(t)
	for _, c := range []struct {
		name        string
		argv        []string
		want, never InputState
	}{
		{"cat", []string{"cat"}, BlockedRead, ""},
		{"read in a child", shell("sleep 1000 & sh -c 'read x' ; :"), BlockedRead, ""},
		{"sleep", []string{"sleep", "1000"}, NoInput, BlockedRead},
		{"another pipe", shell("sleep 1000 | cat"), NoInput, BlockedRead},
		{"node", []string{"node", "-e", "process.stdin.on('data', () => {})"}, AcceptsInput, BlockedRead},
		{"python", []string{"python3", "-c", "input()"}, BlockedRead, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdin, ev := piped(t, owner, c.argv)
			if got := becomes(t, ev, c.want, c.never); got.Mode != "" {
				t.Errorf("the mode of a pipe is %q", got.Mode)
			}
			if c.name == "sleep" {
				if _, err := stdin.WriteString("more than it reads"); err != nil {
					t.Fatal(err)
				}
				becomes(t, ev, NoInput, BlockedRead)
				ev.stdin = nil
				becomes(t, ev, NoInput, BlockedRead)
			}
		})
	}
}

// TestInputUnreadable: who may not know says so.
func TestInputUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything; TestAsNobody runs this without")
	}
	owner := newTestOwner(t)
	c := startConsole(t, owner, "su", "root")
	c.shows("Password")
	if got := becomes(t, c.evidence(), UnknownInput, BlockedRead); got.Mode != PasswordMode {
		t.Errorf("mode is %s", got.Mode)
	}
}

// TestInputGone: a look at what ends meanwhile fails in no way, and a tree that
// cannot be listed is nothing to go by.
func TestInputGone(t *testing.T) {
	c := startConsole(t, newTestOwner(t), "sh", "-c", "echo ready; while :; do sh -c 'sleep .001'; done")
	c.shows("ready")
	ev := c.evidence()
	for range 200 {
		if got := lookForInput(ev); got.State == BlockedRead {
			t.Fatal(got)
		}
	}
	ev.tree = func() ([]child.Info, error) { return nil, syscall.ECONNRESET }
	if got := lookForInput(ev); got.State != UnknownInput {
		t.Errorf("without a tree it is %s", got.State)
	}
}

// TestCalls: lines of a syscall file as kernels write them.
func TestCalls(t *testing.T) {
	for line, want := range map[string]call{
		"running\n":                    {running: true},
		"-1 0x7ffc4a3c1f08 0x401000\n": {},
		"":                             {kind: unknownCall},
		"0 0x0 0x1\n":                  {},
		"x 0x0 0x0 0x0 0x0 0x0 0x0 0x7ffc4a3c1f08 0x401000\n": {kind: unknownCall},
	} {
		if got := parseCall(line); got != want {
			t.Errorf("%q is %+v, want %+v", line, got, want)
		}
	}
	// The same numbers mean something else in a program of 32 bits, whose stack is
	// below 4 GiB.
	if got := parseCall("0 0x0 0x0 0x0 0x0 0x0 0x0 0xffc4a3c0 0xf7f01000\n"); got.kind != unknownCall {
		t.Errorf("a 32-bit call is %+v", got)
	}
	own, err := os.ReadFile(filepath.Join("/proc/thread-self", "syscall"))
	if err != nil {
		t.Fatal(err)
	}
	if got := parseCall(string(own)); got.kind != readCall && !got.running {
		t.Errorf("our own read is %+v (%s)", got, own)
	}
}
