package procsess

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		name, literal, regex string
		raw                  string
		want                 string
		end                  int64 // -1: no match
	}{
		{"literal", "ready", "", "not yet\nready now\n", "ready", 13},
		{"prompt", "Password: ", "", "\x1b[1mPassword: \x1b[0m", "Password: ", 14},
		{"across colours", "foobar", "", "foo\x1b[31mbar\x1b[0m", "foobar", 11},
		{"across lines", "a\nb", "", "xa\r\nby", "a\nb", 5},
		{"literal with a terminal's line end", "a\r\nb", "", "xa\r\nby", "a\nb", 5},
		{"the first", "a", "", "xxaxxa", "a", 3},
		{"none", "zz", "", "z z", "", -1},
		{"not in a title", "secret", "", "\x1b]0;secret\x07secre", "", -1},
		{"regex", "", `port (\d+)`, "on port 8080\n", "port 8080", 12},
		{"regex takes what there is", "", `\d+%`, "10% 20%", "10%", 3},
		{"greedy", "", `a.*b`, "xaabbab\nb", "aabbab", 7},
		{"not greedy", "", `a.*?b`, "xaabbab\nb", "aab", 4},
		{"dot is no line end", "", `a.b`, "a\nba\nb", "", -1},
		{"dot with s", "", `(?s)a.b`, "a\nb", "a\nb", 3},
		{"line borders", "", `^two$`, "one\ntwo\nthree", "two", 7},
		{"prompt at the end", "", `\$ $`, "user$ x\nuser$ ", "$ ", 14},
		{"no prompt at the end", "", `\$ $`, "user$ x", "", -1},
		{"word border", "", `\bcat\b`, "concat cat", "cat", 10},
		{"case", "", `(?i)error`, "An ERROR", "ERROR", 8},
		{"alternatives", "", `foo|foobar`, "foobar", "foo", 3},
		{"any of both", "late", `ear.y`, "x early late", "early", 7},
		{"letters", "", `é+`, "caféé!", "éé", 7},
		{"empty", "", `x*`, "abc", "", 0},
		{"overwritten", "100%", "", "10%\r20%\r100%\n", "100%", 12},
		{"overwritten in part", "step 2 ok", "", "step 1 ok\rstep 2\n", "step 2 ok", 10 + 6},
		{"erased and written", "new", "", "old\r\x1b[Knew", "new", 10},
		{"before it is overwritten", "20%", "", "10%\r20%\r100%\n", "20%", 7},
		{"erased before it is whole", "passed", "", "pas\b\b\bxsed", "", -1},
		{"rubbed out", "abd", "", "abc\b \bd", "abd", 7},
		{"in a row above", "l1: done", "", "l1: wait\r\nl2: wait\r\n\x1b[2A\x1b[2Kl1: done\r\x1b[2B", "l1: done", 20 + 8 + 8},
		{"across lines after an edit", "b\nend", "", "a\rb\r\nend", "b\nend", 8},
		{"moved right", "x y", "", "x\x1b[Cy", "x y", 5},
		{"not UTF-8", "a\uFFFDb", "", "a\xffb", "a\uFFFDb", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, by := range []int{len(c.raw), 1, 2, 3, 7} {
				if by != len(c.raw) && (strings.Contains(c.name, "greedy") || strings.Contains(c.regex, "$") || c.name == "letters" || c.regex == `port (\d+)`) {
					continue // what matches first depends on what there is
				}
				m, err := newMatcher(c.literal, c.regex, 0)
				if err != nil {
					t.Fatal(err)
				}
				text, end, ok := matchInPieces(m, []byte(c.raw), by)
				if !ok {
					end = -1
				}
				if by == len(c.raw) && (text != c.want || end != c.end) || ok != (c.end >= 0) {
					t.Errorf("by %d: %q %d, want %q %d", by, text, end, c.want, c.end)
				}
			}
		})
	}
}

func matchInPieces(m *matcher, raw []byte, by int) (text string, end int64, ok bool) {
	for at := 0; at < len(raw) && !ok; at += by {
		text, end, ok = m.feed(raw[at:min(len(raw), at+by)])
	}
	return text, end, ok
}

func TestMatchCountsFromItsCursor(t *testing.T) {
	m, err := newMatcher("b", "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	if _, end, ok := m.feed([]byte("aab")); !ok || end != 1003 {
		t.Errorf("%d, %v", end, ok)
	}
}

func TestMatchRefuses(t *testing.T) {
	for _, c := range [][2]string{
		{"", ""}, {"", "("}, {"", "a)|(b"}, {"x", "a)|(b"}, {"", `(?=a)`}, {"", `\1`}, {"", strings.Repeat("(ab|cd){1000}", 4)},
		{strings.Repeat("x", literalBytes+1), ""},
	} {
		if _, err := newMatcher(c[0], c[1], 0); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%.40q: %v", c, err)
		}
	}
	if _, err := newMatcher(strings.Repeat("x", literalBytes), "", 0); err != nil {
		t.Error(err)
	}
}

