package diagnostics_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/prism-ls/prism-ls/diagnostics"
)

func TestBuilderBounds(t *testing.T) {
	for name, limits := range map[string]diagnostics.Limits{
		"message above the hard cap": {MessageBytes: 16<<10 + 1},
		"negative message":           {MessageBytes: -1},
		"file above the hard cap":    {PerFile: 5001},
		"negative file":              {PerFile: -1},
	} {
		if _, err := diagnostics.NewBuilder(&limits); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	b, err := diagnostics.NewBuilder(&diagnostics.Limits{PerFile: 3})
	if err != nil {
		t.Fatal(err)
	}
	b.Producer(gopls())
	for i := range 5 {
		if got, want := b.Add(problem("a.go", i, 0, "m")), i < 3; got != want {
			t.Errorf("entry %d taken: %v, want %v", i, got, want)
		}
	}
	if !b.Add(problem("b.go", 0, 0, "m")) {
		t.Error("another file is full too")
	}
	s := b.Snapshot()
	if s.Producers[0].Dropped != 2 || s.Complete() {
		t.Errorf("dropped %d, complete %v; want 2, false", s.Producers[0].Dropped, s.Complete())
	}
	// A run announced after its diagnostics keeps what was counted.
	b.Producer(gopls())
	if got := b.Snapshot().Producers[0].Dropped; got != 2 {
		t.Errorf("dropped %d after announcing again, want 2", got)
	}
}

func TestBuilderCleans(t *testing.T) {
	tests := []struct{ name, message, want string }{
		{"plain", "undefined: x", "undefined: x"},
		{"terminal colours", "\x1b[31mred\x1b[0m and \x1b]0;title\x07", "red and ]0;title"},
		{"controls", "a\x00b\rc\nd\te\u0085f\x7f", "abc\nd\tef"},
		{"not UTF-8", "a\xffb", "a\ufffdb"},
		{"broken sequence", "x\x1b[31\nnext", "x\nnext"},
		{"cut between runes", strings.Repeat("é", 2049), strings.Repeat("é", 2048)},
		{"cut before a wide rune", strings.Repeat("a", 4094) + "😀", strings.Repeat("a", 4094)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := snapshot(t, gopls(), problem("a.go", 0, 0, test.message))
			got := s.Diagnostics[0].Message
			if got != test.want {
				t.Errorf("message %.60q, want %.60q", got, test.want)
			}
			if !utf8.ValidString(got) || len(got) > 4096 {
				t.Errorf("message of %d bytes, valid %v", len(got), utf8.ValidString(got))
			}
			if cut := strings.HasPrefix(test.name, "cut"); s.Complete() == cut {
				t.Errorf("Complete = %v", s.Complete())
			}
		})
	}
}

func TestBuilderPlaces(t *testing.T) {
	b, _ := diagnostics.NewBuilder(nil)
	b.Producer(gopls())
	for _, path := range []string{"", ".", "/etc/passwd", "../x", "a/../b", "a//b", "a/", "a\nb", "a\xff"} {
		if b.Add(problem(path, 0, 0, "m")) {
			t.Errorf("path %q taken", path)
		}
	}
	for _, r := range []diagnostics.Range{at(-1, 0), at(math.MaxInt32+1, 0), at(0, math.MaxInt32+1), at(0, -1)} {
		d := problem("a.go", 0, 0, "m")
		d.Range = r
		if b.Add(d) {
			t.Errorf("range %+v taken", r)
		}
	}
	backwards := problem("a.go", 5, 5, "m")
	backwards.Range.End = at(4, 0).End
	backwards.Severity = 0
	if !b.Add(backwards) {
		t.Fatal("a range that ends before it starts was dropped")
	}
	s := b.Snapshot()
	want := problem("a.go", 5, 5, "m")
	want.Related = []diagnostics.Related{}
	if diff := cmp.Diff(want, s.Diagnostics[0]); diff != "" {
		t.Errorf("repaired (-want +got):\n%s", diff)
	}
	if p := s.Producers[0]; p.Dropped != 13 || p.Cut != 1 {
		t.Errorf("dropped %d, cut %d; want 13, 1", p.Dropped, p.Cut)
	}
}

func TestUnannouncedProducerProvesNothing(t *testing.T) {
	b, _ := diagnostics.NewBuilder(nil)
	b.Add(problem("a.go", 0, 0, "m"))
	base := b.Snapshot()
	head := *base
	head.Diagnostics = nil
	if c := compare(t, base, &head, nil).Counts; c.Unknown != 1 || c.Fixed != 0 {
		t.Errorf("%+v, want one unknown", c)
	}
}
