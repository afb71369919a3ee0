package procsess_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// ownerRole makes the test binary a program that has durable and other sessions, so
// that a test can kill it.
const ownerRole = "own-durable-sessions"

func soak() bool { return os.Getenv("PRISM_SOAK") == "1" }

// marks hands out numbers that only the processes of one test carry.
// Tests run side by side, so they are drawn.
type marks struct{}

func (m *marks) take() string { return fmt.Sprintf("%d%09d", 1_000_000+os.Getpid(), rand.IntN(1e9)) }

// carriers are the live processes with the mark in their command line.
func carriers(mark string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(line), mark) || strings.Contains(string(line), ownerRole) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func eventually(tb testing.TB, limit time.Duration, what string, holds func() bool) {
	tb.Helper()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(limit)
	for !holds() {
		select {
		case <-ticker.C:
		case <-deadline:
			tb.Fatalf("not within %v: %s", limit, what)
		}
	}
}

func alive(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	after := string(data[strings.LastIndexByte(string(data), ')')+1:])
	return !strings.HasPrefix(after, " Z") && !strings.HasPrefix(after, " X")
}

// newDurable is a bench whose durable sessions end with the test.
func newDurable(tb testing.TB, dir string) *bench {
	tb.Helper()
	b := newBench(tb, &procsess.Options{StateDir: dir, Sessions: 64})
	tb.Cleanup(func() {
		if err := procsess.DiscardAll(b.Registry); err != nil {
			tb.Error(err)
		}
	})
	return b
}

// A durable session that has ended keeps its output until it is released, and then
// nothing is left of it: no record, no holder.
func TestEndedDurableSessionIsReleased(t *testing.T) {
	dir := t.TempDir()
	b := newDurable(t, dir)
	id := b.start(durable(sh("echo kept"))).ID
	b.wait(id, procsess.Wait{})
	if got := b.all(id, procsess.TextView); got != "kept\n" {
		t.Errorf("%q", got)
	}
	if err := b.Release(b.ctx, me, id); err != nil {
		t.Fatal(err)
	}
	_, err := b.Get(b.ctx, me, id)
	wantCode(t, err, tools.CodeProcessState)
	next := newDurable(t, dir)
	if found, err := next.Recover(b.ctx, procsess.Caller{Operator: true}); err != nil || len(found) != 0 {
		t.Errorf("taken up again: %+v, %v", found, err)
	}
}

func durable(s procsess.Start) procsess.Start { s.Durable = true; return s }

// greeter says what it reads, writes more than a terminal holds when it is told to,
// and ends with status 7. MARK finds it, and in STAY it waits for the file "end".
func greeter(mark, end string) string {
	return `echo begin ` + mark + `; read -r line; echo "got $line"; until [ -e "` + end + `" ]; do sleep 0.02; done; seq 1 5000; echo "end of ` + mark + `"; exit 7`
}

