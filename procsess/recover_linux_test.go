package procsess_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// only is the one result of a recovery.
func only(t *testing.T, recovered []procsess.Recovered, err error) procsess.Recovered {
	t.Helper()
	if err != nil || len(recovered) != 1 {
		t.Fatalf("recovered %+v, %v", recovered, err)
	}
	return recovered[0]
}

func (b *bench) recover(t *testing.T, ids ...string) procsess.Recovered {
	t.Helper()
	recovered, err := b.Recover(b.ctx, me, ids...)
	return only(t, recovered, err)
}

// cat is a durable session that repeats what it reads.
func (b *bench) cat(mark string) procsess.Started {
	return b.start(durable(sh("echo up; cat; : " + mark)))
}

func TestWhoTakesASessionUpLastHasIt(t *testing.T) {
	dir, mark := t.TempDir(), (&marks{}).take()
	first, second := newDurable(t, dir), newDurable(t, dir)
	started := first.cat(mark)
	first.sees(started.ID, "up")
	waiting := make(chan error, 1)
	go func() {
		_, err := first.Wait(first.ctx, me, started.ID, procsess.Wait{Match: "never", Timeout: time.Minute, Cursor: new(int64)})
		waiting <- err
	}()
	for round := range 3 {
		if got := second.recover(t); got.Err != nil || got.Info.State != procsess.Running {
			t.Fatalf("round %d: %+v", round, got)
		}
		second.types(started.ID, procsess.Type{Text: "second\n"})
		// The one before is told, whatever it asks.
		_, err := first.Input(first.ctx, me, started.ID, procsess.Type{Text: "first\n"})
		wantCode(t, err, tools.CodeRecoveryFence)
		_, err = first.Output(first.ctx, me, started.ID, procsess.Output{Cursor: new(int64)})
		wantCode(t, err, tools.CodeRecoveryFence)
		eventually(t, 10*time.Second, "its state says so", func() bool {
			info, err := first.Get(first.ctx, me, started.ID)
			return err == nil && info.State == procsess.Unknown && info.Degraded != ""
		})
		if round == 0 {
			if err := <-waiting; err == nil {
				t.Error("a wait went on")
			}
		}
		first, second = second, first // and takes it back
	}
	if got := first.all(started.ID, procsess.TextView); strings.Contains(got, "first") || strings.Count(got, "second") < 3 {
		t.Errorf("output %q", got)
	}
}

func TestOneOfThoseWhoRecoverAtOnceWins(t *testing.T) {
	const registries = 4
	dir, mark, rounds := t.TempDir(), (&marks{}).take(), 3
	if soak() {
		rounds = 50
	}
	starter := newDurable(t, dir)
	started := starter.cat(mark)
	for range rounds {
		var wait sync.WaitGroup
		benches, results := make([]*bench, registries), make([]procsess.Recovered, registries)
		for i := range registries {
			benches[i] = newDurable(t, dir)
		}
		for i, b := range benches {
			wait.Go(func() {
				recovered, err := b.Recover(b.ctx, me, started.ID)
				if err != nil || len(recovered) != 1 {
					t.Errorf("%+v, %v", recovered, err)
					return
				}
				results[i] = recovered[0]
			})
		}
		wait.Wait()
		have := 0
		for i, b := range benches {
			switch {
			case results[i].Err == nil:
				// Another one may have taken it since, in its turn.
				if _, err := b.Input(b.ctx, me, started.ID, procsess.Type{Text: "x\n"}); err == nil {
					have++
				} else {
					wantCode(t, err, tools.CodeRecoveryFence)
				}
			default:
				wantCode(t, results[i].Err, tools.CodeRecoveryFence)
			}
		}
		if have != 1 {
			t.Errorf("%d registries have the session: %+v", have, results)
		}
	}
}

