package langintel_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
)

// BenchmarkWarmDiagnostics measures from the writing of a file to the complete
// answer of what is wrong with it, by servers that have everything loaded.
func BenchmarkWarmDiagnostics(b *testing.B) {
	for _, c := range []struct {
		server         realServer
		file, old, new string
	}{
		{clangdServers()[0], "src/till.cpp", "return true", "return maybe"},
		{clangdServers()[1], "src/till.cpp", "return true", "return maybe"},
		{rustServers()[0], "label/src/wide.rs", "    two\r\n", "    to\r\n"},
	} {
		name := c.server.name
		if c.server.program != "" {
			name = c.server.program
		}
		b.Run(name, func(b *testing.B) {
			w := c.server.open(b, c.server.copied(b), nil)
			ctx := within(b, startTime)
			good := w.read(c.file)
			bad := strings.Replace(good, c.old, c.new, 1)
			ask := func(text string, mistakes int) time.Duration {
				began := time.Now()
				w.write(c.file, text)
				got, err := w.Diagnostics(ctx, langintel.DiagnosticsQuery{Path: c.file})
				if err != nil || got.Status != langintel.Complete || len(got.Problems) != mistakes {
					b.Fatalf("%+v, %v", got, err)
				}
				return time.Since(began)
			}
			ask(good, 0)
			ask(bad, 1)
			var times []time.Duration
			for b.Loop() {
				times = append(times, ask(good, 0), ask(bad, 1))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(times[0].Microseconds())/1000, "min-ms")
		})
	}
}
