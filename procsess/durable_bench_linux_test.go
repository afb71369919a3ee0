package procsess_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
)

// BenchmarkDurableEcho is from typing a key to having its echo, through the holder's
// socket, with the terminal of a program that waits for a line.
func BenchmarkDurableEcho(b *testing.B) {
	s := newDurable(b, b.TempDir())
	started := s.start(durable(sh("echo up; cat >/dev/null")))
	s.sees(started.ID, "up")
	info, err := s.Get(s.ctx, me, started.ID)
	if err != nil {
		b.Fatal(err)
	}
	attachment, err := s.Attach(s.ctx, me, started.ID, info.Cursor)
	if err != nil {
		b.Fatal(err)
	}
	defer attachment.Close()
	buffer := make([]byte, 100)
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		key := []byte("x")
		if i%1000 == 999 {
			key = []byte("\n") // a line holds 4095 bytes
		}
		began := time.Now()
		if err := attachment.Type(s.ctx, key); err != nil {
			b.Fatal(err)
		}
		if _, _, err := attachment.Next(s.ctx, buffer); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(times[len(times)/10].Nanoseconds())/1e3, "p10-µs")
}

// TestHolderMemory measures what a holder costs, with a session that is idle.
func TestHolderMemory(t *testing.T) {
	s := newDurable(t, t.TempDir())
	started := s.start(durable(sh("echo up; exec sleep 1000")))
	s.sees(started.ID, "up")
	holder := procsess.HolderOf(s.Registry, started.ID)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", holder))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]int{}
	for _, match := range regexp.MustCompile(`(?m)^(\w+): +(\d+) kB$`).FindAllStringSubmatch(string(text), -1) {
		values[match[1]], _ = strconv.Atoi(match[2])
	}
	// The rest is the program itself, which all of its processes share.
	own := values["Anonymous"]
	t.Logf("figure: memory of a durable session's holder = %d KiB of its own (RSS %d KiB, PSS %d KiB)", own, values["Rss"], values["Pss"])
	if limit := 4 << 10; own > limit && !procsess.RaceEnabled {
		t.Errorf("%d KiB of its own, at most %d", own, limit)
	}
}