func TestRecoveryIsTheOwners(t *testing.T) {
	dir, marks := t.TempDir(), &marks{}
	first, second := newDurable(t, dir), newDurable(t, dir)
	mine := first.cat(marks.take())
	other := procsess.Caller{Owner: "other"}
	theirs, err := first.Start(first.ctx, other, durable(sh("cat")))
	if err != nil {
		t.Fatal(err)
	}
	if got := second.recover(t); got.ID != mine.ID || got.Err != nil {
		t.Errorf("%+v", got)
	}
	got := second.recover(t, theirs.ID)
	wantCode(t, got.Err, tools.CodeRecoveryOwnership)
	if _, err := first.Input(first.ctx, other, theirs.ID, procsess.Type{Text: "x\n"}); err != nil {
		t.Errorf("its owner lost it: %v", err)
	}
	got = second.recover(t, "pnosuchsession")
	wantCode(t, got.Err, tools.CodeRecoveryUnknown)
	recovered, err := second.Recover(second.ctx, procsess.Caller{Operator: true})
	if got := only(t, recovered, err); got.ID != theirs.ID || got.Err != nil || got.Info.Owner != "other" {
		t.Errorf("operator: %+v", got)
	}
	_, err = second.Get(second.ctx, me, theirs.ID)
	wantCode(t, err, tools.CodeProcessOwnership)
}

func TestRecoveryLimit(t *testing.T) {
	dir, marks := t.TempDir(), &marks{}
	first := newDurable(t, dir)
	for range 3 {
		first.cat(marks.take())
	}
	second := newBench(t, &procsess.Options{StateDir: dir, Sessions: 2})
	t.Cleanup(func() { _ = procsess.DiscardAll(second.Registry) })
	recovered, err := second.Recover(second.ctx, me)
	if err != nil || len(recovered) != 3 {
		t.Fatalf("%+v, %v", recovered, err)
	}
	refused := 0
	for _, one := range recovered {
		if one.Err != nil {
			wantCode(t, one.Err, tools.CodeRecoveryLimit)
			refused++
			// It is not lost: there is still who has it.
			if _, err := first.Input(first.ctx, me, one.ID, procsess.Type{Text: "x\n"}); err != nil {
				t.Error(err)
			}
		}
	}
	if refused != 1 {
		t.Errorf("%d of 3 refused with 2 places", refused)
	}
}

func TestRecoveryOfWhatIsGone(t *testing.T) {
	dir, mark := t.TempDir(), (&marks{}).take()
	first := newDurable(t, dir)
	started := first.cat(mark)
	holder := procsess.HolderOf(first.Registry, started.ID)
	_ = syscall.Kill(holder, syscall.SIGKILL)
	eventually(t, 10*time.Second, "its registry knows", func() bool {
		info, err := first.Get(first.ctx, me, started.ID)
		return err == nil && info.State == procsess.Unknown && info.Exit == nil && !info.State.Live()
	})
	_, err := first.Output(first.ctx, me, started.ID, procsess.Output{Cursor: new(int64)})
	wantCode(t, err, tools.CodeRecoveryUnknown)

	second := newDurable(t, dir)
	got := second.recover(t)
	wantCode(t, got.Err, tools.CodeRecoveryUnknown)
	if info, err := second.Get(second.ctx, me, started.ID); err != nil || info.State != procsess.Unknown || info.Exit != nil {
		t.Errorf("%+v, %v", info, err)
	}
	if err := procsess.ChangeRecord(dir, started.ID, nil); !errors.Is(err, tools.CodeNotFound) {
		t.Errorf("its record: %v", err)
	}
}

func TestRecoveryAfterTheMachineWasStartedAnew(t *testing.T) {
	dir, mark := t.TempDir(), (&marks{}).take()
	first := newDurable(t, dir)
	started := first.cat(mark)
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	if err := procsess.ChangeRecord(dir, started.ID, func(data string) string {
		return strings.Replace(data, strings.TrimSpace(string(boot)), "00000000-0000-4000-8000-000000000000", 1)
	}); err != nil {
		t.Fatal(err)
	}
	got := newDurable(t, dir).recover(t)
	wantCode(t, got.Err, tools.CodeRecoveryUnknown)
	if got.Info.State != procsess.Unknown {
		t.Errorf("%+v", got.Info)
	}
	// Whatever has that number now, and here it is the session itself, is left alone.
	if len(carriers(mark)) == 0 {
		t.Error("a process was ended on the word of an old record")
	}
}

