package procsess

import (
	"bytes"
	"strconv"
	"unicode"
)

// visible reports whether a character of a title may be shown: not what changes
// the direction of, or hides, what is around it.
func visible(r rune) bool { return !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) }

// lineDrawing is a character of the DEC special graphics set.
func lineDrawing(r rune) rune {
	const from, drawing = '`', "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"
	if r < from || r > '~' {
		return r
	}
	return []rune(drawing)[r-from]
}

// escaped carries out an escape sequence.
func (t *emulator) escaped(final byte) {
	switch given := string(t.seq.given()); given {
	case "":
	case "(", ")":
		t.graphics[index(given == ")")] = final == '0'
		return
	default:
		return
	}
	switch final {
	case '7': // DECSC
		t.save()
	case '8': // DECRC
		t.restore()
	case 'c': // RIS
		t.reset()
	case 'D': // IND
		t.index()
	case 'E': // NEL
		t.index()
		t.x = 0
	case 'H': // HTS
		t.tabs[t.x] = true
	case 'M': // RI
		t.reverseIndex()
	}
}

func (t *emulator) save() { t.grid().saved = t.cursorState }

func (t *emulator) restore() {
	t.cursorState = t.grid().saved
	t.x, t.y = min(t.x, t.columns-1), min(t.y, t.rows-1)
}

// carryOut carries out a control sequence.
func (t *emulator) carryOut(final byte) {
	given := t.seq.given()
	if final != 'b' && final != 'm' {
		t.last = 0
	}
	switch {
	case len(given) > 0 && given[0] == '?':
		t.private(given[1:], final)
		return
	case string(given) == "!" && final == 'p': // DECSTR
		t.softReset()
		return
	case len(given) > 0 && (given[0] >= 0x3c || given[len(given)-1] < 0x30):
		return // private, or with an intermediate: none that is known here
	}
	most := max(t.columns, t.rows)
	n := t.seq.number(1, most)
	if t.moves(final, n, given) {
		return
	}
	switch g := t.grid(); final {
	case '@': // ICH
		g.insert(t.x, t.y, n)
	case 'P': // DCH
		g.remove(t.x, t.y, n)
	case 'X': // ECH
		g.erase(t.y, t.x, t.x+n)
	case 'J':
		t.eraseScreen(t.seq.number(0, 9))
	case 'K':
		t.eraseRow(t.seq.number(0, 9))
	case 'L', 'M':
		t.shiftRows(n, final == 'M')
	case 'S': // SU
		g.scroll(t.top, t.bottom, n)
	case 'T': // SD
		g.scroll(t.top, t.bottom, -n)
	case 'b': // REP, within what fits into a row
		for range min(n, t.columns) {
			if t.last != 0 {
				t.put(t.last)
			}
		}
	case 'g': // TBC
		if what := t.seq.number(0, 9); what == 0 {
			t.tabs[t.x] = false
		} else if what == 3 {
			clear(t.tabs)
		}
	case 'h', 'l':
		t.ansiModes(given, final == 'h')
	case 'r':
		t.region(given)
	}
	if bytes.IndexByte([]byte("@PXJKLM"), final) >= 0 {
		t.wrap = false
	}
}

// moves moves the cursor, if that is what the sequence does.
func (t *emulator) moves(final byte, n int, given []byte) bool {
	switch final {
	case 'A':
		t.moveDown(-n)
	case 'B', 'e':
		t.moveDown(n)
	case 'C', 'a':
		t.x, t.wrap = min(t.x+n, t.columns-1), false
	case 'D':
		t.x, t.wrap = max(t.x-n, 0), false
	case 'E', 'F':
		if final == 'F' {
			n = -n
		}
		t.moveDown(n)
		t.x = 0
	case 'G', '`':
		t.x, t.wrap = min(n, t.columns)-1, false
	case 'H', 'f':
		row, column := two(given)
		t.moveTo(column-1, row-1)
	case 'd':
		t.moveTo(t.x, n-1)
	case 'I': // CHT
		t.tab(n)
	case 'Z': // CBT
		t.tab(-n)
	case 's':
		t.save()
	case 'u':
		t.restore()
	default:
		return false
	}
	return true
}

