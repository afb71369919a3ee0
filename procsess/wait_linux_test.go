package procsess_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

func TestWaits(t *testing.T) {
	b := newBench(t, nil)
	s := sh("read a; echo one; read b; printf 'two\\n'; read c; sleep 0.3; printf three; read d; exit 3")
	id := b.start(s).ID
	step := func(w procsess.Wait, reason procsess.Reason) procsess.Waited {
		t.Helper()
		got := b.wait(id, w)
		if got.Reason != reason {
			t.Fatalf("%+v, want %s", got, reason)
		}
		return got
	}
	step(procsess.Wait{Input: true}, procsess.ReasonInput)
	step(procsess.Wait{Quiet: 50 * time.Millisecond}, procsess.ReasonQuiet)
	step(procsess.Wait{Match: "one", Timeout: 50 * time.Millisecond}, procsess.ReasonTimeout)
	b.types(id, procsess.Type{Text: "x\n"})
	got := step(procsess.Wait{Match: "one"}, procsess.ReasonMatch)
	if got.Matched != "one" {
		t.Errorf("%+v", got)
	}
	if page, err := b.Output(b.ctx, me, id, procsess.Output{Cursor: &got.Cursor}); err != nil || strings.Contains(string(page.Data), "one") {
		t.Errorf("the cursor is not behind the match: %q, %v", page.Data, err)
	}
	b.types(id, procsess.Type{Text: "y\n"})
	if got = step(procsess.Wait{Regex: "t(w)o$", Cursor: &got.Cursor}, procsess.ReasonMatch); got.Matched != "two" {
		t.Errorf("%+v", got)
	}
	b.types(id, procsess.Type{Text: "z\n"})
	got = step(procsess.Wait{Bytes: 8, Cursor: &got.Cursor}, procsess.ReasonBytes) // \r\n, z\r\n, three
	step(procsess.Wait{Match: "three"}, procsess.ReasonMatch)
	b.types(id, procsess.Type{Text: "\n"})
	got = step(procsess.Wait{}, procsess.ReasonExit)
	if *got.Exit.Code != 3 || got.OutputOpen {
		t.Errorf("%+v", got)
	}
	// What will not come true any more ends with the session.
	step(procsess.Wait{Match: "four"}, procsess.ReasonExit)
	step(procsess.Wait{Quiet: time.Second}, procsess.ReasonExit)
}

func TestWaitIsChecked(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh("sleep 1000")).ID
	far := int64(1 << 40)
	for name, c := range map[string]struct {
		wait procsess.Wait
		code tools.Code
	}{
		"no regex":    {procsess.Wait{Regex: "("}, tools.CodeToolInput},
		"large regex": {procsess.Wait{Regex: "((a{1000}){10})"}, tools.CodeToolInput},
		"port":        {procsess.Wait{Port: 70000}, tools.CodeToolInput},
		"too long":    {procsess.Wait{Exit: true, Timeout: 121 * time.Second}, tools.CodeToolInput},
		"future":      {procsess.Wait{Match: "a", Cursor: &far}, tools.CodeOutOfRange},
	} {
		_, err := b.Wait(b.ctx, me, id, c.wait)
		if err == nil {
			t.Errorf("%s was taken", name)
			continue
		}
		wantCode(t, err, c.code)
	}
	_, err := b.Wait(b.ctx, me, "nothing", procsess.Wait{})
	wantCode(t, err, tools.CodeProcessState)
	ctx, cancel := context.WithCancel(b.ctx)
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err = b.Wait(ctx, me, id, procsess.Wait{})
	wantCode(t, err, tools.CodeAborted)
}

