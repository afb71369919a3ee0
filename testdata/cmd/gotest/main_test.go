package main

import (
	"strings"
	"testing"
)

// stream is what go test -json prints for a package with one passing, one
// failing, one skipped test and a figure, one that does not build, one whose
// process died, and one benchmark.
const stream = `{"Action":"start","Package":"github.com/prism-ls/prism-ls/a"}
{"Action":"run","Package":"github.com/prism-ls/prism-ls/a","Test":"TestGood"}
{"Action":"output","Package":"github.com/prism-ls/prism-ls/a","Test":"TestGood","Output":"    a_test.go:9: figure: kills survived = 200 of 200\n"}
{"Action":"output","Package":"github.com/prism-ls/prism-ls/a","Test":"TestGood","Output":"    a_test.go:10: 7 of 7 writes worked\n"}
{"Action":"output","Package":"github.com/prism-ls/prism-ls/a","Test":"TestGood","Output":"    a_test.go:11: seed 12\n"}
{"Action":"pass","Package":"github.com/prism-ls/prism-ls/a","Test":"TestGood"}
{"Action":"output","Package":"github.com/prism-ls/prism-ls/a","Test":"TestBad","Output":"    a_test.go:12: got 1, want 2\n"}
{"Action":"fail","Package":"github.com/prism-ls/prism-ls/a","Test":"TestBad"}
{"Action":"output","Package":"github.com/prism-ls/prism-ls/a","Test":"TestLater","Output":"    a_test.go:20: needs a network\n"}
{"Action":"output","Package":"github.com/prism-ls/prism-ls/a","Test":"TestLater","Output":"--- SKIP: TestLater (0.00s)\n"}
{"Action":"skip","Package":"github.com/prism-ls/prism-ls/a","Test":"TestLater"}
{"Action":"fail","Package":"github.com/prism-ls/prism-ls/a","Elapsed":1.5}
{"ImportPath":"b [b.test]","Action":"build-output","Output":"b.go:3:1: syntax error\n"}
{"ImportPath":"b [b.test]","Action":"build-fail"}
{"Action":"fail","Package":"github.com/prism-ls/prism-ls/b","Elapsed":0,"FailedBuild":"b [b.test]"}
{"Action":"run","Package":"github.com/prism-ls/prism-ls/c","Test":"TestDies"}
{"Action":"output","Package":"github.com/prism-ls/prism-ls/c","Test":"TestDies","Output":"panic: oh\n"}
{"Action":"fail","Package":"github.com/prism-ls/prism-ls/c","Elapsed":0.1}
{"Action":"output","Package":"github.com/prism-ls/prism-ls/d","Test":"BenchmarkWalk/big","Output":"BenchmarkWalk/big-2   \t"}
{"Action":"output","Package":"github.com/prism-ls/prism-ls/d","Test":"BenchmarkWalk/big","Output":"      10\t  2000 ns/op\t 0.42 ratio\t 0.5 goal-ratio\n"}
{"Action":"output","Package":"github.com/prism-ls/prism-ls/d","Test":"BenchmarkSlow","Output":"BenchmarkSlow-2   \t 10\t 20 ns/op\t 3 x/s\t 5 floor-x/s\n"}
{"Action":"output","Package":"github.com/prism-ls/prism-ls/d","Test":"BenchmarkPlain","Output":"BenchmarkPlain-2   \t 10\t 1234.5 ns/op\n"}
{"Action":"output","Package":"github.com/prism-ls/prism-ls/langintel","Test":"BenchmarkFloor/small","Output":"BenchmarkFloor/small-2   \t 10\t 100 ns/op\n"}
{"Action":"output","Package":"github.com/prism-ls/prism-ls/langintel","Test":"BenchmarkRoundTrip/small","Output":"BenchmarkRoundTrip/small-2   \t 10\t 150 ns/op\n"}
{"Action":"pass","Package":"github.com/prism-ls/prism-ls/d","Elapsed":2}
not an event
`

func TestSummary(t *testing.T) {
	var out strings.Builder
	s := newSummary(&out)
	if err := s.read(strings.NewReader(stream)); err != nil {
		t.Fatal(err)
	}
	s.finish("test")
	got := out.String()
	for _, want := range []string{
		"got 1, want 2", "b.go:3:1: syntax error", "panic: oh", "not an event",
		"a TestLater: a_test.go:20: needs a network",
		"\n1 passed, 3 failed\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("output lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "figure") {
		t.Errorf("output of a passing test is printed:\n%s", got)
	}
}

func TestPages(t *testing.T) {
	s := newSummary(&strings.Builder{})
	if err := s.read(strings.NewReader(stream)); err != nil {
		t.Fatal(err)
	}
	page := report("bench", s)
	for _, want := range []string{
		"| d | `Walk/big` | ratio | 0.42 | ≤ 0.5 | reached | 2000 ns/op |\n",
		"| d | `Slow` | x/s | 3 | ≥ 5 | not reached | 20 ns/op |\n",
		"| langintel | `RoundTrip/small` | ×Floor | 1.5 | ≤ 2 | reached | 150 ns/op |\n",
		"| d | `Plain` | 1234 ns/op |\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the performance page lacks %q:\n%s", want, page)
		}
	}
	page = report("soak", s)
	want := "| a | `TestGood` | kills survived | 200 of 200 |\n| a | `TestGood` |  | 7 of 7 writes worked |\n"
	if !strings.HasSuffix(page, want) {
		t.Errorf("the reliability page does not end in %q:\n%s", want, page)
	}
}
