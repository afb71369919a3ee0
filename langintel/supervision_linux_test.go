package langintel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
	"github.com/prism-ls/prism-ls/tools"
)

func kill(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// running reports whether a process is there and no zombie.
func running(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	after := string(text[strings.LastIndexByte(string(text), ')')+1:])
	return !strings.HasPrefix(after, " Z") && !strings.HasPrefix(after, " X")
}

// What is asked of a server that dies fails at once; the next question starts
// another, which knows the open documents again.
func TestSupervisionDeathInFlight(t *testing.T) {
	b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{
		{Method: "textDocument/hover", Nth: 1, Do: []lsptest.Action{{Reply: aHover}}},
		{Method: "textDocument/hover", Life: 1}, // never answered
		on("textDocument/hover", lsptest.Action{Reply: aHover}),
	}}, nil)
	fine(t, b)
	const callers = 8
	outcomes := make(chan error, callers)
	for range callers {
		go func() {
			_, err := hover(b)
			outcomes <- err
		}()
	}
	record.Wait(t, "textDocument/hover", 1+callers)
	kill(t, statusOf(t, b, "scripted").PID)
	began := time.Now()
	for range callers {
		if err := <-outcomes; !errors.Is(err, tools.CodeLSPServer) {
			t.Errorf("%v", err)
		}
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v", took)
	}
	fine(t, b)
	if n := len(record.Of(t, "textDocument/didOpen")); n != 2 {
		t.Errorf("opened %d times, want once in each life", n)
	}
	if s := statusOf(t, b, "scripted"); s.State != "ready" || s.Restarts != 1 || s.LastError == "" || s.OpenFiles != 1 {
		t.Errorf("%+v", s)
	}
}

// However many ask at once, one process is started; also after its death.
func TestSupervisionSingleFlight(t *testing.T) {
	b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{
		on("initialize", lsptest.Action{Sleep: 200}, lsptest.Action{Reply: `{"capabilities":` + scriptedCapabilities + `,"serverInfo":{"name":"s","version":"1.2"}}`}),
		on("textDocument/hover", lsptest.Action{Reply: aHover}),
	}}, &langintel.Options{MaxPending: 128})
	if s := statusOf(t, b, "scripted"); s.State != "stopped" || s.PID != 0 {
		t.Errorf("before the first question: %+v", s)
	}
	for life := 1; life <= 2; life++ {
		var asking sync.WaitGroup
		for range 64 {
			asking.Go(func() {
				if got, err := hover(b); err != nil || got.Text != "fine" {
					t.Errorf("%+v, %v", got, err)
				}
			})
		}
		if life == 1 {
			record.Wait(t, "initialize", life)
			if s := statusOf(t, b, "scripted"); s.State != "starting" || s.PID != 0 {
				t.Errorf("while it starts: %+v", s)
			}
		}
		asking.Wait()
		if n := len(record.Of(t, "initialize")); n != life {
			t.Fatalf("started %d times in life %d", n, life)
		}
		s := statusOf(t, b, "scripted")
		if s.State != "ready" || s.Version != "1.2" || !running(s.PID) || s.MemoryBytes == 0 || s.OpenFiles != 1 || s.From != "configured" {
			t.Errorf("%+v", s)
		}
		kill(t, s.PID)
		eventually(t, "the death is noticed", func() bool { return statusOf(t, b, "scripted").State == "backoff" })
		if s := statusOf(t, b, "scripted"); s.PID != 0 || s.LastError == "" || s.OpenFiles != 0 {
			t.Errorf("after its death: %+v", s)
		}
	}
}

// What may change something is asked once, whatever becomes of the server.
func TestSupervisionNothingReplayed(t *testing.T) {
	b, record := scripted(t, &lsptest.Script{
		Capabilities: filters(everyX), // a rename of a file is asked for, too
		On: append(quiet(),
			on("textDocument/rename"), on("workspace/willRenameFiles"), on("workspace/executeCommand"), // never answered
			on("textDocument/codeAction", lsptest.Action{Reply: `[{"title":"Tidy up","command":"tidy"}]`}),
			on("initialized", lsptest.Action{Request: `{"method":"client/registerCapability","params":{"registrations":[{"id":"r","method":"textDocument/rename"},{"id":"c","method":"textDocument/codeAction"},{"id":"e","method":"workspace/executeCommand","registerOptions":{"commands":["tidy"]}}]}}`, Await: true}),
			on("textDocument/hover", lsptest.Action{Reply: aHover})),
	}, nil)
	fine(t, b)
	for method, change := range map[string]func(context.Context) error{
		"textDocument/rename": func(ctx context.Context) error {
			_, err := b.Rename(ctx, langintel.RenameQuery{Place: firstWord, NewName: "new"})
			return err
		},
		"workspace/willRenameFiles": func(ctx context.Context) error {
			_, err := b.RenameFile(ctx, langintel.RenameFileQuery{From: "a.x", To: "c.x"})
			return err
		},
		"workspace/executeCommand": func(ctx context.Context) error {
			list, err := b.CodeActions(ctx, langintel.CodeActionsQuery{Place: firstWord})
			if err != nil || len(list.Actions) != 1 {
				t.Errorf("%+v, %v", list, err)
				return err
			}
			_, err = b.ApplyCodeAction(ctx, langintel.ApplyActionQuery{ID: list.Actions[0].ID})
			return err
		},
	} {
		before := treeOf(t, b.dir)
		outcome := make(chan error, 1)
		go func() { outcome <- change(within(t, 20*time.Second)) }()
		record.Wait(t, method, 1)
		kill(t, statusOf(t, b, "scripted").PID)
		if err := <-outcome; !errors.Is(err, tools.CodeLSPServer) {
			t.Errorf("%s: %v", method, err)
		}
		fine(t, b) // by the next one
		if n := len(record.Of(t, method)); n != 1 {
			t.Errorf("%s was sent %d times", method, n)
		}
		sameTree(t, treeOf(t, b.dir), before)
	}
}