// A match is found wherever pieces of output end.
func TestMatchAcrossPieces(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh(`for c in r e '\033[1m' a d y '\033[0m' ' ' '\303' '\251'; do printf "$c"; sleep 0.02; done; sleep 1000`)).ID
	if got := b.sees(id, "ready é"); got.Matched != "ready é" {
		t.Errorf("%+v", got)
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	port := freePort(t)
	serve := procsess.Start{Command: "python3", Args: []string{"-c", fmt.Sprintf(`
import socket, time
time.sleep(0.3)
print("opening", flush=True)
s = socket.create_server(("127.0.0.1", %d))
time.sleep(1000)`, port)}}
	for _, c := range []struct {
		name  string
		start procsess.Start
		ready procsess.Ready
		want  bool
	}{
		{"match", sh("sleep 0.1; echo Listening on 1; sleep 1000"), procsess.Ready{Match: "Listening"}, true},
		{"regex", sh("sleep 0.1; echo Listening on 1; sleep 1000"), procsess.Ready{Regex: `on \d`}, true},
		{"own port", serve, procsess.Ready{Port: port}, true},
		{"another's port", sh("sleep 1000"), procsess.Ready{Port: taken(t), Timeout: time.Second}, false},
		{"quiet", sh("echo a; sleep 1000"), procsess.Ready{Quiet: 100 * time.Millisecond}, true},
		{"never", sh("sleep 1000"), procsess.Ready{Match: "x", Timeout: time.Second}, false},
		{"died", sh("echo no; exit 1"), procsess.Ready{Match: "x"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.start.Ready = &c.ready
			started := b.start(c.start)
			if started.Ready == nil || *started.Ready != c.want {
				t.Errorf("%+v", started)
			}
			if c.name == "own port" && (len(started.Ports) != 1 || started.Ports[0] != port) {
				t.Errorf("ports: %v", started.Ports)
			}
			if _, err := b.Kill(b.ctx, me, started.ID); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// taken is a port that this process listens on.
func taken(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// A program that has ended is told of at once, though a grandchild holds its
// output open.
func TestGrandchildHoldsOutput(t *testing.T) {
	for name, kind := range kinds() {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			// On a terminal the end of its session hangs up what is in the foreground.
			id := b.start(kind(sh("trap '' HUP; (sleep 0.5; echo late; exec sleep 1000) & echo early; exit 5"))).ID
			got := b.wait(id, procsess.Wait{})
			info, err := b.Get(b.ctx, me, id)
			if err != nil || got.Reason != procsess.ReasonExit || !got.OutputOpen || *got.Exit.Code != 5 {
				t.Fatalf("%+v, %v", got, err)
			}
			if took := time.Since(info.Ended); took > 400*time.Millisecond { // without load it is 50 ms
				t.Errorf("told after %v", took)
			}
			if len(got.Holders) == 0 || !strings.Contains(got.Holders[0].Command, "sh") && !strings.Contains(got.Holders[0].Command, "sleep") {
				t.Errorf("who holds the output is not told: %+v", got.Holders)
			}
			// What comes late is read all the same.
			b.sees(id, "late")
			report, err := b.Kill(b.ctx, me, id)
			if err != nil || len(report.Survivors) != 0 || len(report.Killed) == 0 {
				t.Errorf("%+v, %v", report, err)
			}
		})
	}
}

// kinds are the two ways to run a program.
func kinds() map[string]func(procsess.Start) procsess.Start {
	return map[string]func(procsess.Start) procsess.Start{
		"terminal": func(s procsess.Start) procsess.Start { return s },
		"pipes":    onPipe,
	}
}

// TestOutputIsComplete: a program that writes much and ends at once loses none of
// it.
func TestOutputIsComplete(t *testing.T) {
	t.Parallel()
	rounds := 2
	if os.Getenv("PRISM_SOAK") != "" {
		rounds = 100
	}
	const size = 10 << 20
	for name, kind := range kinds() {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			for round := range rounds {
				s := kind(procsess.Start{Command: "python3", Args: []string{"-c", fmt.Sprintf("import os,sys\nd=b'0123456789abcde\\n'*4096\nfor i in range(%d//len(d)): sys.stdout.buffer.write(d)", size)}})
				s.NoCRLF = !s.Pipe
				id := b.start(s).ID
				got := b.wait(id, procsess.Wait{})
				if got.Reason != procsess.ReasonExit || got.OutputOpen || got.Cursor != size {
					t.Fatalf("round %d: %+v", round, got)
				}
				if text := b.all(id, procsess.RawView); text != strings.Repeat("0123456789abcde\n", size/16) {
					t.Fatalf("round %d: %d bytes that are not what was written", round, len(text))
				}
			}
		})
	}
}
