package procsess

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/child"
)

// program is one of the programs that were chosen to tell whether waiting for input
// is recognised.
type program struct {
	name  string
	argv  []string
	shows string // on the terminal, once it is where it should be looked at
	want  InputState
	mode  InputMode // "" is any
	ports int
}

func shell(line string) []string { return []string{"sh", "-c", line} }

// programs are the 27. The directory has a text, and a repository.
func programs() []program {
	node := func(script string) []string { return []string{"node", "-e", script} }
	python := func(script string) []string { return []string{"python3", "-c", script} }
	const server = `const s = require("http").createServer().listen(0, "127.0.0.1", () => console.log("listening"));`
	return []program{
		{name: "sleep", argv: shell("echo ready; exec sleep 1000"), shows: "ready", want: NoInput},
		{name: "busy loop", argv: shell("echo ready; while :; do :; done"), shows: "ready", want: NoInput},
		{name: "tail -f", argv: shell("echo ready; exec tail -f /dev/null"), shows: "ready", want: NoInput},
		{name: "python http.server", argv: []string{"python3", "-u", "-m", "http.server", "--bind", "127.0.0.1", "0"}, shows: "Serving", want: NoInput, ports: 1},
		{name: "node http server", argv: node(server), shows: "listening", want: NoInput, ports: 1},
		{name: "node timer", argv: node(`setInterval(() => console.log("tick"), 5)`), shows: "tick", want: NoInput},
		{name: "pipeline", argv: shell("echo ready; yes | head -c 1T | sha256sum"), shows: "ready", want: NoInput},

		{name: "node server with keys", argv: node(server + `process.stdin.setRawMode(true); process.stdin.on("data", () => {})`), shows: "listening", want: AcceptsInput, mode: RawMode, ports: 1},

		{name: "sh read", argv: shell("echo ready; read x; echo over"), shows: "ready", want: BlockedRead, mode: LineMode},
		{name: "bash read -s", argv: []string{"bash", "-c", "echo ready; read -s x"}, shows: "ready", want: BlockedRead, mode: PasswordMode},
		{name: "python input", argv: python(`input("ready ")`), shows: "ready", want: BlockedRead},
		{name: "python getpass", argv: python(`import getpass; getpass.getpass("ready ")`), shows: "ready", want: BlockedRead, mode: PasswordMode},
		{name: "cat", argv: shell("echo ready; exec cat"), shows: "ready", want: BlockedRead, mode: LineMode},
		{name: "less", argv: []string{"less", "text"}, shows: "line 30", want: BlockedRead, mode: RawMode},
		{name: "git log", argv: []string{"git", "-C", "repository", "-c", "core.pager=less", "log"}, shows: "commit 5", want: BlockedRead, mode: RawMode},
		{name: "read </dev/tty", argv: shell("echo ready; read x </dev/tty"), shows: "ready", want: BlockedRead, mode: LineMode},
		{name: "read </dev/tty | cat", argv: shell("echo ready; sh -c 'read x </dev/tty' | cat"), shows: "ready", want: BlockedRead, mode: LineMode},

		{name: "python", argv: []string{"python3", "-q"}, shows: ">>> ", want: AcceptsInput},
		{name: "node", argv: []string{"node"}, shows: "> ", want: AcceptsInput, mode: RawMode},
		{name: "bash", argv: []string{"bash", "--norc", "-i"}, shows: "bash-", want: AcceptsInput},
		{name: "sqlite3", argv: []string{"sqlite3"}, shows: "sqlite> ", want: AcceptsInput},
		{name: "bc", argv: []string{"bc"}, shows: "WARRANTY", want: AcceptsInput},
		{name: "gdb", argv: []string{"gdb", "-q", "-nx"}, shows: "(gdb) ", want: AcceptsInput},
		{name: "vim", argv: []string{"vim", "-u", "NONE", "text"}, shows: "line 30", want: AcceptsInput, mode: RawMode},
		{name: "top", argv: []string{"top", "-d", "1"}, shows: "PID", want: AcceptsInput, mode: RawMode},
		{name: "npm init", argv: []string{"npm", "init"}, shows: "package name", want: AcceptsInput},
		{name: "node question", argv: node(`require("readline").createInterface({input: process.stdin, output: process.stdout}).question("ready ", () => {})`), shows: "ready", want: AcceptsInput},
	}
}

