package diagnostics

import (
	"bytes"
	"slices"
)

const (
	// diffBudget bounds the steps of all line diffs of one comparison, about a
	// second of work. What is not mapped within it is one replaced block, in which
	// gaps and moves still find partners.
	diffBudget = 1 << 24
	// diffDepth bounds how often unique lines may split a range again; texts made
	// by people need a handful.
	diffDepth = 48
)

// sourceText is one side of a file.
type sourceText struct {
	lines [][]byte
	blind []string // the lines without white space
}

func newSourceText(text []byte) *sourceText {
	s := &sourceText{lines: splitLines(text)}
	s.blind = make([]string, len(s.lines))
	for i, line := range s.lines {
		s.blind[i] = blindLine(line)
	}
	return s
}

// blindLine takes the ASCII white space out of a line.
func blindLine(line []byte) string {
	if !bytes.ContainsAny(line, " \t\v\f") {
		return string(line)
	}
	out := make([]byte, 0, len(line))
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\v' && c != '\f' {
			out = append(out, c)
		}
	}
	return string(out)
}

// diffLines finds the hunks between two texts, blind to white space. Which of
// several equally good maps it finds does not depend on which text is the base,
// so that the map of the reversed change is the inverse.
func diffLines(base, head *sourceText, budget *int) []Hunk {
	if slices.Compare(base.blind, head.blind) > 0 {
		return lineMap{diffLines(head, base, budget)}.invert().hunks
	}
	ids := make(map[string]int32, len(base.blind))
	number := func(lines []string) []int32 {
		out := make([]int32, len(lines))
		for i, line := range lines {
			id, ok := ids[line]
			if !ok {
				id = int32(len(ids))
				ids[line] = id
			}
			out[i] = id
		}
		return out
	}
	d := differ{a: number(base.blind), b: number(head.blind), budget: budget}
	d.seenA, d.seenB = make([]occurrence, len(ids)), make([]occurrence, len(ids))
	d.split(0, len(d.a), 0, len(d.b), 0)
	return d.hunks
}

// differ compares two sequences of line numbers.
type differ struct {
	a, b         []int32
	seenA, seenB []occurrence // by line number; all zero between uses
	forth, back  []int        // of the Myers search
	budget       *int
	hunks        []Hunk
}

// occurrence counts a line within a range.
type occurrence struct{ count, last int32 }

// split maps a range: common ends first, then the lines that are unique on both
// sides, as far as they stand in the same order, and then what is between them.
func (d *differ) split(a0, a1, b0, b1, depth int) {
	for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	if a0 == a1 || b0 == b1 {
		d.replace(a0, a1, b0, b1)
		return
	}
	*d.budget -= (a1 - a0) + (b1 - b0)
	if *d.budget < 0 {
		d.replace(a0, a1, b0, b1)
		return
	}
	var anchors [][2]int
	if depth < diffDepth {
		anchors = inOrder(d.unique(a0, a1, b0, b1))
	}
	if len(anchors) == 0 {
		d.myers(a0, a1, b0, b1)
		return
	}
	for _, at := range anchors {
		d.split(a0, at[0], b0, at[1], depth+1)
		a0, b0 = at[0]+1, at[1]+1
	}
	d.split(a0, a1, b0, b1, depth+1)
}

// replace adds a hunk, or makes the last one longer when nothing stands between.
func (d *differ) replace(a0, a1, b0, b1 int) {
	if a0 == a1 && b0 == b1 {
		return
	}
	if n := len(d.hunks); n > 0 {
		last := &d.hunks[n-1]
		if last.OldStart+last.OldLines == a0 && last.NewStart+last.NewLines == b0 {
			last.OldLines, last.NewLines = a1-last.OldStart, b1-last.NewStart
			return
		}
	}
	d.hunks = append(d.hunks, Hunk{OldStart: a0, OldLines: a1 - a0, NewStart: b0, NewLines: b1 - b0})
}

// unique lists the lines that stand exactly once in each range, by their place in
// the first.
func (d *differ) unique(a0, a1, b0, b1 int) [][2]int {
	for i, id := range d.a[a0:a1] {
		d.seenA[id] = occurrence{d.seenA[id].count + 1, int32(a0 + i)}
	}
	for j, id := range d.b[b0:b1] {
		d.seenB[id] = occurrence{d.seenB[id].count + 1, int32(b0 + j)}
	}
	var pairs [][2]int
	for i, id := range d.a[a0:a1] {
		if d.seenA[id].count == 1 && d.seenB[id].count == 1 {
			pairs = append(pairs, [2]int{a0 + i, int(d.seenB[id].last)})
		}
	}
	for _, id := range d.a[a0:a1] {
		d.seenA[id] = occurrence{}
	}
	for _, id := range d.b[b0:b1] {
		d.seenB[id] = occurrence{}
	}
	return pairs
}

// inOrder keeps the longest subsequence whose second numbers rise (patience
// sorting); the first ones do already.
func inOrder(pairs [][2]int) [][2]int {
	tops := make([]int, 0, len(pairs)) // index of the pair that ends the best run of each length
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(tops, p[1], func(top, at int) int { return pairs[top][1] - at })
		before[i] = -1
		if n > 0 {
			before[i] = tops[n-1]
		}
		if n == len(tops) {
			tops = append(tops, i)
		} else {
			tops[n] = i
		}
	}
	kept := make([][2]int, len(tops))
	for n, i := len(tops)-1, last(tops); n >= 0; n, i = n-1, before[i] {
		kept[n] = pairs[i]
	}
	return kept
}

func last(list []int) int {
	if len(list) == 0 {
		return -1
	}
	return list[len(list)-1]
}