// A server that dies at every question is down after three restarts, says why, and
// can be tried again.
func TestSupervisionDown(t *testing.T) {
	b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{
		{Method: "textDocument/hover", Life: 6, Do: []lsptest.Action{{Reply: aHover}}},
		on("textDocument/hover", lsptest.Action{Stderr: "one\ntwo\nthree\nfour\nfive\nsix\npanic: \x1b[31mseven\n"}, lsptest.Action{Exit: 3}),
	}}, nil)
	ask := func() error {
		_, err := hover(b)
		return err
	}
	began := time.Now()
	for range 4 {
		if err := ask(); !errors.Is(err, tools.CodeLSPServer) {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("three restarts took %v, want pauses of 100, 400 and 1600 ms", took)
	}
	eventually(t, "it is down", func() bool { return statusOf(t, b, "scripted").State == "down" })
	for range 2 {
		err := ask()
		if text := fmt.Sprint(err); !errors.Is(err, tools.CodeLSPServer) || !strings.Contains(text, "down after 3 restarts") ||
			!strings.Contains(text, `panic: \x1b[31mseven`) || strings.Contains(text, "one") {
			t.Errorf("%s", text)
		}
	}
	if n := len(record.Of(t, "initialize")); n != 4 {
		t.Errorf("started %d times, want once and three restarts", n)
	}
	if s := statusOf(t, b, "scripted"); s.Restarts != 3 || s.PID != 0 || !strings.Contains(s.LastError, "seven") {
		t.Errorf("%+v", s)
	}
	if err := b.Restart(t.Context(), "scripted"); err != nil {
		t.Fatal(err)
	}
	if s := statusOf(t, b, "scripted"); s.State != "stopped" || s.LastError != "" {
		t.Errorf("after a restart: %+v", s)
	}
	if err := ask(); !errors.Is(err, tools.CodeLSPServer) { // the fifth life dies as well
		t.Error(err)
	}
	fine(t, b)
}

