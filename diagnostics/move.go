package diagnostics

import (
	"cmp"
	"slices"
)

const (
	// A block counts as moved from this many characters that are not blank, in at
	// least moveLines lines or with a unique line of moveUnique characters: less
	// is said in many places.
	moveChars  = 24
	moveLines  = 3
	moveUnique = 40
	// moveSeeds bounds the places that one line is looked for at; lines that stand
	// at more, like a closing brace, only make blocks longer.
	moveSeeds = 16
	// moveBudget bounds how many lines the search for moved blocks compares.
	moveBudget = 1 << 22
)

// place is a line of a file.
type place struct {
	path string
	line int
}

// looseSide lists the deleted lines of the base, or the added ones of the head, of the
// files that have problems left there.
type looseSide struct {
	places []place
	blind  []string
	// start is where the run (one hunk, or a whole file) of a line begins, end
	// where it ends.
	start, end []int
	count      map[string]int
	rename     substitution // of the base's lines
}

func (s *looseSide) add(path string, text *sourceText, from, to int) {
	start, end := len(s.places), len(s.places)+to-from
	for line := from; line < to; line++ {
		s.places = append(s.places, place{path, line})
		blind := text.blind[line]
		if renamed, ok := s.rename.apply(string(text.lines[line])); ok {
			blind = blindLine([]byte(renamed))
		}
		s.blind = append(s.blind, blind)
		s.start, s.end = append(s.start, start), append(s.end, end)
		s.count[blind]++
	}
}

// block is a run of equal lines among the deleted and the added ones.
type block struct{ base, head, lines, chars int }

// findMoves gives the moved base entries that are left their new place.
func (t *tracker) findMoves() {
	if len(t.leftBase) == 0 || len(t.leftHead) == 0 {
		return
	}
	deleted, added := t.loose(t.leftBase, Base), t.loose(t.leftHead, Head)
	if len(deleted.places) == 0 || len(added.places) == 0 {
		return
	}
	to := map[place]place{}
	usedBase, usedHead := make([]bool, len(deleted.places)), make([]bool, len(added.places))
	for _, b := range blocks(deleted, added) {
		// What an earlier, bigger block took is not moved a second time; what is
		// left of this one must still be a block.
		for from := 0; from < b.lines; {
			n := 0
			for from+n < b.lines && !usedBase[b.base+from+n] && !usedHead[b.head+from+n] {
				n++
			}
			rest := measure(deleted, block{base: b.base + from, head: b.head + from, lines: n})
			if n > 0 && rest.moved(deleted, added) {
				for i := range n {
					usedBase[rest.base+i], usedHead[rest.head+i] = true, true
					to[deleted.places[rest.base+i]] = added.places[rest.head+i]
				}
			}
			from += n + 1
		}
	}
	for _, e := range t.leftBase {
		if p, ok := to[place{e.d.Path, e.d.Range.Start.Line}]; ok {
			e.moved = &p
		}
	}
}

// loose collects the lines of one side's files with entries that are on that
// side only.
func (t *tracker) loose(list []*entry, side Side) *looseSide {
	out := &looseSide{count: map[string]int{}}
	if side == Base {
		out.rename = t.rename
	}
	done := map[string]bool{}
	for _, e := range list { // they are in order of path
		if done[e.d.Path] || e.hunk < 0 && !e.alone {
			continue
		}
		done[e.d.Path] = true
		if e.alone {
			if text, ok := t.content(side, e.d.Path); ok {
				out.add(e.d.Path, text, 0, len(text.lines))
			}
			continue
		}
		f := t.fileOf(e, side)
		if f == nil || f.base == nil {
			continue
		}
		text, m := f.base, f.lineMap
		if side == Head {
			text, m = f.head, f.reverse
		}
		for _, h := range m.hunks {
			if h.OldStart+h.OldLines <= len(text.lines) {
				out.add(e.d.Path, text, h.OldStart, h.OldStart+h.OldLines)
			}
		}
	}
	return out
}

// content reads a file that only one side has.
func (t *tracker) content(side Side, path string) (*sourceText, bool) {
	if t.opts.Contents == nil {
		return nil, false
	}
	text, ok := t.opts.Contents.Content(side, path)
	if !ok {
		t.unread = append(t.unread, path)
		return nil, false
	}
	return newSourceText(text), true
}

func (t *tracker) fileOf(e *entry, side Side) *fileLines {
	path := e.d.Path
	if side == Head {
		var ok bool
		if path, ok = t.cover.files.ToBase(path); !ok {
			return nil
		}
	}
	return t.files[path]
}

// blocks finds the maximal equal runs, biggest first.
func blocks(deleted, added *looseSide) []block {
	where := map[string][]int{}
	for j, line := range added.blind {
		if line != "" && added.count[line] <= moveSeeds {
			where[line] = append(where[line], j)
		}
	}
	var list []block
	budget := moveBudget
	for i, line := range deleted.blind {
		if line == "" || deleted.count[line] > moveSeeds {
			continue
		}
		for _, j := range where[line] {
			if budget < 0 {
				break
			}
			// The run was found already if a line before this one is a seed of it.
			found, steps := seedBefore(deleted, added, i, j, where)
			if budget -= steps; found {
				continue
			}
			b := maximal(deleted, added, i, j)
			budget -= b.lines
			if b = measure(deleted, b); b.moved(deleted, added) {
				list = append(list, b)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b block) int {
		return cmp.Or(cmp.Compare(b.chars, a.chars), cmp.Compare(b.lines, a.lines),
			cmp.Compare(min(a.base, a.head), min(b.base, b.head)), cmp.Compare(max(a.base, a.head), max(b.base, b.head)))
	})
	return list
}

// seedBefore reports whether the equal run that goes through i and j has a line
// before them from which the search starts too.
func seedBefore(deleted, added *looseSide, i, j int, where map[string][]int) (found bool, steps int) {
	for i > deleted.start[i] && j > added.start[j] && deleted.blind[i-1] == added.blind[j-1] {
		i, j, steps = i-1, j-1, steps+1
		if line := deleted.blind[i]; line != "" && deleted.count[line] <= moveSeeds && len(where[line]) > 0 {
			return true, steps
		}
	}
	return false, steps
}

func maximal(deleted, added *looseSide, i, j int) block {
	b := block{base: i, head: j}
	for b.base > deleted.start[i] && b.head > added.start[j] && deleted.blind[b.base-1] == added.blind[b.head-1] {
		b.base, b.head = b.base-1, b.head-1
	}
	for b.base+b.lines < deleted.end[i] && b.head+b.lines < added.end[j] && deleted.blind[b.base+b.lines] == added.blind[b.head+b.lines] {
		b.lines++
	}
	return b
}

// measure counts the characters that are not blank.
func measure(deleted *looseSide, b block) block {
	b.chars = 0
	for _, line := range deleted.blind[b.base : b.base+b.lines] {
		b.chars += len(line)
	}
	return b
}

// moved reports whether a block says enough to be known again elsewhere.
func (b block) moved(deleted, added *looseSide) bool {
	if b.chars < moveChars {
		return false
	}
	written := 0
	for _, line := range deleted.blind[b.base : b.base+b.lines] {
		if len(line) >= moveUnique && deleted.count[line] == 1 && added.count[line] == 1 {
			return true
		}
		if line != "" {
			written++
		}
	}
	return written >= moveLines
}