func TestWhatAnswersMustBeTheHolder(t *testing.T) {
	t.Parallel()
	dir, marks := t.TempDir(), &marks{}
	changes := map[string]func(string) string{
		"mark":    func(data string) string { return strings.Replace(data, `"mark":"`, `"mark":"00`, 1) },
		"holder":  func(data string) string { return strings.Replace(data, `"holder":{"pid":`, `"holder":{"pid":1`, 1) },
		"started": func(data string) string { return strings.Replace(data, `"started":`, `"started":1`, 1) },
		"child":   func(data string) string { return strings.Replace(data, `"child":{"pid":`, `"child":{"pid":1`, 1) },
	}
	for what, change := range changes {
		t.Run(what, func(t *testing.T) {
			first := newDurable(t, dir)
			started := first.cat(marks.take())
			if err := procsess.ChangeRecord(dir, started.ID, change); err != nil {
				t.Fatal(err)
			}
			got := newBench(t, &procsess.Options{StateDir: dir}).recover(t, started.ID)
			wantCode(t, got.Err, tools.CodeRecoveryUntrusted)
			if got.Info.State != procsess.Unknown {
				t.Errorf("%+v", got.Info)
			}
			_ = syscall.Kill(procsess.HolderOf(first.Registry, started.ID), syscall.SIGTERM)
		})
	}
	t.Run("another program", func(t *testing.T) {
		first := newDurable(t, dir)
		started := first.cat(marks.take())
		_ = syscall.Kill(procsess.HolderOf(first.Registry, started.ID), syscall.SIGKILL)
		path := procsess.SocketOf(dir, started.ID)
		_ = os.Remove(path)
		listener, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			}
		}()
		got := newBench(t, &procsess.Options{StateDir: dir}).recover(t, started.ID)
		if !errors.Is(got.Err, tools.CodeRecoveryUntrusted) {
			t.Errorf("%v", got.Err)
		}
	})
}

func TestAHolderThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	dir, mark := t.TempDir(), (&marks{}).take()
	first := newDurable(t, dir)
	started := first.cat(mark)
	holder := procsess.HolderOf(first.Registry, started.ID)
	_ = syscall.Kill(holder, syscall.SIGSTOP)
	defer func() { _ = syscall.Kill(holder, syscall.SIGCONT) }()
	second := newDurable(t, dir)
	began := time.Now()
	got := second.recover(t)
	wantCode(t, got.Err, tools.CodeRecoveryTimeout)
	info, err := first.Get(first.ctx, me, started.ID)
	if err != nil || info.State != procsess.Running || info.Degraded == "" {
		t.Errorf("%+v, %v", info, err)
	}
	_, err = first.Output(first.ctx, me, started.ID, procsess.Output{Cursor: new(int64)})
	wantCode(t, err, tools.CodeRecoveryTimeout)
	if spent := time.Since(began); spent > 30*time.Second {
		t.Errorf("took %v", spent)
	}
	_ = syscall.Kill(holder, syscall.SIGCONT)
	if got := second.recover(t); got.Err != nil || got.Info.State != procsess.Running {
		t.Errorf("afterwards %+v", got)
	}
}

func TestAHolderThatIsAskedToEnd(t *testing.T) {
	dir, mark := t.TempDir(), (&marks{}).take()
	b := newDurable(t, dir)
	started := b.start(durable(sh("setsid sleep " + mark + " & trap '' HUP TERM; while :; do sleep " + mark + "; done")))
	eventually(t, 10*time.Second, "all of it runs", func() bool { return len(carriers("sleep\x00"+mark)) == 2 })
	holder := procsess.HolderOf(b.Registry, started.ID)
	_ = syscall.Kill(holder, syscall.SIGTERM)
	eventually(t, 10*time.Second, "nothing is left", func() bool { return !alive(holder) && len(carriers(mark)) == 0 })
	if _, err := os.Stat(procsess.SocketOf(dir, started.ID)); err == nil {
		t.Error("its socket is left")
	}
}

