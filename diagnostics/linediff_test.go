package diagnostics

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func hunksOf(base, head string) []Hunk {
	budget := diffBudget
	return diffLines(newSourceText([]byte(base)), newSourceText([]byte(head)), &budget)
}

func TestDiffLines(t *testing.T) {
	tests := []struct {
		name, base, head string
		want             []Hunk
	}{
		{"equal", "a\nb\n", "a\nb\n", nil},
		{"another indentation and line ending", "if x {\n\ty()\n}\n", "if x {\r\n        y( )\r\n}\r\n", nil},
		{"inserted", "a\nb\n", "a\nx\nb\n", []Hunk{{1, 0, 1, 1}}},
		{"deleted at the end", "a\nb\nc", "a", []Hunk{{1, 2, 1, 0}}},
		{"blank lines are lines", "a\n\nb\n", "a\nb\n", []Hunk{{1, 1, 1, 0}}},
		{"from nothing", "", "a\nb", []Hunk{{0, 1, 0, 2}}},
		{"a unique line is worth more than many braces", "}\n}\n}\nfunc a\n", "func a\n}\n}\n}\n", []Hunk{{0, 3, 0, 0}, {4, 0, 1, 3}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, hunksOf(test.base, test.head)); diff != "" {
				t.Errorf("diffLines (-want +got):\n%s", diff)
			}
		})
	}
}

func letters(r *rand.Rand, n, kinds int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "%c\n", 'a'+r.IntN(kinds))
	}
	return b.String()
}

// checkHunks fails when what stands between the hunks is not equal.
func checkHunks(t *testing.T, base, head string, hunks []Hunk) {
	t.Helper()
	a, b := newSourceText([]byte(base)), newSourceText([]byte(head))
	m := lineMap{hunks}
	if !m.validate() {
		t.Fatalf("%v do not fit together", hunks)
	}
	for i := range a.lines {
		j, hunk := m.toHead(i)
		if hunk < 0 && (j >= len(b.lines) || a.blind[i] != b.blind[j]) {
			t.Fatalf("line %d of %q is mapped to line %d of %q", i, base, j, head)
		}
	}
	last, _ := m.toHead(len(a.lines))
	if last != len(b.lines) {
		t.Fatalf("%v end at line %d of %d", hunks, last, len(b.lines))
	}
}

func TestDiffLinesOfReversedChange(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	for range 3000 {
		base, head := letters(r, r.IntN(20), 1+r.IntN(12)), letters(r, r.IntN(20), 1+r.IntN(12))
		hunks := hunksOf(base, head)
		checkHunks(t, base, head, hunks)
		if diff := cmp.Diff(hunks, (lineMap{hunksOf(head, base)}).invert().hunks, cmp.Comparer(slices.Equal[[]Hunk])); diff != "" {
			t.Fatalf("%q against %q: the reversed map is not the inverse (-there +back):\n%s", base, head, diff)
		}
	}
}

// Myers alone finds a shortest script.
func TestMyersIsShortest(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	for range 5000 {
		a, b := numbers(r), numbers(r)
		budget := diffBudget
		d := differ{a: a, b: b, budget: &budget}
		d.myers(0, len(a), 0, len(b))
		kept := len(a)
		for _, h := range d.hunks {
			kept -= h.OldLines
		}
		if !(lineMap{d.hunks}).validate() || kept != commonLength(a, b) {
			t.Fatalf("%v against %v: %v keeps %d lines, want %d", a, b, d.hunks, kept, commonLength(a, b))
		}
	}
}

func numbers(r *rand.Rand) []int32 {
	list := make([]int32, r.IntN(16))
	for i := range list {
		list[i] = r.Int32N(4)
	}
	return list
}

// commonLength is the length of a longest common subsequence, by the textbook.
func commonLength(a, b []int32) int {
	row := make([]int, len(b)+1)
	for i := range a {
		corner := 0
		for j := range b {
			above := row[j+1]
			if a[i] == b[j] {
				row[j+1] = corner + 1
			} else {
				row[j+1] = max(row[j], above)
			}
			corner = above
		}
	}
	return row[len(b)]
}

// Two texts without anything to hold on to still end, with a map that is right.
func TestPathologicalDiffEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 1))
	base, head := letters(r, 100_000, 3), letters(r, 100_000, 3)
	start := time.Now()
	hunks := hunksOf(base, head)
	checkHunks(t, base, head, hunks)
	t.Logf("figure: line map of 100000 x 100000 lines of three kinds = %s", time.Since(start).Round(time.Millisecond))
	// Unique lines that stand in opposite order: every split finds one.
	var up, down strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&up, "line %d\n", i)
		fmt.Fprintf(&down, "line %d\n", 50_000-i)
	}
	checkHunks(t, up.String(), down.String(), hunksOf(up.String(), down.String()))
}

func FuzzDiffLines(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\nb\n")
	f.Add("\r\r\n\n", " \t\n")
	f.Fuzz(func(t *testing.T, base, head string) { checkHunks(t, base, head, hunksOf(base, head)) })
}
