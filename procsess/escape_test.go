package procsess

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestEscapesAnswers(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"text", "nothing to see\r\n", ""},
		{"status", "\x1b[5n", "\x1b[0n"},
		{"position", "\x1b[6n", "\x1b[7;33R"},
		{"extended position", "\x1b[?6n", "\x1b[?7;33R"},
		{"attributes", "\x1b[c\x1b[0c", primaryAttributes + primaryAttributes},
		{"secondary attributes", "\x1b[>c\x1b[>0c", secondaryAttributes + secondaryAttributes},
		{"tertiary attributes", "\x1b[=c", ""},
		{"an answer is no query", "\x1b[?62;22c\x1b[0n\x1b[7;33R", ""},
		{"title", "\x1b]0;rm -rf /\r\x07\x1b[21t\x1b[20t", ""},
		{"clipboard", "\x1b]52;c;?\x07\x1b]52;c;?\x1b\\", ""},
		{"settings and termcap", "\x1bP$qm\x1b\\\x1bP+q544e\x1b\\", ""},
		{"enquiry and colours", "\x05\x1b]10;?\x07\x1b]4;1;?\x1b\\", ""},
		{"a query within a string", "\x1b]0;\x5b5n\x07", ""},
		{"a string broken off by a query", "\x1b]0;x\x1b[5n", "\x1b[0n"},
		{"cancelled", "\x1b[5\x18n", ""},
		{"C1 is text in UTF-8", "\x9b5n", ""},
	} {
		e := &escapes{position: func(int64) (int, int) { return 33, 7 }}
		if got := string(e.scan([]byte(c.raw), 120, 40)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestEscapesKnowThePlaceOfAQuery(t *testing.T) {
	var at int64
	e := &escapes{position: func(place int64) (int, int) { at = place; return 500, 0 }}
	e.scan([]byte("0123456789"), 80, 24)
	if got := string(e.scan([]byte("ab\x1b[6ncd"), 80, 24)); at != 16 || got != "\x1b[1;80R" {
		t.Errorf("asked at %d; %q", at, got)
	}
	if got := string((&escapes{}).scan([]byte("\x1b[6n"), 80, 24)); got != "\x1b[24;1R" {
		t.Errorf("without a screen: %q", got)
	}
}

func TestEscapesModes(t *testing.T) {
	type modes struct{ alternate, paste, keys bool }
	for _, c := range []struct {
		raw  string
		want modes
	}{
		{"", modes{}},
		{"\x1b[?1049h\x1b[?2004h\x1b[?1h", modes{true, true, true}},
		{"\x1b[?1049;2004;1h", modes{true, true, true}},
		{"\x1b[?47h\x1b[?1047h\x1b[?1047l", modes{}},
		{"\x1b[?1049;2004;1h\x1b[?2004l", modes{true, false, true}},
		{"\x1b[?1049;2004;1h\x1bc", modes{}},
		{"\x1b[?1049;2004;1h\x1b[!p", modes{true, true, false}},
		{"\x1b[1049;2004;1h", modes{}},
		{"\x1b]0;\x07\x1b[?25;1049\x1b[?2004h", modes{false, true, false}},
	} {
		whole, pieces := &escapes{}, &escapes{}
		whole.scan([]byte(c.raw), 80, 24)
		for i := range c.raw {
			pieces.scan([]byte(c.raw[i:i+1]), 80, 24)
		}
		for _, e := range []*escapes{whole, pieces} {
			if got := (modes{e.alternate, e.bracketedPaste, e.applicationCursor}); got != c.want {
				t.Errorf("%q: %+v, want %+v", c.raw, got, c.want)
			}
		}
	}
}

func TestEscapesDoNotDependOnPieces(t *testing.T) {
	for seed := range seeds(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		raw := terminalNoise(r, 500)
		whole, pieces := &escapes{}, &escapes{}
		want := whole.scan(raw, 80, 24)
		var got []byte
		inPieces(r, raw, func(p []byte) { got = append(got, pieces.scan(p, 80, 24)...) })
		if !bytes.Equal(got, want) || whole.alternate != pieces.alternate {
			t.Fatalf("seed %d: %q, in pieces %q", seed, want, got)
		}
	}
}

// TestRepliesAreBounded: a file full of queries does not type megabytes.
func TestRepliesAreBounded(t *testing.T) {
	e := &escapes{}
	if got := e.scan(bytes.Repeat([]byte("\x1b[c"), 10_000), 80, 24); len(got) != maxReplies*len(primaryAttributes) {
		t.Errorf("%d bytes", len(got))
	}
}

func BenchmarkLogEscapes(b *testing.B) {
	for _, c := range []struct{ name, line string }{
		{"plain", "2026-11-30 12:00:00 INFO  a line as servers write them, of a common length\r\n"},
		{"colour", "\x1b[32m2026-11-30\x1b[0m \x1b[1mINFO\x1b[0m  a line as servers write them\r\n"},
	} {
		raw := bytes.Repeat([]byte(c.line), 32<<10/len(c.line))
		b.Run(c.name, func(b *testing.B) {
			var e escapes
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				e.scan(raw, 120, 40)
			}
		})
	}
}
