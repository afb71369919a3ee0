package procsess

import (
	"bytes"
	"fmt"
	"strconv"
)

// maxReplies bounds what one piece of output may have the terminal say: a file
// full of queries on a screen is not a reason to type megabytes.
const maxReplies = 64

// What this terminal says it is: a VT220 with colours (DA1), and as the second
// answer a VT100 of no particular version (DA2), so that no program takes it for
// one that can do more.
const (
	primaryAttributes   = "\x1b[?62;22c"
	secondaryAttributes = "\x1b[>0;10;0c"
	statusReady         = "\x1b[0n"
)

// escapes watches output for what changes how input has to be sent, and for
// queries that a terminal answers at once. Text without ESC costs it a search for
// that byte.
//
// It answers the status, the cursor's position and the device attributes (DSR,
// CPR, DECXCPR, DA1, DA2). It never answers a query whose answer holds text that
// output can choose (title, clipboard, DECRQSS, ENQ): that would let whoever
// writes output type into the program.
type escapes struct {
	// alternate: the alternate screen is on (?47, ?1047, ?1049).
	alternate bool
	// bracketedPaste: pasted text is to be framed (?2004).
	bracketedPaste bool
	// applicationCursor: cursor keys are sent as SS3 (DECCKM, ?1).
	applicationCursor bool
	// position tells where the cursor is, 1-based, once output up to an offset has
	// been shown. It is asked for a position report only. Without it the position
	// is the lower left corner, where the cursor of most programs is.
	position func(at int64) (column, row int)

	seq sequence
	at  int64
}

// scan takes the next piece of output, and returns what a terminal of that size
// has to answer. Where position looks into the log, the piece has to be there
// already.
func (e *escapes) scan(p []byte, columns, rows int) (replies []byte) {
	count := 0
	for i := 0; i < len(p); i++ {
		if e.seq.phase == inText {
			esc := bytes.IndexByte(p[i:], codeEscape)
			if esc < 0 {
				break
			}
			i += esc
			if n := colourSequence(p[i:]); n > 0 {
				i += n - 1
				continue
			}
		}
		switch e.seq.step(p[i]) {
		case partEscape:
			if p[i] == 'c' && e.seq.kept == 0 { // RIS
				e.alternate, e.bracketedPaste, e.applicationCursor = false, false, false
			}
		case partControl:
			reply := e.control(p[i], e.at+int64(i)+1, columns, rows)
			if reply != "" && count < maxReplies {
				count++
				replies = append(replies, reply...)
			}
		}
	}
	e.at += int64(len(p))
	return replies
}

// control carries out a control sequence, and returns the answer to a query.
func (e *escapes) control(final byte, at int64, columns, rows int) string {
	given := e.seq.given()
	switch final {
	case 'h', 'l':
		if len(given) > 0 && given[0] == '?' {
			e.set(given[1:], final == 'h')
		}
	case 'p': // DECSTR; of the three modes a VT220's manual lists the cursor keys only
		if string(given) == "!" {
			e.applicationCursor = false
		}
	case 'n':
		return e.status(string(given), at, columns, rows)
	case 'c':
		switch string(given) {
		case "", "0":
			return primaryAttributes
		case ">", ">0":
			return secondaryAttributes
		}
	}
	return ""
}

// set sets DEC private modes.
func (e *escapes) set(modes []byte, on bool) {
	for mode := range bytes.SplitSeq(modes, []byte(";")) {
		switch n, _ := strconv.Atoi(string(mode)); n {
		case 1:
			e.applicationCursor = on
		case 47, 1047, 1049:
			e.alternate = on
		case 2004:
			e.bracketedPaste = on
		}
	}
}

// status answers a status request (DSR).
func (e *escapes) status(what string, at int64, columns, rows int) string {
	if what == "5" {
		return statusReady
	}
	if what != "6" && what != "?6" {
		return ""
	}
	column, row := 1, rows
	if e.position != nil {
		column, row = e.position(at)
	}
	column, row = min(max(column, 1), max(columns, 1)), min(max(row, 1), max(rows, 1))
	mark := ""
	if what == "?6" {
		mark = "?"
	}
	return fmt.Sprintf("\x1b[%s%d;%dR", mark, row, column)
}
