package diagnostics

import (
	"slices"
	"strings"
)

const (
	// minSimilarity is the share of common tokens from which a new line counts as
	// the edited old one.
	minSimilarity = 0.6
	// alignBudget bounds how many tokens the alignments of one comparison look at,
	// which takes about a second. A hunk that would go beyond it has only lines at
	// the same distance from its start compared.
	alignBudget = 1 << 24
)

// align pairs the lines of a hunk in order; the result holds a head line, or -1,
// for each base line.
func (f *fileLines) align(h Hunk) []int {
	pairs := make([]int, h.OldLines)
	for i := range pairs {
		pairs[i] = -1
	}
	if h.NewLines == 0 {
		return pairs
	}
	haveText := f.base != nil && h.OldStart+h.OldLines <= len(f.base.lines) && h.NewStart+h.NewLines <= len(f.head.lines)
	if !haveText {
		if h.OldLines == h.NewLines {
			for i := range pairs {
				pairs[i] = h.NewStart + i
			}
		}
		return pairs
	}
	g := f.gap(h)
	if !g.afford(f.budget) {
		for i := range min(h.OldLines, h.NewLines) {
			if g.similarity(i, i) >= minSimilarity {
				pairs[i] = h.NewStart + i
			}
		}
		return pairs
	}
	g.align(pairs, f.swapped)
	for i := range pairs {
		if pairs[i] >= 0 {
			pairs[i] += h.NewStart
		}
	}
	return pairs
}

// gap holds the lines of a hunk as sorted numbers of their tokens.
type gap struct{ base, head [][]int32 }

func (f *fileLines) gap(h Hunk) gap {
	ids := map[string]int32{}
	number := func(lines [][]byte, rename substitution) [][]int32 {
		out := make([][]int32, len(lines))
		for i, line := range lines {
			for _, token := range visibleTokens(line) {
				if to, ok := rename[token]; ok {
					token = to
				}
				id, ok := ids[token]
				if !ok {
					id = int32(len(ids))
					ids[token] = id
				}
				out[i] = append(out[i], id)
			}
			slices.Sort(out[i])
		}
		return out
	}
	return gap{
		base: number(f.base.lines[h.OldStart:h.OldStart+h.OldLines], f.rename),
		head: number(f.head.lines[h.NewStart:h.NewStart+h.NewLines], nil),
	}
}

// visibleTokens are the tokens of a line that are not white space.
func visibleTokens(line []byte) []string {
	return slices.DeleteFunc(tokens(string(line)), func(token string) bool { return strings.TrimSpace(token) == "" })
}

// afford takes the cost of a whole alignment from the budget, if it is there.
func (g gap) afford(budget *int) bool {
	cost := len(g.base) * len(g.head) // also bounds the table
	for _, line := range g.base {
		cost += len(line) * len(g.head)
	}
	for _, line := range g.head {
		cost += len(line) * len(g.base)
	}
	if cost > *budget {
		return false
	}
	*budget -= cost
	return true
}

// align finds the order-keeping pairing of greatest total similarity. Of equal
// ones it takes the one that leaves out base lines first, or, when swapped, head
// lines, so that the reversed change has the same pairs.
func (g gap) align(pairs []int, swapped bool) {
	width := len(g.head) + 1
	best := make([]float64, (len(g.base)+1)*width)
	similar := make([]float64, len(g.base)*len(g.head))
	for i := len(g.base) - 1; i >= 0; i-- {
		for j := len(g.head) - 1; j >= 0; j-- {
			here := max(best[(i+1)*width+j], best[i*width+j+1])
			if s := g.similarity(i, j); s >= minSimilarity {
				similar[i*len(g.head)+j] = s
				here = max(here, s+best[(i+1)*width+j+1])
			}
			best[i*width+j] = here
		}
	}
	for i, j := 0, 0; i < len(g.base) && j < len(g.head); {
		s := similar[i*len(g.head)+j]
		here, without := best[i*width+j], best[(i+1)*width+j]
		if swapped {
			without = best[i*width+j+1]
		}
		switch {
		case s > 0 && here == s+best[(i+1)*width+j+1]:
			pairs[i] = j
			i, j = i+1, j+1
		case (here == without) != swapped:
			i++
		default:
			j++
		}
	}
}

// similarity is the Dice coefficient of two lines' tokens, white space and our
// own renames aside.
func (g gap) similarity(i, j int) float64 {
	base, head := g.base[i], g.head[j]
	total := len(base) + len(head)
	if 2*float64(min(len(base), len(head))) < minSimilarity*float64(total) || len(base) == 0 {
		return 0 // too unequal in length, whatever they hold
	}
	common := 0
	for len(base) > 0 && len(head) > 0 {
		switch {
		case base[0] < head[0]:
			base = base[1:]
		case base[0] > head[0]:
			head = head[1:]
		default:
			base, head = base[1:], head[1:]
			common++
		}
	}
	return 2 * float64(common) / float64(total)
}
