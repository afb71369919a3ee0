package diagnostics

import (
	"bytes"
	"fmt"
)

// fileLines maps the lines of one file, and looks into replaced hunks when asked.
type fileLines struct {
	lineMap
	reverse    lineMap
	base, head *sourceText // nil: the text is not at hand
	gaps       map[int][]int
	rename     substitution
	budget     *int // of alignments
	swapped    bool // ties are decided as if the head were the base
}

// lines prepares the line map of a file that both sides have, once.
func (t *tracker) lines(basePath, headPath string) (*fileLines, error) {
	if f, ok := t.files[basePath]; ok {
		return f, nil
	}
	f := &fileLines{gaps: map[int][]int{}, rename: t.rename, budget: &t.budget}
	t.files[basePath] = f
	given := t.opts.Lines != nil
	if given {
		f.hunks = t.opts.Lines.Hunks(basePath)
	}
	if (!given || len(f.hunks) > 0) && !t.identical(basePath) {
		t.read(f, basePath, headPath)
		if !given && f.base != nil {
			f.hunks = diffLines(f.base, f.head, &t.diffBudget)
		}
	}
	if !f.validate() {
		return nil, fmt.Errorf("diagnostics: the hunks of %q must be ascending, apart, and leave equal runs between them", basePath)
	}
	f.reverse = f.invert()
	return f, nil
}

// identical reports whether a file is known to be equal on both sides.
func (t *tracker) identical(basePath string) bool {
	known, ok := t.cover.files.(Identities)
	return ok && known.Identical(basePath)
}

// read gets both texts, unless they are equal.
func (t *tracker) read(f *fileLines, basePath, headPath string) {
	if t.opts.Contents == nil {
		return
	}
	base, okBase := t.opts.Contents.Content(Base, basePath)
	head, okHead := t.opts.Contents.Content(Head, headPath)
	switch {
	case !okBase || !okHead:
		t.unread = append(t.unread, headPath)
	case len(f.hunks) > 0 || !bytes.Equal(base, head):
		f.base, f.head = newSourceText(base), newSourceText(head)
		f.swapped = bytes.Compare(base, head) > 0
	}
}

// toHead gives the head's line of a line that stayed, or else the hunk that
// replaced it and the line that it became there; -1 for what there is not.
func (f *fileLines) toHead(line int) (mapped, gap, hunk int) {
	mapped, hunk = f.lineMap.toHead(line)
	if hunk < 0 {
		return mapped, -1, -1
	}
	return -1, f.pairs(hunk)[line-f.hunks[hunk].OldStart], hunk
}

// pairs gives the head line, or -1, of each base line of a hunk.
func (f *fileLines) pairs(hunk int) []int {
	pairs, ok := f.gaps[hunk]
	if !ok {
		pairs = f.align(f.hunks[hunk])
		f.gaps[hunk] = pairs
	}
	return pairs
}

// headHunk gives the hunk that a line of the head came with, or -1.
func (f *fileLines) headHunk(line int) int {
	_, hunk := f.reverse.toHead(line)
	return hunk
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
