package builtin_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/builtin"
)

// quickest runs do again and again and reports the shortest time as well, which
// other work on the machine disturbs least.
func quickest(b *testing.B, unit string, do func()) {
	b.Helper()
	best := time.Hour
	for b.Loop() {
		start := time.Now()
		do()
		best = min(best, time.Since(start))
	}
	b.ReportMetric(float64(best.Microseconds())/1000, unit)
}

// BenchmarkShell is a call of the cheapest command, in turn with the same
// command through os/exec; the difference is the tool's own cost.
func BenchmarkShell(b *testing.B) {
	h := newHost(b, nil)
	h.call("shell", args{"command": "true"})
	tool, raw := time.Hour, time.Hour
	for b.Loop() {
		start := time.Now()
		if result := h.call("shell", args{"command": "true"}); result.Err != nil {
			b.Fatal(result.Err)
		}
		tool = min(tool, time.Since(start))
		start = time.Now()
		command := exec.Command("/bin/bash", "-c", "true")
		command.Dir, command.Env = h.root, h.deps.Shell.Environment
		if out, err := command.CombinedOutput(); err != nil {
			b.Fatal(err, out)
		}
		raw = min(raw, time.Since(start))
	}
	b.ReportMetric(float64(tool.Microseconds())/1000, "tool-min-ms")
	b.ReportMetric(float64(raw.Microseconds())/1000, "exec-min-ms")
}

// BenchmarkReadPage is a page of 200 lines at 95 % of a file of 50 MB.
func BenchmarkReadPage(b *testing.B) {
	h := newHost(b, nil)
	line := strings.Repeat("x", 49) + "\n"
	h.write("big.txt", strings.Repeat(line, 1_000_000))
	quickest(b, "min-ms", func() {
		var m builtin.ReadMetadata
		h.ok("read", args{"path": "big.txt", "offset": 950_000, "limit": 200}, &m)
		if m.Truncation.OutputLines != 200 {
			b.Fatalf("%+v", m.Truncation)
		}
	})
}

// BenchmarkFind looks for text that is on the last line of 50 MB.
func BenchmarkFind(b *testing.B) {
	h := newHost(b, nil)
	h.write("big.txt", strings.Repeat(strings.Repeat("the quick brown fox ", 3)+"\n", 820_000)+"A Needle here\n")
	for _, mode := range []string{"exact", "case-insensitive"} {
		b.Run(mode, func(b *testing.B) {
			quickest(b, "min-ms", func() {
				h.ok("read", args{"path": "big.txt", "findText": "Needle", "findMode": mode}, nil)
			})
		})
	}
}

// BenchmarkEdit is one exact edit in the middle of a file of 1 MB.
func BenchmarkEdit(b *testing.B) {
	h := newHost(b, nil)
	half := strings.Repeat(strings.Repeat("y", 49)+"\n", 10_000)
	h.write("f.txt", half+"alpha\n"+half)
	from, to := "alpha", "beta!"
	quickest(b, "min-ms", func() {
		h.ok("edit", args{"path": "f.txt", "edits": []args{{"oldText": from, "newText": to}}}, nil)
		from, to = to, from
	})
}
