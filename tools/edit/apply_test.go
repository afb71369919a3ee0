package edit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/prism-ls/prism-ls/tools"
)

// checkSpans requires that the spans are in order, describe all that changed,
// and leave every byte outside as it was.
func checkSpans(t testing.TB, original []byte, res *Result) {
	t.Helper()
	var rebuilt []byte
	last := 0
	for _, s := range res.Spans {
		if s.OldStart < last || s.OldEnd < s.OldStart || s.NewEnd < s.NewStart {
			t.Fatalf("spans %+v are out of order", res.Spans)
		}
		rebuilt = append(rebuilt, original[last:s.OldStart]...)
		if len(rebuilt) != s.NewStart {
			t.Fatalf("span %+v starts at %d in the new content", s, len(rebuilt))
		}
		rebuilt = append(rebuilt, res.Data[s.NewStart:s.NewEnd]...)
		last = s.OldEnd
	}
	rebuilt = append(rebuilt, original[last:]...)
	if !bytes.Equal(rebuilt, res.Data) {
		t.Fatalf("bytes outside the spans %+v changed: %.300q to %.300q", res.Spans, original, res.Data)
	}
}

// utf16Text encodes s with a byte order mark.
func utf16Text(order binary.AppendByteOrder, s string) string {
	out := order.AppendUint16(nil, 0xfeff)
	for _, u := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, u)
	}
	return string(out)
}

func le(s string) string { return utf16Text(binary.LittleEndian, s) }
func be(s string) string { return utf16Text(binary.BigEndian, s) }

