package procsess

import (
	"bytes"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"
)

// numbered is n bytes of which each tells its offset, from an offset on: 8 at a
// time.
func numbered(from int64, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		at := from + int64(i)
		b[i] = "0123456789abcdef"[at/8>>(4*(at%8))&15]
	}
	return b
}

// appendNumbered fills a log up to a size, in pieces.
func appendNumbered(l *outputLog, size int64, piece int) {
	for at := l.total(); at < size; at = l.total() {
		l.append(numbered(at, int(min(int64(piece), size-at))))
	}
}

// eventually waits for a state that another goroutine brings about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 20 s", what)
		}
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
}

// checkKept reads all of a log and returns what was kept of it.
func checkKept(t *testing.T, l *outputLog) (kept int64) {
	t.Helper()
	for at := int64(0); ; {
		data, start := l.read(at, 100_000)
		if len(data) == 0 {
			if at != l.total() {
				t.Fatalf("reading stops at %d of %d", at, l.total())
			}
			return kept
		}
		if start < at || !bytes.Equal(data, numbered(start, len(data))) {
			t.Fatalf("wrong bytes at %d (asked for %d)", start, at)
		}
		kept += int64(len(data))
		at = start + int64(len(data))
	}
}

func TestLogInMemory(t *testing.T) {
	for _, size := range []int64{0, 1, 511, 512, 513, headBytes - 1, headBytes, headBytes + 1, ringBytes, headBytes + ringBytes} {
		for _, piece := range []int{1000, 4096, 300_000} {
			l := newOutputLog(logOptions{})
			appendNumbered(l, size, piece)
			if l.total() != size || checkKept(t, l) != size || l.kept() != size {
				t.Errorf("%d bytes by %d: total %d, kept %d, said to be kept %d", size, piece, l.total(), checkKept(t, l), l.kept())
			}
		}
	}
}

