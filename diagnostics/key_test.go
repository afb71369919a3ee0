package diagnostics

import (
	"strings"
	"testing"
)

func TestMessageKeys(t *testing.T) {
	tests := []struct{ message, positions, numbers string }{
		{"undefined: x1", "undefined: x1", "undefined: x1"},
		{"other declaration at a.go:12:3", "other declaration at #:#", "other declaration at #:#"},
		{"see ./sub-dir/a_b.ts:12 (and value:7)", "see # (and value:#)", "see # (and value:#)"},
		{`at C:\x\a.cs:9, 1`, `at C:#, 1`, `at C:#, #`},
		{"see (12,3) and (4, 5)", "see (#,#) and (#, #)", "see (#,#) and (#, #)"},
		{"on line 12, column 3", "on line #, column #", "on line #, column #"},
		{"[Ln 3, Col 4]", "[Ln #, Col #]", "[Ln #, Col #]"},
		{"expected 2 arguments, but got 3", "expected 2 arguments, but got 3", "expected # arguments, but got #"},
		{"f(1,2) called", "f(#,#) called", "f(#,#) called"},
		{"deadline 5 of utf8 value: 7", "deadline 5 of utf8 value: 7", "deadline # of utf8 value: #"},
		{"f(1, x) and (1", "f(1, x) and (1", "f(#, x) and (#"},
	}
	for _, test := range tests {
		want := messageKeys{test.message, test.positions, test.numbers}
		if got := keysOf(test.message); got != want {
			t.Errorf("keysOf(%q) = %q, want %q", test.message, got, want)
		}
	}
}

func TestTokensAreTheText(t *testing.T) {
	for _, text := range []string{"", "a.b(c_1, $d)", "日本語 x\u0301=1", "\xff\xfe x", "  "} {
		if got := strings.Join(tokens(text), ""); got != text {
			t.Errorf("tokens(%q) joined = %q", text, got)
		}
	}
}

func TestSubstitutionIsSimultaneous(t *testing.T) {
	s := newSubstitution([]SymbolRename{{"a", "b"}, {"b", "a"}})
	if got, ok := s.apply("a to b, not ab"); !ok || got != "b to a, not ab" {
		t.Errorf("apply = %q, %v", got, ok)
	}
}

func TestLineMap(t *testing.T) {
	m := lineMap{[]Hunk{{2, 0, 2, 3}, {5, 2, 8, 1}, {9, 1, 11, 0}}}
	if !m.validate() {
		t.Fatal("the hunks do not fit")
	}
	want := map[int]int{0: 0, 1: 1, 2: 5, 4: 7, 5: -1, 6: -1, 7: 9, 8: 10, 9: -1, 10: 11}
	for line, to := range want {
		if got, _ := m.toHead(line); got != to {
			t.Errorf("toHead(%d) = %d, want %d", line, got, to)
		}
	}
}
