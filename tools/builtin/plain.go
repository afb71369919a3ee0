package builtin

import "fmt"

// plainer makes terminal output fit for a text: escape sequences (ECMA-48 §5.4,
// §5.6, §8.3.89 and its neighbours; xterm's control sequences) are left out,
// other control characters are written as \xNN. It may be fed in pieces that
// split a sequence anywhere.
type plainer struct {
	state plainState
	size  int // bytes of the present string sequence
}

type plainState uint8

const (
	ground       plainState = iota
	afterEscape             // ESC
	inEscape                // ESC and intermediate bytes
	inControl               // CSI and its parameters
	inString                // OSC, DCS, SOS, PM or APC, up to ST or BEL
	stringEscape            // ESC within a string
	afterC2                 // 0xC2, which begins U+0080 to U+00BF in UTF-8
	stringC2                // the same within a string
)

// maxString ends a string sequence that nobody ends, so that one stray escape
// does not swallow a whole output.
const maxString = 64 << 10

const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
)

// append adds the plain form of p to to.
func (s *plainer) append(to, p []byte) []byte {
	for i := 0; i < len(p); {
		if s.state == ground {
			end := i
			for end < len(p) && passes(p[end]) {
				end++
			}
			to = append(to, p[i:end]...)
			if i = end; i == len(p) {
				break
			}
		}
		to = s.step(to, p[i])
		i++
	}
	return to
}

// passes reports whether a byte stands for itself wherever it is.
func passes(c byte) bool {
	return c >= ' ' && c != 0x7f && c != 0xc2 || c == '\n' || c == '\t' || c == '\r'
}

func (s *plainer) step(to []byte, c byte) []byte {
	switch s.state {
	case ground:
		return s.special(to, c)
	case afterC2:
		return s.c1(to, c)
	case afterEscape:
		s.escape(c)
	case inEscape:
		if c >= 0x30 || c < ' ' {
			s.state = ground
		}
	case inControl:
		switch {
		case c == esc:
			s.state = afterEscape
		case c == '\n', c == can, c == sub, c >= 0x40 && c != 0x7f:
			s.state = ground
			if c == '\n' { // not part of any sequence: a line end must not get lost
				return append(to, c)
			}
		}
	default:
		s.inString(c)
		if c == '\n' { // a stray escape may hide the rest of a line, never more
			return append(to, c)
		}
	}
	return to
}

// special takes a byte in ground state that does not pass.
func (s *plainer) special(to []byte, c byte) []byte {
	switch c {
	case esc:
		s.state = afterEscape
	case 0xc2:
		s.state = afterC2
	default:
		return fmt.Appendf(to, `\x%02x`, c)
	}
	return to
}

// c1 takes the byte behind 0xC2: U+0080 to U+009F are the controls that ESC and
// a letter also write, the rest are characters.
func (s *plainer) c1(to []byte, c byte) []byte {
	s.state = ground
	switch c {
	case 0x9b:
		s.state = inControl
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		s.state, s.size = inString, 0
	default:
		switch {
		case c >= 0x80 && c < 0xa0:
			return fmt.Appendf(to, `\x%02x`, c)
		case c >= 0xa0 && c < 0xc0:
			return append(to, 0xc2, c)
		}
		return s.append(append(to, 0xc2), []byte{c}) // ill-formed: shown as such later
	}
	return to
}

func (s *plainer) escape(c byte) {
	switch {
	case c == '[':
		s.state = inControl
	case c == ']', c == 'P', c == 'X', c == '^', c == '_':
		s.state, s.size = inString, 0
	case c >= 0x20 && c < 0x30:
		s.state = inEscape
	case c == esc:
	default:
		s.state = ground
	}
}

func (s *plainer) inString(c byte) {
	s.size++
	ended := c == '\n' || c == bel || c == can || c == sub || s.size > maxString ||
		s.state == stringEscape && c == '\\' || s.state == stringC2 && c == 0x9c
	switch {
	case ended:
		s.state = ground
	case s.state == stringEscape && c != esc:
		s.escape(c) // a new sequence breaks a string off
	case c == esc:
		s.state = stringEscape
	case c == 0xc2:
		s.state = stringC2
	default:
		s.state = inString
	}
}

// plainText is the plain form of a short text.
func plainText(text string) string {
	var s plainer
	return string(showable(s.append(nil, []byte(text))))
}
