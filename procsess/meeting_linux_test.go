package procsess_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

// Who has given a session away sees and does nothing more.
func TestTransferMeetsVerbs(t *testing.T) {
	you := procsess.Caller{Owner: "you"}
	during := func() {}
	b := newBench(t, &procsess.Options{Guard: func(_ context.Context, _ procsess.Caller, what procsess.Request) error {
		if what.Verb != "start" {
			during()
		}
		return nil
	}})
	fresh := func() string { return b.start(sh("stty -echo; echo up; exec cat")).ID }

	id := fresh()
	b.sees(id, "up")
	a, err := b.Attach(b.ctx, me, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Type(b.ctx, []byte("mine\n")); err != nil {
		t.Fatal(err)
	}
	b.sees(id, "mine")
	waited := make(chan error, 1)
	go func() { waited <- second(b.Wait(b.ctx, me, id, procsess.Wait{Match: "secret"})) }()
	if err := b.Transfer(me, id, "you"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Input(b.ctx, you, id, procsess.Type{Text: "secret\n"}); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"wait":   <-waited,
		"type":   a.Type(b.ctx, []byte("x\n")),
		"resize": a.Resize(b.ctx, 80, 24),
		"next":   func() error { _, _, err := a.Next(b.ctx, make([]byte, 10)); return err }(),
	} {
		if !errors.Is(err, tools.CodeProcessOwnership) {
			t.Errorf("%s: %v", name, err)
		}
	}

	for verb, try := range map[string]func(id string) error{
		"input":  func(id string) error { return second(b.Input(b.ctx, me, id, procsess.Type{Text: "x\n"})) },
		"signal": func(id string) error { return b.Signal(b.ctx, me, id, syscall.SIGTERM) },
		"kill":   func(id string) error { return second(b.Kill(b.ctx, me, id)) },
	} {
		id := fresh()
		b.sees(id, "up")
		during = func() {
			if err := b.Transfer(me, id, "you"); err != nil {
				t.Error(err)
			}
		}
		if err := try(id); !errors.Is(err, tools.CodeProcessOwnership) {
			t.Errorf("%s of a session that was given away while the guard was asked: %v", verb, err)
		}
		during = func() {}
		if info, err := b.Get(b.ctx, you, id); err != nil || info.State != procsess.Running || info.Cursor != int64(len("up\r\n")) {
			t.Errorf("%s happened: %+v, %v", verb, info, err)
		}
	}
}

// The guard is asked once for each verb, about that session.
func TestGuardIsAskedOnce(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	b := newBench(t, &procsess.Options{Guard: func(_ context.Context, caller procsess.Caller, what procsess.Request) error {
		mu.Lock()
		defer mu.Unlock()
		asked[fmt.Sprintf("%s %s %s %v", caller.Owner, what.Verb, what.Session.ID, what.Start != nil)]++
		return nil
	}})
	id := b.start(sh("trap : USR1; cat")).ID
	b.types(id, procsess.Type{Text: "x\n", Keys: []string{"up"}, Paste: "y", Wait: time.Millisecond})
	if err := b.Signal(b.ctx, me, id, syscall.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Kill(b.ctx, me, id); err != nil {
		t.Fatal(err)
	}
	b.wait(id, procsess.Wait{})
	b.all(id, procsess.TextView)
	b.List(b.ctx, me)
	want := map[string]int{"me start " + id + " true": 1, "me input " + id + " false": 1, "me signal " + id + " false": 1, "me kill " + id + " false": 1}
	if fmt.Sprint(asked) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", asked, want)
	}
}

// All endings tell of themselves, once and in order.
func TestEventsOfAllEndings(t *testing.T) {
	var mu sync.Mutex
	got := map[string]string{}
	events := tools.NewEvents(func(e tools.Event) {
		mu.Lock()
		defer mu.Unlock()
		got[e.Name] += " " + strings.TrimPrefix(e.Detail, "process_")
	}, 0)
	b := newBench(t, &procsess.Options{Events: events})
	want := map[string]string{}
	short := sh("sleep 1000")
	short.Lifetime = 100 * time.Millisecond
	expired := b.start(short).ID
	want[expired] = " started expired"
	b.wait(expired, procsess.Wait{})
	released, mark := marked(sh("exec sleep $T"), "events")
	id := b.start(released).ID
	want[id] = " started released"
	if err := b.Release(b.ctx, me, id); err != nil {
		t.Fatal(err)
	}
	defer func() { // it is nobody's, so not the registry's either
		for _, pid := range pidsOf(t, mark) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}()
	wantCode(t, b.Release(b.ctx, me, id), tools.CodeProcessState)
	waited := b.wait(id, procsess.Wait{Match: "never"})
	if waited.Reason != procsess.ReasonExit || waited.State != procsess.Released || waited.Exit == nil || waited.Exit.By != procsess.ByRelease || waited.Exit.Code != nil || waited.Exit.User != nil {
		t.Errorf("%+v, %+v", waited, waited.Exit)
	}
	if page, err := b.Output(b.ctx, me, id, procsess.Output{}); err != nil || page.State != procsess.Released {
		t.Errorf("%+v, %v", page, err)
	}
	killed := b.start(sh("sleep 1000")).ID
	want[killed] = " started killed"
	for range 2 {
		if _, err := b.Kill(b.ctx, me, killed); err != nil {
			t.Fatal(err)
		}
	}
	exits := b.start(sh("true")).ID
	want[exits] = " started exited"
	b.wait(exits, procsess.Wait{})
	closed := b.start(sh("sleep 1000")).ID
	want[closed] = " started killed"
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	events.Close()
	for id, text := range want {
		if got[id] != text {
			t.Errorf("got%s, want%s", got[id], text)
		}
	}
	if len(running(t, mark)) != 1 {
		t.Error("what was released went with the registry")
	}
}

func pidsOf(t *testing.T, mark string) (pids []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		line, err := os.ReadFile("/proc/" + entry.Name() + "/cmdline")
		if err == nil && strings.Contains(string(line), mark) {
			pid, _ := strconv.Atoi(entry.Name())
			pids = append(pids, pid)
		}
	}
	return pids
}

