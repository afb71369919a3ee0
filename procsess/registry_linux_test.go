package procsess_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// me is the owner of what these tests start.
var me = procsess.Caller{Owner: "me"}

// bench is a registry with what tests ask of it again and again.
type bench struct {
	*procsess.Registry
	tb  testing.TB
	ctx context.Context
}

// inMemory is a StateDir for a registry without one.
const inMemory = "-"

func newBench(tb testing.TB, opts *procsess.Options) *bench {
	tb.Helper()
	owner := child.NewOwner(nil)
	tb.Cleanup(func() { owner.Close() })
	settled := procsess.Options{}
	if opts != nil {
		settled = *opts
	}
	settled.Dir, settled.Env = tb.TempDir(), append(settled.Env, os.Environ()...)
	switch settled.StateDir {
	case "":
		settled.StateDir = tb.TempDir()
	case inMemory:
		settled.StateDir = ""
	}
	registry, err := procsess.New(owner, &settled)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := registry.Close(); err != nil {
			tb.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), benchTime())
	tb.Cleanup(cancel)
	return &bench{registry, tb, ctx}
}

// benchTime bounds a test; the full sizes take longer.
func benchTime() time.Duration {
	if os.Getenv("PRISM_SOAK") != "" {
		return 30 * time.Minute
	}
	return 2 * time.Minute
}

// sh is a shell line on a terminal.
func sh(line string) procsess.Start { return procsess.Start{Command: line, Shell: true} }

// onPipe is the same on pipes.
func onPipe(s procsess.Start) procsess.Start { s.Pipe = true; return s }

func (b *bench) start(s procsess.Start) procsess.Started {
	b.tb.Helper()
	started, err := b.Start(b.ctx, me, s)
	if err != nil {
		b.tb.Fatal(err)
	}
	return started
}

func (b *bench) wait(id string, w procsess.Wait) procsess.Waited {
	b.tb.Helper()
	if w.Timeout == 0 {
		w.Timeout = 60 * time.Second
	}
	waited, err := b.Wait(b.ctx, me, id, w)
	if err != nil {
		b.tb.Fatal(err)
	}
	return waited
}

// sees waits for text from the beginning on.
func (b *bench) sees(id, text string) procsess.Waited {
	b.tb.Helper()
	waited := b.wait(id, procsess.Wait{Match: text, Cursor: new(int64)})
	if waited.Reason != procsess.ReasonMatch {
		page, _ := b.Output(b.ctx, me, id, procsess.Output{Cursor: new(int64)})
		b.tb.Fatalf("%q was not written: %+v after %q", text, waited, page.Data)
	}
	return waited
}

func (b *bench) types(id string, what procsess.Type) procsess.Typed {
	b.tb.Helper()
	typed, err := b.Input(b.ctx, me, id, what)
	if err != nil {
		b.tb.Fatal(err)
	}
	return typed
}

// all is the whole output in a view.
func (b *bench) all(id string, view procsess.View) string {
	b.tb.Helper()
	var out strings.Builder
	for cursor := int64(0); ; {
		page, err := b.Output(b.ctx, me, id, procsess.Output{Cursor: &cursor, View: view, MaxBytes: 1 << 20})
		if err != nil || page.Lost != 0 {
			b.tb.Fatalf("%d bytes lost before %d of %d, %v", page.Lost, page.Start, page.Total, err)
		}
		out.Write(page.Data)
		if page.Cursor == cursor {
			return out.String()
		}
		cursor = page.Cursor
	}
}

func wantCode(tb testing.TB, err error, code tools.Code) {
	tb.Helper()
	if !errors.Is(err, code) {
		tb.Fatalf("got %v, want %s", err, code)
	}
}

func number(n int) *int { return &n }

