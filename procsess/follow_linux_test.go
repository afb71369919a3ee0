package procsess_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

// Two attached terminals and an agent see the same bytes; one that takes nothing
// slows nobody.
func TestAttachments(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh("stty -echo; read go; seq 1 100000; read end")).ID
	b.wait(id, procsess.Wait{Input: true})
	sleeper, err := b.Attach(b.ctx, me, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer sleeper.Close()
	seen := [2]bytes.Buffer{}
	var wait sync.WaitGroup
	for i := range seen {
		a, err := b.Attach(b.ctx, me, id, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		if i == 0 {
			if err := a.Resize(b.ctx, 100, 30); err != nil {
				t.Error(err)
			}
			if err := a.Type(b.ctx, []byte("go\r")); err != nil {
				t.Error(err)
			}
		}
		wait.Go(func() {
			p := make([]byte, 1000+i*7)
			for {
				n, at, err := a.Next(b.ctx, p)
				if errors.Is(err, io.EOF) {
					return
				}
				if err != nil || at != int64(seen[i].Len()) {
					t.Errorf("attachment %d at %d: %v, after %d bytes", i, at, err, seen[i].Len())
					return
				}
				seen[i].Write(p[:n])
			}
		})
	}
	b.sees(id, "\n100000\n")
	if info, err := b.Get(b.ctx, me, id); err != nil || info.Columns != 100 || info.Rows != 30 {
		t.Errorf("the window's size was not taken: %+v, %v", info, err)
	}
	b.types(id, procsess.Type{Text: "x\n"})
	wait.Wait()
	whole := b.all(id, procsess.RawView)
	for i := range seen {
		if seen[i].String() != whole {
			t.Errorf("attachment %d saw %d bytes, the agent %d", i, seen[i].Len(), len(whole))
		}
	}
	p := make([]byte, 16)
	if n, at, err := sleeper.Next(b.ctx, p); err != nil || at != 0 || string(p[:n]) != whole[:16] {
		t.Errorf("one that comes late: %q at %d, %v", p[:n], at, err)
	}
}

func TestResize(t *testing.T) {
	b := newBench(t, nil)
	s := sh("trap 'stty size' WINCH; stty size; while :; do sleep 0.05; done")
	s.Columns, s.Rows = 90, 20
	id := b.start(s).ID
	b.sees(id, "20 90")
	if err := b.Resize(b.ctx, me, id, 132, 50); err != nil {
		t.Fatal(err)
	}
	b.sees(id, "50 132")
	wantCode(t, b.Resize(b.ctx, me, id, 0, 50), tools.CodePTYLimit)
	wantCode(t, b.Resize(b.ctx, me, id, 80, 201), tools.CodePTYLimit)
	var err error
	for range procsess.ResizeRate.Default + 1 {
		if err = b.Resize(b.ctx, me, id, 80, 24); err != nil {
			break
		}
	}
	wantCode(t, err, tools.CodePTYLimit)
	wantCode(t, b.Resize(b.ctx, me, b.start(onPipe(sh("sleep 1000"))).ID, 80, 24), tools.CodeProcessUnsupported)
}

func TestEvents(t *testing.T) {
	var mu sync.Mutex
	got := map[string][]string{}
	stuck := make(chan struct{})
	events := tools.NewEvents(func(e tools.Event) {
		<-stuck // a sink that does not move holds up no session
		mu.Lock()
		defer mu.Unlock()
		got[e.Name] = append(got[e.Name], e.Detail)
	}, 0)
	b := newBench(t, &procsess.Options{Events: events})
	exits, killed := b.start(sh("true")).ID, b.start(sh("sleep 1000")).ID
	b.wait(exits, procsess.Wait{})
	if _, err := b.Kill(b.ctx, me, killed); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	close(stuck)
	events.Close()
	mu.Lock()
	defer mu.Unlock()
	for id, want := range map[string]string{exits: "process_started process_exited", killed: "process_started process_killed"} {
		if text := strings.Join(got[id], " "); text != want {
			t.Errorf("got %q, want %q", text, want)
		}
	}
}

func TestGuard(t *testing.T) {
	refused := errors.New("not today")
	refuse := ""
	b := newBench(t, &procsess.Options{Guard: func(_ context.Context, _ procsess.Caller, what procsess.Request) error {
		if what.Verb == refuse {
			return refused
		}
		return nil
	}})
	id := b.start(sh("cat")).ID
	for verb, try := range map[string]func() error{
		"start":  func() error { _, err := b.Start(b.ctx, me, sh("true")); return err },
		"input":  func() error { _, err := b.Input(b.ctx, me, id, procsess.Type{Text: "x\n"}); return err },
		"signal": func() error { return b.Signal(b.ctx, me, id, 15) },
		"kill":   func() error { _, err := b.Kill(b.ctx, me, id); return err },
	} {
		refuse = verb
		err := try()
		wantCode(t, err, tools.CodeProcessPolicy)
		if !errors.Is(err, refused) {
			t.Errorf("%s: the guard's own error is lost: %v", verb, err)
		}
	}
	refuse = ""
	if info, err := b.Get(b.ctx, me, id); err != nil || info.State != procsess.Running || len(b.List(b.ctx, me)) != 1 {
		t.Errorf("what was refused happened: %+v, %v", info, err)
	}
	if got := b.all(id, procsess.RawView); got != "" {
		t.Errorf("input that was refused came through: %q", got)
	}
}

// Ended sessions answer, the last 256 of them.
func TestTombstones(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	var ids []string
	for range 300 {
		s := procsess.Start{Command: "true", Pipe: true}
		id := b.start(s).ID
		b.wait(id, procsess.Wait{})
		ids = append(ids, id)
	}
	deadline := time.Now().Add(20 * time.Second)
	for len(b.List(b.ctx, me)) != 256 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if n := len(b.List(b.ctx, me)); n != 256 {
		t.Errorf("%d sessions are known", n)
	}
	if info, err := b.Get(b.ctx, me, ids[299]); err != nil || *info.Exit.Code != 0 {
		t.Errorf("%+v, %v", info, err)
	}
	_, err := b.Get(b.ctx, me, ids[0])
	wantCode(t, err, tools.CodeProcessState)
}
