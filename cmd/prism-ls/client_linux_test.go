package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen.
const patience = time.Minute

// promise is how long prism-ls may outlive its client.
const promise = 2 * time.Second

// soak reports whether the full sizes are asked for.
func soak() bool { return os.Getenv("PRISM_SOAK") == "1" }

// server is a running `prism-ls mcp`, with its client's ends of the pipes.
type server struct {
	t      *testing.T
	root   string
	state  string
	cmd    *exec.Cmd
	in     *os.File
	out    *os.File
	lines  chan string
	exited chan error
	stderr *bytes.Buffer
}

// start runs the program in an empty workspace over real pipes.
func start(t *testing.T, flags ...string) *server {
	t.Helper()
	return startIn(t, t.TempDir(), flags...)
}

func startIn(t *testing.T, root string, flags ...string) *server {
	t.Helper()
	return startProgram(t, "prism-ls", root, flags...)
}

// startProgram runs a program in a workspace, with a state directory, and so a
// daemon, of its own.
func startProgram(t *testing.T, program, root string, flags ...string) *server {
	t.Helper()
	state := t.TempDir()
	if root != "" {
		endAfter(t, root, state)
	}
	return startAs(t, program, root, state, flags...)
}

// startAs runs a program in a workspace with that state directory.
func startAs(t *testing.T, program, root, state string, flags ...string) *server {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, root: root, state: state, in: inW, out: outR, lines: make(chan string, 4096), exited: make(chan error, 1), stderr: &bytes.Buffer{}}
	s.cmd = exec.Command(program, append([]string{"mcp", "--state-dir", s.state}, flags...)...)
	if root != "" {
		s.cmd.Args = append(s.cmd.Args, "--root", root)
	}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = inR, outW, s.stderr
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inR.Close()
	outW.Close()
	go func() { s.exited <- s.cmd.Wait() }()
	go func() {
		defer close(s.lines)
		for lines := bufio.NewReader(outR); ; {
			line, err := lines.ReadString('\n')
			if line != "" {
				s.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		s.in.Close()
		_ = s.cmd.Process.Kill() // gone already, if the test went well
		s.out.Close()
	})
	return s
}

func (s *server) send(format string, args ...any) {
	s.t.Helper()
	if _, err := fmt.Fprintf(s.in, format+"\n", args...); err != nil {
		s.t.Fatalf("the server does not read: %v; stderr: %s", err, s.stderr)
	}
}

// reply is one frame from the server.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		Tools []json.RawMessage `json:"tools"`
	} `json:"result"`
	Error *struct {
		Code int `json:"code"`
	} `json:"error"`
	raw string
}

func (s *server) receive() reply {
	s.t.Helper()
	select {
	case line, ok := <-s.lines:
		if !ok {
			s.t.Fatalf("the server closed its output; stderr: %s", s.stderr)
		}
		r := reply{raw: line}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			s.t.Fatalf("a stray line on standard output: %q", line)
		}
		return r
	case <-time.After(patience):
		s.t.Fatal("no answer")
	}
	return reply{}
}

func (s *server) initialize() {
	s.t.Helper()
	s.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if r := s.receive(); r.Error != nil {
		s.t.Fatal(r.raw)
	}
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (s *server) startCall(id int, tool, arguments string) {
	s.t.Helper()
	s.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

// shell starts a shell call and waits until its command has made the file up.
func (s *server) shell(id int, command string) {
	s.t.Helper()
	text, err := json.Marshal(map[string]string{"command": "touch up; " + command})
	if err != nil {
		s.t.Fatal(err)
	}
	s.startCall(id, "shell", string(text))
	s.eventually("the command runs", func() bool {
		_, err := os.Stat(filepath.Join(s.root, "up"))
		return err == nil
	})
}

// eventually looks again until a state is reached.
func (s *server) eventually(what string, reached func() bool) {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !reached() {
		if <-tick.C; time.Now().After(deadline) {
			s.t.Fatalf("waited in vain: %s; stderr: %s", what, s.stderr)
		}
	}
}

// gone waits for the end of the program, and of everything whose command line
// has the mark.
func (s *server) gone(mark string) (took time.Duration) {
	s.t.Helper()
	begin := time.Now()
	select {
	case <-s.exited:
	case <-time.After(patience):
		s.t.Fatalf("the server did not end; stderr: %s", s.stderr)
	}
	s.eventually("every descendant ends", func() bool { return len(running(s.t, mark)) == 0 })
	return time.Since(begin)
}

// keeps ends a program that kill makes and ends, and fails when it outlives its
// client for longer than is promised. The machine may be busy, so one of a few
// tries has to show it; that nothing is left is asked of every one.
func keeps(t *testing.T, kill func() time.Duration) {
	t.Helper()
	var took time.Duration
	for range 3 {
		if took = kill(); took <= promise {
			return
		}
	}
	t.Errorf("ending took %s, more than %s", took, promise)
}

// running lists the processes whose command line contains the mark.
func running(t *testing.T, mark string) []string {
	t.Helper()
	if mark == "" {
		return nil
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && bytes.Contains(line, []byte(mark)) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}
