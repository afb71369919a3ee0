package procsess

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// smallDisk makes a file system of that many bytes, which goes with the test.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	config, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil && os.Geteuid() != 0 {
		t.Skip("this system lets only the superuser make file systems")
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	defer unix.Close(config)
	check(unix.FsconfigSetString(config, "size", fmt.Sprint(size)))
	check(unix.FsconfigCreate(config))
	mount, err := unix.Fsmount(config, unix.FSMOUNT_CLOEXEC, 0)
	check(err)
	t.Cleanup(func() { unix.Close(mount) })
	return fmt.Sprintf("/proc/self/fd/%d", mount)
}

// TestSpoolOnAFullDisk: what fits is used, the newest bytes are kept, and the
// producer does not wait.
func TestSpoolOnAFullDisk(t *testing.T) {
	const disk = 1 << 20
	budget := newSpoolBudget(1 << 30)
	l := newOutputLog(logOptions{dir: smallDisk(t, disk), budget: budget})
	size := int64(24 << 20)
	start := time.Now()
	appendNumbered(l, size, 10_000)
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	eventually(t, "written", func() bool { l.mu.Lock(); defer l.mu.Unlock(); return !l.spool.writing() })
	kept := checkKept(t, l)
	if kept < headBytes+ringBytes+disk-4*chunkBytes || l.total() != size {
		t.Errorf("kept %d of %d", kept, l.total())
	}
	if l.degraded() == "" {
		t.Error("nothing says so")
	}
	if budget.usedNow() > disk {
		t.Errorf("budget: %d", budget.usedNow())
	}
	if err := l.close(); err != nil || budget.usedNow() != 0 {
		t.Errorf("close: %v, budget %d", err, budget.usedNow())
	}
}

// TestLogOfALargeProducer takes no more memory than it may, and counts right.
func TestLogOfALargeProducer(t *testing.T) {
	size := int64(1 << 30)
	if raceEnabled || testing.Short() {
		size = 64 << 20
	}
	var stats runtime.MemStats
	inUse := func() int64 {
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before := inUse()
	l := newOutputLog(logOptions{dir: t.TempDir()})
	defer l.close()
	piece := bytes.Repeat([]byte("y\r\n"), 10_000)
	most, written := int64(0), int64(0)
	for i := 0; written < size; i++ {
		l.append(piece)
		if written += int64(len(piece)); i%4000 == 0 {
			most = max(most, inUse()-before)
		}
	}
	if l.total() != written || most > ringBytes+2<<20 {
		t.Errorf("total %d of %d, memory %d", l.total(), written, most)
	}
}
