package edit

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func split(text []byte) [][]byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// checkHunks requires hunks that are in order, not empty, apart, and equal in
// between.
func checkHunks(t testing.TB, old, new []byte, hunks []Hunk) {
	t.Helper()
	a, b := split(old), split(new)
	i, j := 0, 0
	for _, h := range append(slices.Clone(hunks), Hunk{len(a), 0, len(b), 0}) {
		if h.OldStart-i != h.NewStart-j || h.OldStart < i {
			t.Fatalf("hunk %+v does not follow lines %d and %d", h, i, j)
		}
		for ; i < h.OldStart; i, j = i+1, j+1 {
			if !bytes.Equal(a[i], b[j]) {
				t.Fatalf("lines %d and %d differ outside the hunks", i, j)
			}
		}
		i, j = i+h.OldLines, j+h.NewLines
	}
	for k, h := range hunks {
		if h.OldLines == 0 && h.NewLines == 0 || k > 0 && hunks[k-1].OldStart+hunks[k-1].OldLines == h.OldStart {
			t.Fatalf("hunk %d of %+v is empty or touches the one before", k, hunks)
		}
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		old, new string
		want     []Hunk
	}{
		{"", "", nil},
		{"a\n", "a\n", nil},
		{"", "a\n", []Hunk{{0, 0, 0, 1}}},
		{"a\n", "", []Hunk{{0, 1, 0, 0}}},
		{"a", "a\n", []Hunk{{0, 1, 0, 1}}},
		{"a\nb\nc\n", "a\nc\n", []Hunk{{1, 1, 1, 0}}},
		{"a\nb\nc\n", "b\nc\nd\n", []Hunk{{0, 1, 0, 0}, {3, 0, 2, 1}}},
		{"xa\n", "ya\n", []Hunk{{0, 1, 0, 1}}},
		{"a\nxa\n", "a\na\n", []Hunk{{1, 1, 1, 1}}},
	} {
		if got := Lines([]byte(c.old), []byte(c.new)); !slices.Equal(got, c.want) {
			t.Errorf("Lines(%q, %q) = %v, want %v", c.old, c.new, got, c.want)
		}
	}
}

// distance is how many lines hunks remove and add.
func distance(hunks []Hunk) int {
	n := 0
	for _, h := range hunks {
		n += h.OldLines + h.NewLines
	}
	return n
}

// shortest is the textbook longest common subsequence, for small inputs.
func shortest(a, b [][]byte) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			above := row[j+1]
			if bytes.Equal(a[i], b[j]) {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diagonal = above
		}
	}
	return len(a) + len(b) - 2*row[len(b)]
}

func TestLinesRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	best, got := 0, 0
	for range 2000 {
		old := randomText(r)
		new := mutate(r, old)
		hunks := Lines(old, new)
		checkHunks(t, old, new, hunks)
		best += shortest(split(old), split(new))
		got += distance(hunks)
	}
	if got > best*110/100 {
		t.Errorf("hunks touch %d lines, the shortest ones %d", got, best)
	}
}

// TestLinesManyDistinct has more distinct lines than there are code points,
// where diffing lines as runes in one go panics.
func TestLinesManyDistinct(t *testing.T) {
	var a, b bytes.Buffer
	for i := range 570_000 {
		line := append(strconv.AppendInt(nil, int64(i), 10), '\n')
		a.Write(line)
		if i%100_000 != 50_000 {
			b.WriteByte('-')
		}
		b.Write(line)
	}
	got := Lines(a.Bytes(), b.Bytes())
	if len(got) != 7 || distance(got) != 2*(570_000-6) {
		t.Errorf("got %d hunks that touch %d lines, want 7 around 6 common lines", len(got), distance(got))
	}
}

// TestLinesRepeated has only repeated lines, in which no line anchors.
func TestLinesRepeated(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var lines []string
	for range 30_000 {
		lines = append(lines, []string{"}\n", "\n", "\treturn nil\n", "{\n"}[r.IntN(4)])
	}
	old := strings.Join(lines, "")
	for i := 1000; i < len(lines); i += 1000 {
		lines[i] = "changed\n"
	}
	hunks := Lines([]byte(old), []byte(strings.Join(lines, "")))
	checkHunks(t, []byte(old), []byte(strings.Join(lines, "")), hunks)
	if got := distance(hunks); got > 100 {
		t.Errorf("29 changed lines come out as %d removed and added", got)
	}
}

// TestLinesStable repeats a comparison: map order and hash seeds must not show.
func TestLinesStable(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 50 {
		old, new := randomText(r), randomText(r)
		first := Lines(old, new)
		for range 5 {
			if again := Lines(old, new); !slices.Equal(first, again) {
				t.Fatalf("%v, then %v", first, again)
			}
		}
	}
}
