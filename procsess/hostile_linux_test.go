package procsess_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

// until waits for something that this package does not wait for by itself.
func until(tb testing.TB, what string, is func() bool) {
	tb.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("20 s were not enough for %s", what)
		}
	}
}

// marked gives a session a mark that it hands down in its arguments as $T.
func marked(s procsess.Start, name string) (procsess.Start, string) {
	mark := "85" + strings.Map(digit, name) + "." + strconv.Itoa(os.Getpid())
	s.Env = map[string]string{"T": mark}
	return s, mark
}

// The terminal of a program that has closed it is still there for it to open.
func TestTerminalIsOpenedAgain(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh("exec <&- >&- 2>&-; sleep 0.2; echo again >/dev/tty; read x </dev/tty; echo got $x >/dev/tty")).ID
	b.sees(id, "again")
	if info, err := b.Get(b.ctx, me, id); err != nil || info.EOF || info.State != procsess.Running {
		t.Errorf("%+v, %v", info, err)
	}
	b.types(id, procsess.Type{Text: "it\n"})
	b.sees(id, "got it")
	if got := b.wait(id, procsess.Wait{}); got.Reason != procsess.ReasonExit || got.OutputOpen {
		t.Errorf("%+v", got)
	}
}

// daemonizes is a server whose first process ends before it listens. The end of a
// terminal's leader hangs up its group, also one that is about to leave it.
func daemonizes(port int) string {
	return fmt.Sprintf(`python3 -c '
import os, signal, socket, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
for fd in 0, 1, 2: os.close(fd)
time.sleep(0.3)
s = socket.create_server(("127.0.0.1", %d))
time.sleep(1000)'`, port)
}

func TestPortOfWhatIsLeft(t *testing.T) {
	t.Parallel()
	for name, kind := range kinds() {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			port := freePort(t)
			s := kind(sh(daemonizes(port)))
			s.Ready = &procsess.Ready{Port: port}
			started := b.start(s)
			if started.Ready == nil || !*started.Ready || len(started.Ports) != 1 || started.Ports[0] != port {
				t.Fatalf("%+v, ready %v", started, started.Ready != nil && *started.Ready)
			}
			if got := b.wait(started.ID, procsess.Wait{Port: port}); got.Reason != procsess.ReasonPort || got.State != procsess.Exited {
				t.Errorf("%+v", got)
			}
			if report, err := b.Kill(b.ctx, me, started.ID); err != nil || len(report.Survivors) != 0 {
				t.Errorf("%+v, %v", report, err)
			}
			// Nobody is left who could listen.
			if got := b.wait(started.ID, procsess.Wait{Port: port}); got.Reason != procsess.ReasonExit {
				t.Errorf("%+v", got)
			}
		})
	}
}

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

func TestWhoseSignal(t *testing.T) {
	b := newBench(t, nil)
	bySignals := func(signals ...syscall.Signal) func(id string) {
		return func(id string) {
			for _, sig := range signals {
				if err := b.Signal(b.ctx, me, id, sig); err != nil {
					t.Error(err)
				}
			}
		}
	}
	byKey := func(key string) func(id string) {
		return func(id string) { b.types(id, procsess.Type{Keys: []string{key}}) }
	}
	for name, c := range map[string]struct {
		line   string
		end    func(id string)
		signal string
		by     procsess.By
	}{
		"TERM while it is stopped": {"echo up; exec sleep 1000", bySignals(syscall.SIGSTOP, syscall.SIGTERM, syscall.SIGCONT), "SIGTERM", procsess.ByKill},
		"KILL":                     {"echo up; exec sleep 1000", bySignals(syscall.SIGKILL), "SIGKILL", procsess.ByKill},
		"ctrl-c":                   {"echo up; exec sleep 1000", byKey("ctrl-c"), "SIGINT", procsess.ByKill},
		"ctrl-\\":                  {"ulimit -c 0; echo up; exec sleep 1000", byKey("ctrl-\\"), "SIGQUIT", procsess.ByKill},
		"another one than ours":    {"trap 'kill -TERM $$' USR1; echo up; while :; do sleep 0.05; done", bySignals(syscall.SIGUSR1), "SIGTERM", procsess.ByOther},
		"itself, while stopped":    {"echo up; kill -STOP $$; kill -ABRT $$", bySignals(syscall.SIGCONT), "SIGABRT", procsess.ByItself},
	} {
		t.Run(name, func(t *testing.T) {
			id := b.start(sh(c.line)).ID
			b.sees(id, "up")
			if strings.HasPrefix(name, "itself") {
				until(t, "it to stop", func() bool { return processState(t, b, id) == "T" })
			}
			c.end(id)
			if got := b.wait(id, procsess.Wait{}); got.Exit == nil || got.Exit.Signal != c.signal || got.Exit.By != c.by || got.State != procsess.Exited || got.Exit.Code != nil {
				t.Errorf("%+v, %+v", got, got.Exit)
			}
		})
	}
}