func TestApply(t *testing.T) {
	one := func(old, new string) []Replacement { return []Replacement{{Old: old, New: new}} }
	all := func(old, new string) []Replacement { return []Replacement{{Old: old, New: new, All: true}} }
	for _, c := range []struct {
		name, file string
		edits      []Replacement
		want       string
		line       int
		fuzzy      bool
	}{
		{"all", "a b a\na\n", all("a", "aa"), "aa b aa\naa\n", 1, false},
		{"all without overlap", "aaaaa", all("aa", "b"), "bba", 1, false},
		{"all takes each line's ending", "x\r\nx\nx", all("x", "1\n2"), "1\r\n2\r\n1\n2\n1\n2", 1, false},
		{"all across endings", "x\r\ny\nx\ny\n", all("x\ny\n", "z\n"), "z\r\nz\n", 1, false},
		{"exact beats normalised", "it’s\nit's\n", one("it's", "its"), "it’s\nits\n", 2, false},
		{"rest of a fuzzy line stays", "\t“a”  –  b…  \r\n", one(`"a"`, "c"), "\tc  –  b…  \r\n", 1, true},
		{"white space after a fuzzy match stays", "“a”  \nb\n", one(`"a"`, "c"), "c  \nb\n", 1, true},
		{"white space before a match of a line break stays", "a  \n“b”\n", one("\n\"b\"", "\nc"), "a  \nc\n", 2, true},
		{"a fuzzy match swallows white space inside", "“a”  \nb\n", one("\"a\"\nb", "c\nd"), "c\nd\n", 1, true},
		{"BOM in both", "\ufeffa\nb\n", one("\ufeffa", "\ufeffc"), "\ufeffc\nb\n", 1, false},
		{"BOM stays when the first line goes", "\ufeffa\nb\n", one("a\n", ""), "\ufeffb\n", 1, false},
		{"invalid UTF-8 in the matched line stays", "x \xe9 “a” \xff\n", one(`"a"`, "b"), "x \xe9 b \xff\n", 1, true},
		{"invalid UTF-8 can be replaced", "x\xe9y", one("\xe9", "é"), "xéy", 1, false},
		{"last line takes the previous ending", "a\r\nb", one("b", "c\nd"), "a\r\nc\r\nd", 2, false},
		{"last line, previous is LF", "z\r\na\nb", one("b", "c\nd"), "z\r\na\nc\nd", 3, false},
		{"no line break at all", "b", one("b", "c\nd"), "c\nd", 1, false},
		{"CR within a CRLF file", "a\rb\r\nc\r\n", one("a\nb\n", "x\ny\n"), "x\r\ny\r\nc\r\n", 1, false},
		{"match of the ending itself", "a\r\nb\r\n", one("a\n", "a"), "ab\r\n", 1, false},
		{"match from the ending on", "a\r\nb\r\nc\n", one("\nb", "\nB"), "a\r\nB\r\nc\n", 2, false},
		{"unchanged text keeps its mixed endings", "a\r\nb\nc\n", []Replacement{{Old: "a\nb\n", New: "a\nb\n"}, {Old: "c", New: "d"}}, "a\r\nb\nd\n", 3, false},
		{"multi-line in CRLF", "a\r\nb\r\nc\r\nd\r\n", one("b\nc\n", "x\n"), "a\r\nx\r\nd\r\n", 2, false},
		{"touching", "abc", []Replacement{{Old: "b", New: "x"}, {Old: "a", New: "y"}, {Old: "c", New: ""}}, "yx", 1, false},
		{"decomposed file, composed text", "cafe\u0301 x\n", one("café x", "tea"), "tea\n", 1, true},
		{"Hangul letters", "\u1112\u1161\u11ab\n", one("한", "x"), "x\n", 1, true},
		{"UTF-16LE", le("a\r\nb😀\r\n"), one("b😀", "é\nz"), le("a\r\né\r\nz\r\n"), 2, false},
		{"UTF-16BE", be("a\nb\n"), one("a\nb", "😀"), be("😀\n"), 1, false},
		{"UTF-16 across CRLF", le("a\r\nb\r\nc"), one("a\nb\n", "x\ny\n"), le("x\r\ny\r\nc"), 1, false},
		{"UTF-16 unterminated last line", be("a\r\nb"), one("b", "c\nd"), be("a\r\nc\r\nd"), 2, false},
		{"UTF-16 with lone CR", le("a\rb\rc"), one("b", "x\ny"), le("a\rx\ry\rc"), 2, false},
		{"UTF-16 with an odd last byte", le("ab\n") + "\x61", one("b", "c"), le("ac\n") + "\x61", 1, false},
		{"UTF-16 with half a pair", le("a") + "\x00\xd8" + "b\x00", one("b", "c"), le("a") + "\x00\xd8" + "c\x00", 1, false},
		{"UTF-16 fuzzy", be("“a”  \r\nb"), one("\"a\"\nb", "c"), be("c"), 1, true},
		{"UTF-16 line that starts with a byte of LF", le("\u0a0a\nb\n"), one("b", "c"), le("\u0a0a\nc\n"), 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := Apply([]byte(c.file), c.edits, nil)
			if err != nil {
				t.Fatal(err)
			}
			if string(res.Data) != c.want || res.FirstChangedLine != c.line || res.Fuzzy != c.fuzzy {
				t.Errorf("got %q line %d fuzzy %v, want %q line %d fuzzy %v", res.Data, res.FirstChangedLine, res.Fuzzy, c.want, c.line, c.fuzzy)
			}
			checkSpans(t, []byte(c.file), res)
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	many := make([]Replacement, 1001)
	for i := range many {
		many[i] = Replacement{Old: "a", New: "b"}
	}
	big := strings.Repeat("a", 64)
	for _, c := range []struct {
		name, file string
		edits      []Replacement
		opts       *Options
		want       tools.Code
	}{
		{"nothing asked", "a", nil, nil, tools.CodeToolInput},
		{"only a BOM", "\ufeffa", []Replacement{{Old: "\ufeff", New: "x"}}, nil, tools.CodeToolInput},
		{"overlapping occurrences", "aaa", []Replacement{{Old: "aa", New: "b"}}, nil, tools.CodeAmbiguous},
		{"overlapping fuzzy occurrences", "“““", []Replacement{{Old: `""`, New: "b"}}, nil, tools.CodeAmbiguous},
		{"inside a ligature", "e\ufb03x", []Replacement{{Old: "fix", New: "b"}}, nil, tools.CodeNoMatch},
		{"inside an ellipsis", "wait…", []Replacement{{Old: "wait.", New: "b"}}, nil, tools.CodeNoMatch},
		{"base of what was composed", "e\u0301“", []Replacement{{Old: `e"`, New: "b"}}, nil, tools.CodeNoMatch},
		{"all is exact", "it’s", []Replacement{{Old: "it's", New: "b", All: true}}, nil, tools.CodeNoMatch},
		{"all, the same", "aa", []Replacement{{Old: "a", New: "a", All: true}}, nil, tools.CodeNoChange},
		{"all and one overlap", "ab a", []Replacement{{Old: "a", New: "x", All: true}, {Old: "ab", New: "y"}}, nil, tools.CodeOverlap},
		{"same but for endings", "a\r\nb\n", []Replacement{{Old: "a\nb", New: "a\r\nb"}}, nil, tools.CodeNoChange},
		{"NEL is no white space", "a\u0085\nb", []Replacement{{Old: "a\nb", New: "x"}}, nil, tools.CodeNoMatch},
		{"U+200B is no white space", "a\u200b\nb", []Replacement{{Old: "a\nb", New: "x"}}, nil, tools.CodeNoMatch},
		{"only white space", "a \nb", []Replacement{{Old: "\t", New: "x"}}, nil, tools.CodeNoMatch},
		{"invalid text for UTF-16", le("ab"), []Replacement{{Old: "a", New: "\xff"}}, nil, tools.CodeToolInput},
		{"invalid text in UTF-16", le("aé"), []Replacement{{Old: "\xa9", New: "x"}}, nil, tools.CodeNoMatch},
		{"U+FFFD is not half a pair", le("a") + "\x00\xd8", []Replacement{{Old: "\ufffd", New: "x"}}, nil, tools.CodeNoMatch},
		{"U+FFFD is not an invalid byte", "a\xff", []Replacement{{Old: "\ufffd", New: "x"}}, nil, tools.CodeNoMatch},
		{"too many by default", "a", many[:101], nil, tools.CodeToolInput},
		{"too many by option", "a", many[:3], &Options{MaxEdits: 2}, tools.CodeToolInput},
		{"more than may be allowed", "a", many[:1], &Options{MaxEdits: 1001}, tools.CodeToolInput},
		{"negative option", "a", many[:1], &Options{MaxInputBytes: -1}, tools.CodeToolInput},
		{"input over its cap", "a", []Replacement{{Old: "a", New: big}}, &Options{MaxInputBytes: 64}, tools.CodeToolInput},
		{"input over its default", "a", []Replacement{{Old: "a", New: strings.Repeat("b", 2<<20)}}, nil, tools.CodeToolInput},
		{"target over its cap", big + "b", []Replacement{{Old: "b", New: "c"}}, &Options{MaxTargetBytes: 64}, tools.CodeLimit},
		{"target over its default", strings.Repeat("a", 8<<20) + "b", []Replacement{{Old: "b", New: "c"}}, nil, tools.CodeLimit},
		{"target over the hard cap", "b", []Replacement{{Old: "b", New: "c"}}, &Options{MaxTargetBytes: 64<<20 + 1}, tools.CodeToolInput},
		{"too many places", strings.Repeat("a", 1<<20+1), []Replacement{{Old: "a", New: "c", All: true}}, nil, tools.CodeLimit},
		{"too much inserted", strings.Repeat("a", 1<<10), []Replacement{{Old: "a", New: strings.Repeat("c", 1<<17), All: true}}, nil, tools.CodeLimit},
		{"empty file", "", []Replacement{{Old: "b", New: "c"}}, nil, tools.CodeNoMatch},
		{"nothing but a BOM in the file", "\xff\xfe", []Replacement{{Old: "b", New: "c"}}, nil, tools.CodeNoMatch},
		{"a BOM and one byte", "\xff\xfea", []Replacement{{Old: "a", New: "c"}}, nil, tools.CodeNoMatch},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := Apply([]byte(c.file), c.edits, c.opts)
			if !errors.Is(err, c.want) || res != nil {
				t.Errorf("got %v and %v, want %s", res, err, c.want)
			}
		})
	}
	if _, err := Apply([]byte("b"+strings.Repeat("\na", 999)), []Replacement{{Old: "b", New: "c"}}, &Options{MaxEdits: 1000}); err != nil {
		t.Errorf("the hard caps themselves are allowed: %v", err)
	}
}