func TestLogForgets(t *testing.T) {
	l := newOutputLog(logOptions{})
	size := int64(5<<20 + 77)
	appendNumbered(l, size, 4096)
	kept := checkKept(t, l)
	if low := int64(headBytes + ringBytes - chunkBytes); kept < low || kept > headBytes+ringBytes || l.kept() != kept {
		t.Errorf("kept %d, said %d, want between %d and %d", kept, l.kept(), low, headBytes+ringBytes)
	}
	if data, start := l.read(0, 1<<20); start != 0 || len(data) != headBytes {
		t.Errorf("the beginning: %d bytes at %d", len(data), start)
	}
	if data, start := l.read(headBytes, 1<<20); start+ringBytes < size-chunkBytes || int64(len(data)) != min(1<<20, size-start) {
		t.Errorf("the end: %d bytes at %d of %d", len(data), start, size)
	}
	if data, start := l.read(size, 10); len(data) != 0 || start != size {
		t.Errorf("at the end: %q at %d", data, start)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	if data, _ := l.read(0, 10); len(data) != 0 || l.kept() != 0 {
		t.Errorf("after close: %q, kept %d", data, l.kept())
	}
	l.append([]byte("late")) // does nothing, harms nothing
}

func TestLogSpools(t *testing.T) {
	dir := t.TempDir()
	l := newOutputLog(logOptions{dir: dir, budget: newSpoolBudget(1 << 30)})
	defer l.close()
	size := int64(20<<20 + 5)
	appendNumbered(l, size, 7000)
	if kept := checkKept(t, l); kept != size || l.kept() != size || l.degraded() != "" {
		t.Errorf("kept %d, said %d of %d; %s", kept, l.kept(), size, l.degraded())
	}
	if files, err := os.ReadDir(dir); err != nil || runtime.GOOS == "linux" && len(files) != 0 {
		t.Errorf("files: %v, %v", files, err)
	}
}

func TestSpoolIsBounded(t *testing.T) {
	budget := newSpoolBudget(1 << 30)
	l := newOutputLog(logOptions{dir: t.TempDir(), budget: budget, spool: 2 << 20})
	size := int64(30 << 20)
	appendNumbered(l, size, 7000)
	eventually(t, "written", func() bool { l.mu.Lock(); defer l.mu.Unlock(); return !l.spool.writing() })
	kept := checkKept(t, l)
	if kept < headBytes+ringBytes+2<<20-chunkBytes || kept > headBytes+ringBytes+2<<20 || kept != l.kept() {
		t.Errorf("kept %d, said %d", kept, l.kept())
	}
	if budget.used != 2<<20 {
		t.Errorf("budget: %d", budget.used)
	}
	if err := l.close(); err != nil || budget.used != 0 {
		t.Errorf("close: %v, budget %d", err, budget.used)
	}
}

// TestSpoolBudget: of the logs that share a budget the one that ended first loses
// its file first, one that has not ended never does, and where there is nothing to
// take the newest bytes are still there.
func TestSpoolBudget(t *testing.T) {
	const size = 4 << 20
	dir, budget := t.TempDir(), newSpoolBudget(10<<20)
	log := func() *outputLog { return newOutputLog(logOptions{dir: dir, budget: budget}) }
	first, second, third := log(), log(), log()
	appendNumbered(first, size, 4096)
	appendNumbered(second, size, 4096)
	second.end()
	first.end()
	eventually(t, "on disk", func() bool { return budget.usedNow() == 2*(size-2*chunkBytes) })
	if checkKept(t, first) != size || checkKept(t, second) != size {
		t.Error("what ended is not whole")
	}
	appendNumbered(third, size, 4096)
	if checkKept(t, first) != size || checkKept(t, second) >= size || second.degraded() == "" {
		t.Errorf("the log that ended first has %d bytes, the other %d; %q", checkKept(t, second), checkKept(t, first), second.degraded())
	}
	fourth := log()
	appendNumbered(fourth, 20<<20, 4096)
	eventually(t, "written", func() bool { fourth.mu.Lock(); defer fourth.mu.Unlock(); return !fourth.spool.writing() })
	if checkKept(t, third) != size || checkKept(t, first) >= size {
		t.Errorf("the log that lives has %d, the one that ended %d", checkKept(t, third), checkKept(t, first))
	}
	if kept := checkKept(t, fourth); kept < 6<<20 || budget.usedNow() > 10<<20 {
		t.Errorf("the newest log keeps %d, all %d", kept, budget.usedNow())
	}
	for _, l := range []*outputLog{first, second, third, fourth} {
		if err := l.close(); err != nil {
			t.Error(err)
		}
	}
	if budget.used != 0 || len(budget.ended) != 0 {
		t.Errorf("after closing all: %d bytes, %d logs", budget.used, len(budget.ended))
	}
}

func (b *spoolBudget) usedNow() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// TestSpoolWithoutADirectory: only old bytes are lost.
func TestSpoolWithoutADirectory(t *testing.T) {
	l := newOutputLog(logOptions{dir: t.TempDir() + "/gone"})
	appendNumbered(l, 10<<20, 4096)
	if kept := checkKept(t, l); kept < headBytes+ringBytes-chunkBytes {
		t.Errorf("kept %d", kept)
	}
	if l.degraded() == "" {
		t.Error("nothing says so")
	}
	if err := l.close(); err != nil {
		t.Error(err)
	}
}

// TestSpoolGivesUp in the middle, as it does where the disk hangs: the log goes on
// with what memory holds, whatever is on its way to the disk.
func TestSpoolGivesUp(t *testing.T) {
	budget := newSpoolBudget(1 << 30)
	for at := range 20 {
		l := newOutputLog(logOptions{dir: t.TempDir(), budget: budget})
		appendNumbered(l, int64(2<<20+at*100_000), 4096)
		l.mu.Lock()
		l.spool.giveUp("the disk hangs")
		l.mu.Unlock()
		appendNumbered(l, 8<<20, 4096)
		if kept := checkKept(t, l); kept < headBytes+ringBytes-chunkBytes || kept > headBytes+ringBytes+chunkBytes || l.degraded() == "" {
			t.Errorf("kept %d; %q", kept, l.degraded())
		}
		if err := l.close(); err != nil || budget.usedNow() != 0 {
			t.Errorf("close: %v, budget %d", err, budget.usedNow())
		}
	}
}

// TestLogIsReadWhileItGrows: readers and a writer at a time, with a spool that
// wraps.
func TestLogIsReadWhileItGrows(t *testing.T) {
	l := newOutputLog(logOptions{dir: t.TempDir(), spool: 1 << 20})
	defer l.close()
	const size = 24 << 20
	var readers sync.WaitGroup
	for seed := range uint64(4) {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(seed, 2))
			for l.total() < size {
				from := r.Int64N(l.total() + 1)
				data, start := l.read(from, 1+r.IntN(200_000))
				if start < from || !bytes.Equal(data, numbered(start, len(data))) {
					t.Errorf("wrong bytes at %d, asked for %d", start, from)
					return
				}
			}
		})
	}
	appendNumbered(l, size, 30_000)
	readers.Wait()
}

func TestAnIdleLogTakesLittle(t *testing.T) {
	const logs = 200
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var all []*outputLog
	for range logs {
		l := newOutputLog(logOptions{dir: t.TempDir()})
		l.append([]byte("Server listening on http://localhost:3000/\n"))
		all = append(all, l)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / logs; each > 4<<10 {
		t.Errorf("%d bytes a log", each)
	}
	runtime.KeepAlive(all)
}

func BenchmarkLogAppend(b *testing.B) {
	for _, c := range []struct {
		name  string
		piece int
		spool bool
	}{{"4KiB", 4 << 10, false}, {"64KiB", 64 << 10, false}, {"4KiB-spool", 4 << 10, true}} {
		b.Run(c.name, func(b *testing.B) {
			opts := logOptions{}
			if c.spool {
				opts.dir = b.TempDir()
			}
			l := newOutputLog(opts)
			defer l.close()
			p := bytes.Repeat([]byte("x"), c.piece)
			b.SetBytes(int64(c.piece))
			for b.Loop() {
				l.append(p)
			}
		})
	}
}
