package procsess

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestScreen: the sequences one by one, on 20 columns and 6 rows. @x,y is the
// cursor, from 1.
func TestScreen(t *testing.T) {
	twenty := strings.Repeat("x", 20)
	six := "1\r\n2\r\n3\r\n4\r\n5\r\n6"
	for _, c := range []struct{ name, raw, want string }{
		{"text", "a\r\nb", "a\nb@2,2"},
		{"line feed alone", "a\nb", "a\n b@3,2"},
		{"trailing blanks and rows", "a  \r\n\r\n  \r\n", "a@1,4"},
		{"wrap", twenty + "y", twenty + "\ny@2,2"},
		{"wrap waits", twenty + "\ry", "y" + twenty[1:] + "@2,1"},
		{"no wrap", "\x1b[?7l" + twenty + "abc", twenty[1:] + "c@20,1"},
		{"wide", "\u65e5\u672cx", "\u65e5\u672cx@6,1"},
		{"wide in the last column", twenty[1:] + "\u65e5y", twenty[1:] + "\n\u65e5y@4,2"},
		{"half of a wide one", "\u65e5\u672c\x1b[2GX", " X\u672c@3,1"},
		{"other half of a wide one", "\u65e5\u672c\x1b[1GX", "X \u672c@2,1"},
		{"combining", "e\u0301x", "e\u0301x@3,1"},
		{"combining in the last column", twenty + "\u0301", twenty + "\u0301@20,1"},
		{"scroll", six + "\r\n7", "2\n3\n4\n5\n6\n7@2,6"},
		{"region", six + "\x1b[2;4r\x1b[4;1H\nX", "1\n3\n4\nX\n5\n6@2,4"},
		{"region, up", six + "\x1b[2;4r\x1b[2;1H\x1bMX", "1\nX\n2\n3\n5\n6@2,2"},
		{"origin", "\x1b[2;4r\x1b[?6h\x1b[1;1HX\x1b[9;1HY", "\nX\n\nY@2,4"},
		{"insert and delete lines", six + "\x1b[2;1H\x1b[2L\x1b[5;1H\x1b[M", "1\n\n\n2\n4@1,5"},
		{"insert and delete characters", "abcdef\x1b[3D\x1b[2@X\x1b[2P", "abcXef@5,1"},
		{"insert pushes out", twenty + "\r\x1b[2@ab", "ab" + twenty[2:] + "@3,1"},
		{"erase characters", "abcdef\x1b[4D\x1b[2X", "ab  ef@3,1"},
		{"insert mode", "abc\r\x1b[4hX\x1b[4lY", "XYbc@3,1"},
		{"erase in line", "abcdef\x1b[3D\x1b[1K\r\n12\x1b[2K\r\n123\b\x1b[K", "    ef\n\n12@3,3"},
		{"erase above", six + "\x1b[3;1H\x1b[1J", "\n\n\n4\n5\n6@1,3"},
		{"erase below", six + "\x1b[3;1H\x1b[J", "1\n2@1,3"},
		{"erase all", six + "\x1b[2Jx", "\n\n\n\n\n x@3,6"},
		{"scroll up and down", "1\r\n2\x1b[S\x1b[2T", "\n\n2@2,2"},
		{"tabs", "a\tb\x1b[3g\r\x1b[4C\x1bH\r\tc", "a   c   b@6,1"},
		{"tabs back", "\t\tx\x1b[ZY\x1b[2ZZ", "        Z       Y@10,1"},
		{"next line and index", "a\x1bEb\x1bDc", "a\nb\n c@3,3"},
		{"moves", "\x1b[3;4HX\x1b[AY\x1b[2DZ\x1b[2BW\x1b[9CV\x1b[99D\x1b[FU\x1b[2EQ\x1b[6`R\x1b[6dS", "\n   ZY\nU  X\n    W         V\nQ    R\n      S@8,6"},
		{"repeat", "ab\x1b[3b", "abbbb@6,1"},
		{"repeat a wide one", "\u65e5\x1b[2b", "\u65e5\u65e5\u65e5@7,1"},
		{"line drawing", "\x1b(0lqk\x1b(Bx", "┌─┐x@5,1"},
		{"line drawing shifted", "\x1b)0l\x0el\x0fl", "l┌l@4,1"},
		{"save and restore", "ab\x1b7\x1b[5;5Hcd\x1b8e", "abe\n\n\n\n    cd@4,1"},
		{"alternate", "main\x1b[?1049halt", "    alt@8,1"},
		{"and back", "main\x1b[?1049h\x1b[3;3Halt\x1b[?1049lback", "mainback@9,1"},
		{"alternate is empty again", "\x1b[?1049halt\x1b[?1049l\x1b[?1049h", "@1,1"},
		{"reset", "abc\x1b[2;3r\x1bcx", "x@2,1"},
		{"soft reset", "\x1b[2;3r\x1b[4h\x1b[!pab\rc", "cb@2,1"},
		{"strings", "a\x1bPdcs\x1b\\b\x1b]52;c;YQ==\x07c", "abc@4,1"},
		{"C1 characters and DEL", "a\u009b31m\x7fb", "a31mb@6,1"},
		{"not UTF-8", "a\xff\xe2\x82b", "a\uFFFD\uFFFD\uFFFDb@6,1"},
		{"selective erase", "abc\x1b[?2K", "@4,1"},
		{"new line mode", "a\x1b[20h\nb", "a\nb@2,2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, about := newScreen(20, 6).render(logOf(c.raw), nil)
			if got := fmt.Sprintf("%s@%d,%d", text, about.CursorColumn, about.CursorRow); got != c.want {
				t.Errorf("%q\ngot  %q\nwant %q", c.raw, got, c.want)
			}
		})
	}
}

