package procsess_test

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

// What starts while the registry closes ends with it, or is refused.
func TestCloseMeetsStarts(t *testing.T) {
	for round := range 5 {
		b := newBench(t, &procsess.Options{Sessions: 64})
		s, mark := marked(sh("exec sleep $T"), "close"+strconv.Itoa(round))
		var wait sync.WaitGroup
		for range 12 {
			wait.Go(func() {
				for {
					if _, err := b.Start(b.ctx, me, s); err != nil {
						if !errors.Is(err, tools.CodeProcessState) && !errors.Is(err, tools.CodeProcessLimit) {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(round) * 10 * time.Millisecond)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		wait.Wait()
		if left := running(t, mark); len(left) > 0 {
			t.Fatalf("round %d: %d programs outlived the registry", round, len(left))
		}
	}
}

// So does what an owner was starting when it ended; what it starts afterwards is a
// start like any other.
func TestCancelMeetsStarts(t *testing.T) {
	for round := range 5 {
		b := newBench(t, &procsess.Options{Sessions: 64})
		var wait sync.WaitGroup
		begun := make(chan struct{}, 8)
		for range 8 {
			wait.Go(func() {
				begun <- struct{}{}
				_, _ = b.Start(b.ctx, me, sh("exec sleep 1000"))
			})
		}
		for range 8 {
			<-begun
		}
		time.Sleep(time.Duration(round) * 3 * time.Millisecond)
		began := time.Now()
		if err := b.CancelOwned(b.ctx, me.Owner); err != nil {
			t.Error(err)
		}
		early := b.List(b.ctx, me)
		for _, info := range early {
			if info.State.Live() && info.Started.Before(began) {
				t.Errorf("round %d: %s lives after its owner's end", round, info.ID)
			}
		}
		wait.Wait()
	}
}

// Whoever waits when the registry closes is told at once, though a program holds
// up the end of it.
func TestCloseAnswersThoseWhoWait(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh("trap '' TERM HUP; echo up; while :; do sleep 1; done")).ID
	b.sees(id, "up")
	a, err := b.Attach(b.ctx, me, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	answers := make(chan error, 8)
	for _, w := range []procsess.Wait{{}, {Match: "never"}, {Quiet: time.Minute}, {Port: 1}, {Input: true}, {Bytes: 1 << 30}} {
		wait.Go(func() {
			_, err := b.Wait(b.ctx, me, id, w)
			answers <- err
		})
	}
	wait.Go(func() {
		p := make([]byte, 100)
		for {
			if _, _, err := a.Next(b.ctx, p); err != nil {
				answers <- err
				return
			}
		}
	})
	wait.Go(func() {
		s := sh("sleep 1000")
		s.Ready = &procsess.Ready{Match: "never"}
		_, err := b.Start(b.ctx, me, s)
		answers <- err
	})
	until(t, "the other session", func() bool { return len(b.List(b.ctx, me)) == 2 })
	time.Sleep(50 * time.Millisecond) // all of them wait by now, or find it closed
	began := time.Now()
	closed := make(chan error, 1)
	go func() { closed <- b.Close() }()
	for range 8 {
		if err := <-answers; !errors.Is(err, tools.CodeProcessState) {
			t.Errorf("got %v", err)
		}
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("they were told after %v", took)
	}
	wait.Wait()
	if err := <-closed; err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"output": second(b.Output(b.ctx, me, id, procsess.Output{Cursor: new(int64)})),
		"get":    second(b.Get(b.ctx, me, id)),
		"wait":   second(b.Wait(b.ctx, me, id, procsess.Wait{})),
		"attach": second(b.Attach(b.ctx, me, id, 0)),
		"kill":   second(b.Kill(b.ctx, me, id)),
	} {
		if !errors.Is(err, tools.CodeProcessState) {
			t.Errorf("%s of a closed registry: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// A session that ended keeps its output, and nothing else.
func TestNothingStaysOfTheEnded(t *testing.T) {
	b := newBench(t, nil)
	run := func(n int) {
		for i := range n {
			s := procsess.Start{Command: "true", Pipe: i%2 == 0}
			b.wait(b.start(s).ID, procsess.Wait{})
		}
	}
	run(4)
	settled := func() (files, routines int) {
		last := -1
		until(t, "descriptors that stay the same", func() bool {
			before := last
			last = len(descriptors(t))
			return last == before
		})
		return last, runtime.NumGoroutine()
	}
	files, routines := settled()
	run(120)
	until(t, "the descriptors of 120 ended sessions to be closed", func() bool { return len(descriptors(t)) <= files+8 })
	until(t, "the goroutines of 120 ended sessions to end", func() bool { return runtime.NumGoroutine() <= routines+8 })
}

func descriptors(t *testing.T) []os.DirEntry {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Input that a program did not read before its end keeps nothing alive.
func TestEndWithInputQueued(t *testing.T) {
	t.Parallel()
	for name, kind := range kinds() {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			routines := runtime.NumGoroutine()
			for range 8 {
				line := "echo up; sleep 0.3"
				if name == "terminal" {
					line = "stty raw -echo; " + line
				}
				id := b.start(kind(sh(line))).ID
				b.sees(id, "up")
				if typed := b.types(id, procsess.Type{Text: strings.Repeat("x", 64<<10)}); name == "terminal" && typed.Queued == 0 {
					t.Errorf("nothing is queued: %+v", typed)
				}
				b.wait(id, procsess.Wait{})
			}
			until(t, "the writers to end", func() bool { return runtime.NumGoroutine() <= routines+4 })
		})
	}
}

// With its owner goes what a session that ended has left behind.
func TestOwnerEndsAfterItsSession(t *testing.T) {
	b := newBench(t, nil)
	s, mark := marked(sh("trap '' HUP; setsid sleep $T & exit"), "owner")
	kept, keptMark := marked(sh("trap '' HUP; setsid sleep $T & exit"), "kept")
	kept.ReleaseAtEnd = true
	for _, s := range []procsess.Start{s, kept} {
		id := b.start(s).ID
		b.wait(id, procsess.Wait{})
	}
	until(t, "what is left behind", func() bool { return len(running(t, mark)) == 1 && len(running(t, keptMark)) == 1 })
	if err := b.CancelOwned(b.ctx, me.Owner); err != nil {
		t.Fatal(err)
	}
	if left := running(t, mark); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// So does what is left behind by a session that is forgotten.
func TestForgottenLeavesNothing(t *testing.T) {
	b := newBench(t, nil)
	s, mark := marked(sh("trap '' HUP; setsid sleep $T & exit"), "forgotten")
	b.wait(b.start(s).ID, procsess.Wait{})
	until(t, "what is left behind", func() bool { return len(running(t, mark)) == 1 })
	for range 256 {
		b.wait(b.start(procsess.Start{Command: "true", Pipe: true}).ID, procsess.Wait{})
	}
	until(t, "its end", func() bool { return len(running(t, mark)) == 0 })
}

// A durable session stays when the registry closes; who waits for it is told.
func TestCloseLeavesDurableSessions(t *testing.T) {
	dir := t.TempDir()
	b := newDurable(t, dir)
	id := b.start(durable(sh("echo up; exec cat"))).ID
	b.sees(id, "up")
	a, err := b.Attach(b.ctx, me, id, 4)
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan error, 4)
	for _, w := range []procsess.Wait{{}, {Match: "never"}, {Port: 1}} {
		go func() { answers <- second(b.Wait(b.ctx, me, id, w)) }()
	}
	go func() {
		_, _, err := a.Next(b.ctx, make([]byte, 10))
		answers <- err
	}()
	time.Sleep(50 * time.Millisecond) // all of them wait by now, or find it closed
	began := time.Now()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	for range 4 {
		if err := <-answers; !errors.Is(err, tools.CodeProcessState) {
			t.Errorf("got %v", err)
		}
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("they were told after %v", took)
	}
	again := newDurable(t, dir)
	if list, err := again.Recover(again.ctx, me); err != nil || len(list) != 1 || list[0].Info.State != procsess.Running {
		t.Errorf("%+v, %v", list, err)
	}
}
