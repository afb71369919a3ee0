package langintel

import (
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

// units counts a string the slow way.
func units(e encoding, s string) int {
	switch e {
	case utf8Units:
		return len(string([]rune(s))) // a byte that is not UTF-8 is U+FFFD to a server
	case utf16Units:
		return len(utf16.Encode([]rune(s)))
	}
	return utf8.RuneCountInString(s)
}

func TestPositions(t *testing.T) {
	for _, source := range []string{
		"", "\n", "one", "one\ntwo\n", "one\r\ntwo\r\n\r\n", "\tx\té\n", "日本語\n😀😀\ne\u0301👩‍👩‍👧\n", "bad\xff\xfeend\n", "a\rb\r\nc\nd\r",
	} {
		text := newText([]byte(source))
		for _, w := range []wire{{units: utf8Units}, {units: utf16Units}, {units: utf32Units}, {units: utf16Units, loneCR: true}} {
			for offset := 0; offset <= len(source); {
				p := text.at(offset)
				if text.offset(p) != offset {
					t.Fatalf("%q: offset %d is %v, which is %d", source, offset, p, text.offset(p))
				}
				if p.byte <= len(text.line(p.line)) { // not between CR and LF
					got := w.encode(text, p)
					if !w.loneCR {
						want := units(w.units, source[text.lines[p.line]:offset])
						if int(got.Character) != want || int(got.Line) != p.line {
							t.Errorf("%q %s: %v at %d:%d, want %d", source, w.units, p, got.Line, got.Character, want)
						}
					}
					if back, err := w.decode(text, got, true); err != nil || back != p {
						t.Errorf("%q %+v: %v became %v and %v (%v)", source, w, p, got, back, err)
					}
				}
				_, n := utf8.DecodeRuneInString(source[offset:])
				offset += max(n, 1)
			}
		}
	}
}

func TestLoneCRIsALine(t *testing.T) {
	text := newText([]byte("a\rbc\r\nd"))
	at, err := wire{units: utf16Units, loneCR: true}.decode(text, protocol.Position{Line: 1, Character: 1}, true)
	if err != nil || text.offset(at) != 3 {
		t.Errorf("%v, %v", at, err)
	}
	at, err = wire{units: utf16Units, loneCR: true}.decode(text, protocol.Position{Line: 2, Character: 0}, true)
	if err != nil || text.offset(at) != 6 {
		t.Errorf("%v, %v", at, err)
	}
}

func TestPositionsOutsideTheText(t *testing.T) {
	text := newText([]byte("a😀b\nc"))
	w := wire{units: utf16Units}
	for _, p := range []protocol.Position{{Line: 0, Character: 9}, {Line: 0, Character: 2}, {Line: 7}, {Line: 2, Character: 1}} {
		if _, err := w.decode(text, p, true); err == nil {
			t.Errorf("%v was taken", p)
		}
		if at, err := w.decode(text, p, false); err != nil || text.offset(at) > len(text.data) {
			t.Errorf("%v is %v, %v", p, at, err)
		}
	}
	// The end of the text may be named as the line after the last.
	if at, err := w.decode(text, protocol.Position{Line: 2}, true); err != nil || text.offset(at) != len(text.data) {
		t.Errorf("%v, %v", at, err)
	}
}

func TestSplitNames(t *testing.T) {
	for in, want := range map[string]string{
		"Func": "Func", "Type.Method": "Type.Method", "(*Type).Method": "Type.Method", "(Type).Method": "Type.Method",
		"Class/method": "Class.method", "ns::Class::f(int)": "ns.Class.f", "Class#m": "Class.m", "Set[T]": "Set",
		"(*Set[T]).Add": "Set.Add", "a/b/pkg.Func": "a.b.pkg.Func",
	} {
		got := ""
		for i, n := range splitNames(in) {
			if i > 0 {
				got += "."
			}
			got += n
		}
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestOccurrences(t *testing.T) {
	for _, c := range []struct {
		line, word string
		want       int
	}{
		{"a.b = ab + b", "b", 2}, {"é + éa + aé", "é", 1}, {"x.Count(x.Count)", "x.Count", 2}, {"", "a", 0}, {"aaa", "a", 0}, {"日本 日 本日", "日", 1},
	} {
		if got := occurrences([]byte(c.line), c.word); len(got) != c.want {
			t.Errorf("%q in %q: %v, want %d", c.word, c.line, got, c.want)
		}
	}
}
