package procsess

import (
	"bytes"
	"unicode/utf8"
)

// titleBytes bounds a title.
const titleBytes = 256

// cursorState is what DECSC saves.
type cursorState struct {
	x, y int
	// wrap: the last column was written, and the next character goes to the next
	// row.
	wrap     bool
	origin   bool
	graphics [2]bool // G0, G1 are the line drawing characters
	shifted  bool    // G1 is in use
}

// emulator is of what of a terminal can be seen as text, after
// xterm's "ctlseqs", ECMA-48 and the VT220's manual. It answers nothing: queries
// are for escapes.
//
// It is the project's own because of what the two libraries do that were tried
// (charmbracelet/x/vt 0.1.0, hinshun/vt10x of 2022): one drops a wide character in
// the last column, erases too much for ED 1, knows no NEL, insert mode or CBT in the
// last column, allocates for each character and runs for minutes on one REP; for
// the other every character is one column wide.
//
// The cost of each sequence is bounded by the rows, or the columns, of the screen;
// no parameter is taken beyond those.
type emulator struct {
	columns, rows int
	cursorState
	top, bottom int // rows that scroll; bottom is not included
	noWrap      bool
	insert      bool
	newLine     bool // LNM
	hidden      bool
	tabs        []bool
	main, other *grid // other is nil until it is used
	alternate   bool
	last        rune // for REP; 0 behind anything but a character
	title       string

	seq  sequence
	text []byte // of an OSC
	rest [utf8.UTFMax]byte
	left int
}

func newEmulator(columns, rows int) *emulator {
	t := &emulator{columns: columns, rows: rows}
	t.reset()
	return t
}

// reset is RIS.
func (t *emulator) reset() {
	*t = emulator{columns: t.columns, rows: t.rows, bottom: t.rows, main: newGrid(t.columns, t.rows), title: t.title}
	t.resetTabs()
}

func (t *emulator) resetTabs() {
	t.tabs = make([]bool, t.columns)
	for x := 0; x < len(t.tabs); x += 8 {
		t.tabs[x] = true
	}
}

// grid is the screen that is shown.
func (t *emulator) grid() *grid {
	if t.alternate {
		return t.other
	}
	return t.main
}

// write takes the next piece of output.
func (t *emulator) write(p []byte) {
	for i := 0; i < len(p); {
		b := p[i]
		if b == codeEscape && t.seq.phase == inText && t.left == 0 {
			if n := colourSequence(p[i:]); n > 0 {
				i += n
				continue
			}
		}
		switch {
		case t.seq.phase != inText || b == codeEscape && t.left == 0:
			i += t.escape(b)
		case t.left > 0:
			i += t.continued(b)
		case b < 0x20:
			t.control(b)
			i++
		case b < 0x7f:
			i += t.plain(p[i:])
		default:
			i += t.character(p[i:])
		}
	}
}

// character takes one that is not ASCII, or its beginning.
func (t *emulator) character(p []byte) int {
	if !utf8.FullRune(p) {
		t.left = copy(t.rest[:], p)
		return t.left
	}
	r, size := utf8.DecodeRune(p)
	if r >= 0xa0 { // DEL and C1 show nothing
		t.put(r)
	}
	return size
}

// continued takes a byte behind the beginning of a character.
func (t *emulator) continued(b byte) int {
	if utf8.RuneStart(b) {
		for range t.left {
			t.put(utf8.RuneError)
		}
		t.left = 0
		return 0
	}
	t.rest[t.left] = b
	t.left++
	whole := t.rest[:t.left]
	if !utf8.FullRune(whole) {
		return 1
	}
	t.left = 0
	for len(whole) > 0 {
		whole = whole[t.character(whole):]
	}
	return 1
}

// escape takes a byte of a sequence, and returns 0 if it is not part of it.
func (t *emulator) escape(b byte) int {
	if t.seq.phase == inOSC && b >= 0x20 && len(t.text) < maxSequence {
		t.text = append(t.text, b)
	}
	was := t.seq.phase
	switch t.seq.step(b) {
	case partAgain:
		return 0
	case partExecute:
		t.control(b)
	case partEscape:
		t.last = 0
		t.escaped(b)
	case partControl:
		t.carryOut(b)
	case partEnd:
		if b == codeBell && was == inOSC || b == '\\' && was == inTerminator {
			t.named()
		}
		t.text = t.text[:0]
	}
	if t.seq.phase == inEscape || t.seq.phase == inString {
		t.text = t.text[:0]
	}
	return 1
}

// named takes a title (OSC 0 and 2).
func (t *emulator) named() {
	what, title, ok := bytes.Cut(t.text, []byte(";"))
	if !ok || string(what) != "0" && string(what) != "2" {
		return
	}
	t.title = ""
	for _, r := range string(title) {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || !visible(r) {
			continue
		}
		if len(t.title)+utf8.RuneLen(r) > titleBytes {
			break
		}
		t.title += string(r)
	}
}

