package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An official client finds tools, calls them, and answers what they ask.
func TestOfficialClient(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	asked := make(chan string, 10)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked <- request.Params.Message
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"choice": "b"}}, nil
		},
	})
	state := t.TempDir()
	endAfter(t, root, state)
	transport := &mcp.CommandTransport{Command: exec.Command("prism-ls", "mcp", "--root", root, "--state-dir", state)}
	session, err := client.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil || len(listed.Tools) < 11 {
		t.Fatalf("%v, %v", listed, err)
	}
	call := func(name string, arguments map[string]any) string {
		t.Helper()
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		return result.Content[0].(*mcp.TextContent).Text
	}
	call("write", map[string]any{"path": "a.txt", "content": "hello"})
	if got := call("read", map[string]any{"path": "a.txt"}); got != "hello" {
		t.Errorf("read: %q", got)
	}
	// A control file asks, and the person's word lets exactly it through.
	call("write", map[string]any{"path": ".envrc", "content": "x"})
	if message := <-asked; !strings.Contains(message, ".envrc") {
		t.Errorf("question: %q", message)
	}
	if _, err := os.Stat(filepath.Join(root, ".envrc")); err != nil {
		t.Error(err)
	}
	option := func(id string) map[string]any {
		return map[string]any{"id": id, "label": id, "pros": []string{"1", "2", "3"}, "cons": []string{"1", "2", "3"}}
	}
	got := call("ask_user_decision", map[string]any{"question": "Which?", "options": []any{option("a"), option("b")}})
	if !strings.Contains(got, "b") || len(asked) != 1 {
		t.Errorf("decision: %q", got)
	}
}

// A cancelled command is answered within 100 ms and has stopped within 250. The
// machine may be busy, so one of a few tries has to show it.
func TestCancelStopsCommand(t *testing.T) {
	var failure string
	for range 5 {
		if failure = cancelCommand(t); failure == "" {
			return
		}
	}
	t.Error(failure)
}

// cancelCommand cancels a command that ignores SIGTERM, and says what was late.
func cancelCommand(t *testing.T) string {
	t.Helper()
	s := start(t, "--profile", "trusted")
	s.initialize()
	s.shell(1, `trap "" TERM; while :; do echo >> grows; sleep 0.01; done`)
	size := func() int64 {
		info, err := os.Stat(filepath.Join(s.root, "grows"))
		if err != nil {
			return -1
		}
		return info.Size()
	}
	s.eventually("the file grows", func() bool { return size() > 0 })
	begin := time.Now()
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	r := s.receive()
	replied := time.Since(begin)
	if !strings.Contains(r.raw, "ERR_PRISM_ABORTED") {
		t.Fatal(r.raw)
	}
	<-time.After(time.Until(begin.Add(250 * time.Millisecond))) // the promise is about this moment
	stopped := size()
	<-time.After(100 * time.Millisecond) // ten more rounds, if it still ran
	switch now := size(); {
	case replied > 100*time.Millisecond:
		return fmt.Sprintf("the reply took %s", replied)
	case now != stopped:
		return "the command still ran 250 ms after it was cancelled"
	}
	return ""
}

// ends are the ways in which a server loses its client, or itself.
var ends = []struct {
	name string
	end  func(*server)
}{
	{"input closed", func(s *server) { s.in.Close() }},
	{"client killed", func(s *server) { s.in.Close(); s.out.Close() }},
	{"output closed", func(s *server) { s.out.Close() }},
	{"SIGTERM", func(s *server) { _ = s.cmd.Process.Signal(syscall.SIGTERM) }},
	{"SIGINT", func(s *server) { _ = s.cmd.Process.Signal(syscall.SIGINT) }},
	{"SIGHUP", func(s *server) { _ = s.cmd.Process.Signal(syscall.SIGHUP) }},
	{"SIGKILL", func(s *server) { _ = s.cmd.Process.Kill() }},
}

func TestClientDeath(t *testing.T) {
	rounds := 3 // of two deaths each
	if soak() {
		rounds = 50
	}
	for _, way := range ends {
		for name, flags := range map[string][]string{"daemon": nil, "alone": {"--no-daemon"}} {
			t.Run(way.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				for i := range rounds {
					clientDeath(t, way.end, i, flags)
				}
			})
		}
	}
}

// clientDeath ends a client that has nothing to do, and one in the middle of a
// command that does not want to go. Of a daemon only itself is left.
func clientDeath(t *testing.T, end func(*server), round int, flags []string) {
	t.Helper()
	keeps(t, func() time.Duration {
		idle := start(t, flags...)
		idle.initialize()
		end(idle)
		return idle.gone("")
	})
	keeps(t, func() time.Duration {
		busy := start(t, append([]string{"--profile", "trusted"}, flags...)...)
		busy.initialize()
		mark := fmt.Sprintf("7%d%06d", round, rand.IntN(1_000_000))
		busy.shell(1, fmt.Sprintf(`(setsid sleep %s &) ; nohup sleep %s & trap "" TERM HUP INT; sleep %s; sleep %s`, mark, mark, mark, mark))
		busy.eventually("three sleep", func() bool { return len(running(t, "sleep\x00"+mark)) >= 3 })
		end(busy)
		return busy.gone(mark)
	})
}

