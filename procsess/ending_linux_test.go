package procsess_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

// zoo are the ways in which processes escape from whoever started them. Each
// leaves a mark in its environment or arguments, by which the test finds it.
func zoo() map[string]string {
	return map[string]string{
		"the zoo": `sleep $T & (sleep $T &) ; nohup sleep $T >/dev/null 2>&1 & setsid sleep $T & (setsid sh -c "sleep $T & sleep $T" &) ;
			sh -c 'trap "" TERM HUP INT; sleep '$T' & sleep '$T & python3 -c 'import os,sys,time
if os.fork(): sys.exit()
os.setsid()
if os.fork(): sys.exit()
time.sleep(float(sys.argv[1]))' $T & echo up; sleep $T`,
		"env -i setsid, leader gone":   `env -i setsid sleep $T & echo up`,
		"double fork, no environment":  `env -i sh -c "(sleep $T &)" & echo up; sleep $T`,
		"bash -i with background jobs": `bash --norc -i -c 'sleep '$T' & sleep '$T' & echo up; sleep '$T`,
		"disown":                       `bash -c 'sleep '$T' & disown; echo up; sleep '$T`,
		"TERM ignored":                 `trap '' TERM HUP INT; echo up; while :; do sleep $T; done`,
	}
}

// TestNothingIsLeft: whatever a program started is gone after the kill.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	rounds := 1
	if os.Getenv("PRISM_SOAK") != "" {
		rounds = 200
	}
	b := newBench(t, &procsess.Options{Sessions: 64})
	places := make(chan struct{}, 32) // many at a time, since each has two seconds of grace
	var wait sync.WaitGroup
	for round := range rounds {
		for name, line := range zoo() {
			for kindName, kind := range kinds() {
				places <- struct{}{}
				wait.Go(func() {
					defer func() { <-places }()
					s := kind(sh(line))
					s.Name = fmt.Sprint(name, " on ", kindName, ", round ", round)
					b.isEnded(s, fmt.Sprintf("86%s.%d%04d", strings.Map(digit, kindName[:2]+name), os.Getpid(), round))
				})
			}
		}
	}
	wait.Wait()
	t.Logf("%d programs", rounds*len(zoo())*len(kinds()))
}

// isEnded starts a program that marks all that it starts, and kills it.
func (b *bench) isEnded(s procsess.Start, mark string) {
	b.tb.Helper()
	name := s.Name
	s.Name, s.Env = "", map[string]string{"T": mark}
	started, err := b.Start(b.ctx, me, s)
	if err != nil {
		b.tb.Errorf("%s: %v", name, err)
		return
	}
	if waited, err := b.Wait(b.ctx, me, started.ID, procsess.Wait{Match: "up", Timeout: time.Minute}); err != nil || waited.Reason != procsess.ReasonMatch {
		b.tb.Errorf("%s: %+v, %v", name, waited, err)
	}
	report, err := b.Kill(b.ctx, me, started.ID)
	if err != nil || len(report.Survivors) > 0 {
		b.tb.Errorf("%s: %+v, %v", name, report, err)
	}
	if left := running(b.tb, mark); len(left) > 0 {
		b.tb.Errorf("%s: left behind: %q", name, left)
	}
}

// digit makes a number of a text, the same for the same text.
func digit(r rune) rune { return '0' + r%10 }

func TestCloseEndsAll(t *testing.T) {
	t.Parallel()
	b := newBench(t, &procsess.Options{Sessions: 64})
	mark := "87." + strconv.Itoa(os.Getpid())
	for _, line := range zoo() {
		for _, kind := range kinds() {
			s := kind(sh(line))
			s.Env = map[string]string{"T": mark}
			b.sees(b.start(s).ID, "up")
		}
	}
	began := time.Now()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if left := running(t, mark); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if took := time.Since(began); took > 20*time.Second { // two seconds of grace, without load
		t.Errorf("closing took %v", took)
	}
	_, err := b.Start(b.ctx, me, sh("true"))
	wantCode(t, err, tools.CodeProcessState)
}

// running lists the command lines that hold a mark.
func running(t testing.TB, mark string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		line, err := os.ReadFile("/proc/" + entry.Name() + "/cmdline")
		if err == nil && strings.Contains(string(line), mark) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}
