package search

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

// TestMatching is about one file and what is found in it.
func TestMatching(t *testing.T) {
	none := int64(0)
	for _, c := range []struct {
		name, text string
		query      Query
		want       string
	}{
		{"columns are code points", "日本 alpha\n🌍é alpha\n", Query{Query: "alpha"}, "f:1:4:日本 alpha|f:2:4:🌍é alpha"},
		{"invalid bytes count one each", "\xfe\xfa\xfaalpha\n", Query{Query: "alpha"}, "f:1:4:\ufffd\ufffd\ufffdalpha"},
		{"first match of a line", "xaaxa\n", Query{Query: "a"}, "f:1:2:xaaxa"},
		{"byte order mark", "\ufeffalpha\n", Query{Query: "alpha"}, "f:1:1:alpha"},
		{"UTF-16", "\xff\xfea\x00l\x00p\x00h\x00a\x00\n\x00", Query{Query: "alpha"}, "f:1:1:alpha"},
		{"CRLF", "foo\r\nbar\r\n", Query{Query: "bar$", Mode: ModeRegex}, "f:2:1:bar"},
		{"lone CR", "one\rtwo\rthree", Query{Query: "two"}, "f:2:1:two"},
		{"no final newline", "one\ntwo", Query{Query: "two"}, "f:2:1:two"},
		{"simple folding: Kelvin sign and long s", "5 \u212A, \u017Ftar\n", Query{Query: "k, star"}, "f:1:3:5 \u212A, \u017Ftar"},
		{"simple folding: final sigma", "ΟΔΟΣ οδος\n", Query{Query: "οδοσ"}, "f:1:1:ΟΔΟΣ οδος"},
		{"sharp s folds to capital sharp s only", "STRASSE straße STRAẞE\n", Query{Query: "STRAẞE"}, "f:1:9:STRASSE straße STRAẞE"},
		{"case sensitive", "Alpha\nalpha\n", Query{Query: "alpha", CaseSensitive: true}, "f:2:1:alpha"},
		{"literal, not a pattern", "a.b\naxb\n", Query{Query: "A.B"}, "f:1:1:a.b"},
		{"word", "alphabet\nalpha_\nin alpha.\nélalpha\n", Query{Query: "alpha", Word: true}, "f:3:4:in alpha."},
		{"word at both ends", "alpha", Query{Query: "alpha", Word: true}, "f:1:1:alpha"},
		{"second candidate is the word", "alphabet alpha\n", Query{Query: "alpha", Word: true}, "f:1:10:alphabet alpha"},
		{"regex", "func Foo(\nfunc bar(\n", Query{Query: `^func [A-Z]\w+`, Mode: ModeRegex, CaseSensitive: true}, "f:1:1:func Foo("},
		{"regex folds", "FUNC X\n", Query{Query: `func\s`, Mode: ModeRegex}, "f:1:1:FUNC X"},
		{"regex word", "foobar\nbar foo\n", Query{Query: `f.o`, Mode: ModeRegex, Word: true}, "f:2:5:bar foo"},
		{"regex alternatives as a word", "xab ab\n", Query{Query: `a|ab`, Mode: ModeRegex, Word: true}, "f:1:5:xab ab"},
		{"a class does not cross lines", "ab\ncd\n", Query{Query: `b[^x]c`, Mode: ModeRegex}, "(no matches)"},
		{"anchors are about lines", "x\nab\nab c\n", Query{Query: `^ab$`, Mode: ModeRegex}, "f:2:1:ab"},
		{"NUL after the prefix", strings.Repeat("x\n", 5000) + "a\x00\nalpha\n", Query{Query: "alpha"}, "f:5002:1:alpha"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, tree(t, map[string]string{"f": c.text}), nil)
			c.query.Context = &none
			result, err := s.Search(t.Context(), c.query)
			must(t, err)
			if got := strings.ReplaceAll(result.Text(), "\n", "|"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestLiteralAgainstRegexp: on random text and queries the finder agrees with
// the regular expression of the same meaning.
func TestLiteralAgainstRegexp(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := []rune("aAbBkKsS\u212A\u017FéÉßẞσΣς1 .\u65E5")
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteRune(letters[random.IntN(len(letters))])
		}
		return b.String()
	}
	for range 20_000 {
		query, buf := text(1+random.IntN(4)), []byte(text(random.IntN(40)))
		if random.IntN(3) == 0 {
			buf = append(buf[:len(buf)/2], append([]byte{0xC5, 0xE2}, buf[len(buf)/2:]...)...)
		}
		fold := random.IntN(2) == 0
		expression := regexp.QuoteMeta(query)
		if fold {
			expression = "(?i)" + expression
		}
		want := regexp.MustCompile(expression).FindIndex(buf)
		start, end, ok := newLiteral(query, fold).find(buf, 0)
		if ok != (want != nil) || ok && (start != want[0] || end != want[1]) {
			t.Fatalf("%q in %q (fold %v): %d-%d %v, want %v", query, buf, fold, start, end, ok, want)
		}
	}
}

// TestRequiredText: the text that is looked for first is in every match.
func TestRequiredText(t *testing.T) {
	for expression, want := range map[string]string{
		`foo\d+barbar`: "barbar", `(?:abc)+`: "abc", `(abc)?de`: "de", `abc|def`: "", `x*`: "", `ab{3}c`: "abbbc", `a(b)c+`: "ab", `(?i)needle\s`: "NEEDLE",
	} {
		x, err := newExpression(expression, false, false)
		must(t, err)
		got := ""
		if x.required != nil {
			got = string(x.required.text)
		}
		if got != want {
			t.Errorf("%s requires %q, want %q", expression, got, want)
		}
	}
}

// TestExpressionsAreBounded: too large is refused when the call is made, and
// what passes cannot hold a call up.
func TestExpressionsAreBounded(t *testing.T) {
	s := open(t, tree(t, map[string]string{"f": strings.Repeat("a", 1<<20) + "\n"}), &Options{Limits: Limits{Time: time.Second}})
	for _, query := range []string{
		`(`, `a{1001}`, `(a{100}){100}`, `((a{10}){10}){100}`, `(\pL{1,30}){1,30}(\w{1,30}){1,30}(x{1,30}){1,30}(y{1,30}){1,30}(z{1,30}){1,30}(\d{1,30}){1,30}`, strings.Repeat("(", 300) + strings.Repeat(")", 300), `a\`, `(?=x)`, `[z-a]`, strings.Repeat("x", 513),
	} {
		if _, err := s.Search(t.Context(), Query{Query: query, Mode: ModeRegex}); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%.40s: %v", query, err)
		}
	}
	for _, query := range []string{`(a*)*b`, `(a|aa)+$b`, `(.*)(.*)(.*)(.*)x`, `(a{1,30}){1,30}c`} {
		begin := time.Now()
		_, err := s.Search(t.Context(), Query{Query: query, Mode: ModeRegex})
		must(t, err)
		if took := time.Since(begin); took > 3*time.Second {
			t.Errorf("%s took %v under a time cap of 1 s", query, took)
		}
	}
}

// TestLongLines show a window around the match, on letter boundaries.
func TestLongLines(t *testing.T) {
	long := strings.Repeat("é", 200_000) + "needle" + strings.Repeat("ü", 200_000)
	s := open(t, tree(t, map[string]string{"min.js": "first\n" + long + "\nlast\n"}), nil)
	result, err := s.Search(t.Context(), Query{Query: "needle"})
	must(t, err)
	m := result.Matches[0]
	if len(m.Text) > 1100 || !strings.Contains(m.Text, "éneedleü") || !strings.HasPrefix(m.Text, "…é") || !strings.HasSuffix(m.Text, "ü…") || m.Column != 200_001 {
		t.Errorf("column %d, %d bytes: %.60s", m.Column, len(m.Text), m.Text)
	}
	result, err = s.Search(t.Context(), Query{Query: "first"})
	must(t, err)
	if after := result.Matches[0].After; len(after[0]) > 1100 || after[1] != "last" {
		t.Errorf("context of %d bytes", len(after[0]))
	}
	result, err = s.Search(t.Context(), Query{Query: "e.*ü", Mode: ModeRegex})
	must(t, err)
	if result.MatchCount != 1 || len(result.Matches[0].Text) > 1100 {
		t.Errorf("a match longer than the window: %+v", result.MatchCount)
	}
}

// TestContextText prints each line once.
func TestContextText(t *testing.T) {
	s := open(t, tree(t, map[string]string{"a": "m1\nx\nm2\ny\nz\nw\nm3\n", "b": "m4\n"}), nil)
	one := int64(1)
	result, err := s.Search(t.Context(), Query{Query: "m", Context: &one})
	must(t, err)
	want := "a:1:1:m1|a+x|a:3:1:m2|a+y|a-w|a:7:1:m3|b:1:1:m4"
	if got := strings.ReplaceAll(result.Text(), "\n", "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestOutputModes count what they say.
func TestOutputModes(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("f%02d", i)] = strings.Repeat("hit\n", 100)
	}
	s := open(t, tree(t, files), nil)
	two := int64(2)
	count, err := s.Search(t.Context(), Query{Query: "hit", OutputMode: OutputCount})
	must(t, err)
	if count.Text() != "3000 matches in 30 files" || count.Truncated || len(count.Matches) != 0 {
		t.Errorf("%q, %+v", count.Text(), count.TruncatedBy)
	}
	names, err := s.Search(t.Context(), Query{Query: "hit", OutputMode: OutputFiles, MaxMatches: &two})
	must(t, err)
	if names.Text() != "f00\nf01\n[truncated by matches]" || names.FileCount != 2 {
		t.Errorf("%q", names.Text())
	}
	lines, err := s.Search(t.Context(), Query{Query: "hit"})
	must(t, err)
	if len(lines.Matches) != 1000 || lines.TruncatedBy != "matches" || lines.FileCount != 10 {
		t.Errorf("%d matches in %d files, truncated by %q", len(lines.Matches), lines.FileCount, lines.TruncatedBy)
	}
	if text := lines.Text(); len(text) > 50<<10+100 || bytes.Count([]byte(text), []byte("\n")) > 2000 {
		t.Errorf("text of %d bytes", len(text))
	}
}
