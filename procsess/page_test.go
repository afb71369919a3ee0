package procsess

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func logOf(raw string) *outputLog {
	l := newOutputLog(logOptions{})
	l.append([]byte(raw))
	return l
}

func TestPage(t *testing.T) {
	for _, c := range []struct {
		name   string
		raw    string
		cursor int64
		most   int
		eof    bool
		want   string
		start  int64
	}{
		{"all", "one\ntwo\n", 0, 100, false, "one\ntwo\n", 0},
		{"behind a line", "one\ntwo\n", 0, 6, false, "one\n", 0},
		{"a line that does not fit", "123456789\n", 0, 4, false, "1234", 0},
		{"a rest without a line end", "one\ntwo", 4, 100, false, "two", 4},
		{"at the end", "one\n", 4, 100, true, "", 4},
		{"beyond the end", "one\n", 9, 100, true, "", 4},
		{"before the beginning", "one\n", -5, 100, true, "one\n", 0},
		{"not within a character", "a\u65e5b", 0, 2, false, "a", 0},
		{"a character larger than the page", "\u65e5b", 0, 1, false, "\u65e5", 0},
		{"from within a character", "a\u65e5b", 2, 100, false, "\u65e5b", 1},
		{"not within a sequence", "a\x1b[31mb", 0, 3, false, "a", 0},
		{"from within a sequence", "a\x1b[31mb", 4, 100, false, "\x1b[31mb", 1},
		{"from within a title", "\x1b]0;ti\x1b\\b", 7, 100, false, "\x1b]0;ti\x1b\\b", 0},
		{"a sequence larger than the page", "\x1b[31mb", 0, 1, false, "\x1b[31m", 0},
		{"unfinished sequence", "a\x1b[3", 0, 100, false, "a", 0},
		{"unfinished sequence at the end", "a\x1b[3", 0, 100, true, "a\x1b[3", 0},
		{"only an unfinished sequence", "a\x1b[3", 1, 100, false, "", 1},
		{"unfinished character", "a\xe6\x97", 0, 100, false, "a", 0},
		{"unfinished character at the end", "a\xe6\x97", 1, 100, true, "\xe6\x97", 1},
		{"not UTF-8", "\x97\x97\x97\x97\x97", 2, 2, false, "\x97\x97", 2},
		{"a newline in a title is no line end", "a\n\x1b]0;x\ny\x07zz", 0, 9, false, "a\n", 0},
		{"cut sequence", "\x1b]0;" + strings.Repeat("t", 5000) + "\n", 4200, 10, false, "tttttttttt", 4200},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := logOf(c.raw).page(RawView, c.cursor, c.most, c.eof)
			want := Page{
				View: RawView, Data: []byte(c.want), Start: c.start, Cursor: c.start + int64(len(c.want)), Total: int64(len(c.raw)),
				EOF: c.eof && c.start+int64(len(c.want)) == int64(len(c.raw)),
			}
			if fmt.Sprintf("%q", p.Data) != fmt.Sprintf("%q", want.Data) || p.Start != want.Start || p.Cursor != want.Cursor || p.EOF != want.EOF || p.Total != want.Total || p.Lost != 0 {
				t.Errorf("got  %+v %q\nwant %+v %q", p, p.Data, want, want.Data)
			}
		})
	}
}

// TestPagesAreTheLog: whatever is in the output and however large pages are, put
// together they are the output, and no page begins or ends within a unit.
func TestPagesAreTheLog(t *testing.T) {
	for seed := range seeds(150) {
		r := rand.New(rand.NewPCG(seed, 4))
		raw := terminalNoise(r, 30_000)
		l := logOf(string(raw))
		var got []byte
		borders := map[int64]bool{}
		for at := int64(0); at < int64(len(raw)); {
			p := l.page(RawView, at, 1+r.IntN(1<<r.IntN(14)), true)
			if p.Start != at || p.Cursor <= at {
				t.Fatalf("seed %d: a page at %d begins at %d and ends at %d", seed, at, p.Start, p.Cursor)
			}
			got = append(got, p.Data...)
			at = p.Cursor
			borders[at] = true
		}
		if !bytes.Equal(got, raw) {
			t.Fatalf("seed %d: the pages are not the output", seed)
		}
		unit := unitBorders(raw)
		for at := range borders {
			if !unit[at] && at != int64(len(raw)) {
				t.Fatalf("seed %d: a page ends at %d, within a unit: %q", seed, at, raw[max(0, at-20):min(int64(len(raw)), at+20)])
			}
		}
		for range 200 {
			at := r.Int64N(int64(len(raw)))
			p := l.page(RawView, at, 1+r.IntN(100), true)
			want := at
			for !unit[want] {
				want--
			}
			if p.Start != want {
				t.Fatalf("seed %d: cursor %d: the page begins at %d, the unit at %d", seed, at, p.Start, want)
			}
		}
	}
}

