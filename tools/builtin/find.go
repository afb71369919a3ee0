package builtin

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// findMode is how findText compares.
type findMode string

// The modes.
const (
	findExact findMode = "exact"
	findFold  findMode = "case-insensitive"
)

// Values lists the modes.
func (findMode) Values() []string { return []string{string(findExact), string(findFold)} }

// needle is a text that is looked for.
type needle interface {
	// index returns where it starts in b, or -1.
	index(b []byte) int
	// longest is the most bytes that an occurrence takes.
	longest() int
}

type exactNeedle []byte

func (n exactNeedle) index(b []byte) int { return bytes.Index(b, n) }
func (n exactNeedle) longest() int       { return len(n) }

// foldNeedle matches under Unicode simple case folding.
type foldNeedle struct {
	runes  []rune // the smallest of each one's case variants
	starts [][]byte
	most   int
}

func newNeedle(text string, mode findMode) needle {
	if mode != findFold {
		return exactNeedle(text)
	}
	n := &foldNeedle{}
	for i, r := range []rune(text) {
		widest, smallest := 0, r
		for variant := unicode.SimpleFold(r); ; variant = unicode.SimpleFold(variant) {
			widest, smallest = max(widest, utf8.RuneLen(variant)), min(smallest, variant)
			if i == 0 {
				n.starts = append(n.starts, utf8.AppendRune(nil, variant))
			}
			if variant == r {
				break
			}
		}
		n.most += widest
		n.runes = append(n.runes, smallest)
	}
	return n
}

func (n *foldNeedle) longest() int { return n.most }

// index goes from one place where the first character could be to the next;
// where each of its variants comes next is remembered, not searched again.
func (n *foldNeedle) index(b []byte) int {
	next := make([]int, len(n.starts))
	for i := range next {
		next[i] = -1
	}
	for at := 0; ; {
		nearest := len(b)
		for i, start := range n.starts {
			if next[i] < at {
				next[i] = len(b)
				if found := bytes.Index(b[at:], start); found >= 0 {
					next[i] = at + found
				}
			}
			nearest = min(nearest, next[i])
		}
		if nearest == len(b) {
			return -1
		}
		if n.matches(b[nearest:]) {
			return nearest
		}
		at = nearest + 1
	}
}

func (n *foldNeedle) matches(b []byte) bool {
	for _, want := range n.runes {
		r, size := utf8.DecodeRune(b)
		if size == 0 || smallestFold(r) != want || r == utf8.RuneError && size == 1 {
			return false
		}
		b = b[size:]
	}
	return true
}

func smallestFold(r rune) rune {
	if r < utf8.RuneSelf && !('a' <= r && r <= 'z') {
		return r // the smallest variant of an ASCII letter is the capital
	}
	smallest := r
	for variant := unicode.SimpleFold(r); variant != r; variant = unicode.SimpleFold(variant) {
		smallest = min(smallest, variant)
	}
	return smallest
}

// find returns the number of the first line from r's position on that holds a
// start of the needle, and where in the text that line starts. It returns
// io.EOF when there is none.
func find(r *lineReader, n needle) (line, start int64, err error) {
	line, start = r.line, r.at
	var chunk []byte
	base := r.at // of chunk in the text
	for {
		if err := r.fill(); err != nil {
			return 0, 0, err
		}
		chunk = append(chunk, r.pending...)
		r.consume(len(r.pending), 0)
		at := n.index(chunk)
		stop := at
		if at < 0 {
			stop = max(0, len(chunk)-n.longest()+1)
		}
		line += int64(bytes.Count(chunk[:stop], []byte{r.sep}))
		if last := bytes.LastIndexByte(chunk[:stop], r.sep); last >= 0 {
			start = base + int64(last) + 1
		}
		if at >= 0 {
			return line, start, nil
		}
		base += int64(stop)
		chunk = append(chunk[:0], chunk[stop:]...)
	}
}