func TestScreenSays(t *testing.T) {
	long := strings.Repeat("t", 3000)
	l := logOf("\x1b]0;one; two\x07\x1b[?25l\x1b[?1049h\x1b[3;7H")
	s := newScreen(80, 24)
	want := Screen{Columns: 80, Rows: 24, CursorColumn: 7, CursorRow: 3, CursorHidden: true, Alternate: true, Title: "one; two"}
	if _, about := s.render(l, nil); about != want {
		t.Errorf("%+v", about)
	}
	for _, c := range [][2]string{
		{"\x1b]2;a\u202eb\u200bc\x1b\\", "abc"},
		{"\x1b]0;" + long + "\x07", long[:titleBytes]},
		{"\x1b]0;\xff\x07", "\uFFFD"},
		{"\x1b]1;icon\x07\x1b]0;cut off\x18\x1b]0;broken off\x1b[0m", "\uFFFD"},
		{"\x1b]0;\x07", ""},
	} {
		l.append([]byte(c[0]))
		if _, about := s.render(l, nil); about.Title != c[1] {
			t.Errorf("%.40q: title %q", c[0], about.Title)
		}
	}
}

func TestScreenFollowsSizes(t *testing.T) {
	l := logOf("one\r\ntwo\r\nthree\r\nfour\x1b[?1049h\x1b[Hfull screen of text")
	sizes := []resize{{at: l.total(), columns: 10, rows: 3}}
	s := newScreen(40, 8)
	l.append([]byte("\x1b[3;99H!"))
	if text, about := s.render(l, sizes); string(text) != "full scree\n\n         !" || about.Columns != 10 || about.Rows != 3 {
		t.Errorf("%q %+v", text, about)
	}
	l.append([]byte("\x1b[?1049l$"))
	sizes = append(sizes, resize{l.total(), 20, 4}, resize{l.total(), 9999, 9999}, resize{l.total(), -1, 0}, resize{l.total(), 20, 4})
	if text, about := s.render(l, sizes); about.Columns != 20 || about.Rows != 4 || !strings.Contains(string(text), "f") {
		t.Errorf("%q %+v", text, about)
	}
}