// Other ways to die: after a while, by closing its output, by leaving a child that
// holds it open.
func TestSupervisionDeaths(t *testing.T) {
	second := on("textDocument/hover", lsptest.Action{Reply: aHover})
	for name, do := range map[string][]lsptest.Action{
		"a second later":    {{Reply: aHover}, later(1000, lsptest.Action{Exit: 3})},
		"output held open":  {{Run: "exec sleep 30"}, {Exit: 3}},
		"garbage":           {{Raw: "panic: at the disco\n\n"}},
		"half of an answer": {{Raw: "Content-Length: 100\r\n\r\n{"}, {Exit: 1}},
		"killed by itself":  {{Run: "kill -9 $PPID"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{{Method: "textDocument/hover", Life: 1, Do: do}, second}}, nil)
			began := time.Now()
			got, err := hover(b)
			if want := do[0].Reply != ""; want != (err == nil && got.Text == "fine") {
				t.Errorf("%+v, %v", got, err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
			eventually(t, "the death is noticed", func() bool { return statusOf(t, b, "scripted").State == "backoff" })
			fine(t, b)
			if s := statusOf(t, b, "scripted"); s.Restarts != 1 || s.State != "ready" {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Close asks the server to end, and makes it end if it will not, with all that it
// started.
func TestSupervisionClose(t *testing.T) {
	for name, stubborn := range map[string]bool{"willing": false, "stubborn": true} {
		t.Run(name, func(t *testing.T) {
			mark := newMark()
			spec, record := scriptedSpec(t, &lsptest.Script{
				Stubborn: stubborn, Start: []lsptest.Action{{Run: strings.ReplaceAll(litter, "NUM", mark)}},
				On: []lsptest.Rule{on("textDocument/hover", lsptest.Action{Reply: aHover})},
			})
			b := open(t, scriptedRoot(t), &langintel.Options{Servers: []langintel.Spec{spec}})
			fine(t, b)
			pid := statusOf(t, b, "scripted").PID
			eventually(t, "its children run", func() bool { return len(carriers(mark)) >= litterSize })
			began := time.Now()
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			took := time.Since(began)
			if left := carriers(mark); running(pid) || len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			if len(record.Of(t, "shutdown")) != 1 || len(record.Of(t, "exit")) != 1 {
				t.Error("not asked to end")
			}
			t.Logf("%v", took)
			if _, err := hover(b); !errors.Is(err, tools.CodeLSPServer) {
				t.Errorf("after Close: %v", err)
			}
		})
	}
}

// A server that nobody uses is stopped, one that is in use is not.
func TestSupervisionIdle(t *testing.T) {
	b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{
		{Method: "textDocument/hover", Has: `"line":1`, Do: []lsptest.Action{later(600, lsptest.Action{Reply: aHover})}},
		on("textDocument/hover", lsptest.Action{Reply: aHover}),
	}}, &langintel.Options{IdleTimeout: 100 * time.Millisecond})
	got, err := b.Hover(within(t, 20*time.Second), langintel.Place{Path: "a.x", Line: 2, Column: 1})
	if err != nil || got.Text != "fine" {
		t.Fatalf("a question longer than the idle time: %+v, %v", got, err)
	}
	pid := statusOf(t, b, "scripted").PID
	eventually(t, "it is stopped", func() bool { return statusOf(t, b, "scripted").State == "stopped" })
	eventually(t, "its process is gone", func() bool { return pid == 0 || !running(pid) })
	record.Wait(t, "exit", 1)
	fine(t, b)
	if s := statusOf(t, b, "scripted"); s.Restarts != 0 || s.LastError != "" || s.Degraded != "" {
		t.Errorf("%+v", s)
	}
}

// A server over its memory budget is stopped when nobody waits for it.
func TestSupervisionMemory(t *testing.T) {
	b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{on("textDocument/hover", lsptest.Action{Reply: aHover})}},
		&langintel.Options{MemoryBudget: 1 << 10, IdleTimeout: 2 * time.Second})
	fine(t, b)
	s := statusOf(t, b, "scripted")
	if s.State == "ready" && (s.MemoryBytes < s.MemoryBudget || !strings.Contains(s.Degraded, "memory budget")) {
		t.Errorf("%+v", s)
	}
	eventually(t, "it is stopped", func() bool { return statusOf(t, b, "scripted").State == "stopped" })
	if s := statusOf(t, b, "scripted"); !strings.Contains(s.Degraded, "stopped over its memory budget") || s.PID != 0 {
		t.Errorf("%+v", s)
	}
	fine(t, b)
	if s := statusOf(t, b, "scripted"); s.Restarts != 0 || strings.Contains(s.Degraded, "stopped") {
		t.Errorf("%+v", s)
	}
}

// Restart stops what is there, of that name only.
func TestSupervisionRestart(t *testing.T) {
	b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{on("textDocument/hover", lsptest.Action{Reply: aHover})}}, nil)
	fine(t, b)
	pid := statusOf(t, b, "scripted").PID
	if err := b.Restart(t.Context(), "other"); !errors.Is(err, tools.CodeToolInput) {
		t.Error(err)
	}
	if err := b.Restart(t.Context(), "scripted"); err != nil || running(pid) {
		t.Errorf("%v, running: %v", err, running(pid))
	}
	if s := statusOf(t, b, "scripted"); s.State != "stopped" || s.Restarts != 0 {
		t.Errorf("%+v", s)
	}
	fine(t, b)
	if n := len(record.Of(t, "initialize")); n != 2 {
		t.Errorf("started %d times", n)
	}
}

// litter starts processes in every way to get away; NUM marks them.
const litter = `sleep NUM & (sleep NUM &) ; setsid sleep NUM & (setsid sh -c 'trap "" TERM HUP INT; sleep NUM & sleep NUM; : NUM' &) ; nohup sleep NUM >/dev/null 2>&1 & trap "" TERM; sleep NUM; : NUM`

// litterSize is how many sleep in it.
const litterSize = 7

var marks sync.Mutex

// newMark is a number of seconds that only one test's processes sleep for.
func newMark() string {
	marks.Lock()
	defer marks.Unlock()
	return fmt.Sprintf("%d%09d", 1+os.Getpid()%9, time.Now().UnixNano()/1000%1_000_000_000)
}

// carriers returns the live processes whose command line holds a mark, wherever
// they are.
func carriers(mark string) []string {
	var out []string
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		text, err := os.ReadFile(name)
		words := strings.ReplaceAll(strings.TrimRight(string(text), "\x00"), "\x00", " ")
		var pid int
		if _, scanErr := fmt.Sscanf(name, "/proc/%d/", &pid); err == nil && scanErr == nil && strings.Contains(words, mark) && running(pid) {
			out = append(out, fmt.Sprintf("%d %s", pid, words))
		}
	}
	return out
}
