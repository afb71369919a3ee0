package procsess

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	long := strings.Repeat("x", editColumns+1)
	for _, c := range []struct{ name, raw, want string }{
		{"plain", "a\nb\n", "a\nb\n"},
		{"terminal line ends", "a\r\nb\r\n", "a\nb\n"},
		{"no line end", "Password: ", "Password: "},
		{"colours", "\x1b[1;31mred\x1b[0m \x1b[38;5;12mblue\x1b[m", "red blue"},
		{"title with BEL", "\x1b]0;title\x07x", "x"},
		{"title with ST", "\x1b]2;title\x1b\\x", "x"},
		{"link", "\x1b]8;;http://x/\x1b\\text\x1b]8;;\x1b\\.", "text."},
		{"strings", "a\x1bPq#1\x1b\\b\x1bXsos\x1b\\c\x1b^pm\x07pm\x1b\\d\x1b_apc\x1b\\e", "abcde"},
		{"string broken off by a sequence", "\x1b]0;title\x1b[31mred", "red"},
		{"string cancelled", "\x1b]0;title\x18x\x1bPabc\x1ay", "xy"},
		{"character sets", "\x1b(0\x1b)B\x1b%Gq\x1b(B", "q"},
		{"single shifts", "\x1bNa\x1bOb", "ab"},
		{"keypad and others", "\x1b=\x1b>\x1b#8x", "x"},
		{"escape in text that is no sequence", "a\x1b\u00e9b", "a\u00e9b"},
		{"control in a sequence", "a\x1b[3\n1mb", "a\nb"},
		{"progress", "10%\r20%\r100%\n", "100%\n"},
		{"shorter progress", "loading\rdone\n", "doneing\n"},
		{"erased progress", "loading\r\x1b[Kdone\n", "done\n"},
		{"erased whole line", "loading\x1b[2K\rdone\n", "done\n"},
		{"erase to the left", "abcdef\x1b[3D\x1b[1K!\n", "   !ef\n"},
		{"backspace", "abc\b\bX\n", "aXc\n"},
		{"backspace at the beginning", "\b\b\ba\n", "a\n"},
		{"rubout", "abc\b \b\b \bX", "aX "},
		{"spinner", "|\b/\b-\b\\\bok\n", "ok\n"},
		{"column", "abcdef\x1b[3GX\x1b[20GY\n", "abXdef             Y\n"},
		{"left and right", "abc\x1b[2DX\x1b[1CY\n", "aXcY\n"},
		{"right from the start", "\x1b[4Cx", "    x"},
		{"right without text", "a\x1b[40C\n", "a\n"},
		{"several rows", "one 1%\ntwo 1%\n\x1b[2Aone 9%\ntwo 9%\nend\n", "one 9%\ntwo 9%\nend\n"},
		{"docker", "l1: Waiting\r\nl2: Waiting\r\n\x1b[2A\r\x1b[2Kl1: Done\r\x1b[2B\x1b[1A\r\x1b[2Kl2: Done\r\x1b[1B", "l1: Done\nl2: Done\n"},
		{"erase below", "a\nb\nc\n\x1b[2A\x1b[Jx\n", "a\nx\n"},
		{"reverse index", "a\nb\x1bM\rX\n", "X\nb"},
		{"next line", "a\x1bEb", "a\nb"},
		{"up too far", "a\n\x1b[99AX\n", "X\n"},
		{"absolute place", "a\x1b[5;5Hb\x1b[2J\x1b[Hc", "a\nb\nc"},
		{"clear and home", "a\n\x1b[2J\x1b[3J\x1b[Hb\n", "a\nb\n"},
		{"save and restore", "ab\x1b7cd\x1b8X\n", "abXd\n"},
		{"status line as apt's", "a\n\x1b7\x1b[40;0f10%\x1b8b\n", "a\n10%\nb\n"},
		{"alternate screen", "a\x1b[?1049hfull\x1b[?1049lb", "a\nfull\nb"},
		{"insert", "ac\b\x1b[@b\n", "abc\n"},
		{"delete", "abbc\b\b\x1b[P\n", "abc\n"},
		{"erase characters", "abcd\r\x1b[2X\n", "  cd\n"},
		{"tab", "a\tb\n", "a\tb\n"},
		{"tab over text", "abcdefghij\r\tX\n", "abcdefghXj\n"},
		{"over a tab", "a\tb\r\x1b[2CX\n", "a X     b\n"},
		{"other controls", "a\x00\x01\x05\x07\x0b\x0c\x0e\x7fb", "ab"},
		{"C1 controls are characters", "a\u009b31mb", "a31mb"},
		{"not UTF-8", "a\xffb\xc3(\xe2\x82", "a\uFFFDb\uFFFD(\uFFFD\uFFFD"},
		{"eight-bit CSI is not UTF-8", "\x9b31mx", "\uFFFD31mx"},
		{"wide", "\u65e5\u672c\r\x1b[2CX\n", "\u65e5X \n"},
		{"half of a wide one", "\u65e5\u672c\rX\n", "X \u672c\n"},
		{"combining", "e\u0301x\b\by\n", "yx\n"},
		{"combining stays", "e\u0301x\by\n", "e\u0301y\n"},
		{"private sequences do nothing", "abc\r\x1b[?25l\x1b[>4;2m\x1b[?2J\x1b[?K\x1b[1 @", "abc"},
		{"long line", long + "\ry\n", long + "y\n"},
		{"title without end", "\x1b]0;" + strings.Repeat("t", maxSequence) + "\n", "tttt\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(textOf([]byte(c.raw))); got != c.want {
				t.Errorf("%q\ngot  %q\nwant %q", c.raw, got, c.want)
			}
		})
	}
}