func TestDurableSession(t *testing.T) {
	marks := &marks{}
	for name, kind := range map[string]func(procsess.Start) procsess.Start{"terminal": durable, "pipe": func(s procsess.Start) procsess.Start { return onPipe(durable(s)) }} {
		t.Run(name, func(t *testing.T) {
			dir, mark := t.TempDir(), marks.take()
			end := filepath.Join(dir, "end")
			b := newDurable(t, dir)
			started := b.start(kind(sh(greeter(mark, end))))
			if !started.Durable || started.State != procsess.Running || started.PID == 0 || started.PTY != (name == "terminal") {
				t.Errorf("started %+v", started)
			}
			b.sees(started.ID, "begin "+mark)
			if name == "terminal" {
				if err := b.Resize(b.ctx, me, started.ID, 100, 30); err != nil {
					t.Error(err)
				}
			}
			b.types(started.ID, procsess.Type{Text: "\xff\xfe hello\n"})
			b.wait(started.ID, procsess.Wait{Regex: "got .* hello", Cursor: new(int64)}) // and not its echo
			if got := b.all(started.ID, procsess.RawView); !strings.Contains(got, "got \xff\xfe hello") {
				t.Errorf("bytes that are not UTF-8 became %q", got)
			}
			if err := os.WriteFile(end, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			waited := b.wait(started.ID, procsess.Wait{Exit: true})
			if waited.State != procsess.Exited || waited.Exit == nil || waited.Exit.Code == nil || *waited.Exit.Code != 7 || waited.Exit.By != procsess.ByItself {
				t.Errorf("%+v, exit %+v", waited, waited.Exit)
			}
			if got := b.all(started.ID, procsess.TextView); !strings.Contains(got, "\n4999\n") || !strings.HasSuffix(strings.TrimSpace(got), "end of "+mark) {
				t.Errorf("output ends %q", got[max(0, len(got)-100):])
			}
			_, err := b.Output(b.ctx, me, started.ID, procsess.Output{Cursor: new(int64(1 << 40))})
			wantCode(t, err, tools.CodeOutOfRange)
		})
	}
}

func TestDurableKillAndRelease(t *testing.T) {
	t.Parallel()
	dir, marks := t.TempDir(), &marks{}
	b := newDurable(t, dir)
	mark := marks.take()
	killed := b.start(durable(sh(`trap "" TERM HUP; setsid sleep ` + mark + ` & sleep ` + mark)))
	eventually(t, 10*time.Second, "both sleep", func() bool { return len(carriers("sleep\x00"+mark)) == 2 })
	report, err := b.Kill(b.ctx, me, killed.ID)
	if err != nil || len(report.Survivors) != 0 || len(report.Killed) == 0 || len(carriers(mark)) != 0 {
		t.Errorf("%+v, %v, left %v", report, err, carriers(mark))
	}
	if waited := b.wait(killed.ID, procsess.Wait{}); waited.State != procsess.Killed || waited.Exit.By != procsess.ByKill {
		t.Errorf("%+v %+v", waited, waited.Exit)
	}

	mark = marks.take()
	released := b.start(durable(sh(`echo up; sleep ` + mark + `; : `)))
	b.sees(released.ID, "up")
	holder := procsess.HolderOf(b.Registry, released.ID)
	if err := b.Release(b.ctx, me, released.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if len(carriers(mark)) == 0 || !alive(holder) {
		t.Error("what was released is gone")
	}
	if records, err := procsess.Records(dir); err != nil || records[released.ID] != "" {
		t.Errorf("a record of what was released: %v, %v", records, err)
	}
	for _, pid := range carriers(mark) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	eventually(t, 10*time.Second, "the holder ends with the last of it", func() bool { return !alive(holder) })
	if _, err := os.Stat(procsess.SocketOf(dir, released.ID)); err == nil {
		t.Error("its socket is still there")
	}
}

// What is written down tells nothing that was passed, typed or written.
func TestDurableRecordTellsNoSecrets(t *testing.T) {
	dir := t.TempDir()
	b := newDurable(t, dir)
	start := durable(sh(`echo "out-5ecret"; read -r x; sleep 1000 # arg-5ecret`))
	start.Env = map[string]string{"DEPLOY": "env-5ecret"}
	started := b.start(start)
	b.sees(started.ID, "out-5ecret")
	b.types(started.ID, procsess.Type{Text: "in-5ecret\n"})
	records, err := procsess.Records(dir)
	if err != nil || !json.Valid([]byte(records[started.ID])) || strings.Contains(records[started.ID], "5ecret") {
		t.Errorf("%v, %v", records, err)
	}
	holder := procsess.HolderOf(b.Registry, started.ID)
	for _, file := range []string{"cmdline", "environ"} {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", holder, file))
		if err != nil || len(content) == 0 || strings.Contains(string(content), "5ecret") {
			t.Errorf("the holder's %s: %q, %v", file, content, err)
		}
	}
	info, err := os.Stat(procsess.SocketOf(dir, started.ID))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket %v, %v", info, err)
	}
	if info, err := os.Stat(filepath.Dir(procsess.SocketOf(dir, started.ID))); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder %v, %v", info, err)
	}
}

