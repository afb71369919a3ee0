package procsess

import (
	"bytes"
	"unicode/utf8"
)

const (
	// maxSequence is where an escape sequence is cut that does not end: a string
	// without its terminator must not swallow what follows for ever.
	maxSequence = 4096
	// parameterBytes of a control sequence are kept; longer ones mean nothing.
	parameterBytes = 32
)

const (
	codeBell   = 0x07
	codeCancel = 0x18
	codeSubst  = 0x1a
	codeEscape = 0x1b
)

// phase is a place in the grammar of escape sequences.
type phase uint8

const (
	inText phase = iota
	inEscape
	inControl    // CSI: parameters, intermediates, a final byte
	inOSC        // a string that BEL or ST ends
	inString     // DCS, SOS, PM, APC: ST ends it
	inTerminator // behind an ESC in a string
)

// part is what a byte is.
type part uint8

const (
	partText    part = iota // outside sequences
	partInside              // of a sequence that goes on
	partExecute             // a control that is carried out within a sequence
	partEscape              // the final byte of an escape sequence
	partControl             // the final byte of a control sequence
	partEnd                 // the last byte of a string, or of what was cut or cancelled
	partAgain               // text; the sequence in front of it was not one
)

// sequence takes output apart byte by byte, as ECMA-48 §5 and xterm's "ctlseqs"
// have it for a terminal in UTF-8: the 8-bit controls (C1) are not recognized,
// because their codes are parts of characters. Its state depends on no more than
// the last maxSequence bytes.
type sequence struct {
	phase  phase
	length int
	kept   uint8
	over   bool
	// parameters are parameter and intermediate bytes.
	parameters [parameterBytes]byte
}

// step takes the next byte.
func (q *sequence) step(b byte) part {
	if q.phase == inText {
		if b != codeEscape {
			return partText
		}
		q.begin()
		return partInside
	}
	q.length++
	switch {
	case b == codeEscape:
		inside := q.phase == inOSC || q.phase == inString
		if q.begin(); inside {
			q.phase = inTerminator
		}
		return partInside
	case b == codeCancel || b == codeSubst:
		q.phase = inText
		return partEnd
	}
	what := q.advance(b)
	if (what == partInside || what == partExecute) && q.length >= maxSequence {
		q.phase = inText
		return partEnd
	}
	return what
}

func (q *sequence) begin() { q.phase, q.length, q.kept, q.over = inEscape, 1, 0, false }

func (q *sequence) advance(b byte) part {
	switch q.phase {
	case inOSC:
		if b == codeBell {
			q.phase = inText
			return partEnd
		}
		return partInside
	case inString:
		return partInside
	case inTerminator:
		q.phase = inEscape
		if b == '\\' {
			q.phase = inText
			return partEnd
		}
	}
	switch {
	case b < 0x20:
		return partExecute
	case b == 0x7f:
		return partInside
	case b > 0x7f:
		q.phase = inText
		return partAgain
	case q.phase == inControl:
		if b < 0x40 {
			q.keep(b)
			return partInside
		}
		q.phase = inText
		return partControl
	}
	return q.escaped(b)
}

// escaped takes a byte behind ESC.
func (q *sequence) escaped(b byte) part {
	if b < 0x30 {
		q.keep(b)
		return partInside
	}
	if q.kept == 0 {
		switch b {
		case '[':
			q.phase = inControl
			return partInside
		case ']':
			q.phase = inOSC
			return partInside
		case 'P', 'X', '^', '_':
			q.phase = inString
			return partInside
		}
	}
	q.phase = inText
	return partEscape
}

func (q *sequence) keep(b byte) {
	if int(q.kept) == len(q.parameters) {
		q.over = true
		return
	}
	q.parameters[q.kept] = b
	q.kept++
}

// given is what stands between CSI and the final byte; nothing that was too long
// to be kept is looked at.
func (q *sequence) given() []byte {
	if q.over {
		return []byte("!over")
	}
	return q.parameters[:q.kept]
}

// number is the parameter of a sequence that has one at most: the default where it
// is missing or 0, and no more than most.
func (q *sequence) number(otherwise, most int) int {
	n := 0
	for _, b := range q.given() {
		if b < '0' || b > '9' {
			break
		}
		n = min(n*10+int(b-'0'), most)
	}
	if n == 0 {
		return otherwise
	}
	return n
}

// colourSequence is the length of the whole SGR sequence that p begins with, 0 if
// it begins with anything else. These are most sequences there are, and mean
// nothing here: they need not be taken apart.
func colourSequence(p []byte) int {
	if len(p) < 3 || p[1] != '[' {
		return 0
	}
	for i := 2; i < min(len(p), parameterBytes); i++ {
		switch b := p[i]; {
		case b == 'm':
			return i + 1
		case b < '0' || b > ';':
			return 0
		}
	}
	return 0
}

// unitEnd is the end of the unit that begins at i: a character, or a whole escape
// sequence. It is -1 where b ends first.
func unitEnd(b []byte, i int) int {
	if b[i] < utf8.RuneSelf && b[i] != codeEscape {
		return i + 1
	}
	if b[i] != codeEscape {
		if !utf8.FullRune(b[i:]) {
			return -1
		}
		_, size := utf8.DecodeRune(b[i:])
		return i + size
	}
	var q sequence
	q.step(codeEscape)
	for j := i + 1; j < len(b); j++ {
		switch {
		case q.phase == inTerminator && b[j] == '\\':
			return j + 1
		case q.phase == inTerminator:
			return j - 1 // the ESC was not the terminator: a sequence begins there
		case b[j] == codeEscape && q.phase != inOSC && q.phase != inString:
			return j
		}
		switch q.step(b[j]) {
		case partAgain:
			return j
		case partInside, partExecute:
		default:
			return j + 1
		}
	}
	return -1
}

// lookBehind is how far in front of an offset the output has to be known to tell
// whether a unit begins there: a sequence, its terminator, and a character.
const lookBehind = maxSequence + 2*utf8.UTFMax

// borders finds the last border between units at or before t and the first one at
// or behind it, -1 where b ends first. It is right if b begins with the log or
// lookBehind bytes before t.
func borders(b []byte, t int) (before, after int) {
	from := max(0, t-lookBehind)
	last := bytes.LastIndexByte(b[from:t], codeEscape)
	if last < 0 {
		// No sequence reaches this far: it would have been cut.
		for back := 1; back < utf8.UTFMax && t-back >= 0; back++ {
			if utf8.RuneStart(b[t-back]) {
				return walk(b, t-back, t)
			}
		}
		return t, t
	}
	// Whatever came before, the last ESC begins a sequence or ends a string, and
	// what follows is the same. Which of them it is matters if that is not over yet.
	if before, after = walk(b, from+last, t); before == from+last {
		return walk(b, from+bytes.IndexByte(b[from:t], codeEscape), t)
	}
	return before, after
}

// walk goes from a border to those around t.
func walk(b []byte, at, t int) (before, after int) {
	for at < t {
		next := unitEnd(b, at)
		if next < 0 || next > t {
			return at, next
		}
		at = next
	}
	return at, at
}