// What nobody can reach any more is not left behind.
func TestAHolderWithoutItsStateDirectory(t *testing.T) {
	t.Parallel()
	dir, mark := t.TempDir(), (&marks{}).take()
	first := newBench(t, &procsess.Options{StateDir: dir})
	started := first.cat(mark)
	holder := procsess.HolderOf(first.Registry, started.ID)
	if err := os.RemoveAll(dir + "/sessions"); err != nil {
		t.Fatal(err)
	}
	first.types(started.ID, procsess.Type{Text: "still connected\n"})
	first.sees(started.ID, "still connected")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, "holder and program are gone", func() bool { return !alive(holder) && len(carriers(mark)) == 0 })
}

func TestDurableAttachment(t *testing.T) {
	dir, mark := t.TempDir(), (&marks{}).take()
	b := newDurable(t, dir)
	started := b.cat(mark)
	b.sees(started.ID, "up")
	attachment, err := b.Attach(b.ctx, me, started.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := attachment.Type(b.ctx, []byte("typed\n")); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	buffer := make([]byte, 7)
	for !strings.Contains(got.String(), "typed\r\ntyped\r\n") {
		n, at, err := attachment.Next(b.ctx, buffer)
		if err != nil || at != int64(got.Len()) {
			t.Fatalf("%d, %v after %q", at, err, got.String())
		}
		got.Write(buffer[:n])
	}
	if err := attachment.Resize(b.ctx, 90, 20); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(b.ctx, 50*time.Millisecond)
	defer cancel()
	if _, _, err := attachment.Next(ctx, buffer); !errors.Is(err, tools.CodeTimeout) {
		t.Errorf("nothing new: %v", err)
	}
	if info, err := b.Get(b.ctx, me, started.ID); err != nil || info.Columns != 90 || info.Rows != 20 {
		t.Errorf("%+v, %v", info, err)
	}
	if err := attachment.Close(); err != nil {
		t.Error(err)
	}
}

func TestWhoseADurableSessionIsOutlivesItsRegistry(t *testing.T) {
	dir, mark := t.TempDir(), (&marks{}).take()
	first := newDurable(t, dir)
	started := first.cat(mark)
	if err := first.Share(me, started.ID, "friend"); err != nil {
		t.Fatal(err)
	}
	if err := first.Transfer(me, started.ID, "heir"); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := newDurable(t, dir)
	got := second.recover(t, started.ID)
	wantCode(t, got.Err, tools.CodeRecoveryOwnership)
	recovered, err := second.Recover(second.ctx, procsess.Caller{Owner: "heir"})
	if got := only(t, recovered, err); got.Err != nil || got.Info.Owner != "heir" || len(got.Info.Shared) != 1 {
		t.Errorf("%+v", got)
	}
	_, err = second.Input(second.ctx, procsess.Caller{Owner: "friend"}, started.ID, procsess.Type{Text: "x\n"})
	if err != nil {
		t.Error(err)
	}
	_, err = second.Input(second.ctx, me, started.ID, procsess.Type{Text: "x\n"})
	wantCode(t, err, tools.CodeProcessOwnership)
}

func TestLifetimeOfADurableSession(t *testing.T) {
	dir, mark := t.TempDir(), (&marks{}).take()
	first := newDurable(t, dir)
	start := durable(sh("echo up; sleep " + mark))
	start.Lifetime = time.Second
	started := first.start(start)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, "its time is up", func() bool { return len(carriers(mark)) == 0 })
	second := newDurable(t, dir)
	second.recover(t)
	eventually(t, 5*time.Second, "it says so", func() bool {
		info, err := second.Get(second.ctx, me, started.ID)
		return err == nil && info.State == procsess.Expired && info.Exit != nil && info.Exit.By == procsess.ByTimeout
	})
}