// Verbs that meet at a session's end answer, and agree about it.
func TestVerbsMeet(t *testing.T) {
	rounds := 20
	if os.Getenv("PRISM_SOAK") != "" {
		rounds = 300
	}
	b := newBench(t, &procsess.Options{Sessions: 64})
	s, mark := marked(sh("echo up; exec sleep $T"), "meet")
	t.Cleanup(func() {
		for _, pid := range pidsOf(t, mark) { // those that were released
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	for round := range rounds {
		if round%4 == 3 {
			s.Lifetime = 30 * time.Millisecond
		} else {
			s.Lifetime = 0
		}
		id := b.start(s).ID
		a, err := b.Attach(b.ctx, me, id, 0)
		if err != nil {
			t.Fatal(err)
		}
		verbs := []func() error{
			func() error { return second(b.Kill(b.ctx, me, id)) },
			func() error { return second(b.Kill(b.ctx, me, id)) },
			func() error { return b.Release(b.ctx, me, id) },
			func() error { return second(b.Input(b.ctx, me, id, procsess.Type{Text: "x\n"})) },
			func() error { return b.Resize(b.ctx, me, id, 80, 24) },
			func() error { return second(b.Wait(b.ctx, me, id, procsess.Wait{})) },
			func() error { return b.Signal(b.ctx, me, id, syscall.SIGTERM) },
			func() error { return second(b.Output(b.ctx, me, id, procsess.Output{View: procsess.ScreenView})) },
			func() error {
				for {
					if _, _, err := a.Next(b.ctx, make([]byte, 64)); errors.Is(err, io.EOF) {
						return nil
					} else if err != nil {
						return err
					}
				}
			},
		}
		if round%5 == 4 {
			verbs = append(verbs, func() error { return b.CancelOwned(b.ctx, me.Owner) })
		}
		var wait sync.WaitGroup
		for i := range verbs {
			verb := verbs[(i+round)%len(verbs)]
			wait.Go(func() {
				if err := verb(); err != nil && !errors.Is(err, tools.CodeProcessState) {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		wait.Wait()
		info, err := b.Get(b.ctx, me, id)
		if err != nil || info.State.Live() || info.Exit == nil {
			t.Fatalf("%+v, %v", info, err)
		}
		switch e := info.Exit; info.State {
		case procsess.Released:
			if e.By != procsess.ByRelease || e.Code != nil || e.Signal != "" {
				t.Errorf("%+v", e)
			}
		case procsess.Killed, procsess.Expired, procsess.Exited:
			if e.By == procsess.ByOther || e.By == procsess.ByItself || e.Signal == "" {
				t.Errorf("%s: %+v", info.State, e)
			}
		default:
			t.Errorf("%+v", info)
		}
	}
}

// A session that changes hands is always somebody's.
func TestHandsMeet(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh("cat")).ID
	owners := []string{"a", "b", "c"}
	if err := b.Transfer(me, id, "a"); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for _, who := range owners {
		caller := procsess.Caller{Owner: who}
		wait.Go(func() {
			for i := range 200 {
				for _, err := range []error{
					b.Share(caller, id, owners[i%3]), b.Transfer(caller, id, owners[(i+1)%3]),
					second(b.Output(b.ctx, caller, id, procsess.Output{})),
				} {
					if err != nil && !errors.Is(err, tools.CodeProcessOwnership) {
						t.Error(err)
					}
				}
			}
		})
	}
	wait.Wait()
	info, err := b.Get(b.ctx, procsess.Caller{Operator: true}, id)
	if err != nil || info.Owner == "me" || info.Owner == "" {
		t.Errorf("%+v, %v", info, err)
	}
	for _, who := range info.Shared {
		if who == info.Owner {
			t.Errorf("shared with its owner: %+v", info)
		}
	}
}
