package diagnostics_test

import (
	"fmt"
	"testing"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// BenchmarkCompare is the delta of 10 000 diagnostics against as many, over a
// change of 100 000 lines; it is to stay under a second.
func BenchmarkCompare(b *testing.B) {
	base, head, hunks := manyDiagnostics(b)
	for b.Loop() {
		if _, err := diagnostics.Compare(base, head, &diagnostics.Options{Lines: hunks}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms")
	b.ReportMetric(1000, "goal-ms")
}

// manyDiagnostics is 20 files of 5000 lines with 500 problems each, and the same
// with a line inserted before every tenth.
func manyDiagnostics(t testing.TB) (base, head *diagnostics.Snapshot, hunks diagnostics.Hunks) {
	t.Helper()
	const files, each = 20, 500
	var before, after []diagnostics.Diagnostic
	hunks = diagnostics.Hunks{}
	for f := range files {
		path := fmt.Sprintf("f%d.go", f)
		for i := range each {
			message := fmt.Sprintf("undefined: name%d", i%7)
			before = append(before, problem(path, i*10, 4, message))
			after = append(after, problem(path, i*11+1, 4, message))
			hunks[path] = append(hunks[path], diagnostics.Hunk{OldStart: i * 10, NewStart: i * 11, NewLines: 1})
		}
	}
	return snapshot(t, gopls(), before...), snapshot(t, gopls(), after...), hunks
}