// TestMatchIsRE2s: on plain text it finds what package regexp finds.
func TestMatchIsRE2s(t *testing.T) {
	patterns := []string{
		`a+b`, `a|ab|abc`, `(a|b)*c`, `[a-c]{3,5}`, `^b.*`, `c$`, `\bab`, `(?s)a.*c`, `a.*?c`, `ab(?:c|a)+`, `(?i)ABC`, `b\nc`, `\Aab`, `x*b`, `é.`, `[^a]b`,
	}
	for seed := range seeds(300) {
		r := rand.New(rand.NewPCG(seed, 6))
		raw := make([]byte, 0, 60)
		for range r.IntN(40) {
			raw = append(raw, []string{"a", "b", "c", "\n", "é", "A"}[r.IntN(6)]...)
		}
		for _, pattern := range patterns {
			m, err := newMatcher("", pattern, 0)
			if err != nil {
				t.Fatal(err)
			}
			text, end, ok := m.feed(raw)
			want := regexp.MustCompile("(?m)" + pattern).FindIndex(raw)
			if ok != (want != nil) || ok && (text != string(raw[want[0]:want[1]]) || end != int64(want[1])) {
				t.Fatalf("%q in %q: %q %d %v, want %v", pattern, raw, text, end, ok, want)
			}
		}
	}
}

// TestMatchDoesNotDependOnPieces, where what is looked for has one way to match.
func TestMatchDoesNotDependOnPieces(t *testing.T) {
	for seed := range seeds(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		raw := terminalNoise(r, 3000)
		at := r.IntN(len(raw))
		raw = append(raw[:at:at], append([]byte("\x18\nthe n\x1b[1mee\x1b[0mdle 42!"), raw[at:]...)...)
		for _, c := range [][2]string{{"needle", ""}, {"", `n[e]+dle \d\d!`}, {"", `(?i)NEEDLE 42`}, {"needle 42", "nothing"}} {
			whole, _ := newMatcher(c[0], c[1], 0)
			pieces, _ := newMatcher(c[0], c[1], 0)
			text, end, ok := whole.feed(raw)
			if !ok {
				t.Fatalf("seed %d: %q not found", seed, c)
			}
			var gotText string
			var gotEnd int64
			inPieces(r, raw, func(p []byte) {
				if pieces.found == nil {
					gotText, gotEnd, _ = pieces.feed(p)
				}
			})
			if gotText != text || gotEnd != end {
				t.Fatalf("seed %d %q: whole %q %d, in pieces %q %d", seed, c, text, end, gotText, gotEnd)
			}
		}
	}
}

// TestMatchIsLinear: ten times the output takes about ten times as long, in small
// pieces of one long line too.
func TestMatchIsLinear(t *testing.T) {
	for _, raw := range []string{"x", "ab ", "\rab", "line\n", "\b\bxy", "\x1b[1K", "\x1b[31mx"} {
		steps := func(n int) time.Duration {
			m, err := newMatcher("", `(x|ab)+z`, 0)
			if err != nil {
				t.Fatal(err)
			}
			data := bytes.Repeat([]byte(raw), n/len(raw))
			start := time.Now()
			matchInPieces(m, data, 10)
			return time.Since(start)
		}
		// The bound is far above what noise does, and far below the square's 100.
		if small, large := steps(100_000), steps(1_000_000); large > 50*small+time.Second {
			t.Errorf("%q: %v for 100 kB, %v for 1 MB", raw, small, large)
		}
	}
}

func TestMatchIsAbandoned(t *testing.T) {
	m, err := newMatcher("", `(a|b|ab)*(a?){500}z`, 0)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	go func() {
		_, _, ok := m.feed(bytes.Repeat([]byte("ab"), 1<<20))
		done <- ok
	}()
	m.abandon()
	select {
	case ok := <-done:
		if ok {
			t.Error("a match")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("goes on")
	}
}

func TestMatchWindow(t *testing.T) {
	near, _ := newMatcher("", `(?s)begin.*end`, 0)
	if text, _, ok := near.feed([]byte("begin" + strings.Repeat("x", matchWindow-100) + "end")); !ok || len(text) != matchWindow-92 {
		t.Errorf("within the window: %v, %d", ok, len(text))
	}
	far, _ := newMatcher("", `(?s)begin.*end`, 0)
	if _, _, ok := far.feed([]byte("begin" + strings.Repeat("x", matchWindow) + "end")); ok {
		t.Error("a match longer than the window")
	}
}

func BenchmarkLogMatch(b *testing.B) {
	line := "2026-11-30 12:00:00 INFO  a line as servers write them, of a common length\r\n"
	raw := bytes.Repeat([]byte(line), 1<<20/len(line))
	for _, c := range [][2]string{{"Listening on", ""}, {"", `Listening on port \d+`}, {"", `(?i)error|ready in \d+`}} {
		for _, by := range []int{32 << 10, 100} {
			b.Run(fmt.Sprintf("%s%s/%d", c[0], c[1], by), func(b *testing.B) {
				b.SetBytes(int64(len(raw)))
				for b.Loop() {
					m, err := newMatcher(c[0], c[1], 0)
					if err != nil {
						b.Fatal(err)
					}
					matchInPieces(m, raw, by)
				}
			})
		}
	}
}