// Standard output carries the protocol alone: what a program below prints to
// descriptor 1 goes where errors go.
func TestOutputIsClaimed(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.initialize()
	one, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/1", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	two, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/2", s.cmd.Process.Pid))
	if err != nil || one != two {
		t.Errorf("descriptor 1 is %s, 2 is %s, %v", one, two, err)
	}
}

// Bytes of every kind are answered or passed over, and never end the server.
func TestGarbage(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.initialize()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 2))
	const text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"a"}}}`
	for i := range 2000 {
		frame := []byte(text)
		for range 1 + r.IntN(6) {
			frame[r.IntN(len(frame))] = byte(r.IntN(256))
		}
		s.send("%s", frame)
		if i%50 == 49 {
			id := strconv.Quote("check" + strconv.Itoa(i))
			s.send(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id)
			for string(s.receive().ID) != id {
			}
		}
	}
	if t.Failed() {
		t.Logf("seed %d", seed)
	}
}

// 300 calls at once are all answered, and end with the connection.
func TestManyCalls(t *testing.T) {
	s := start(t)
	s.initialize()
	if err := os.WriteFile(filepath.Join(s.root, "a.txt"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i := range 300 {
		s.startCall(100+i, "read", `{"path":"a.txt"}`)
	}
	for range 300 {
		r := s.receive()
		if r.Result.IsError || r.Error != nil {
			t.Fatal(r.raw)
		}
		seen[string(r.ID)] = true
	}
	if len(seen) != 300 {
		t.Errorf("%d of 300 answered", len(seen))
	}
}

// A script that pipes requests in and closes gets its answers.
func TestPiped(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.initialize()
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	s.in.Close()
	if r := s.receive(); len(r.Result.Tools) < 11 {
		t.Errorf("tools: %s", r.raw)
	}
	s.gone("")
}

// A root that is not given is the client's first one, and the daemon is that of
// the client's root.
func TestClientRoot(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"daemon": nil, "alone": {"--no-daemon"}} {
		t.Run(name, func(t *testing.T) { clientRoot(t, flags...) })
	}
}

func clientRoot(t *testing.T, flags ...string) {
	t.Helper()
	given := t.TempDir()
	if err := os.WriteFile(filepath.Join(given, "here.txt"), []byte("found"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startIn(t, "", flags...)
	endAfter(t, given, s.state)
	s.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}`)
	s.receive()
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	s.startCall(1, "read", `{"path":"here.txt"}`)
	asked := s.receive()
	if asked.Method != "roots/list" {
		t.Fatal(asked.raw)
	}
	s.send(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"file://%s"}]}}`, asked.ID, given)
	if r := s.receive(); r.Result.IsError || r.Result.Content[0].Text != "found" {
		t.Errorf("read: %s", r.raw)
	}
}

// maxRSS is the promised size of a server that has listed its tools, in KiB.
const maxRSS = 30 << 10

// shipped builds the program as it ships.
func shipped(t testing.TB) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "prism-ls")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// empty builds a Go program that does nothing: what any program takes here.
func empty(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "empty")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// BenchmarkStart is the time from starting the program to its list of tools, as
// a client sees it: alone, with a daemon that is there and with one that has to
// be started, beside the time of a program that does nothing.
func BenchmarkStart(b *testing.B) {
	program, nothing, root, state := shipped(b), empty(b), b.TempDir(), b.TempDir()
	endAfter(b, root, state)
	best := map[string]time.Duration{}
	note := func(what string, took time.Duration) {
		if before, ok := best[what]; !ok || took < before {
			best[what] = took
		}
	}
	for b.Loop() {
		begin := time.Now()
		if err := exec.Command(nothing).Run(); err != nil {
			b.Fatal(err)
		}
		note("empty-program-min-ms", time.Since(begin))
		note("min-ms", startToTools(b, program, "mcp", "--root", root, "--state-dir", state, "--no-daemon"))
		stopWorkspace(b, root, state)
		note("cold-min-ms", startToTools(b, program, "mcp", "--root", root, "--state-dir", state))
		note("warm-min-ms", startToTools(b, program, "mcp", "--root", root, "--state-dir", state))
	}
	for what, took := range best {
		b.ReportMetric(float64(took.Microseconds())/1e3, what)
	}
}

// startToTools runs a server until it has listed its tools.
func startToTools(b *testing.B, program string, args ...string) time.Duration {
	b.Helper()
	const input = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`
	cmd := exec.Command(program, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := io.WriteString(in, input); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewReaderSize(out, 1<<20)
	for range 2 {
		if _, err := lines.ReadString('\n'); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(begin)
	in.Close()
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return took
}

// TestStart measures the program as it ships: what runs the tests may have the
// race detector in it, which multiplies memory.
func TestStart(t *testing.T) {
	program := shipped(t)
	best := time.Hour
	for range 5 {
		begin := time.Now()
		s := startProgram(t, program, t.TempDir())
		s.initialize()
		s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		s.receive()
		best = min(best, time.Since(begin))
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		var rss int
		_, after, _ := strings.Cut(string(status), "VmRSS:")
		if _, err := fmt.Sscan(after, &rss); err != nil || rss > maxRSS {
			t.Errorf("resident: %d KiB, %v", rss, err)
		}
		if children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", s.cmd.Process.Pid, s.cmd.Process.Pid)); err != nil || len(children) > 0 {
			t.Errorf("a process was started before it was needed: %s, %v", children, err)
		}
		s.in.Close()
		s.gone("")
	}
	t.Logf("start to tools/list: %s at best", best)
}
