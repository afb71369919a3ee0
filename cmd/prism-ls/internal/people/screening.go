package people

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// screening is what stands between a program's output and a person's terminal. It
// lets everything pass but what would have the terminal answer (the session
// answers by itself, and the terminal's answer would be typed into the program a
// second time, or into the shell of a person who only looks), what reaches the
// clipboard, and what changes how keys are written, so that the key that detaches
// is always known. It remembers the modes that were set, to take them back.
//
// Sources: ECMA-48 §5.4 and §8.3, and xterm's control sequences.
type screening struct {
	state   screenState
	held    []byte // of a sequence that is not complete
	long    bool   // it was judged already, for it is long
	refused bool   // and that was the judgement
	modes   map[int]bool
	touched bool // something that a reset takes back
}

type screenState uint8

const (
	plain    screenState = iota
	c1                   // behind 0xC2, which begins U+0080 to U+009F in UTF-8
	escaped              // behind ESC
	control              // in CSI
	stringed             // in OSC, DCS, APC, PM, SOS
	ending               // in such a string, behind ESC
)

// maxHeld is how long a sequence may be that is judged as a whole; a longer one is
// a string, such as a picture, and passes in pieces.
const maxHeld = 8 << 10

// pass appends to out what of p the terminal may see.
func (s *screening) pass(out, p []byte) []byte {
	for len(p) > 0 {
		if s.state == plain {
			at := slices.IndexFunc(p, func(c byte) bool { return c == 0x1b || c == 0xc2 })
			if at < 0 {
				return append(out, p...)
			}
			out = append(out, p[:at]...)
			s.state, s.held = escaped, append(s.held[:0], 0x1b)
			if p[at] == 0xc2 {
				s.state = c1
			}
			p = p[at+1:]
			continue
		}
		if s.state == c1 {
			// The controls that ESC and a letter also write (ECMA-48 §5.3) are written so.
			s.state = plain
			if p[0] >= 0x80 && p[0] < 0xa0 {
				s.state, p[0] = escaped, p[0]-0x40
			} else {
				out = append(out, 0xc2)
				continue
			}
		}
		c := p[0]
		p = p[1:]
		s.held = append(s.held, c)
		switch {
		case c == 0x18 || c == 0x1a: // CAN and SUB end any sequence
			out = s.flush(out)
		case c == 0x1b && s.state != stringed && s.state != ending:
			// A new one begins, and the one before is none.
			out = append(out, s.held[:len(s.held)-1]...)
			s.state, s.held = escaped, append(s.held[:0], 0x1b)
		default:
			out = s.step(out, c)
		}
		if len(s.held) > maxHeld {
			out = s.overlong(out)
		}
	}
	return out
}

func (s *screening) step(out []byte, c byte) []byte {
	switch s.state {
	case escaped:
		switch {
		case c == '[':
			s.state = control
		case strings.IndexByte("]P_^X", c) >= 0:
			s.state = stringed
		case c >= 0x20 && c <= 0x2f: // an intermediate byte
		case c == 'Z': // DECID asks for the same as DA1
			s.state = plain
		default:
			s.touched = s.touched || c == '='
			out = s.flush(out)
		}
	case control:
		if c >= 0x40 && c <= 0x7e {
			out = s.controlled(out, c)
		}
	case stringed:
		switch {
		case c == 0x07, c == 0x9c && len(s.held) > 1 && s.held[len(s.held)-2] == 0xc2:
			out = s.string(out)
		case c == 0x1b:
			s.state = ending
		}
	case ending:
		if c == '\\' {
			return s.string(out)
		}
		// It is no end, but the beginning of another sequence.
		s.held = s.held[:len(s.held)-2]
		out = s.string(out)
		s.state, s.held = escaped, append(s.held[:0], 0x1b, c)
		return s.step(out, c)
	}
	return out
}

func (s *screening) flush(out []byte) []byte {
	refused := s.refused
	s.state, s.long, s.refused = plain, false, false
	if refused {
		return out
	}
	return append(out, s.held...)
}