// two are the first two parameters, 1 where they are missing or 0.
func two(given []byte) (first, second int) {
	a, rest, _ := bytes.Cut(given, []byte(";"))
	b, _, _ := bytes.Cut(rest, []byte(";"))
	return atLeastOne(a), atLeastOne(b)
}

func atLeastOne(b []byte) int {
	n, err := strconv.Atoi(string(b))
	if err != nil && len(b) > 3 {
		return 1 << 16 // too large for an int is large
	}
	return min(max(n, 1), 1<<16)
}

func (t *emulator) eraseRow(what int) {
	g := t.grid()
	switch what {
	case 0:
		g.erase(t.y, t.x, t.columns)
	case 1:
		g.erase(t.y, 0, t.x+1)
	case 2:
		g.erase(t.y, 0, t.columns)
	}
}

func (t *emulator) eraseScreen(what int) {
	g := t.grid()
	switch what {
	case 0:
		t.eraseRow(0)
		blank(g.rows[t.y+1:])
	case 1:
		t.eraseRow(1)
		blank(g.rows[:t.y])
	case 2:
		blank(g.rows)
	}
}

// shiftRows is IL and DL.
func (t *emulator) shiftRows(n int, remove bool) {
	if t.y < t.top || t.y >= t.bottom {
		return
	}
	if !remove {
		n = -n
	}
	t.grid().scroll(t.y, t.bottom, n)
	t.x = 0
}

// region is DECSTBM.
func (t *emulator) region(given []byte) {
	top, bottom := two(given)
	if !bytes.Contains(given, []byte(";")) || bytes.HasSuffix(given, []byte(";")) || bottom > t.rows {
		bottom = t.rows
	}
	if top >= bottom {
		return
	}
	t.top, t.bottom = top-1, bottom
	t.moveTo(0, 0)
}

// softReset is DECSTR.
func (t *emulator) softReset() {
	t.top, t.bottom, t.insert, t.hidden, t.noWrap = 0, t.rows, false, false, false
	t.origin, t.graphics, t.shifted = false, [2]bool{}, false
	t.grid().saved = cursorState{}
}

func (t *emulator) ansiModes(modes []byte, on bool) {
	for mode := range bytes.SplitSeq(modes, []byte(";")) {
		switch string(mode) {
		case "4": // IRM
			t.insert = on
		case "20": // LNM
			t.newLine = on
		}
	}
}

// private carries out a sequence with the private mark ?.
func (t *emulator) private(given []byte, final byte) {
	switch {
	case final == 'J' || final == 'K': // selective erase; nothing is protected here
		t.seq.kept = uint8(copy(t.seq.parameters[:], given))
		if final == 'J' {
			t.eraseScreen(t.seq.number(0, 9))
		} else {
			t.eraseRow(t.seq.number(0, 9))
		}
		return
	case final != 'h' && final != 'l':
		return
	}
	on := final == 'h'
	for mode := range bytes.SplitSeq(given, []byte(";")) {
		switch string(mode) {
		case "6": // DECOM
			t.origin = on
			t.moveTo(0, 0)
		case "7": // DECAWM
			t.noWrap = !on
			t.wrap = t.wrap && on
		case "25": // DECTCEM
			t.hidden = !on
		case "47", "1047", "1048", "1049":
			t.switchTo(string(mode), on)
		}
	}
}

// switchTo shows the alternate screen or the main one, and saves or restores the
// cursor, as the mode has it.
func (t *emulator) switchTo(mode string, on bool) {
	saves := mode == "1048" || mode == "1049"
	if on && saves {
		t.save()
	}
	if mode != "1048" && on != t.alternate {
		if t.other == nil {
			t.other = newGrid(t.columns, t.rows)
		}
		if mode != "47" && (on && mode == "1049" || !on && mode == "1047") {
			blank(t.other.rows)
		}
		t.alternate = on
	}
	if !on && saves {
		t.restore()
	}
}
