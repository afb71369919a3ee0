package edit

import "sort"

const (
	// maxCells bounds old lines times new lines of what goes to go-diff at
	// once.
	maxCells = 1 << 20
	// maxWork bounds the cells of one comparison in all. Beyond it, what is
	// left is replaced as a whole. Counting instead of timing keeps the result
	// the same under load.
	maxWork = 96 << 20
	// maxDepth bounds how often a stretch is divided again.
	maxDepth = 24
)

// box is a stretch of old lines and the stretch of new lines it is compared
// with, ends exclusive.
type box struct{ old, oldEnd, new, newEnd int }

func (b box) cells() int { return (b.oldEnd - b.old) * (b.newEnd - b.new) }

// match finds the runs that the two sides of a box share and appends them in
// order. It takes off the common ends, then divides at lines that are unique
// on both sides (patience diff, Bram Cohen), at short sequences that are, or,
// once the box is small, has go-diff solve it.
func (t *table) match(b box, depth int) {
	head := b
	for b.old < b.oldEnd && b.new < b.newEnd && t.old.class[b.old] == t.new.class[b.new] {
		b.old++
		b.new++
	}
	t.emit(run{head.old, head.new, b.old - head.old})
	tail := b
	for b.old < b.oldEnd && b.new < b.newEnd && t.old.class[b.oldEnd-1] == t.new.class[b.newEnd-1] {
		b.oldEnd--
		b.newEnd--
	}
	if b.cells() > 0 && depth < maxDepth {
		t.divide(b, depth)
	}
	t.emit(run{b.oldEnd, b.newEnd, tail.oldEnd - b.oldEnd})
}

func (t *table) emit(r run) {
	if r.n == 0 {
		return
	}
	if n := len(t.runs); n > 0 {
		if last := &t.runs[n-1]; last.old+last.n == r.old && last.new+last.n == r.new {
			last.n += r.n
			return
		}
	}
	t.runs = append(t.runs, r)
}

// divide matches a box without common ends.
func (t *table) divide(b box, depth int) {
	if b.cells() == 1 {
		return
	}
	if depth > 0 && b.cells() <= maxCells {
		t.leaf(b)
		return
	}
	anchors := t.lineAnchors(b)
	if len(anchors) == 0 && b.cells() <= maxCells {
		t.leaf(b)
		return
	}
	if len(anchors) == 0 && !t.share(b) {
		return
	}
	for _, width := range []int{4, 24} {
		if len(anchors) > 0 {
			break
		}
		anchors = t.sequenceAnchors(b, width)
	}
	if len(anchors) == 0 {
		return
	}
	from := b
	for _, a := range anchors {
		if a.old < from.old || a.new < from.new {
			continue // the run before grew over it
		}
		t.match(box{from.old, a.old, from.new, a.new}, depth+1)
		t.emit(a)
		from.old, from.new = a.old+a.n, a.new+a.n
	}
	t.match(from, depth+1)
}

// share reports whether the two sides of a box have any line in common.
func (t *table) share(b box) bool {
	for i := b.old; i < b.oldEnd; i++ {
		t.newAt[t.old.class[i]] = absent
	}
	for i := b.new; i < b.newEnd; i++ {
		t.newAt[t.new.class[i]] = repeated
	}
	for i := b.old; i < b.oldEnd; i++ {
		if t.newAt[t.old.class[i]] != absent {
			return true
		}
	}
	return false
}

// lineAnchors returns the longest increasing chain of lines that are unique on
// both sides of the box.
func (t *table) lineAnchors(b box) []run {
	for i := b.old; i < b.oldEnd; i++ {
		t.oldAt[t.old.class[i]], t.newAt[t.old.class[i]] = absent, absent
	}
	for i := b.new; i < b.newEnd; i++ {
		t.oldAt[t.new.class[i]], t.newAt[t.new.class[i]] = absent, absent
	}
	for i := b.old; i < b.oldEnd; i++ {
		t.oldAt[t.old.class[i]].see(i)
	}
	for i := b.new; i < b.newEnd; i++ {
		t.newAt[t.new.class[i]].see(i)
	}
	var pairs []run
	for i := b.old; i < b.oldEnd; i++ {
		class := t.old.class[i]
		if t.oldAt[class] >= 0 && t.newAt[class] >= 0 {
			pairs = append(pairs, run{i, int(t.newAt[class]), 1})
		}
	}
	return chain(pairs)
}

// sequenceAnchors is lineAnchors for sequences of width lines, for texts in
// which every line is repeated.
func (t *table) sequenceAnchors(b box, width int) []run {
	type places struct{ old, new place }
	at := make(map[uint64]places)
	rolling(t.old.class[b.old:b.oldEnd], width, func(i int, hash uint64) {
		p, ok := at[hash]
		if !ok {
			p = places{absent, absent}
		}
		p.old.see(b.old + i)
		at[hash] = p
	})
	rolling(t.new.class[b.new:b.newEnd], width, func(i int, hash uint64) {
		if p, ok := at[hash]; ok {
			p.new.see(b.new + i)
			at[hash] = p
		}
	})
	var pairs []run
	rolling(t.old.class[b.old:b.oldEnd], width, func(i int, hash uint64) {
		p := at[hash]
		if p.old >= 0 && p.new >= 0 && t.same(int(p.old), int(p.new), width) {
			pairs = append(pairs, run{int(p.old), int(p.new), width})
		}
	})
	return chain(pairs)
}

// same reports whether width lines from old and from new on are equal.
func (t *table) same(old, new, width int) bool {
	for k := range width {
		if t.old.class[old+k] != t.new.class[new+k] {
			return false
		}
	}
	return true
}

// rolling calls yield with a hash of each width classes in a row. The hash is
// fixed, not seeded: which sequences collide must not change between runs.
func rolling(classes []int32, width int, yield func(int, uint64)) {
	const base = 0x9e3779b97f4a7c15
	drop := uint64(1)
	for range width {
		drop *= base
	}
	hash := uint64(0)
	for i, c := range classes {
		hash = hash*base + uint64(c) + 1
		if i >= width {
			hash -= drop * (uint64(classes[i-width]) + 1)
		}
		if i >= width-1 {
			yield(i-width+1, hash)
		}
	}
}

// chain returns the longest sub-sequence of pairs, which are in order of their
// old lines, whose new lines ascend too (patience sorting).
func chain(pairs []run) []run {
	if len(pairs) == 0 {
		return nil
	}
	tops := make([]int32, 0, len(pairs)) // index of the top of each pile
	before := make([]int32, len(pairs))  // top of the pile before, when it was put down
	for i, p := range pairs {
		pile := len(tops)
		if pile > 0 && pairs[tops[pile-1]].new > p.new {
			pile = sort.Search(len(tops), func(k int) bool { return pairs[tops[k]].new > p.new })
		}
		before[i] = -1
		if pile > 0 {
			before[i] = tops[pile-1]
		}
		if pile == len(tops) {
			tops = append(tops, int32(i))
		} else {
			tops[pile] = int32(i)
		}
	}
	out := make([]run, len(tops))
	at := tops[len(tops)-1]
	for k := len(out) - 1; k >= 0; k-- {
		out[k] = pairs[at]
		at = before[at]
	}
	return out
}