// unitBorders walks the output from its start.
func unitBorders(raw []byte) map[int64]bool {
	borders := map[int64]bool{}
	for at := 0; at >= 0 && at < len(raw); {
		borders[int64(at)] = true
		at = unitEnd(raw, at)
	}
	return borders
}

// TestTextPagesOfLines: a great many plain lines, read by pages of any size, some
// of them after the middle was forgotten.
func TestTextPagesOfLines(t *testing.T) {
	lines := 1_000_000
	if raceEnabled || testing.Short() {
		lines = 20_000
	}
	l := newOutputLog(logOptions{dir: t.TempDir(), spool: 128 << 20})
	defer l.close()
	var whole bytes.Buffer
	var piece []byte
	for i := range lines {
		from := len(piece)
		piece = fmt.Appendf(piece, "line %d \u00e9\u65e5 of output\r\n", i)
		whole.Write(bytes.Replace(piece[from:], []byte("\r\n"), []byte("\n"), 1))
		if len(piece) > 30_000 {
			l.append(piece)
			piece = piece[:0]
		}
	}
	l.append(piece)
	r := rand.New(rand.NewPCG(5, 5))
	rest := whole.Bytes()
	for at := int64(0); at < l.total(); {
		p := l.page(TextView, at, 64+r.IntN(1<<r.IntN(21)), true)
		if p.Start != at || p.Lost != 0 || !bytes.HasPrefix(rest, p.Data) {
			t.Fatalf("page at %d: starts at %d, lost %d, %.80q", at, p.Start, p.Lost, p.Data)
		}
		rest = rest[len(p.Data):]
		at = p.Cursor
	}
	if len(rest) != 0 {
		t.Errorf("%d bytes are missing", len(rest))
	}
	for range 2000 {
		at := r.Int64N(l.total())
		p := l.page(TextView, at, 1+r.IntN(5000), true)
		if p.Start > at || p.Start < at-4 || !utf8.Valid(p.Data) || bytes.ContainsRune(p.Data, '\uFFFD') {
			t.Fatalf("cursor %d: starts at %d, %.80q", at, p.Start, p.Data)
		}
	}
}

// TestPagesOverAGap: what is lost is counted, and nothing else is.
func TestPagesOverAGap(t *testing.T) {
	var raw []byte
	for i := 0; len(raw) < 4<<20; i++ {
		raw = fmt.Appendf(raw, "\x1b[%dm\u65e5%d\x1b[0m", i%100, i)
	}
	l := logOf(string(raw))
	var kept, lost, gaps int64
	for at := int64(0); at < l.total(); {
		p := l.page(RawView, at, 50_000, true)
		if !bytes.Equal(p.Data, raw[p.Start:p.Cursor]) || p.Start != at+p.Lost || p.Cursor == at {
			t.Fatalf("page at %d: %d to %d, lost %d", at, p.Start, p.Cursor, p.Lost)
		}
		if p.Lost > 0 {
			gaps++
		}
		if unit := unitEnd(raw, int(p.Start)); raw[p.Start] != 0x1b && raw[p.Start] < 0x80 || unit < 0 {
			if raw[p.Start] < '0' || raw[p.Start] > '9' || raw[p.Start-1] == '[' {
				t.Fatalf("page begins within a unit: %q", raw[p.Start-10:p.Start+10])
			}
		}
		kept += int64(len(p.Data))
		lost += p.Lost
		at = p.Cursor
	}
	if kept+lost != l.total() || gaps != 1 || kept < headBytes+ringBytes-chunkBytes-2*lookBehind {
		t.Errorf("kept %d, lost %d of %d, in %d gaps", kept, lost, l.total(), gaps)
	}
	p := l.page(RawView, 1<<20, 1000, false)
	if p.Start < l.total()-ringBytes-chunkBytes || p.Lost != p.Start-1<<20 {
		t.Errorf("from within the gap: %d, lost %d", p.Start, p.Lost)
	}
}

// TestASequenceWithoutAnEnd does not stop paging.
func TestASequenceWithoutAnEnd(t *testing.T) {
	for _, begin := range []string{"\x1b]0;", "\x1bP", "\x1b[", "\x1b[1;", "\x1b ", "\x1b"} {
		l := logOf(begin + strings.Repeat(begin[len(begin)-1:], 1<<20) + "x")
		at, pages := int64(0), 0
		for ; at < l.total(); pages++ {
			p := l.page(TextView, at, 4096, false)
			if p.Cursor == at {
				break
			}
			at = p.Cursor
		}
		if l.total()-at > maxSequence || pages > 600 {
			t.Errorf("%q: %d of %d bytes in %d pages", begin, at, l.total(), pages)
		}
	}
}

func BenchmarkLogPage(b *testing.B) {
	l := logOf(strings.Repeat("\x1b[32m2026-11-30\x1b[0m INFO a line as servers write them\r\n", 10_000))
	for _, view := range []View{RawView, TextView} {
		b.Run(string(view), func(b *testing.B) {
			b.SetBytes(int64(ChunkBytes.Default))
			for b.Loop() {
				l.page(view, 200_000, 0, false)
			}
		})
	}
}