func TestAmbiguousListsLines(t *testing.T) {
	var coded *tools.Error
	_, err := Apply([]byte("x\r\ny\r\nx\r\nxx\r\n"), []Replacement{{Old: "x", New: "z"}}, nil)
	if !errors.As(err, &coded) || !strings.Contains(coded.Message, "4 times, at lines 1, 3, 4, 4;") {
		t.Errorf("got %v", err)
	}
	_, err = Apply([]byte(strings.Repeat("x\n", 2000)), []Replacement{{Old: "x", New: "z"}}, nil)
	if !errors.As(err, &coded) || !strings.Contains(coded.Message, "more than 1000 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …;") {
		t.Errorf("got %v", err)
	}
	if got := coded.Details.(Ambiguity); len(got.Lines) != 1000 || got.Lines[999] != 1000 {
		t.Errorf("details are %+v", got)
	}
}

func TestMissExplainsItself(t *testing.T) {
	file := "package x\n\tif x {\n\treturn “a  b”\n" + strings.Repeat("filler\n", 20) + "foo bar 1\nfoo bar 2\nfoo bar 3\nfoo bar 4\nall\r\nthe same\r\nbut here\nlong " + strings.Repeat("z", 300) + "Bé\n"
	for _, c := range []struct {
		old  string
		want []Nearby
	}{
		{"    if x {", []Nearby{{2, "→if x {", "····if x {"}}},
		{"    if xy == 1 {", nil},
		{"return \"a b\"", []Nearby{{3, "→return·“(U+201C)a··b”(U+201D)", `return·"a·b"`}}},
		{"foo bar\nzzz", []Nearby{{24, "foo bar·1", "foo bar"}, {25, "foo bar·2", "foo bar"}, {26, "foo bar·3", "foo bar"}}},
		{"\nall!\n  the same \nbut there\n", []Nearby{{28, "all", "all!"}}},
		{"\nfoo bar 4\nall\nthe same\nbut there\n", []Nearby{{24, "foo bar 1", "foo bar 4"}, {25, "foo bar 2", "foo bar 4"}, {30, "but here", "but there"}}},
		{"xy\nzz", nil},
		{"nowhere to be seen", nil},
		{"long " + strings.Repeat("z", 300) + "A", []Nearby{{31, "…" + strings.Repeat("z", 118) + "Bé(U+00E9)", "…" + strings.Repeat("z", 119) + "A"}}},
	} {
		_, err := Apply([]byte(file), []Replacement{{Old: c.old, New: "y"}}, nil)
		var coded *tools.Error
		if !errors.As(err, &coded) || coded.Code != tools.CodeNoMatch {
			t.Fatalf("%q: %v", c.old, err)
		}
		if got := coded.Details.(Miss).Nearby; !slices.Equal(got, c.want) {
			t.Errorf("%q: got %+v, want %+v", c.old, got, c.want)
		}
		for _, n := range c.want {
			if !strings.Contains(coded.Message, n.Text) || !strings.Contains(coded.Message, n.Expected) {
				t.Errorf("the message does not show %+v: %s", n, coded.Message)
			}
		}
	}
}

