package procsess

import (
	"bytes"
	"unicode/utf8"
)

const (
	// tailRows of the text can still be changed by moving the cursor up: no
	// terminal has more.
	tailRows = 200
	// editColumns is the length from which on a line is not edited any more: what
	// there is of it stays, as on a terminal, which has wrapped it long ago.
	editColumns = 4096
	// moveColumns bounds moves to the right beyond the text.
	moveColumns = 500
	// padBytes of blanks may be made for such moves, and padPerByte more for each
	// byte of output: a few bytes must not become megabytes.
	padBytes   = 4096
	padPerByte = 16
)

// rowBytes is room for a row of usual length.
const rowBytes = 128

// textWatcher sees text come into being.
type textWatcher interface {
	// appended: the last row has grown by run, which output from begin to end has
	// made: byte by byte if it is as long, else as a whole.
	appended(run []byte, begin, end int64)
	// edited: a row has changed otherwise, and that is complete for now.
	edited(row *textRow, last bool, end int64)
	// emptied: the last row is as it was when it began.
	emptied()
	// fixed: what there is of the last row stays.
	fixed()
	// newline: the last row is complete, and another one begins.
	newline(end int64)
}

// textStream makes text of output piece by piece: what a terminal without bounds
// would show in the end, without escapes. Carriage return, backspace, erasing in
// the line and below, and moves of the cursor are carried out within the last
// tailRows rows, so that a progress bar shows its last state. A move to an absolute
// place, and the alternate screen, begin a row of their own: text has no such
// places. Tabs are kept; other controls are dropped; what is not UTF-8 becomes
// U+FFFD.
//
// The result does not depend on how output is cut into pieces.
type textStream struct {
	seq sequence
	// rest[:left] is a character that has begun.
	rest [utf8.UTFMax]byte
	left int
	at   int64 // where the next piece begins

	rows []*textRow
	tail int // how many rows are kept
	row  int
	// column is where the cursor is, unless it is at the end of the row.
	column int
	atEnd  bool
	// saved is where ESC 7 was, nil if that place is gone.
	saved       *textRow
	savedColumn int
	pad         int
	out         []byte // rows that cannot change any more
	watch       textWatcher
}

// newTextStream makes a stream for output from an offset on.
func newTextStream(at int64) *textStream {
	return &textStream{at: at, rows: []*textRow{{}}, tail: tailRows, atEnd: true, pad: padBytes}
}

// textOf is the text of a part of the output that begins and ends between units.
func textOf(p []byte) []byte {
	s := newTextStream(0)
	if bytes.IndexByte(p, codeEscape) < 0 {
		s.tail = 1 // nothing moves up
	}
	s.out = make([]byte, 0, len(p))
	s.write(p)
	return s.finish()
}

// write takes the next piece.
func (s *textStream) write(p []byte) {
	s.pad = min(s.pad+padPerByte*len(p), 1<<30)
	base := s.at
	for i := 0; i < len(p); {
		b := p[i]
		if b == codeEscape && s.seq.phase == inText && s.left == 0 {
			if n := colourSequence(p[i:]); n > 0 {
				i += n
				continue
			}
		}
		switch {
		case s.seq.phase != inText || b == codeEscape && s.left == 0:
			i += s.escape(b, base+int64(i)+1)
		case s.left > 0:
			i += s.continued(b, base+int64(i))
		case b < 0x20 || b == 0x7f:
			i++
			s.control(b, base+int64(i))
		default:
			i += s.run(p[i:], base+int64(i))
		}
	}
	s.at = base + int64(len(p))
	s.settle(s.at)
}

// finish ends the output, and returns what is not out yet.
func (s *textStream) finish() []byte {
	for begin := s.at - int64(s.left); begin < s.at; begin++ {
		s.put([]byte("\uFFFD"), begin, begin+1, false)
	}
	s.left = 0
	out := s.out
	for i, row := range s.rows {
		if i > 0 {
			out = append(out, '\n')
		}
		out = row.appendTo(out)
	}
	return out
}

