package edit

import (
	"fmt"
	"strings"
	"testing"
)

func numbered(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "l%d\n", i)
	}
	return b.String()
}

func TestDisplay(t *testing.T) {
	for _, c := range []struct {
		name, file string
		edits      []Replacement
		want       string
	}{
		{"context and skips", numbered(20), []Replacement{{Old: "l10\n", New: "L10\n"}},
			"    ...\n  6 l6\n  7 l7\n  8 l8\n  9 l9\n-10 l10\n+10 L10\n 11 l11\n 12 l12\n 13 l13\n 14 l14\n    ...\n"},
		{"first line", numbered(12), []Replacement{{Old: "l1\n", New: "L1\n"}},
			"- 1 l1\n+ 1 L1\n  2 l2\n  3 l3\n  4 l4\n  5 l5\n    ...\n"},
		{"last line", numbered(12), []Replacement{{Old: "l12\n", New: "L12"}},
			"    ...\n  8 l8\n  9 l9\n 10 l10\n 11 l11\n-12 l12\n+12 L12\n"},
		{"gap of 8", numbered(30), []Replacement{{Old: "l10\n", New: "X\n"}, {Old: "l19\n", New: "Y\n"}},
			"    ...\n  6 l6\n  7 l7\n  8 l8\n  9 l9\n-10 l10\n+10 X\n 11 l11\n 12 l12\n 13 l13\n 14 l14\n 15 l15\n 16 l16\n 17 l17\n 18 l18\n-19 l19\n+19 Y\n 20 l20\n 21 l21\n 22 l22\n 23 l23\n    ...\n"},
		{"gap of 9", numbered(30), []Replacement{{Old: "l10\n", New: "X\n"}, {Old: "l20\n", New: "Y\n"}},
			"    ...\n  6 l6\n  7 l7\n  8 l8\n  9 l9\n-10 l10\n+10 X\n 11 l11\n 12 l12\n 13 l13\n 14 l14\n    ...\n 16 l16\n 17 l17\n 18 l18\n 19 l19\n-20 l20\n+20 Y\n 21 l21\n 22 l22\n 23 l23\n 24 l24\n    ...\n"},
		{"gap of 3", numbered(9), []Replacement{{Old: "l3\n", New: "X\n"}, {Old: "l7\n", New: ""}},
			" 1 l1\n 2 l2\n-3 l3\n+3 X\n 4 l4\n 5 l5\n 6 l6\n-7 l7\n 8 l8\n 9 l9\n"},
		{"width of the larger side", numbered(99), []Replacement{{Old: "l98\n", New: "l98\nnew\n"}},
			"     ...\n  95 l95\n  96 l96\n  97 l97\n  98 l98\n+ 99 new\n  99 l99\n"},
		{"within a line", "const a = 1;\nconst b = 2;\n", []Replacement{{Old: "2", New: "3"}},
			" 1 const a = 1;\n-2 const b = 2;\n+2 const b = 3;\n"},
		{"CRLF and BOM", "\ufeffa\r\nb\r\n", []Replacement{{Old: "a", New: "c"}}, "-1 a\n+1 c\n 2 b\n"},
		{"lone CR", "a\rb\rc", []Replacement{{Old: "b", New: "x"}}, " 1 a\n-2 b\n+2 x\n 3 c\n"},
		{"UTF-16", le("a\r\nb\r\n"), []Replacement{{Old: "b", New: "é"}}, " 1 a\n-2 b\n+2 é\n"},
		{"invalid UTF-8", "a\xff\nb\n", []Replacement{{Old: "b", New: "x"}}, " 1 a\ufffd\n-2 b\n+2 x\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := Apply([]byte(c.file), c.edits, nil)
			if err != nil {
				t.Fatal(err)
			}
			change := Change{OldPath: "f", NewPath: "f", Old: []byte(c.file), New: res.Data}
			if got := Display(change, res.Spans); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if got := Display(change, nil); got != c.want {
				t.Errorf("without spans got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	ends := Change{Old: []byte("a\r\nb\r\n"), New: []byte("a\nb\r\n")}
	if got, want := Display(ends, nil), "-1 a\\r\n+1 a\n 2 b\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Display(Change{Old: []byte("a"), New: []byte("a")}, nil); got != "" {
		t.Errorf("got %q for no change", got)
	}
}
