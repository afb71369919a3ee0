package edit

import (
	"bytes"
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

// segment returns the length of the segment that text starts with: a character
// and all that may combine with it under normalisation. (norm's NextBoundary
// is no use here: it parts Hangul letters that compose.)
func segment(text []byte) int {
	_, i := utf8.DecodeRune(text)
	for i < len(text) && text[i] >= utf8.RuneSelf && !isIdeograph(text[i]) {
		p := norm.NFKC.Properties(text[i:])
		if p.Size() == 0 || p.BoundaryBefore() {
			break
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
