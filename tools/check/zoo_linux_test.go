package check_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// TestChecksLeaveNothing: however a check ends, by itself, in time or called off, none
// of the processes that it has made in any shape outlives the call.
func TestChecksLeaveNothing(t *testing.T) {
	rounds := 8
	if os.Getenv("PRISM_SOAK") == "1" {
		rounds = 500
	}
	f := newFixture(t)
	counts := map[tools.Code]int{}
	for round := range rounds {
		mark := fmt.Sprintf("5%08d", rand.IntN(100_000_000))
		d := shell(fmt.Sprintf(`
(setsid sh -c 'trap "" TERM; sleep %[1]s & sleep %[1]s' &)
nohup sleep %[1]s >/dev/null 2>&1 &
sleep %[1]s & disown 2>/dev/null
%[2]s`, mark, []string{"exit 0", "exit 1", "trap '' TERM; sleep " + mark}[round%3]))
		d.Timeout = 500 * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(700))*time.Millisecond)
		_, err := f.runner(d).Run(ctx, "c")
		cancel()
		code := tools.Code("")
		if err != nil {
			code = tools.AsError(err).Code
		}
		counts[code]++
		if err != nil && !errors.Is(err, tools.CodeTimeout) {
			t.Errorf("%v", err)
		}
		if left := running(t, mark); len(left) > 0 {
			t.Fatalf("round %d (%v): left behind: %q", round, err, left)
		}
	}
	t.Logf("figure: checks that leave processes behind = %d, %d of them killed in the middle, 0 survivors", rounds, counts[tools.CodeTimeout])
}

// running lists the processes whose command line contains the mark.
func running(t *testing.T, mark string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), mark) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}