// terminalNoise makes output of everything that means something.
func terminalNoise(r *rand.Rand, n int) []byte {
	pieces := []string{
		"a", "bc", "word ", "\u00e9", "\u65e5\u672c", "e\u0301", "\U0001f600", "\xff", "\xe2\x82", "\n", "\r", "\r\n", "\b", "\t", "\x1b[K", "\x1b[1K",
		"\x1b[2K", "\x1b[J", "\x1b[2J", "\x1b[A", "\x1b[2B", "\x1b[3C", "\x1b[4D", "\x1b[7G", "\x1b[H", "\x1b[31m", "\x1b[0m", "\x1b7",
		"\x1b8", "\x1bM", "\x1b]0;title\x07", "\x1b]0;title\x1b\\", "\x1bPdcs\x1b\\", "\x1b(B", "\x1b[2P", "\x1b[2@", "\x1b[3X", "\x1b", "\x1b[",
		"\x1b]0;never", "\x18", "\x1b[?1049h", "\x1b[?1l", "\x1b[6n", strings.Repeat("long ", 900), "\x1b[500C", "\x00", "\u009b",
	}
	var b []byte
	for len(b) < n {
		b = append(b, pieces[r.IntN(len(pieces))]...)
	}
	return b
}

// inPieces calls back with random pieces of b.
func inPieces(r *rand.Rand, b []byte, call func([]byte)) {
	for len(b) > 0 {
		n := min(1+r.IntN(1<<r.IntN(12)), len(b))
		call(b[:n])
		b = b[n:]
	}
}

func TestTextDoesNotDependOnPieces(t *testing.T) {
	for seed := range seeds(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		raw := terminalNoise(r, 20+r.IntN(20000))
		want := textOf(raw)
		if !utf8.Valid(want) {
			t.Fatalf("seed %d: not UTF-8: %q", seed, want)
		}
		s := newTextStream(0)
		inPieces(r, raw, s.write)
		if got := s.finish(); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: %q\nwhole  %q\npieces %q", seed, raw, want, got)
		}
	}
}

func BenchmarkLogText(b *testing.B) {
	for _, c := range []struct{ name, line string }{
		{"plain", "2026-11-30 12:00:00 INFO  a line as servers write them, of a common length\r\n"},
		{"colour", "\x1b[32m2026-11-30\x1b[0m \x1b[1mINFO\x1b[0m  a line as servers write them\r\n"},
		{"utf8", "\u65e5\u672c\u8a9e \u00e9\u00e8 a line as servers write them, of a common length\r\n"},
		{"progress", "\r[=====>        ] 42% of 123 MB, 2.3 MB/s, 00:12 left"},
	} {
		raw := bytes.Repeat([]byte(c.line), 1<<20/len(c.line))
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				textOf(raw)
			}
		})
	}
}

// TestTextOfHostileOutput: a megabyte of what is dear is no dearer than it may be.
func TestTextOfHostileOutput(t *testing.T) {
	for _, piece := range []string{
		"\x1b[500Cx\n", "\x1b[500C\x1b[500Cx\r", "\x1b7\x1b8", "\x1b[500@", "x\r\u00e9", "\x1b[1K\x1b[500C", "\b\u65e5", "\x1b[A\x1b[500Bx\n",
		"\x1b", "\x1b]", "\x1bP", "\x1b[1;", "a\u0301\u0301\u0301\u0301\u0301\u0301", "\t\r", "\x1b[99999999999999999999999C",
	} {
		raw := append(bytes.Repeat([]byte("y"), 1<<19), bytes.Repeat([]byte(piece), 1<<19/len(piece))...)
		if got := textOf(raw); len(got) > padBytes+padPerByte*len(raw)+3*len(raw) {
			t.Errorf("%q: %d bytes became %d", piece, len(raw), len(got))
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte("10%\r\x1b[K20%\n\x1b[2A\u65e5e\u0301\b\t"), uint16(3))
	f.Add(terminalNoise(rand.New(rand.NewPCG(1, 1)), 200), uint16(100))
	f.Fuzz(func(t *testing.T, raw []byte, cut uint16) {
		whole := textOf(raw)
		if !utf8.Valid(whole) || bytes.ContainsFunc(whole, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }) {
			t.Errorf("%q is %q", raw, whole)
		}
		at := int(cut) % (len(raw) + 1)
		s := newTextStream(0)
		s.write(raw[:at])
		s.write(raw[at:])
		if pieces := s.finish(); !bytes.Equal(pieces, whole) {
			t.Errorf("%q\nwhole  %q\npieces %q", raw, whole, pieces)
		}
		var pages []byte
		l := logOf(string(raw))
		for cursor := int64(0); cursor < l.total(); {
			p := l.page(RawView, cursor, at+1, true)
			pages = append(pages, p.Data...)
			if p.Cursor <= cursor {
				t.Fatalf("%q: a page at %d ends at %d", raw, cursor, p.Cursor)
			}
			cursor = p.Cursor
		}
		if !bytes.Equal(pages, raw) {
			t.Errorf("%q: pages of %d are %q", raw, at+1, pages)
		}
		m, err := newMatcher("", `zq[xy]+!`, 0)
		if err != nil {
			t.Fatal(err)
		}
		m.feed(raw[:at])
		m.feed(raw[at:])
	})
}

// seeds is how many random cases are tried, fewer under the race detector.
func seeds(n uint64) uint64 {
	if raceEnabled {
		return 1 + n/10
	}
	return n
}
