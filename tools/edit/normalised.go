package edit

import (
	"bytes"
	"encoding/binary"
	"sort"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The normalisation N, under which text that looks the same matches: NFKC
// (Unicode Standard Annex 15); white space at the end of a line off; quotes,
// dashes and spaces that have an ASCII look-alike become it. Indentation,
// inner white space and blank lines stay: they carry meaning.

// isTrailing reports whether r at the end of a line is dropped. The set is
// narrower and wider than unicode.IsSpace: U+0085 is not in it, U+FEFF is.
func isTrailing(r rune) bool {
	switch {
	case r == '\t', r == '\v', r == '\f', r == '\r', r == ' ':
		return true
	case r == 0x00a0, r == 0x1680, r >= 0x2000 && r <= 0x200a, r == 0x2028, r == 0x2029,
		r == 0x202f, r == 0x205f, r == 0x3000, r == 0xfeff:
		return true
	}
	return false
}

// lookalike returns the ASCII character that stands for r, and whether there
// is one.
func lookalike(r rune) (byte, bool) {
	switch {
	case r >= 0x2018 && r <= 0x201b:
		return '\'', true
	case r >= 0x201c && r <= 0x201f:
		return '"', true
	case r >= 0x2010 && r <= 0x2015, r == 0x2212:
		return '-', true
	case r == 0x00a0, r >= 0x2002 && r <= 0x200a, r == 0x202f, r == 0x205f, r == 0x3000:
		return ' ', true
	}
	return 0, false
}

// normalised is the text N makes of a view, with its offset map. While N
// changes nothing, out stays empty: kept text is only copied once something
// after it is rewritten.
type normalised struct {
	view   []byte
	out    []byte
	done   int // view[:done] is in out
	breaks []breakpoint
}

// breakpoint says that from offset norm of the normalised text on, up to the
// next breakpoint, offsets run parallel to the view's from offset view on. An
// atomic stretch is one that N rewrote: only its ends correspond to anything.
type breakpoint struct {
	norm, view uint32
	atomic     bool
}

// normalise applies N to text whose lines end in \n.
func normalise(view []byte) *normalised {
	n := &normalised{view: view, breaks: []breakpoint{{}}}
	for at := 0; at < len(view); {
		end := bytes.IndexByte(view[at:], '\n')
		if end < 0 {
			end = len(view) - at
		}
		end += at
		n.line(at, end)
		at = end + 1
	}
	if n.done > 0 {
		n.out = append(n.out, view[n.done:]...)
	}
	return n
}

// text returns the normalised text.
func (n *normalised) text() []byte {
	if n.done == 0 {
		return n.view
	}
	return n.out
}

// line normalises view[at:end], one line without its \n. White space goes
// first: no character that stays turns into white space, so the order does not
// matter.
func (n *normalised) line(at, end int) {
	keep := end
	for keep > at {
		last := n.view[keep-1]
		if last < utf8.RuneSelf {
			if !isTrailing(rune(last)) {
				break
			}
			keep--
			continue
		}
		r, size := utf8.DecodeLastRune(n.view[at:keep])
		if !isTrailing(r) {
			break
		}
		keep -= size
	}
	n.segments(at, keep)
	if keep < end {
		n.rewrite(keep, end, nil)
	}
}

// segments normalises view[at:end], segment by segment, skipping ASCII.
func (n *normalised) segments(at, end int) {
	var buf [64]byte
	for i := at; i < end; {
		ascii := asciiPrefix(n.view[i:end])
		if i+ascii == end {
			return
		}
		if ascii > 0 {
			i += ascii - 1 // the next character may combine with this one
		}
		next := n.segment(i, end)
		if out := normaliseSegment(buf[:0], n.view[i:next]); out != nil {
			n.rewrite(i, next, out)
		}
		i = next
	}
}

// rewrite has N put out in the place of view[start:end].
func (n *normalised) rewrite(start, end int, out []byte) {
	if n.out == nil {
		n.out = make([]byte, 0, len(n.view)+len(n.view)/64+64)
	}
	n.out = append(n.out, n.view[n.done:start]...)
	if len(out) > 0 {
		at := uint32(len(n.out))
		if last := len(n.breaks) - 1; n.breaks[last].norm == at {
			n.breaks = n.breaks[:last] // it covered nothing
		}
		n.breaks = append(n.breaks, breakpoint{at, uint32(start), true})
		n.out = append(n.out, out...)
	}
	n.breaks = append(n.breaks, breakpoint{uint32(len(n.out)), uint32(end), false})
	n.done = end
}

// start returns the offset in the view where a match that starts at offset at
// of the normalised text starts, and whether at corresponds to one.
func (n *normalised) start(at int) (int, bool) {
	i := sort.Search(len(n.breaks), func(i int) bool { return int(n.breaks[i].norm) > at }) - 1
	b := n.breaks[i]
	if b.atomic && int(b.norm) != at {
		return 0, false
	}
	return int(b.view) + at - int(b.norm), true
}

// end is start for where a match ends: white space dropped there stays outside.
func (n *normalised) end(at int) (int, bool) {
	i := sort.Search(len(n.breaks), func(i int) bool { return int(n.breaks[i].norm) >= at })
	b := n.breaks[i-1] // matches are not empty, so at > 0
	if !b.atomic {
		return int(b.view) + at - int(b.norm), true
	}
	if i == len(n.breaks) || int(n.breaks[i].norm) != at {
		return 0, false
	}
	return int(n.breaks[i].view), true
}

// segment returns the end of the segment that starts at offset i: a character
// and all that may combine with it under normalisation. (norm's NextBoundary
// is no use here: it parts Hangul letters that compose.)
func (n *normalised) segment(i, end int) int {
	_, size := utf8.DecodeRune(n.view[i:end])
	i += size
	for i < end && n.view[i] >= utf8.RuneSelf && !isIdeograph(n.view[i]) {
		p := norm.NFKC.Properties(n.view[i:end])
		if p.Size() == 0 || p.BoundaryBefore() {
			return i
		}
		i += p.Size()
	}
	return i
}

// isIdeograph reports whether a UTF-8 sequence with this first byte is one of
// U+4000 to U+9FFF, which NFKC leaves alone and which combine with nothing
// before them.
func isIdeograph(first byte) bool { return first >= 0xe4 && first <= 0xe9 }

// normaliseSegment appends to out what N makes of one segment, or returns nil if N does
// not change it. What is common in text takes a short way.
func normaliseSegment(out, seg []byte) []byte {
	r, size := utf8.DecodeRune(seg)
	if size == len(seg) {
		if c, ok := lookalike(r); ok {
			return append(out, c)
		}
		if r > 0xff00 && r < 0xff5f { // full-width ASCII
			return append(out, byte(r-0xff00+' '))
		}
		if size == 1 || isIdeograph(seg[0]) || norm.NFKC.Properties(seg).Decomposition() == nil {
			return nil
		}
	}
	out = fold(norm.NFKC.Append(out, seg...))
	if bytes.Equal(out, seg) {
		return nil
	}
	return out
}

// fold replaces look-alikes in place and returns what is left of b.
func fold(b []byte) []byte {
	out := b[:0]
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if c, ok := lookalike(r); ok {
			out = append(out, c)
		} else {
			out = append(out, b[i:i+size]...)
		}
		i += size
	}
	return out
}

// asciiPrefix returns how many bytes of b come before the first non-ASCII one.
func asciiPrefix(b []byte) int {
	const high = 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if binary.LittleEndian.Uint64(b[i:])&high != 0 {
			break
		}
	}
	for i < len(b) && b[i] < utf8.RuneSelf {
		i++
	}
	return i
}
