package diagnostics_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// BenchmarkCompare is the delta of 10 000 diagnostics against as many, over a
// change of 100 000 lines: with the lines that changed given, and found out from
// the texts. Each is to stay under a second.
func BenchmarkCompare(b *testing.B) {
	base, head, hunks, text := manyDiagnostics(b)
	for _, way := range []struct {
		name string
		opts diagnostics.Options
	}{
		{"hunks", diagnostics.Options{Lines: hunks}},
		{"texts", diagnostics.Options{Contents: text}},
	} {
		b.Run("10000/"+way.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := diagnostics.Compare(base, head, &way.opts); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms")
		})
	}
}

// manyDiagnostics is 20 files of 5000 lines with 500 problems each. Before every
// tenth line one was inserted, and of every ten lines four were rewritten, two of
// them beyond recognition.
func manyDiagnostics(t testing.TB) (base, head *diagnostics.Snapshot, hunks diagnostics.Hunks, text trees) {
	t.Helper()
	const files, each = 20, 500
	var before, after []diagnostics.Diagnostic
	hunks, text = diagnostics.Hunks{}, trees{map[string]string{}, map[string]string{}}
	for f := range files {
		path := fmt.Sprintf("f%d.go", f)
		var old, now strings.Builder
		for i := range each {
			message := fmt.Sprintf("undefined: name%d", i%7)
			before = append(before, problem(path, i*10, 4, message))
			after = append(after, problem(path, i*11+1, 4, message))
			hunks[path] = append(hunks[path], diagnostics.Hunk{OldStart: i * 10, NewStart: i * 11, NewLines: 1},
				diagnostics.Hunk{OldStart: i*10 + 4, OldLines: 4, NewStart: i*11 + 5, NewLines: 4})
			fmt.Fprintf(&now, "inserted(%d)\n", i)
			for j := range 10 {
				line := fmt.Sprintf("\tvalue%d, err := call%d(name%d, %d)\n", j, i%50, i%7, (i*10+j)%300)
				old.WriteString(line)
				switch j {
				case 4, 5:
					line = strings.Replace(line, "err", "problem", 1)
				case 6, 7:
					line = fmt.Sprintf("\t// what stood here before %d\n", i*j)
				}
				now.WriteString(line)
			}
		}
		text.base[path], text.head[path] = old.String(), now.String()
	}
	return snapshot(t, gopls(), before...), snapshot(t, gopls(), after...), hunks, text
}
