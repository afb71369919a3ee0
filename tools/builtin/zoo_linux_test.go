package builtin_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// carriers returns the live processes, on the whole machine, whose command line
// has the mark. Only what the scripts start carries it.
func carriers(t testing.TB, mark string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(line), mark) {
			continue
		}
		if pid := filepath.Base(filepath.Dir(file)); pid != strconv.Itoa(os.Getpid()) {
			found = append(found, pid+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// zoo are commands that start processes in every way to get away. MARK is in
// the command line of each.
var zoo = []struct {
	name, script string
	up           int // sleeps that are up when it is ready
}{
	{"eleven", `
sleep MARK &
( sleep MARK & )
nohup sleep MARK >/dev/null 2>&1 &
setsid sleep MARK &
( setsid bash -c 'sleep MARK & sleep MARK & wait; : MARK' & )
bash -c 'trap "" TERM HUP INT; sleep MARK & sleep MARK; : MARK' &
setsid -f setsid -f sleep MARK
sleep MARK
: MARK`, 10},
	{"cleared, leader gone", `env -i setsid -f /bin/sleep MARK; exit 0`, 0},
	{"double fork, cleared", `(env -i /bin/bash -c '(/bin/sleep MARK &); exit' &); sleep MARK; : MARK`, 2},
	{"interactive", `bash --norc -i -c 'sleep MARK & sleep MARK & wait; : MARK' 2>/dev/null; : MARK`, 2},
	{"disowned", `sleep MARK & disown -a; exit 0`, 0},
}

func TestShellZoo(t *testing.T) {
	rounds := 2
	if soak() {
		rounds = 200 / len(zoo)
	}
	h := newHost(t, nil)
	serial := 0
	for range rounds {
		for _, shape := range zoo {
			serial++
			mark := fmt.Sprintf("%d%04d", 1_000_000+os.Getpid(), serial)
			h.release(shape.name, strings.ReplaceAll(shape.script, "MARK", mark), mark, shape.up)
			if left := carriers(t, mark); len(left) > 0 {
				t.Errorf("%s: alive after the call: %q", shape.name, left)
			}
		}
	}
	t.Logf("%d calls", serial)
}

// release runs one shape to its end: the shell's own, or, when it waits for
// what it started, a cancellation.
func (h *host) release(name, script, mark string, up int) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 30*time.Second)
	defer cancel()
	done := make(chan *tools.Result, 1)
	go func() { done <- h.callAs(ctx, "shell", args{"command": script}, callOptions()) }()
	if up > 0 {
		eventually(h.t, 20*time.Second, "all of "+name+" is up", func() bool {
			sleeping := slices.DeleteFunc(carriers(h.t, mark), func(line string) bool { return !strings.HasSuffix(line, "sleep "+mark+" ") })
			return len(sleeping) == up
		})
		cancel()
	}
	result := <-done
	switch {
	case up > 0 && (result.Err == nil || result.Err.Code != tools.CodeAborted):
		h.t.Errorf("%s: %v", name, result.Err)
	case up == 0 && (result.Err != nil || len(shellMetadata(h.t, result).Detached) != 1):
		h.t.Errorf("%s: %v, %s", name, result.Err, result.Metadata)
	}
}