// TestScreenOfPrograms: what programs drew on 80 columns and 24 rows, as recorded,
// is shown as tmux shows it.
func TestScreenOfPrograms(t *testing.T) {
	recordings, err := filepath.Glob("testdata/screens/*.raw")
	if err != nil || len(recordings) < 4 {
		t.Fatal(recordings, err)
	}
	for _, recording := range recordings {
		t.Run(strings.TrimSuffix(filepath.Base(recording), ".raw"), func(t *testing.T) {
			raw, err := os.ReadFile(recording)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(recording, ".raw") + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			s, l := newScreen(80, 24), newOutputLog(logOptions{})
			r := rand.New(rand.NewPCG(1, 8))
			inPieces(r, raw, func(p []byte) {
				l.append(p)
				s.render(l, nil)
			})
			text, about := s.render(l, nil)
			if got := fmt.Sprintf("%s\n@%d,%d\n", text, about.CursorColumn, about.CursorRow); got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestScreenBeginsAnew where more has come than it follows, between units.
func TestScreenBeginsAnew(t *testing.T) {
	l := logOf("\x1b[?1049h\x1b]0;name\x07")
	s := newScreen(80, 24)
	s.render(l, nil)
	for i := range 60_000 {
		l.append(fmt.Appendf(nil, "\x1b[31m\u65e5 line %d of a great many\x1b[0m\r\n", i))
	}
	text, about := s.render(l, nil)
	lines := strings.Split(string(text), "\n")
	if len(lines) != 23 || lines[22] != "\u65e5 line 59999 of a great many" || !about.Alternate || about.Title != "name" {
		t.Errorf("%q %+v", lines, about)
	}
	l.append([]byte("end"))
	if text, _ = s.render(l, nil); !strings.HasSuffix(string(text), "\nend") {
		t.Errorf("%q", text)
	}
}

func TestScreenPosition(t *testing.T) {
	raw := "user$ \u65e5e\u0301\x1b[6nmore\x1b[5;3H\x1b[6n"
	l, s := logOf(raw), newScreen(80, 24)
	e := &escapes{position: func(at int64) (int, int) { return s.position(l, at, nil) }}
	if got := string(e.scan([]byte(raw), 80, 24)); got != "\x1b[1;10R\x1b[5;3R" {
		t.Errorf("%q", got)
	}
	l.append([]byte("\x1b[4;9r\x1b[?6h\x1b[2;2H"))
	if column, row := s.position(l, l.total(), nil); column != 2 || row != 2 {
		t.Errorf("in origin mode: %d, %d", column, row)
	}
}

func TestScreenDoesNotDependOnPieces(t *testing.T) {
	for seed := range seeds(300) {
		r := rand.New(rand.NewPCG(seed, 9))
		raw := terminalNoise(r, 3000)
		whole, pieces := newEmulator(40, 10), newEmulator(40, 10)
		whole.write(raw)
		inPieces(r, raw, pieces.write)
		if got, want := pieces.shown(), whole.shown(); !bytes.Equal(got, want) || whole.cursorState != pieces.cursorState {
			t.Fatalf("seed %d: %q\nwhole  %q\npieces %q", seed, raw, want, got)
		}
	}
}

// hostile pieces are dear for a terminal that does what it is told.
func hostile() []string {
	return []string{
		"a\x1b[999999999b", "\x1b[999999999S", "\x1b[999999999T", "\x1b[999999999L", "\x1b[999999999M", "\x1b[999999999@", "\x1b[999999999P",
		"\x1b[999999999X", "\x1b[999999999I", "\x1b[999999999Z", "\x1b[999999999A\x1b[999999999B", "\x1b[2J", "\x1b[999;999Hx\x1b[2J", "\x1b[?1049h\x1b[?1049l",
		"\n", "\x1bM", "\x1bc", "\x1b[999999999;999999999r", "\x1b[999999999;999999999H\u65e5", "a\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309",
		"\x1b[500Gx\x1b[1K", "\x1b[" + strings.Repeat("9;", 2000) + "H", "\x1b]0;" + strings.Repeat("t", 4000) + "\x07", "\x1b[8;9999;9999t", "\x1b[3g\t\x1b[Z",
		"\x1b[4habc\x1b[H",
	}
}

// TestScreenOfHostileOutput: each sequence, on the largest screen, takes less than
// it may, by a wide margin for a busy machine; so does a lot of them.
func TestScreenOfHostileOutput(t *testing.T) {
	for _, piece := range hostile() {
		e := newEmulator(int(Columns.Hard), int(Rows.Hard))
		e.write(bytes.Repeat([]byte("\u65e5x"), 60_000))
		start := time.Now()
		e.write([]byte(piece))
		if took := time.Since(start); took > 50*time.Millisecond {
			t.Errorf("%.40q: %v", piece, took)
		}
		start = time.Now()
		n := 64 << 10 / len(piece)
		e.write(bytes.Repeat([]byte(piece), n))
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%d times %.40q: %v", n, piece, took)
		}
	}
}

func FuzzScreen(f *testing.F) {
	for _, piece := range hostile() {
		f.Add([]byte(piece), uint8(10), uint8(5))
	}
	f.Add(terminalNoise(rand.New(rand.NewPCG(1, 1)), 300), uint8(20), uint8(6))
	f.Fuzz(func(t *testing.T, raw []byte, columns, rows uint8) {
		e := newEmulator(1+int(columns%40), 1+int(rows%20))
		half := len(raw) / 2
		e.write(raw[:half])
		e.resize(1+int(rows%40), 1+int(columns%20))
		e.write(raw[half:])
		text := e.shown()
		if !utf8.Valid(text) || bytes.ContainsFunc(text, func(r rune) bool { return r < 0x20 && r != '\n' }) || bytes.Count(text, []byte("\n")) >= e.rows {
			t.Errorf("%q shows %q", raw, text)
		}
		if e.x < 0 || e.x >= e.columns || e.y < 0 || e.y >= e.rows || len(e.title) > titleBytes {
			t.Errorf("%q: cursor %d,%d, title %q", raw, e.x, e.y, e.title)
		}
		for _, row := range e.grid().rows {
			if len(row) > e.columns || len(row) > 0 && row[0].r == wideRest {
				t.Errorf("%q: row %v", raw, row)
			}
		}
	})
}

func BenchmarkLogScreen(b *testing.B) {
	vim, err := os.ReadFile("testdata/screens/vim.raw")
	if err != nil {
		b.Fatal(err)
	}
	for name, raw := range map[string][]byte{
		"lines": []byte("\x1b[32m2026-11-30\x1b[0m \x1b[1mINFO\x1b[0m  a line as servers write them\r\n"),
		"vim":   vim,
	} {
		raw = bytes.Repeat(raw, 1+(256<<10)/len(raw))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				newEmulator(120, 40).write(raw)
			}
		})
	}
}
