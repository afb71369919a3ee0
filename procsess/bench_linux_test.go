package procsess_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/procsess"
)

// writes is a program that writes n bytes of lines of a length, as fast as its
// output takes them.
func writes(n, line int) (command string, args []string) {
	return "python3", []string{"-c", fmt.Sprintf(`
import os
d = (b"x" * %d + b"\n") * (65536 // %d)
n = %d
while n > 0:
    n -= os.write(1, d[:n])`, line-1, line, n)}
}

// BenchmarkDrain is how fast a session takes what a program writes to its
// terminal, beside the smallest loop that reads a terminal at all.
func BenchmarkDrain(b *testing.B) {
	const size = 32 << 20
	for _, c := range []struct {
		name   string
		line   int
		noCRLF bool
		state  string
	}{
		{"100-byte-lines", 100, false, inMemory},
		{"100-byte-lines-without-CRLF", 100, true, inMemory},
		{"2-byte-lines", 2, false, inMemory},
		{"with-spool", 100, false, ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			bench := newBench(b, &procsess.Options{Sessions: 64, StateDir: c.state})
			var ours, bare []float64
			for b.Loop() {
				s := procsess.Start{NoCRLF: c.noCRLF}
				s.Command, s.Args = writes(size, c.line)
				id := bench.start(s).ID
				first := bench.wait(id, procsess.Wait{Bytes: 1, Cursor: new(int64)}) // without the interpreter's start
				began := time.Now()
				last := bench.wait(id, procsess.Wait{})
				ours = append(ours, float64(last.Cursor-first.Cursor)/1e6/time.Since(began).Seconds())
				bare = append(bare, bareLoop(b, s))
				if _, err := bench.Kill(b.Context(), me, id); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(slices.Max(ours), "MB/s")
			b.ReportMetric(slices.Max(bare), "bare-MB/s")
			b.ReportMetric(slices.Max(bare)/slices.Max(ours), "bare/ours")
		})
	}
}

// bareLoop reads a terminal and throws away what it reads.
func bareLoop(b *testing.B, s procsess.Start) float64 {
	b.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer master.Close()
	if s.NoCRLF {
		modes, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
		if err != nil {
			b.Fatal(err)
		}
		modes.Oflag &^= unix.ONLCR
		if err := unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, modes); err != nil {
			b.Fatal(err)
		}
	}
	cmd := exec.Command(s.Command, s.Args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	slave.Close()
	buffer := make([]byte, 64<<10)
	var began time.Time
	total := 0
	for {
		n, err := master.Read(buffer)
		if began.IsZero() {
			began = time.Now()
			n = 0
		}
		total += n
		if errors.Is(err, unix.EIO) {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(began)
	_ = cmd.Wait()
	return float64(total) / 1e6 / took.Seconds()
}

// BenchmarkEcho is how soon what is typed is seen: the terminal's own echo, taken
// by the session, and waking whoever waits for it.
func BenchmarkEcho(b *testing.B) {
	bench := newBench(b, nil)
	id := bench.start(sh("stty -icanon min 1; echo up; exec cat >/dev/null")).ID // an input that nobody reads is full at 4095 bytes
	at := bench.sees(id, "up\n").Cursor
	attached, err := bench.Attach(b.Context(), me, id, at)
	if err != nil {
		b.Fatal(err)
	}
	defer attached.Close()
	p := make([]byte, 16)
	var times []time.Duration
	for b.Loop() {
		began := time.Now()
		if err := attached.Type(b.Context(), []byte("x")); err != nil {
			b.Fatal(err)
		}
		if _, _, err := attached.Next(b.Context(), p); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(bareEcho(b), "bare-p50-µs")
}

// bareEcho is the same for one thread that writes and reads by itself.
func bareEcho(b *testing.B) float64 {
	master, slave, err := pty.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	p := make([]byte, 16)
	var times []time.Duration
	for range 2000 {
		began := time.Now()
		if _, err := master.Write([]byte("x")); err != nil {
			b.Fatal(err)
		}
		if _, err := master.Read(p); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	return float64(times[len(times)/2].Nanoseconds()) / 1e3
}

// BenchmarkIdle is what a session costs that does nothing: memory of this process,
// and its threads.
func BenchmarkIdle(b *testing.B) {
	const sessions = 60
	bench := newBench(b, &procsess.Options{Sessions: 64})
	bench.wait(bench.start(sh("true")).ID, procsess.Wait{}) // what all share is there
	for b.Loop() {
		before, memory, stacks := threadsNow(b), inUse(), stacksInUse()
		var ids []string
		for range sessions {
			ids = append(ids, bench.start(procsess.Start{Command: "sleep", Args: []string{"1000"}}).ID)
		}
		b.ReportMetric(float64(inUse()-memory)/sessions, "B/session")
		b.ReportMetric(float64(stacksInUse()-stacks)/sessions, "stack-B/session")
		b.ReportMetric(max(0, float64(threadsNow(b)-before))/sessions, "threads/session")
		for _, id := range ids {
			if _, err := bench.Kill(b.Context(), me, id); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// inUse is the heap and the stacks in use.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// stacksInUse is the part of it that is stacks of goroutines.
func stacksInUse() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.StackInuse)
}

func threadsNow(b *testing.B) int {
	b.Helper()
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		b.Fatal(err)
	}
	return len(entries)
}

// BenchmarkProducer is the memory that a program takes which writes 10 GB that
// nobody reads.
func BenchmarkProducer(b *testing.B) {
	const size = 10_000_000_000
	bench := newBench(b, &procsess.Options{Spool: 1 << 20})
	for b.Loop() {
		before := resident(b)
		s := procsess.Start{Command: "head", Args: []string{"-c", strconv.Itoa(size), "/dev/zero"}, Pipe: true}
		id := bench.start(s).ID
		most, total := before, int64(0)
		for {
			waited := bench.wait(id, procsess.Wait{Timeout: 100 * time.Millisecond})
			most = max(most, resident(b))
			if total = waited.Cursor; waited.Reason == procsess.ReasonExit {
				break
			}
		}
		if total != size {
			b.Fatalf("%d bytes were counted", total)
		}
		b.ReportMetric(float64(most-before)/1e6, "RSS-MB")
	}
}

// resident is this process's resident memory, in bytes.
func resident(b *testing.B) int64 {
	b.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// BenchmarkGrandchild is how soon a program's end is told of while a grandchild
// holds its output open.
func BenchmarkGrandchild(b *testing.B) {
	bench := newBench(b, nil)
	for b.Loop() {
		id := bench.start(onPipe(sh("sleep 1000 & exit 3"))).ID
		bench.wait(id, procsess.Wait{})
		told := time.Now()
		info, err := bench.Get(b.Context(), me, id)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(told.Sub(info.Ended).Microseconds())/1e3, "ms")
		if _, err := bench.Kill(b.Context(), me, id); err != nil {
			b.Fatal(err)
		}
	}
}