// TestNormalisedSets compares N with a plain statement of it, for every code
// point alone, in the middle and at the end of a line.
func TestNormalisedSets(t *testing.T) {
	quotes := strings.NewReplacer("\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'",
		"\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u201f", `"`,
		"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2015", "-", "\u2212", "-",
		"\u00a0", " ", "\u2002", " ", "\u2003", " ", "\u2004", " ", "\u2005", " ", "\u2006", " ", "\u2007", " ", "\u2008", " ",
		"\u2009", " ", "\u200a", " ", "\u202f", " ", "\u205f", " ", "\u3000", " ")
	plain := func(s string) string {
		lines := strings.Split(norm.NFKC.String(s), "\n")
		for i, l := range lines {
			lines[i] = strings.TrimRight(l, "\t\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff")
		}
		return quotes.Replace(strings.Join(lines, "\n"))
	}
	for r := rune(1); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) || r == '\n' || r == '\r' {
			continue // these end lines
		}
		if !soak() && (r >= 0x3400 && r < 0xa000 || r >= 0x20000) {
			continue // ideographs, and little that is assigned
		}
		c := string(r)
		s := c + "\nab" + c + "cd\ne" + c + "\n" + c + c + "\n\u4e2d" + c + "\u0301\n" + c + " \n \t" + c
		if got, want := string(normalise([]byte(s))), plain(s); got != want {
			t.Fatalf("U+%04X: N(%+q) = %+q, want %+q", r, s, got, want)
		}
	}
}