func TestDurableSessionInASandbox(t *testing.T) {
	owner := child.NewOwner(nil)
	defer owner.Close()
	have, err := owner.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !have.FilesystemIsolated {
		t.Skip("this kernel does not confine writes (Landlock)")
	}
	dir, outside := t.TempDir(), t.TempDir()
	b := newDurable(t, dir)
	start := durable(sh("touch inside && echo made; touch " + outside + "/file || echo refused"))
	start.Dir = t.TempDir()
	start.Sandbox = &child.Sandbox{Mode: child.Require, WriteRoots: []string{start.Dir}}
	started := b.start(start)
	b.wait(started.ID, procsess.Wait{})
	if got := b.all(started.ID, procsess.TextView); !strings.Contains(got, "made") || !strings.Contains(got, "refused") {
		t.Errorf("%q", got)
	}
}

// An intent that was recorded and came to nothing, and one that did though nobody
// was there to record it.
func TestRecoveryOfAStartThatWasCutShort(t *testing.T) {
	dir, mark := t.TempDir(), (&marks{}).take()
	b := newDurable(t, dir)
	for id, created := range map[string]time.Time{"pjustnow": time.Now(), "plongago": time.Now().Add(-time.Hour)} {
		if err := procsess.Enter(b.Registry, id, me.Owner, created); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, b.recover(t, "pjustnow").Err, tools.CodeRecoveryTimeout)
	got := b.recover(t, "plongago")
	wantCode(t, got.Err, tools.CodeRecoveryUnknown)
	if got.Info.State != procsess.Unknown {
		t.Errorf("%+v", got.Info)
	}

	first := newDurable(t, dir)
	started := first.cat(mark)
	var before string
	if err := procsess.ChangeRecord(dir, started.ID, func(data string) string {
		before = data
		created := regexp.MustCompile(`"created":"[^"]*"`)
		numbers := regexp.MustCompile(`"boot":"[^"]*","holder":\{[^}]*\},"child":\{[^}]*\}`)
		data = strings.Replace(data, `"state":"running"`, `"state":"starting"`, 1)
		data = numbers.ReplaceAllString(data, `"boot":"","holder":{"pid":0,"started":0},"child":{"pid":0,"started":0}`)
		return created.ReplaceAllString(data, `"created":"2020-01-01T00:00:00Z"`)
	}); err != nil {
		t.Fatal(err)
	}
	second := newDurable(t, dir)
	if got := second.recover(t, started.ID); got.Err != nil || got.Info.State != procsess.Running || got.Info.PID != started.PID {
		t.Errorf("%+v", got)
	}
	records, err := procsess.Records(dir)
	after := records[started.ID]
	for _, part := range []string{"boot", "holder", "child", "state"} {
		of := regexp.MustCompile(`"` + part + `":("[^"]*"|\{[^}]*\})`)
		if was := of.FindString(before); err != nil || was == "" || was != of.FindString(after) {
			t.Errorf("%s was %q, is %q, %v", part, was, of.FindString(after), err)
		}
	}
}

// A full disk refuses what must be on record, and nothing else.
func TestDurableOnAFullDisk(t *testing.T) {
	if os.Getenv("PRISM_PROCSESS_TEST_MOUNTS") == "" {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), "PRISM_PROCSESS_TEST_MOUNTS=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
		if os.Geteuid() != 0 {
			cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
		}
		output, err := cmd.CombinedOutput()
		if errors.Is(err, os.ErrPermission) && os.Geteuid() != 0 {
			t.Skip("this system lets only the superuser mount")
		}
		if err != nil {
			t.Errorf("%v\n%s", err, output)
		}
		return
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	b := newDurable(t, dir)
	first := b.cat((&marks{}).take())
	filler, err := os.Create(dir + "/filler")
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = filler.Write(make([]byte, 4096))
	}
	filler.Close()
	_, err = b.Start(b.ctx, me, durable(sh("cat")))
	wantCode(t, err, tools.CodeStateUnavailable)
	if waited := b.wait(b.start(sh("exit 3")).ID, procsess.Wait{}); *waited.Exit.Code != 3 {
		t.Errorf("others: %+v", waited)
	}
	b.types(first.ID, procsess.Type{Text: "still there\n"})
	b.sees(first.ID, "still there")
	if err := os.Remove(dir + "/filler"); err != nil {
		t.Fatal(err)
	}
	b.start(durable(sh("cat")))
}
