package procsess_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
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
