package search

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// byFrequency orders the bytes of source text from common to rare; those not
// in it are the rarest. Searching for the rarest byte of a query finds few
// places that then turn out not to match.
const byFrequency = " etaonirslcdupm\tfhgb.y_\"v(),w/-=:kTxSEARI0CN1{}PDO;LM2*Fj'qBG[]>UzV<\\#HW&3K458!679X`$Y+|?@QJZ~%^"

// frequency is 0 for the rarest bytes.
func frequency(b byte) int {
	if at := strings.IndexByte(byFrequency, b); at >= 0 {
		return len(byFrequency) - at
	}
	return 0
}

// literal finds a text, exactly or under Unicode simple case folding.
//
// It looks for one anchor, the rarest part of the text, with bytes.IndexByte,
// and compares the rest only there. An anchor has up to four first bytes, one
// for each letter that folds to it (k, K, and the Kelvin sign).
type literal struct {
	text []byte
	// lower and caseBit compare ASCII text of fixed length: text[i] matches b if
	// b|caseBit[i] == lower[i]. nil when a letter folds to a longer one.
	lower, caseBit []byte
	runes          []rune // for comparing letter by letter, where lower is nil
	anchor         int    // an index into text, or into runes
	first          []byte
}

func newLiteral(text string, fold bool) *literal {
	l := &literal{text: []byte(text)}
	if !fold {
		l.caseBit = make([]byte, len(text))
		l.lower = l.text
		l.anchorByte()
		return l
	}
	if lower, caseBit, ok := fixedFold(text); ok {
		l.lower, l.caseBit = lower, caseBit
		l.anchorByte()
		return l
	}
	l.runes = []rune(text)
	best := -1
	for i, r := range l.runes {
		first := firstBytes(r)
		cost := 0
		for _, b := range first {
			cost += frequency(b) + 1
		}
		if best < 0 || cost < best {
			best, l.anchor, l.first = cost, i, first
		}
	}
	return l
}

// fixedFold prepares ASCII text whose letters fold to ASCII letters only.
func fixedFold(text string) (lower, caseBit []byte, ok bool) {
	lower, caseBit = []byte(strings.ToLower(text)), make([]byte, len(text))
	for i := range len(text) {
		b := text[i]
		if b >= utf8.RuneSelf || strings.IndexByte("kKsS", b) >= 0 {
			return nil, nil, false
		}
		if lower[i] != b || 'a' <= b && b <= 'z' {
			caseBit[i] = 0x20
		}
	}
	return lower, caseBit, true
}

func (l *literal) anchorByte() {
	best := -1
	for i, b := range l.lower {
		cost := frequency(b)
		if l.caseBit[i] != 0 {
			cost += frequency(b &^ 0x20)
		}
		if best < 0 || cost < best {
			best, l.anchor = cost, i
		}
	}
	l.first = []byte{l.lower[l.anchor]}
	if l.caseBit[l.anchor] != 0 {
		l.first = append(l.first, l.lower[l.anchor]&^0x20)
	}
}

// firstBytes are the bytes that the letters folding to r begin with.
func firstBytes(r rune) []byte {
	var first []byte
	add := func(r rune) {
		if b := utf8.AppendRune(nil, r)[0]; bytes.IndexByte(first, b) < 0 {
			first = append(first, b)
		}
	}
	add(r)
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		add(next)
	}
	return first
}

// find returns the first match in buf[from:], ok=false for none.
func (l *literal) find(buf []byte, from int) (start, end int, ok bool) {
	fixed := l.lower != nil
	at := from
	if fixed {
		at += l.anchor
	}
	var next [4]int
	for i := range l.first {
		next[i] = -1
	}
	for at < len(buf) {
		found := len(buf)
		for i, b := range l.first {
			if next[i] < at {
				if j := bytes.IndexByte(buf[at:], b); j >= 0 {
					next[i] = at + j
				} else {
					next[i] = len(buf)
				}
			}
			found = min(found, next[i])
		}
		if found == len(buf) {
			return 0, 0, false
		}
		if fixed {
			start = found - l.anchor
			if end = start + len(l.lower); end > len(buf) {
				return 0, 0, false
			}
			ok = l.equal(buf[start:end])
		} else {
			start, end, ok = l.around(buf, from, found)
		}
		if ok {
			return start, end, true
		}
		at = found + 1
	}
	return 0, 0, false
}

func (l *literal) equal(b []byte) bool {
	for i, c := range l.lower {
		if b[i]|l.caseBit[i] != c {
			return false
		}
	}
	return true
}

// around compares letter by letter, away from an anchor found at a position.
func (l *literal) around(buf []byte, from, found int) (start, end int, ok bool) {
	end = found
	for _, want := range l.runes[l.anchor:] {
		r, size := utf8.DecodeRune(buf[end:])
		if !sameLetter(want, r, size) {
			return 0, 0, false
		}
		end += size
	}
	start = found
	for i := l.anchor - 1; i >= 0; i-- {
		r, size := utf8.DecodeLastRune(buf[from:start])
		if !sameLetter(l.runes[i], r, size) {
			return 0, 0, false
		}
		start -= size
	}
	return start, end, true
}

// sameLetter compares under simple folding. A decoded RuneError of size 0 or 1
// is the end of the text or a byte that is not UTF-8, and equals nothing.
func sameLetter(want, r rune, size int) bool {
	if r == utf8.RuneError && size <= 1 {
		return false
	}
	if want == r {
		return true
	}
	for next := unicode.SimpleFold(want); next != want; next = unicode.SimpleFold(next) {
		if next == r {
			return true
		}
	}
	return false
}