func TestDurableNeedsState(t *testing.T) {
	dir := t.TempDir()
	b := newDurable(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "records"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := b.Start(b.ctx, me, durable(sh("true")))
	wantCode(t, err, tools.CodeStateUnavailable)
	if waited := b.wait(b.start(sh("exit 3")).ID, procsess.Wait{}); *waited.Exit.Code != 3 {
		t.Errorf("others: %+v", waited)
	}
	// It recovers.
	if err := os.Remove(filepath.Join(dir, "records")); err != nil {
		t.Fatal(err)
	}
	b.start(durable(sh("true")))
}

func TestDurableStartThatFails(t *testing.T) {
	dir := t.TempDir()
	b := newDurable(t, dir)
	start := durable(sh("true"))
	start.Dir = "/does/not/exist"
	_, err := b.Start(b.ctx, me, start)
	wantCode(t, err, tools.CodeNotFound)
	if records, err := procsess.Records(dir); err != nil || len(records) != 0 || len(procsess.Sockets(dir)) != 0 {
		t.Errorf("left: %v, %v, %v", records, procsess.Sockets(dir), err)
	}
}

// runRole takes over if this process is the owner.
func runRole() {
	if len(os.Args) > 1 && os.Args[1] == ownerRole {
		os.Exit(runOwner(os.Args[2:]))
	}
}

// runOwner starts sessions of every kind, names them, and would go on for ever.
func runOwner(args []string) int {
	owner := child.NewOwner(nil)
	registry, err := procsess.New(owner, &procsess.Options{StateDir: args[0], Sessions: 64, Env: os.Environ()})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if args[2] == "0" {
		startForEver(ctx, registry, args[1])
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	var out []planted
	for i := range plantedKinds * mustNumber(args[2]) {
		wait.Go(func() {
			p := planted{Kind: i % plantedKinds, Mark: fmt.Sprintf("%s-%d-", args[1], i)}
			p.End = filepath.Join(args[0], "end"+p.Mark)
			start := sh(greeter(p.Mark, p.End))
			start.Durable, start.Pipe = p.Kind&1 != 0, p.Kind&2 != 0
			started, err := registry.Start(ctx, me, start)
			if err == nil {
				_, err = registry.Wait(ctx, me, started.ID, procsess.Wait{Match: "begin", Cursor: new(int64), Timeout: time.Minute})
			}
			if err != nil {
				p.Problem = err.Error()
			}
			p.ID = started.ID
			mu.Lock()
			defer mu.Unlock()
			out = append(out, p)
		})
	}
	wait.Wait()
	text, _ := json.Marshal(out)
	fmt.Println(string(text))
	_, _ = io.ReadAll(os.Stdin)
	err = errors.Join(registry.Close(), owner.Close())
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// startForEver starts durable sessions, several at a time, until it is killed.
func startForEver(ctx context.Context, registry *procsess.Registry, mark string) {
	if _, err := registry.Start(ctx, me, durable(sh("exec sleep "+mark))); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("starting")
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			for {
				started, err := registry.Start(ctx, me, durable(sh("exec sleep "+mark)))
				if err != nil && !errors.Is(err, tools.CodeProcessLimit) {
					fmt.Println(started.ID, err)
					return
				}
			}
		})
	}
	wait.Wait()
}

// At whichever moment of a start its owner is killed: what runs is on record.
func TestOwnerKilledWhileDurableSessionsStart(t *testing.T) {
	rounds, marks := 4, &marks{}
	if soak() {
		rounds = 100
	}
	found, unknown := 0, 0
	for range rounds {
		dir, mark := t.TempDir(), marks.take()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		owner := exec.CommandContext(ctx, "/proc/self/exe", ownerRole, dir, mark, "0")
		stdout, err := owner.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := owner.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stdout)
		if !lines.Scan() || lines.Text() != "starting" {
			t.Fatalf("the owner: %q", lines.Text())
		}
		time.AfterFunc(time.Duration(20+rand.IntN(300))*time.Millisecond, cancel)
		for lines.Scan() {
			t.Errorf("the owner: %s", lines.Text())
		}
		_ = owner.Wait()
		// Those that were just being started are as if that was some time ago.
		var records map[string]string
		eventually(t, 20*time.Second, "starts have come to their end", func() bool {
			var err error
			records, err = procsess.Records(dir)
			return err == nil && len(carriers("sleep\x00"+mark)) == len(procsess.Sockets(dir))
		})
		for id := range records {
			if err := procsess.ChangeRecord(dir, id, func(data string) string {
				return regexp.MustCompile(`"created":"[^"]*"`).ReplaceAllString(data, `"created":"2020-01-01T00:00:00Z"`)
			}); err != nil {
				t.Fatal(err)
			}
		}
		b := newDurable(t, dir)
		recovered, err := b.Recover(b.ctx, me)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range recovered {
			switch {
			case one.Err == nil && one.Info.State == procsess.Running:
				found++
			case errors.Is(one.Err, tools.CodeRecoveryUnknown):
				unknown++
			default:
				t.Errorf("%+v", one)
			}
		}
		if err := procsess.DiscardAll(b.Registry); err != nil {
			t.Error(err)
		}
		eventually(t, 5*time.Second, "nothing runs that was not on record", func() bool { return len(carriers(mark)) == 0 })
	}
	if found < rounds {
		t.Errorf("%d sessions in %d rounds, one of each was surely started", found, rounds)
	}
	t.Logf("figure: owners killed while durable sessions start = %d, sessions re-attached %d, never started %d, lost 0", rounds, found, unknown)
}

func mustNumber(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

// planted is a session of the owner that is killed.
type planted struct {
	ID, Mark, End, Problem string
	Kind                   int // bit 0: durable, bit 1: on pipes
}

const plantedKinds = 4

// plant runs the owner, and returns when its sessions are up.
func plant(t *testing.T, dir, mark string, each int) (owner *exec.Cmd, end func(), all []planted) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	owner = exec.CommandContext(ctx, "/proc/self/exe", ownerRole, dir, mark, strconv.Itoa(each))
	stdin, err := owner.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || json.Unmarshal([]byte(line), &all) != nil || len(all) != plantedKinds*each {
		t.Fatalf("the owner said %q, %v", line, err)
	}
	for _, p := range all {
		if p.Problem != "" {
			t.Fatalf("the owner: %s", p.Problem)
		}
	}
	return owner, func() { stdin.Close() }, all
}

