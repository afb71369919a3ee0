package procsess

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools"
)

// termios is how a terminal treats what is typed (termios(3)).
type termios = unix.Termios

// errNotTerminal: there is no terminal to ask.
var errNotTerminal = errors.New("not a terminal")

// terminalMode asks a terminal's master for the mode of the terminal.
func terminalMode(master *os.File) (*termios, error) {
	if master == nil {
		return nil, errNotTerminal
	}
	var term *termios
	err := onDescriptor(master, func(fd int) (err error) {
		term, err = unix.IoctlGetTermios(fd, unix.TCGETS)
		return err
	})
	return term, err
}

// onDescriptor lends a file's descriptor without making it blocking, as Fd would.
func onDescriptor(file *os.File, do func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	if err := raw.Control(func(fd uintptr) { result = do(int(fd)) }); err != nil {
		return err
	}
	return result
}

// inputMode is how a session's terminal treats what is typed; "" without one.
func inputMode(master *os.File) InputMode {
	term, err := terminalMode(master)
	switch {
	case err != nil:
		return ""
	case term.Lflag&unix.ICANON == 0:
		return RawMode
	case term.Lflag&unix.ECHO == 0:
		return PasswordMode
	}
	return LineMode
}

// interruptKey is the place in termios.Cc of the character that a key stands for
// whatever the terminal has it set to.
func interruptKey(name string) (index int, ok bool) {
	held, key := parseKey(name)
	if held != control || len(key) != 1 {
		return 0, false
	}
	switch key {
	case "c", "C":
		return unix.VINTR, true
	case "\\":
		return unix.VQUIT, true
	case "z", "Z":
		return unix.VSUSP, true
	case "d", "D":
		return unix.VEOF, true
	}
	return 0, false
}

// controlByte is what to send for a key of interruptKey. It is special where the
// terminal itself acts on it now: a signal, or the end of the input. Where it does
// not, b is the control character, which the program reads like any other. Other
// keys give 0.
func controlByte(master *os.File, key string) (b byte, special bool) {
	index, ok := interruptKey(key)
	if !ok {
		return 0, false
	}
	_, name := parseKey(key)
	code, _ := controlCode(rune(name[0]))
	term, err := terminalMode(master)
	if err != nil {
		return byte(code), false
	}
	acts := uint32(unix.ISIG)
	if index == unix.VEOF {
		acts = unix.ICANON
	}
	if set := term.Cc[index]; term.Lflag&acts != 0 && set != disabledCharacter {
		return set, true
	}
	return byte(code), false
}

// disabledCharacter in termios.Cc stands for none (_POSIX_VDISABLE).
const disabledCharacter = 0

// lineMost is the most bytes of a line that a terminal in canonical mode keeps,
// its end not counted. Linux discards what comes then until the end of the line,
// and the write that brought it succeeds (N_TTY_BUF_SIZE; termios(3), "Canonical
// and noncanonical mode").
const lineMost = 4095

// typedLine follows how much of a line that is being typed the terminal holds
// already. It may count too much, after an erased word or a flush by the program,
// and never too little. The zero value is an empty line.
type typedLine struct {
	held int
	// plain is how many bytes at the end are ASCII, so that one erase takes off
	// exactly one of them whether or not the terminal knows UTF-8.
	plain int
	// literal: the next byte is taken as it is (VLNEXT).
	literal bool
}

// fits reports whether the terminal keeps all of p. CodeProcessLimit: a line is too
// long, and nothing of p should be written.
func (l *typedLine) fits(term *termios, p []byte) error {
	after := *l
	longest := after.take(term, p)
	if longest <= lineMost {
		return nil
	}
	return tools.Errorf(tools.CodeProcessLimit,
		"a line of this input would be %d bytes long and the terminal keeps at most %d of one, it would drop the rest in silence; nothing was written. "+
			"Split it with newlines, hand it over in a file, start the program with pipes instead of a terminal, or use one that reads keys (raw mode)",
		longest, lineMost)
}

// wrote takes note of what was written.
func (l *typedLine) wrote(term *termios, p []byte) { l.take(term, p) }

// take follows p as n_tty does (termios(3)), and returns the length of the longest
// line that it had.
func (l *typedLine) take(term *termios, p []byte) (longest int) {
	if term == nil || term.Lflag&unix.ICANON == 0 {
		// A program that turns canonical mode on again is given what there is.
		*l = typedLine{}
		return 0
	}
	rules := rulesOf(term)
	for _, b := range p {
		l.byte(&rules, b)
		longest = max(longest, l.held)
	}
	return longest
}

// effect is what a terminal does with a byte.
type effect uint8

const (
	keep effect = iota
	drop
	endLine
	forgetLine
	eraseOne
	takeNext
)

// lineRules are the effects of all bytes.
type lineRules struct {
	effects [256]effect
	// marks: the byte 0xff is kept twice (PARMRK).
	marks bool
}

// rulesOf reads them from a terminal's mode. What is checked first by the terminal
// comes last here, and wins.
func rulesOf(term *termios) (rules lineRules) {
	set := func(index int, does effect) {
		if c := term.Cc[index]; c != disabledCharacter {
			rules.effects[c] = does
		}
	}
	extended := term.Lflag&unix.IEXTEN != 0
	set(unix.VEOL, endLine)
	if extended {
		set(unix.VEOL2, endLine)
	}
	set(unix.VEOF, endLine)
	rules.effects['\n'] = endLine
	if extended {
		if term.Lflag&unix.ECHO != 0 {
			set(unix.VREPRINT, drop)
		}
		set(unix.VLNEXT, takeNext)
		set(unix.VWERASE, drop)
	}
	set(unix.VKILL, forgetLine)
	set(unix.VERASE, eraseOne)
	rules.translate(term)
	rules.marks = term.Iflag&(unix.PARMRK|unix.ISTRIP) == unix.PARMRK
	if term.Lflag&unix.ISIG != 0 {
		flush := forgetLine
		if term.Lflag&unix.NOFLSH != 0 {
			flush = drop
		}
		set(unix.VINTR, flush)
		set(unix.VQUIT, flush)
		set(unix.VSUSP, flush)
	}
	if term.Iflag&unix.IXON != 0 {
		set(unix.VSTART, drop)
		set(unix.VSTOP, drop)
	}
	return rules
}

// translate applies what makes one of carriage return and line feed the other.
func (r *lineRules) translate(term *termios) {
	before := *r
	switch {
	case term.Iflag&unix.IGNCR != 0:
		r.effects['\r'] = drop
	case term.Iflag&unix.ICRNL != 0:
		r.effects['\r'] = before.effects['\n']
	}
	if term.Iflag&unix.INLCR != 0 {
		r.effects['\n'] = before.effects['\r']
	}
}

func (l *typedLine) byte(rules *lineRules, b byte) {
	does := rules.effects[b]
	if l.literal {
		does, l.literal = keep, false
	}
	switch does {
	case keep:
		l.held++
		if rules.marks && b == 0xff {
			l.held++
		}
		if b < 0x80 {
			l.plain++
		} else {
			l.plain = 0
		}
	case endLine, forgetLine:
		*l = typedLine{}
	case eraseOne:
		if l.plain > 0 {
			l.plain--
			l.held--
		}
	case takeNext:
		l.literal = true
	}
}