func TestExit(t *testing.T) {
	b := newBench(t, nil)
	for _, c := range []struct {
		name, line string
		end        func(id string)
		state      procsess.State
		code       *int
		signal     string
		by         procsess.By
	}{
		{"success", "true", nil, procsess.Exited, number(0), "", procsess.ByItself},
		{"failure", "exit 7", nil, procsess.Exited, number(7), "", procsess.ByItself},
		{"own fault", "kill -SEGV $$", nil, procsess.Exited, nil, "SIGSEGV", procsess.ByItself},
		{"somebody's signal", "kill -USR1 $$", nil, procsess.Exited, nil, "SIGUSR1", procsess.ByOther},
		{"signal on request", "echo up; exec sleep 1000", func(id string) {
			if err := b.Signal(b.ctx, me, id, 15); err != nil {
				t.Error(err)
			}
		}, procsess.Exited, nil, "SIGTERM", procsess.ByKill},
		{"kill", "echo up; exec sleep 1000", func(id string) {
			if _, err := b.Kill(b.ctx, me, id); err != nil {
				t.Error(err)
			}
		}, procsess.Killed, nil, "SIGHUP", procsess.ByKill},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := b.start(sh(c.line)).ID
			if c.end != nil {
				b.sees(id, "up")
				c.end(id)
			}
			got := b.wait(id, procsess.Wait{})
			e := got.Exit
			if got.Reason != procsess.ReasonExit || got.State != c.state || e == nil {
				t.Fatalf("%+v", got)
			}
			if e.By != c.by || e.Signal != c.signal || (e.Code == nil) != (c.code == nil) || c.code != nil && *e.Code != *c.code {
				t.Errorf("%+v, code %v", e, e.Code)
			}
			if e.User == nil || e.System == nil || e.MaxRSS == nil || *e.MaxRSS < 100<<10 {
				t.Errorf("what it used is not told: %+v", e)
			}
			info, err := b.Get(b.ctx, me, id)
			if err != nil || info.Ended.Before(info.Started) || !info.EOF || info.Input.State != procsess.NoInput {
				t.Errorf("%+v, %v", info, err)
			}
		})
	}
}

// TestExitWhileLookedAt: a program that ends while somebody looks is shown as it was
// before or as it was after, never as something between.
func TestExitWhileLookedAt(t *testing.T) {
	b := newBench(t, nil)
	for range 50 {
		started := b.start(procsess.Start{Command: "true"})
		if live := started.State.Live(); live != (started.Exit == nil) || live != started.Ended.IsZero() {
			t.Errorf("started: %+v", started)
		}
		waited := b.wait(started.ID, procsess.Wait{Bytes: 1, Timeout: time.Millisecond})
		if waited.State.Live() != (waited.Exit == nil) {
			t.Errorf("waited for: %+v", waited)
		}
		b.wait(started.ID, procsess.Wait{})
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := sh("trap '' TERM HUP; echo up; while :; do sleep 1; done")
	s.Lifetime = 300 * time.Millisecond
	got := b.wait(b.start(s).ID, procsess.Wait{})
	if got.State != procsess.Expired || got.Exit.By != procsess.ByTimeout || got.Exit.Signal != "SIGKILL" {
		t.Errorf("%+v, %+v", got, got.Exit)
	}
}

func TestStartIsChecked(t *testing.T) {
	b := newBench(t, nil)
	for _, c := range []struct {
		name  string
		start procsess.Start
		code  tools.Code
	}{
		{"no command", procsess.Start{}, tools.CodeToolInput},
		{"no such program", procsess.Start{Command: "no-such-program"}, tools.CodeNotFound},
		{"no such directory", procsess.Start{Command: "true", Dir: "/no/such/place"}, tools.CodeNotFound},
		{"a relative directory", procsess.Start{Command: "true", Dir: "src"}, tools.CodeToolInput},
		{"not executable", procsess.Start{Command: "/etc/passwd"}, tools.CodePermission},
		{"NUL", procsess.Start{Command: "echo", Args: []string{"a\x00b"}}, tools.CodeToolInput},
		{"a shell line with arguments", procsess.Start{Command: "echo", Shell: true, Args: []string{"a"}}, tools.CodeToolInput},
		{"too wide", procsess.Start{Command: "true", Columns: 501}, tools.CodePTYLimit},
		{"negative", procsess.Start{Command: "true", Rows: -1}, tools.CodePTYLimit},
		{"a size on pipes", procsess.Start{Command: "true", Pipe: true, Rows: 10}, tools.CodeToolInput},
		{"too long a life", procsess.Start{Command: "true", Lifetime: 25 * time.Hour}, tools.CodeToolInput},
		{"a loader's variable", procsess.Start{Command: "true", Env: map[string]string{"LD_PRELOAD": "x"}}, tools.CodeToolInput},
		{"terminal type", procsess.Start{Command: "true", Term: strings.Repeat("x", 257)}, tools.CodeToolInput},
		{"ready for nothing", procsess.Start{Command: "true", Ready: &procsess.Ready{}}, tools.CodeToolInput},
		{"ready too late", procsess.Start{Command: "true", Ready: &procsess.Ready{Match: "x", Timeout: 121 * time.Second}}, tools.CodeToolInput},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.Start(b.ctx, me, c.start)
			wantCode(t, err, c.code)
		})
	}
	if list := b.List(b.ctx, me); len(list) != 0 {
		t.Errorf("something was started: %+v", list)
	}
}