func TestDurableSessionsOutliveTheirOwner(t *testing.T) {
	t.Parallel()
	rounds, each, marks := 2, 8, &marks{}
	if soak() {
		rounds = 100
	}
	slowest := time.Duration(0)
	for round := range rounds {
		dir, mark := t.TempDir(), marks.take()
		owner, end, all := plant(t, dir, mark, each)
		if round%2 == 0 {
			_ = owner.Process.Kill()
		} else {
			end()
		}
		_ = owner.Wait()
		ended := time.Now()
		for _, p := range all {
			if p.Kind&1 == 0 {
				eventually(t, 2*time.Second, "a session that is not durable is gone", func() bool { return len(carriers(p.Mark)) == 0 })
			}
		}
		slowest = max(slowest, time.Since(ended))
		b := newDurable(t, dir)
		takeUpAll(t, b, all)
		if err := procsess.DiscardAll(b.Registry); err != nil {
			t.Error(err)
		}
		if records, err := procsess.Records(dir); err != nil || len(records) != 0 {
			t.Errorf("left: %v, %v", records, err)
		}
		eventually(t, 5*time.Second, "no socket left", func() bool { return len(procsess.Sockets(dir)) == 0 })
		eventually(t, 5*time.Second, "nothing left", func() bool { return len(carriers(mark)) == 0 })
	}
	sessions := rounds * each * plantedKinds / 2
	t.Logf("figure: durable sessions after their owner's end = %d of %d re-attached with output and exit; the %d others gone within %v", sessions, sessions, sessions, slowest.Round(time.Millisecond))
}

// takeUpAll recovers what was planted, and goes through its life.
func takeUpAll(t *testing.T, b *bench, all []planted) {
	t.Helper()
	recovered, err := b.Recover(b.ctx, me)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]procsess.Recovered{}
	for _, one := range recovered {
		got[one.ID] = one
	}
	count := 0
	for _, p := range all {
		one, there := got[p.ID]
		if p.Kind&1 == 0 {
			if there {
				t.Errorf("%+v was not durable", one)
			}
			continue
		}
		count++
		if !there || one.Err != nil || one.Info.State != procsess.Running || one.Info.PTY != (p.Kind&2 == 0) {
			t.Fatalf("%s: %+v, %v", p.ID, one, one.Err)
		}
	}
	if len(recovered) != count {
		t.Errorf("%d recovered, %d were durable", len(recovered), count)
	}
	for _, p := range all {
		if p.Kind&1 == 0 {
			continue
		}
		b.types(p.ID, procsess.Type{Text: "again\n"})
		b.sees(p.ID, "got again")
		if err := os.WriteFile(p.End, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		waited := b.wait(p.ID, procsess.Wait{})
		if waited.State != procsess.Exited || waited.Exit == nil || *waited.Exit.Code != 7 {
			t.Errorf("%+v", waited)
		}
		output := b.all(p.ID, procsess.TextView)
		if !strings.HasPrefix(output, "begin "+p.Mark) || !strings.Contains(output, "\n4321\n") || !strings.Contains(output, "end of "+p.Mark) {
			t.Errorf("output of %d bytes: %.60q", len(output), output)
		}
	}
}

func TestDurableEndsWithNobodyThere(t *testing.T) {
	dir, mark := t.TempDir(), (&marks{}).take()
	end := filepath.Join(dir, "end")
	first := newDurable(t, dir)
	started := first.start(durable(sh(greeter(mark, end))))
	first.types(started.ID, procsess.Type{Text: "x\n"})
	first.sees(started.ID, "got x")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Second, "it ends", func() bool { return len(carriers(mark)) == 0 })
	b := newDurable(t, dir)
	for range 2 { // the second time it is this registry's already
		recovered, err := b.Recover(b.ctx, me)
		if err != nil || len(recovered) > 1 {
			t.Fatalf("%+v, %v", recovered, err)
		}
	}
	info, err := b.Get(b.ctx, me, started.ID)
	if err != nil || info.State != procsess.Exited || info.Exit == nil || *info.Exit.Code != 7 || info.Exit.User == nil {
		t.Errorf("%+v, %v", info, err)
	}
	if got := b.all(started.ID, procsess.TextView); !strings.Contains(got, "end of "+mark) {
		t.Errorf("output %q", got)
	}
}