// TestNormalisedMap requires of random texts that each place which corresponds
// to one in the view splits N there: N of what is before, then N of the rest.
func TestNormalisedMap(t *testing.T) {
	alphabet := []rune("ab \t\n\n“’–…\u0301\u00e9\u3000\ufeff\u2028\u1112\u1161\u11abﬃ中\u0327")
	r := rand.New(rand.NewPCG(11, 12))
	rounds := 5000
	if soak() {
		rounds = 200_000
	}
	for range rounds {
		var view []byte
		for range r.IntN(20) {
			view = utf8.AppendRune(view, alphabet[r.IntN(len(alphabet))])
		}
		if r.IntN(4) == 0 {
			view = append(view, 0xff)
		}
		n := newStream(view, true)
		n.fill(math.MaxInt)
		text := n.window
		for at := range text {
			start, ok := n.start(at)
			if !ok {
				continue
			}
			if got := normalise(view[start:]); !bytes.Equal(got, text[at:]) {
				t.Fatalf("N(%+q) = %+q; from %d is view %d, which gives %+q", view, text, at, start, got)
			}
			if end, ok := n.end(at + 1); ok {
				got := normalise(append(bytes.Clone(view[:end]), '\n'))
				want := normalise(append(bytes.Clone(text[:at+1]), '\n'))
				if !bytes.Equal(got, want) {
					t.Fatalf("N(%+q) = %+q; up to %d is view %d, which gives %+q", view, text, at+1, end, got)
				}
			}
		}
	}
}

// TestApplyRandom cuts random stretches out of random files in every encoding
// and has them replaced.
func TestApplyRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	alphabet := []rune("abcdefgh \té中😀")
	applied := 0
	for range 5000 {
		var b strings.Builder
		for range r.IntN(40) {
			for range r.IntN(12) {
				b.WriteRune(alphabet[r.IntN(len(alphabet))])
			}
			b.WriteString([]string{"\n", "\n", "\r\n", "\r"}[r.IntN(4)])
		}
		text := b.String()
		if text == "" {
			continue
		}
		from := r.IntN(len(text))
		old := strings.ToValidUTF8(text[from:from+r.IntN(len(text)-from)], "")
		if old == "" || strings.HasPrefix(text[from:], "\n") || strings.HasSuffix(old, "\r") {
			continue
		}
		new := "Z" + old + "\nY"
		for _, file := range []string{text, "\ufeff" + text, le(text), be(text)} {
			res, err := Apply([]byte(file), []Replacement{{Old: old, New: new}}, nil)
			if errors.Is(err, tools.CodeAmbiguous) {
				continue
			}
			if err != nil {
				t.Fatalf("%q in %q: %v", old, file, err)
			}
			applied++
			checkSpans(t, []byte(file), res)
			if s := res.Spans[0]; len(res.Spans) != 1 || res.Fuzzy ||
				string(newSource(append([]byte(file[:bomLen(file)]), file[s.OldStart:s.OldEnd]...)).viewed().text) != unifyEndings(old) {
				t.Fatalf("%q in %q was found at %+v", old, file, res.Spans)
			}
		}
	}
	if applied < 5000 {
		t.Errorf("only %d replacements were unique", applied)
	}
}

func bomLen(file string) int { return newSource([]byte(file)).bom }

func FuzzApply(f *testing.F) {
	for i, c := range contents {
		f.Add([]byte(c), "a", "b\nc", i%3 == 0)
	}
	f.Add([]byte("“a” – b…  \r\n"), `"a" - b...`, "x\ny", false)
	f.Add([]byte(le("a\r\nb😀")+"\x00"), "😀", "\r", true)
	f.Fuzz(func(t *testing.T, file []byte, old, new string, all bool) {
		before := bytes.Clone(file)
		res, err := Apply(file, []Replacement{{Old: old, New: new, All: all}}, nil)
		if !bytes.Equal(file, before) {
			t.Fatal("the original was modified")
		}
		if err != nil {
			var coded *tools.Error
			if !errors.As(err, &coded) || coded.Code == tools.CodeInternal {
				t.Fatalf("%v", err)
			}
			return
		}
		checkSpans(t, file, res)
		checkHunks(t, file, res.Data, Lines(file, res.Data))
		Display(Change{OldPath: "f", NewPath: "f", Old: file, New: res.Data}, res.Spans)
		PatchSpans(Change{OldPath: "f", NewPath: "f", Old: file, New: res.Data}, res.Spans)
	})
}