func TestEnvironment(t *testing.T) {
	b := newBench(t, &procsess.Options{Env: []string{"GITHUB_TOKEN=secret", "LC_TIME=C"}})
	s := procsess.Start{Command: "env", Env: map[string]string{"PAGER": "less", "MINE": "1"}}
	id := b.start(s).ID
	b.wait(id, procsess.Wait{})
	got := strings.Split(b.all(id, procsess.TextView), "\n")
	for _, want := range []string{"TERM=xterm-256color", "GIT_PAGER=cat", "GH_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat", "PAGER=less", "GIT_EDITOR=:", "GIT_TERMINAL_PROMPT=0", "MINE=1", "LC_TIME=C"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %q", want, got)
		}
	}
	for _, line := range got {
		if strings.Contains(line, "secret") {
			t.Errorf("a secret was passed on: %s", line)
		}
	}
}

func TestLiveLimit(t *testing.T) {
	b := newBench(t, &procsess.Options{Sessions: 2})
	s := sh("sleep 1000")
	s.Name = "first"
	first := b.start(s)
	b.start(sh("sleep 1000"))
	_, err := b.Start(b.ctx, me, sh("true"))
	wantCode(t, err, tools.CodeProcessLimit)
	if !strings.Contains(err.Error(), first.ID+" first") {
		t.Errorf("the sessions in the way are not named: %v", err)
	}
	if _, err := b.Kill(b.ctx, me, first.ID); err != nil {
		t.Fatal(err)
	}
	b.start(sh("true")) // those that ended do not count
	if _, err := procsess.New(child.NewOwner(nil), &procsess.Options{Sessions: 65}); !errors.Is(err, tools.CodeToolInput) {
		t.Errorf("65 sessions: %v", err)
	}
}

func TestOwnership(t *testing.T) {
	b := newBench(t, nil)
	you, they := procsess.Caller{Owner: "you"}, procsess.Caller{Owner: "they"}
	id := b.start(sh("echo mine; exec cat")).ID
	b.sees(id, "mine")
	for name, try := range map[string]func(procsess.Caller) error{
		"get":    func(c procsess.Caller) error { _, err := b.Get(b.ctx, c, id); return err },
		"output": func(c procsess.Caller) error { _, err := b.Output(b.ctx, c, id, procsess.Output{}); return err },
		"input":  func(c procsess.Caller) error { _, err := b.Input(b.ctx, c, id, procsess.Type{Text: "x\n"}); return err },
		"wait": func(c procsess.Caller) error {
			_, err := b.Wait(b.ctx, c, id, procsess.Wait{Timeout: time.Millisecond})
			return err
		},
		"signal":   func(c procsess.Caller) error { return b.Signal(b.ctx, c, id, 0x17) },
		"resize":   func(c procsess.Caller) error { return b.Resize(b.ctx, c, id, 80, 24) },
		"attach":   func(c procsess.Caller) error { _, err := b.Attach(b.ctx, c, id, 0); return err },
		"share":    func(c procsess.Caller) error { return b.Share(c, id, "they") },
		"transfer": func(c procsess.Caller) error { return b.Transfer(c, id, "they") },
		"release":  func(c procsess.Caller) error { return b.Release(b.ctx, c, id) },
		"kill":     func(c procsess.Caller) error { _, err := b.Kill(b.ctx, c, id); return err },
	} {
		if err := try(you); !errors.Is(err, tools.CodeProcessOwnership) {
			t.Errorf("%s of another's session: %v", name, err)
		}
	}
	if list := b.List(b.ctx, you); len(list) != 0 {
		t.Errorf("another's session is listed: %+v", list)
	}
	if list := b.List(b.ctx, procsess.Caller{Operator: true}); len(list) != 1 {
		t.Errorf("an operator sees %+v", list)
	}
	if err := b.Share(me, id, "you"); err != nil {
		t.Fatal(err)
	}
	if page, err := b.Output(b.ctx, you, id, procsess.Output{}); err != nil || !strings.HasPrefix(string(page.Data), "mine") {
		t.Errorf("%q, %v", page.Data, err)
	}
	if err := b.Transfer(you, id, "they"); !errors.Is(err, tools.CodeProcessOwnership) {
		t.Errorf("a guest gave the session away: %v", err)
	}
	if err := b.Transfer(me, id, "they"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Get(b.ctx, me, id); !errors.Is(err, tools.CodeProcessOwnership) {
		t.Errorf("the former owner: %v", err)
	}
	if err := b.CancelOwned(b.ctx, "they"); err != nil {
		t.Fatal(err)
	}
	if info, err := b.Get(b.ctx, they, id); err != nil || info.State != procsess.Killed || info.Exit.By != procsess.ByRelease {
		t.Errorf("after its owner's end: %+v, %v", info, err)
	}
}