func processState(t *testing.T, b *bench, id string) string {
	t.Helper()
	info, err := b.Get(b.ctx, me, id)
	if err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(info.PID) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[0]
}

func TestSignalIsChecked(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh("sleep 1000")).ID
	for _, sig := range []syscall.Signal{-1, 0, 65, 1 << 20} {
		wantCode(t, b.Signal(b.ctx, me, id, sig), tools.CodeToolInput)
	}
}

// A grandchild that goes on writing does not hide that the program has ended.
func TestGrandchildGoesOnWriting(t *testing.T) {
	for name, kind := range kinds() {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			id := b.start(kind(sh("trap '' HUP; (while :; do echo again; sleep 0.01; done) & exit 4"))).ID
			got := b.wait(id, procsess.Wait{})
			if got.Reason != procsess.ReasonExit || !got.OutputOpen || got.Exit == nil || *got.Exit.Code != 4 {
				t.Fatalf("%+v", got)
			}
			if len(got.Holders) == 0 {
				t.Errorf("nobody is named: %+v", got)
			}
			// What it writes is followed all the same.
			if got := b.wait(id, procsess.Wait{Match: "again", Cursor: &got.Cursor}); got.Reason != procsess.ReasonMatch {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Times that are negative are refused, however small.
func TestTimesAreChecked(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh("sleep 1000")).ID
	little := -time.Millisecond
	for name, err := range map[string]error{
		"lifetime": second(b.Start(b.ctx, me, procsess.Start{Command: "true", Lifetime: little})),
		"ready":    second(b.Start(b.ctx, me, procsess.Start{Command: "true", Ready: &procsess.Ready{Match: "x", Timeout: little}})),
		"quiet":    second(b.Wait(b.ctx, me, id, procsess.Wait{Quiet: little})),
		"wait":     second(b.Wait(b.ctx, me, id, procsess.Wait{Timeout: little})),
		"input":    second(b.Input(b.ctx, me, id, procsess.Type{Wait: little})),
	} {
		if !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An input of the largest size is taken, with what its framing adds.
func TestLargestInput(t *testing.T) {
	b := newBench(t, nil)
	most := int(procsess.InputBytes.Default)
	id := b.start(sh(fmt.Sprintf(`stty raw -echo; printf '\033[?2004h'; echo up; head -c %d | wc -c`, most+12+1))).ID
	b.sees(id, "up")
	_, err := b.Input(b.ctx, me, id, procsess.Type{Paste: strings.Repeat("x", most+1)})
	wantCode(t, err, tools.CodeProcessLimit)
	b.types(id, procsess.Type{Paste: strings.Repeat("x", most)})
	until(t, "room", func() bool {
		typed := b.types(id, procsess.Type{})
		return typed.Queued == 0
	})
	b.types(id, procsess.Type{Keys: []string{"a"}})
	b.sees(id, strconv.Itoa(most+13))
	_, err = b.Input(b.ctx, me, b.start(sh("sleep 1000")).ID, procsess.Type{Keys: slicesOf("a", most+1)})
	wantCode(t, err, tools.CodeProcessLimit)
}

func slicesOf(text string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = text
	}
	return out
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

// A window of any size may be attached, but a terminal has no such.
func TestAttachmentSize(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh("cat")).ID
	a, err := b.Attach(b.ctx, me, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, size := range [][2]int{{0, 0}, {0, 24}, {80, 0}, {-1, -1}, {501, 24}, {80, 201}, {1<<16 + 80, 24}} {
		wantCode(t, a.Resize(b.ctx, size[0], size[1]), tools.CodePTYLimit)
	}
	if info, err := b.Get(b.ctx, me, id); err != nil || info.Columns != 120 || info.Rows != 40 {
		t.Errorf("%+v, %v", info, err)
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

// Every condition is looked at while output flows faster than it is searched.
func TestWaitsInAFlood(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(onPipe(sh("exec yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"))).ID
	for name, regex := range map[string]string{"literal": "", "regex": `(a|aa)+b`} {
		w := procsess.Wait{Match: "never", Regex: regex, Bytes: 8 << 20, Cursor: new(int64), Timeout: 20 * time.Second}
		if regex != "" {
			w.Match = ""
		}
		if got := b.wait(id, w); got.Reason != procsess.ReasonBytes {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestNames(t *testing.T) {
	b := newBench(t, nil)
	for _, name := range []string{"a\x00b", "a\nb", "\x1b[2J", "a\x7f", "a\u009b2Jb", "a\xffb", "a\u2028b", "\u202eb", strings.Repeat("x", 65)} {
		s := sh("true")
		s.Name = name
		_, err := b.Start(b.ctx, me, s)
		if !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%q: %v", name, err)
		}
	}
	s := sh("true")
	s.Name = "größe 漢字 " + strings.Repeat("x", 43)
	if got := b.start(s); got.Name != s.Name {
		t.Errorf("%+v", got)
	}
	// A command is listed within its bound, whatever it is made of.
	for _, word := range []string{strings.Repeat("a\xff", 4<<10), strings.Repeat("é", 3<<10), "x" + strings.Repeat("漢", 2<<10), strings.Repeat("'", 4<<10)} {
		got := b.start(procsess.Start{Command: "true", Args: []string{word}})
		if len(got.Command) > int(procsess.MetadataBytes.Default) || !strings.HasSuffix(got.Command, "…") || strings.HasSuffix(got.Command, "\uFFFD…") && !strings.Contains(word, "\xff") {
			t.Errorf("%d bytes, ends %q", len(got.Command), got.Command[len(got.Command)-10:])
		}
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

// What many lines come to is neither cut nor reordered while nobody reads them.
func TestLinesQueue(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh("stty -echo; echo up; sleep 0.5; cksum; sleep 1000")).ID
	b.sees(id, "up")
	var text strings.Builder
	for i := 0; text.Len() < 60<<10; i++ {
		fmt.Fprintf(&text, "%d %s\n", i, strings.Repeat("x", i%1000))
	}
	typed := b.types(id, procsess.Type{Text: text.String(), EOF: true})
	if typed.Accepted+typed.Queued != text.Len()+1 {
		t.Errorf("%+v of %d", typed, text.Len()+1)
	}
	reference := b.start(procsess.Start{Command: "cksum", Pipe: true}).ID
	b.types(reference, procsess.Type{Text: text.String(), EOF: true})
	b.wait(reference, procsess.Wait{})
	b.sees(id, strings.TrimSpace(b.all(reference, procsess.TextView)))
}

// A program may be named by a path from where it is to run.
func TestRelativeProgram(t *testing.T) {
	b := newBench(t, nil)
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/run.sh", []byte("#!/bin/sh\necho ran\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	id := b.start(procsess.Start{Command: "./run.sh", Dir: dir}).ID
	b.sees(id, "ran")
	_, err := b.Start(b.ctx, me, procsess.Start{Command: "./not.sh", Dir: dir})
	wantCode(t, err, tools.CodeNotFound)
}

// With every condition at once the one that comes true is told.
func TestEveryConditionAtOnce(t *testing.T) {
	b := newBench(t, nil)
	port := freePort(t)
	all := procsess.Wait{Exit: true, Match: "never", Quiet: time.Minute, Port: port, Bytes: 1 << 30, Input: true}
	for name, c := range map[string]struct {
		line   string
		change func(*procsess.Wait)
		want   procsess.Reason
	}{
		"exit":    {"sleep 0.2", func(*procsess.Wait) {}, procsess.ReasonExit},
		"match":   {"sleep 0.2; echo now; sleep 1000", func(w *procsess.Wait) { w.Match = "now" }, procsess.ReasonMatch},
		"quiet":   {"sleep 1000", func(w *procsess.Wait) { w.Quiet = 300 * time.Millisecond }, procsess.ReasonQuiet},
		"input":   {"sleep 0.2; read x", func(*procsess.Wait) {}, procsess.ReasonInput},
		"bytes":   {"sleep 0.2; echo 12345678; sleep 1000", func(w *procsess.Wait) { w.Bytes = 8 }, procsess.ReasonBytes},
		"port":    {daemonizes(port) + "; sleep 1000", func(*procsess.Wait) {}, procsess.ReasonPort},
		"timeout": {"sleep 1000", func(w *procsess.Wait) { w.Timeout = 200 * time.Millisecond }, procsess.ReasonTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			id := b.start(sh(c.line)).ID
			w := all
			c.change(&w)
			if got := b.wait(id, w); got.Reason != c.want {
				t.Errorf("%+v", got)
			}
			if _, err := b.Kill(b.ctx, me, id); err != nil {
				t.Error(err)
			}
		})
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