// overlong judges a long sequence by its beginning.
func (s *screening) overlong(out []byte) []byte {
	if !s.long {
		s.long, s.refused = true, s.state == control || s.clipboard() || s.queries()
	}
	if !s.refused {
		out = append(out, s.held[:len(s.held)-1]...)
	}
	s.held = append(s.held[:0], s.held[len(s.held)-1])
	return out
}

// controlled judges a control sequence that ends with c.
func (s *screening) controlled(out []byte, c byte) []byte {
	if s.long {
		return s.flush(out)
	}
	s.state = plain
	body := s.held[min(2, len(s.held)) : len(s.held)-1]
	switch {
	case c == 'n', c == 'c' && !bytes.HasPrefix(body, []byte("?")): // DSR; DA1, DA2, DA3
		return out
	case c == 'q' && bytes.HasPrefix(body, []byte(">")): // XTVERSION
		return out
	case c == 'p' && bytes.HasSuffix(body, []byte("$")): // DECRQM
		return out
	case c == 'x' && len(body) <= 1, c == 't' && reports(body): // DECREQTPARM; window reports
		return out
	case c == 'S' && bytes.HasPrefix(body, []byte("?")): // XTSMGRAPHICS
		return out
	case c == 'u' && len(body) > 0: // the keyboard protocol of kitty; alone it restores the cursor
		return out
	case c == 'm' && (bytes.HasPrefix(body, []byte(">")) || bytes.HasPrefix(body, []byte("?"))): // XTMODKEYS, XTQMODKEYS
		return out
	case (c == 'h' || c == 'l') && bytes.HasPrefix(body, []byte("?")):
		s.mode(string(body[1:]), c == 'h')
	case c == 'm' || c == 'r':
		s.touched = true
	}
	return append(out, s.held...)
}

// reports says whether a window operation (XTWINOPS) asks for something: 11 to 21.
func reports(body []byte) bool {
	first, _, _ := strings.Cut(string(body), ";")
	number, err := strconv.Atoi(first)
	return err == nil && number >= 11 && number <= 21
}

func (s *screening) mode(list string, set bool) {
	if s.modes == nil {
		s.modes = map[int]bool{}
	}
	for _, text := range strings.Split(list, ";") {
		if number, err := strconv.Atoi(text); err == nil {
			s.modes[number] = set
		}
	}
}

// string judges an operating system command, or another string, that is complete.
func (s *screening) string(out []byte) []byte {
	refused := s.refused
	if !s.long {
		refused = s.clipboard() || s.queries()
	}
	s.state, s.long, s.refused = plain, false, false
	if refused {
		return out
	}
	return append(out, s.held...)
}

func (s *screening) clipboard() bool { return bytes.HasPrefix(s.held, []byte("\x1b]52;")) }

// queries reports whether a string asks for something: a colour ("?" instead of
// one), a capability or setting (XTGETTCAP, DECRQSS), a kitty graphics answer.
func (s *screening) queries() bool {
	switch {
	case bytes.HasPrefix(s.held, []byte("\x1bP+q")), bytes.HasPrefix(s.held, []byte("\x1bP$q")):
		return true
	case bytes.HasPrefix(s.held, []byte("\x1b_G")):
		return bytes.Contains(s.held, []byte("a=q"))
	case !bytes.HasPrefix(s.held, []byte("\x1b]")):
		return false
	}
	body := strings.TrimRight(strings.TrimSuffix(string(s.held[2:]), "\u009c"), "\x07\x1b\\")
	parts := strings.Split(body, ";")
	colour := []string{"4", "5", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19"}
	return slices.Contains(colour, parts[0]) && slices.Contains(parts[1:], "?")
}

// reset is what takes back the modes that are still set: the alternate screen, the
// mouse, a hidden cursor, brackets around pasted text.
func (s *screening) reset() []byte {
	var out []byte
	for number, set := range s.modes {
		switch normally := number == 7 || number == 25; { // wrapping and the cursor
		case set == normally:
		case normally:
			out = append(out, "\x1b[?"+strconv.Itoa(number)+"h"...)
		default:
			out = append(out, "\x1b[?"+strconv.Itoa(number)+"l"...)
		}
	}
	if s.touched {
		out = append(out, "\x1b[r\x1b[m\x1b>"...) // scrolling region, colours, keypad
	}
	return out
}