// plain shows ASCII characters, as many as fit into the row where nothing else
// is to be heeded, and returns how many.
func (t *emulator) plain(p []byte) int {
	if t.wrap || t.insert || t.graphics[index(t.shifted)] {
		t.put(rune(p[0]))
		return 1
	}
	n := 1
	for n < min(len(p), t.columns-t.x) && p[n] >= 0x20 && p[n] < 0x7f {
		n++
	}
	t.grid().putASCII(t.x, t.y, p[:n])
	t.last = rune(p[n-1])
	t.advance(n)
	return n
}

// advance moves the cursor behind what was shown.
func (t *emulator) advance(columns int) {
	t.x += columns
	if t.wrap = t.x >= t.columns; t.wrap {
		t.x = t.columns - 1
		t.wrap = !t.noWrap
	}
}

// control carries out a control character.
func (t *emulator) control(b byte) {
	t.last = 0
	switch b {
	case '\b':
		t.x, t.wrap = max(0, t.x-1), false
	case '\t':
		t.tab(1)
	case '\n', '\v', '\f':
		t.index()
		if t.newLine {
			t.x = 0
		}
	case '\r':
		t.x, t.wrap = 0, false
	case 0x0e: // SO
		t.shifted = true
	case 0x0f: // SI
		t.shifted = false
	}
}

// put shows a character at the cursor.
func (t *emulator) put(r rune) {
	if r < 0x7f && t.graphics[index(t.shifted)] {
		r = lineDrawing(r)
	}
	columns := 1
	if r >= 0x300 {
		columns = runeColumns(r, 0)
	}
	if columns == 0 {
		x := t.x - 1
		if t.wrap {
			x = t.x
		}
		if x >= 0 {
			t.grid().mark(x, t.y, r)
		}
		return
	}
	if columns > t.columns {
		return
	}
	if !t.noWrap && (t.wrap || t.x+columns > t.columns) {
		t.index()
		t.x = 0
	}
	t.x = min(t.x, t.columns-columns)
	if t.insert {
		t.grid().insert(t.x, t.y, columns)
	}
	t.grid().put(t.x, t.y, r, columns)
	t.last = r
	t.advance(columns)
}

func index(second bool) int {
	if second {
		return 1
	}
	return 0
}

// index moves the cursor down, and scrolls at the bottom of the region.
func (t *emulator) index() {
	t.wrap = false
	switch {
	case t.y == t.bottom-1:
		t.grid().scroll(t.top, t.bottom, 1)
	case t.y < t.rows-1:
		t.y++
	}
}

// reverseIndex moves the cursor up, and scrolls at the top of the region.
func (t *emulator) reverseIndex() {
	t.wrap = false
	switch {
	case t.y == t.top:
		t.grid().scroll(t.top, t.bottom, -1)
	case t.y > 0:
		t.y--
	}
}

// tab goes n stops to the right, or to the left if n is negative.
func (t *emulator) tab(n int) {
	step := 1
	if n < 0 {
		step = -1
	}
	if step < 0 {
		t.wrap = false
	}
	for ; n != 0; n -= step {
		for x := t.x + step; ; x += step {
			if x < 0 || x >= t.columns {
				t.x = min(max(x, 0), t.columns-1)
				return
			}
			if t.tabs[x] {
				t.x = x
				break
			}
		}
	}
}

// moveTo goes to a place of the screen, or of the region in origin mode.
func (t *emulator) moveTo(x, y int) {
	top, bottom := 0, t.rows
	if t.origin {
		top, bottom = t.top, t.bottom
	}
	t.x, t.y, t.wrap = min(max(x, 0), t.columns-1), min(max(y+top, top), bottom-1), false
}

// moveDown goes down, or up if n is negative, and stops at the region's border if
// the cursor is within.
func (t *emulator) moveDown(n int) {
	low, high := 0, t.rows-1
	if t.y >= t.top {
		low = t.top
	}
	if t.y < t.bottom {
		high = t.bottom - 1
	}
	t.y, t.wrap = min(max(t.y+n, low), high), false
}

// resize changes the size, as when its owner has changed the window's.
func (t *emulator) resize(columns, rows int) {
	if columns == t.columns && rows == t.rows {
		return
	}
	up := t.grid().resize(columns, rows, t.y)
	t.y -= up
	if t.alternate {
		t.main.resize(columns, rows, t.main.saved.y)
	} else {
		t.other = nil
	}
	t.columns, t.rows, t.top, t.bottom = columns, rows, 0, rows
	t.x, t.y, t.wrap = min(t.x, columns-1), min(t.y, rows-1), false
	tabs := t.tabs
	t.resetTabs()
	copy(t.tabs, tabs)
}

// shown is the text: rows without blanks at their end, and none behind the last
// that has something in it.
func (t *emulator) shown() []byte {
	var out []byte
	end := 0
	for y, row := range t.grid().rows {
		if y > 0 {
			out = append(out, '\n')
		}
		was := len(out)
		if out = row.text(out); len(out) > was {
			end = len(out)
		}
	}
	return out[:end]
}