// run takes printable characters, and returns how many bytes they were.
func (s *textStream) run(p []byte, at int64) int {
	i, plain := 0, true
	for i < len(p) && p[i] >= 0x20 && p[i] != 0x7f {
		if p[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && size == 1 || r < 0xa0 {
			break
		}
		i += size
		plain = false
	}
	switch {
	case i > 0:
		s.put(p[:i], at, at+int64(i), plain)
	case !utf8.FullRune(p):
		s.left = copy(s.rest[:], p)
		return s.left
	default:
		i = s.odd(p, at)
	}
	return i
}

// odd takes one character that is not printable, or no character.
func (s *textStream) odd(p []byte, at int64) int {
	r, size := utf8.DecodeRune(p)
	if r == utf8.RuneError {
		s.put([]byte("\uFFFD"), at, at+int64(size), false)
	}
	return size // C1 controls are dropped
}

// continued takes a byte after a character has begun in another piece. It returns
// 0 if the byte is not part of that.
func (s *textStream) continued(b byte, at int64) int {
	was := s.left
	whole := append(s.rest[:was:was], b)
	if utf8.RuneStart(b) || !utf8.FullRune(whole) && was+1 < utf8.UTFMax {
		if utf8.RuneStart(b) { // what had begun goes no further
			s.left = 0
			for begin := at - int64(was); begin < at; begin++ {
				s.put([]byte("\uFFFD"), begin, begin+1, false)
			}
			return 0
		}
		s.rest[was] = b
		s.left++
		return 1
	}
	s.left = 0
	for begin := at - int64(was); len(whole) > 0; {
		var n int
		if r, size := utf8.DecodeRune(whole); r >= 0xa0 && !(r == utf8.RuneError && size == 1) {
			s.put(whole[:size], begin, begin+int64(size), false)
			n = size
		} else {
			n = s.odd(whole, begin)
		}
		whole, begin = whole[n:], begin+int64(n)
	}
	return 1
}

// escape takes a byte of an escape sequence, and returns 0 if it is not part of
// it.
func (s *textStream) escape(b byte, end int64) int {
	switch s.seq.step(b) {
	case partAgain:
		return 0
	case partExecute:
		s.control(b, end)
	case partEscape:
		if s.seq.kept == 0 {
			s.escaped(b, end)
		}
	case partControl:
		s.move(b, end)
	}
	return 1
}

// escaped carries out an escape sequence without intermediates.
func (s *textStream) escaped(b byte, end int64) {
	if bytes.IndexByte([]byte("78cEM"), b) >= 0 {
		s.settle(end)
	}
	switch b {
	case '7': // DECSC
		s.save()
	case '8': // DECRC
		s.restore(end)
	case 'c': // RIS
		s.freshRow(end)
	case 'E': // NEL
		s.newline(end)
	case 'M': // RI
		s.vertical(-1, end)
	}
}

// control carries out a control character.
func (s *textStream) control(b byte, end int64) {
	switch b {
	case '\n':
		s.newline(end)
	case '\r':
		s.settle(end)
		s.bound()
		s.goTo(0)
	case '\b':
		s.settle(end)
		if at := s.where(); at > 0 {
			s.goTo(at - 1)
		}
	case '\t':
		if s.atEnd {
			s.put([]byte{'\t'}, end-1, end, false)
			return
		}
		s.settle(end)
		s.goRight(8 - s.where()%8)
	}
}

// put writes characters at the cursor.
func (s *textStream) put(run []byte, begin, end int64, plain bool) {
	row := s.rows[s.row]
	if !s.atEnd && s.column >= row.quickWidth() {
		s.padTo(s.column, begin)
		s.atEnd = true
	}
	grows := s.atEnd
	switch {
	case s.atEnd && row.cells == nil && (s.watch == nil || s.row == len(s.rows)-1):
		row.text = append(row.text, run...)
		row.wide = row.wide || !plain
	case s.watch == nil && plain && row.cells == nil && !row.wide:
		n := copy(row.text[s.column:], run)
		row.text = append(row.text, run[n:]...)
		s.column += len(run)
		s.atEnd = s.column == len(row.text)
	case s.overwrite(row, run, begin, end):
		return
	}
	if grows {
		s.grown(run, begin, end)
	} else {
		row.dirty = s.watch != nil
	}
}

// grown tells the watcher of a row that has grown at its end.
func (s *textStream) grown(run []byte, begin, end int64) {
	if s.watch == nil {
		return
	}
	if row := s.rows[s.row]; !row.dirty && s.row == len(s.rows)-1 {
		s.watch.appended(run, begin, end)
	} else {
		row.dirty = true
	}
}

// overwrite writes characters into cells. It reports whether they did not fit and
// were put behind those.
func (s *textStream) overwrite(row *textRow, run []byte, begin, end int64) bool {
	row.makeCells(begin)
	at := s.column
	if s.atEnd {
		at = len(row.cells)
	}
	at, rest := row.overwrite(at, run, begin, end)
	if s.column, s.atEnd = at, at >= len(row.cells); len(rest) == 0 {
		return false
	}
	row.dirty = s.watch != nil
	s.settle(end)
	s.bound()
	if len(rest) < len(run) {
		begin = end - int64(len(rest))
	}
	s.put(rest, begin, end, false)
	return true
}

// settle shows the watcher a row that was changed.
func (s *textStream) settle(end int64) {
	if row := s.rows[s.row]; row.dirty {
		row.dirty = false
		if s.watch != nil {
			s.watch.edited(row, s.row == len(s.rows)-1, end)
		}
	}
}

// newline goes to the beginning of the next row.
func (s *textStream) newline(end int64) {
	s.settle(end)
	if s.row < len(s.rows)-1 {
		s.row++
		s.goTo(0)
		return
	}
	if s.watch != nil {
		s.watch.newline(end)
	}
	s.addRow()
	s.row = len(s.rows) - 1
	s.goTo(0)
}

// addRow adds an empty row, for which the oldest may have to go.
func (s *textStream) addRow() {
	if len(s.rows) < s.tail {
		s.rows = append(s.rows, &textRow{text: make([]byte, 0, rowBytes)})
		return
	}
	oldest := s.rows[0]
	if s.watch == nil {
		s.out = append(oldest.appendTo(s.out), '\n')
	}
	if s.saved == oldest {
		s.saved = nil
	}
	oldest.reset()
	copy(s.rows, s.rows[1:])
	s.rows[len(s.rows)-1] = oldest
}

// freshRow begins a row of its own behind everything, unless the last one is
// empty.
func (s *textStream) freshRow(end int64) {
	s.settle(end)
	s.saved = nil
	s.row = len(s.rows) - 1
	if s.goTo(0); !s.rows[s.row].empty() {
		s.newline(end)
	}
}