// workshop is a directory with what the programs look at.
func workshop(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("/bin/sh", "-ec", `git init -q repository; cd repository
		git config user.name A; git config user.email a@example.org
		tree=$(git write-tree); parent=
		for i in $(seq 40 -1 1); do parent=$(git commit-tree $tree ${parent:+-p $parent} -m "commit $i"); done
		git update-ref HEAD $parent`)
	command.Dir = dir
	command.Env = []string{testPath, "HOME=" + dir}
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// evidence of a console is what a session has.
func (c *console) evidence() *evidence {
	return &evidence{
		master: c.master, leader: c.process.PID(), tree: c.process.Tree,
		lastOutput: func() time.Time { return time.Unix(0, c.written.Load()) },
		lastInput:  func() time.Time { return time.Unix(0, c.typed.Load()) },
	}
}

// verdict is what a program was found to be doing.
type verdict struct {
	program
	got      Input
	ports    []int
	looks    int
	blocked  int // of them said blocked_read
	each     time.Duration
	problems []string
}

// examine looks at a program until what is found is right and stays so for some
// time. A blocked_read that is false counts whenever it is seen.
func examine(t *testing.T, owner *child.Owner, dir string, p program) *verdict {
	c := startConsoleIn(t, owner, dir, p.argv)
	c.shows(p.shows)
	v := &verdict{program: p}
	ev := c.evidence()
	look := func() Input {
		got := lookForInput(ev)
		v.looks++
		if got.State == BlockedRead {
			v.blocked++
		}
		return got
	}
	// The text may be there before the program is ready for the answer.
	const stable, pause = 40, 10 * time.Millisecond
	same := 0
	for end := time.Now().Add(15 * time.Second); same < stable && time.Now().Before(end); time.Sleep(pause) {
		if v.got = look(); v.got.State == p.want {
			same++
		} else {
			same = 0
		}
	}
	started := time.Now()
	for range stable {
		look()
	}
	v.each = time.Since(started) / stable
	tree, err := c.process.Tree()
	if err != nil {
		t.Error(err)
	}
	var pids []int
	for _, info := range tree {
		pids = append(pids, info.PID)
	}
	v.ports = listeningPorts(pids)
	v.check()
	if _, err := c.process.Kill(0); err != nil {
		t.Error(err)
	}
	return v
}

func (v *verdict) check() {
	say := func(format string, args ...any) { v.problems = append(v.problems, fmt.Sprintf(format, args...)) }
	if v.got.State != v.want {
		say("state is %s, want %s", v.got.State, v.want)
	}
	if v.mode != "" && v.got.Mode != v.mode {
		say("mode is %s, want %s", v.got.Mode, v.mode)
	}
	if len(v.ports) != v.program.ports {
		say("ports are %v, want %d of them", v.ports, v.program.ports)
	}
	if v.want != BlockedRead && v.blocked > 0 {
		say("FALSE blocked_read in %d of %d looks", v.blocked, v.looks)
	}
}

// TestWaitingForInput is the matrix of 27 programs.
func TestWaitingForInput(t *testing.T) {
	owner := newTestOwner(t)
	dir := workshop(t)
	var table strings.Builder
	right, wrongly, total := 0, 0, time.Duration(0)
	all := programs()
	for _, p := range all {
		v := examine(t, owner, dir, p)
		fmt.Fprintf(&table, "%-24s %-14s %-9s %8v  %s\n", p.name, v.got.State, v.got.Mode, v.each.Round(10*time.Microsecond), strings.Join(v.problems, "; "))
		if len(v.problems) == 0 {
			right++
		}
		if v.want != BlockedRead && (v.blocked > 0 || v.got.State == BlockedRead) {
			wrongly++
		}
		total += v.each
	}
	summary := fmt.Sprintf("as uid %d: %d of %d right, %d false blocked_read, %v a look\n%s", os.Getuid(), right, len(all), wrongly, (total / time.Duration(len(all))).Round(10*time.Microsecond), &table)
	if len(all) != 27 || right < 26 || wrongly > 0 {
		t.Error(summary)
	} else {
		t.Log(summary)
	}
}

// TestAsNobody runs what depends on rights once more without root's.
func TestAsNobody(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("this run has no root's rights to begin with: the tests themselves are the proof")
	}
	home := t.TempDir()
	openToAll(t, home)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "/proc/self/exe", "-test.run", "^(TestWaitingForInput|TestInput[A-Z].*|TestPorts|TestOpeners.*)$", "-test.v")
	command.Env = append(slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, "HOME=") || strings.HasPrefix(e, "TMPDIR=")
	}), "HOME="+home, "TMPDIR="+home)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: TestWaitingForInput") {
		t.Errorf("it did not run:\n%s", out)
	}
	t.Logf("%s", out)
}

// BenchmarkLook: a look at a program that waits for input.
func BenchmarkLook(b *testing.B) {
	for _, p := range []program{{name: "cat", argv: shell("echo ready; exec cat"), shows: "ready"}, {name: "sleep", argv: shell("echo ready; exec sleep 1000"), shows: "ready"}, {name: "node", argv: []string{"node"}, shows: "> "}} {
		b.Run(p.name, func(b *testing.B) {
			c := startConsoleIn(b, newTestOwner(b), b.TempDir(), p.argv)
			c.shows(p.shows)
			ev := c.evidence()
			b.Run("look", func(b *testing.B) {
				for b.Loop() {
					lookForInput(ev)
				}
			})
			b.Run("tree", func(b *testing.B) {
				for b.Loop() {
					_, _ = ev.tree()
				}
			})
		})
	}
}
