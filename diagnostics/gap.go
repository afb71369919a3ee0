package diagnostics

import (
	"bytes"
	"fmt"
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

// fileLines maps the lines of one file, and looks into replaced hunks when asked.
type fileLines struct {
	lineMap
	reverse    lineMap
	base, head [][]string // tokens by line; nil: the text is not at hand
	gaps       map[int][]int
	rename     substitution
	budget     *int
}

// lines prepares the line map of a file, once.
func (t *tracker) lines(basePath, headPath string) (*fileLines, error) {
	if f, ok := t.files[basePath]; ok {
		return f, nil
	}
	f := &fileLines{gaps: map[int][]int{}, rename: t.rename, budget: &t.budget}
	if t.opts.Lines != nil {
		f.hunks = t.opts.Lines.Hunks(basePath)
	}
	f.reverse = f.invert()
	if !f.validate() {
		return nil, fmt.Errorf("diagnostics: the hunks of %q must be ascending, apart, and leave equal runs between them", basePath)
	}
	if t.opts.Contents != nil && len(f.hunks) > 0 {
		base, okBase := t.opts.Contents.Content(Base, basePath)
		head, okHead := t.opts.Contents.Content(Head, headPath)
		if okBase && okHead {
			f.base, f.head = tokenLines(base), tokenLines(head)
		}
	}
	t.files[basePath] = f
	return f, nil
}

// toHead gives the head's line of a line that stayed, or else the hunk that
// replaced it and the line that it became there; -1 for what there is not.
func (f *fileLines) toHead(line int) (mapped, gap, hunk int) {
	mapped, hunk = f.lineMap.toHead(line)
	if hunk < 0 {
		return mapped, -1, -1
	}
	pairs, ok := f.gaps[hunk]
	if !ok {
		pairs = f.align(f.hunks[hunk])
		f.gaps[hunk] = pairs
	}
	return -1, pairs[line-f.hunks[hunk].OldStart], hunk
}

// headHunk gives the hunk that a line of the head came with, or -1.
func (f *fileLines) headHunk(line int) int {
	_, hunk := f.reverse.toHead(line)
	return hunk
}

// align pairs the lines of a hunk in order; the result holds a head line, or -1,
// for each base line.
func (f *fileLines) align(h Hunk) []int {
	pairs := make([]int, h.OldLines)
	for i := range pairs {
		pairs[i] = -1
	}
	haveText := f.base != nil && h.OldStart+h.OldLines <= len(f.base) && h.NewStart+h.NewLines <= len(f.head)
	switch {
	case !haveText && h.OldLines == h.NewLines:
		for i := range pairs {
			pairs[i] = h.NewStart + i
		}
	case !haveText:
	case !f.afford(h):
		for i := range min(h.OldLines, h.NewLines) {
			if f.similarity(h.OldStart+i, h.NewStart+i) >= minSimilarity {
				pairs[i] = h.NewStart + i
			}
		}
	default:
		f.alignCells(h, pairs)
	}
	return pairs
}

// afford takes the cost of a whole alignment from the budget, if it is there.
func (f *fileLines) afford(h Hunk) bool {
	cost := h.OldLines * h.NewLines // also bounds the table
	for _, line := range f.base[h.OldStart : h.OldStart+h.OldLines] {
		cost += len(line) * h.NewLines
	}
	for _, line := range f.head[h.NewStart : h.NewStart+h.NewLines] {
		cost += len(line) * h.OldLines
	}
	if cost > *f.budget {
		return false
	}
	*f.budget -= cost
	return true
}

// alignCells finds the order-keeping pairing of greatest total similarity.
func (f *fileLines) alignCells(h Hunk, pairs []int) {
	width := h.NewLines + 1
	best := make([]float64, (h.OldLines+1)*width)
	similar := make([]float64, h.OldLines*h.NewLines)
	for i := h.OldLines - 1; i >= 0; i-- {
		for j := h.NewLines - 1; j >= 0; j-- {
			here := max(best[(i+1)*width+j], best[i*width+j+1])
			if s := f.similarity(h.OldStart+i, h.NewStart+j); s >= minSimilarity {
				similar[i*h.NewLines+j] = s
				here = max(here, s+best[(i+1)*width+j+1])
			}
			best[i*width+j] = here
		}
	}
	for i, j := 0, 0; i < h.OldLines && j < h.NewLines; {
		s := similar[i*h.NewLines+j]
		switch here := best[i*width+j]; {
		case s > 0 && here == s+best[(i+1)*width+j+1]:
			pairs[i] = h.NewStart + j
			i, j = i+1, j+1
		case here == best[(i+1)*width+j]:
			i++
		default:
			j++
		}
	}
}

// similarity is the Dice coefficient of two lines' tokens, white space and our
// own renames aside.
func (f *fileLines) similarity(baseLine, headLine int) float64 {
	base, head := f.base[baseLine], f.head[headLine]
	if 2*float64(min(len(base), len(head))) < minSimilarity*float64(len(base)+len(head)) || len(base) == 0 {
		return 0 // too unequal in length, whatever they hold
	}
	count := make(map[string]int, len(head))
	for _, token := range head {
		count[token]++
	}
	common := 0
	for _, token := range base {
		if to, ok := f.rename[token]; ok {
			token = to
		}
		if count[token] > 0 {
			count[token]--
			common++
		}
	}
	return 2 * float64(common) / float64(len(base)+len(head))
}

// tokenLines splits a text into lines (LF, CRLF or CR, as LSP 3.17 §textDocuments
// counts them) and those into tokens without white space.
func tokenLines(text []byte) [][]string {
	var list [][]string
	for _, line := range splitLines(text) {
		var words []string
		for _, token := range tokens(string(line)) {
			if strings.TrimSpace(token) != "" {
				words = append(words, token)
			}
		}
		list = append(list, words)
	}
	return list
}

// splitLines splits at LF, CRLF and CR; the breaks are not part of the lines.
func splitLines(text []byte) [][]byte {
	var lines [][]byte
	for {
		i := bytes.IndexAny(text, "\r\n")
		if i < 0 {
			return append(lines, text)
		}
		lines = append(lines, text[:i])
		if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			i++
		}
		text = text[i+1:]
	}
}
