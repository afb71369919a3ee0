package procsess

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// marksPerCell bounds how many combining characters are kept on one.
const marksPerCell = 8

// maxCells bounds a row that was edited and goes on.
const maxCells = 2 * editColumns

// textRow is a row of text. It is bytes as long as it is written from left to
// right, and cells once it is edited.
type textRow struct {
	// fixed is the beginning of a row that is too long to be edited.
	fixed []byte
	text  []byte
	// wide: a character of the text is not one byte in one column.
	wide  bool
	cells []textCell
	// dirty: changed since a watcher was told.
	dirty bool
}

// textCell is one column.
type textCell struct {
	// r is 0 in the columns behind the first of a wide character or tab.
	r rune
	// end is where in the output the character ends.
	end   int64
	marks []rune
}

func (r *textRow) reset() {
	r.fixed, r.text, r.wide, r.cells, r.dirty = r.fixed[:0], r.text[:0], false, nil, false
}

// empty reports whether nothing is in the row, not even blanks.
func (r *textRow) empty() bool { return len(r.fixed)+len(r.text)+len(r.cells) == 0 }

// blank reports whether nothing is in the part that can be edited.
func (r *textRow) blank() bool { return len(r.text)+len(r.cells) == 0 }

// quickWidth is the width as far as it is known without work: a row of bytes that
// are not all one column each is written to at its end only.
func (r *textRow) quickWidth() int {
	if r.cells != nil {
		return len(r.cells)
	}
	return len(r.text)
}

// columns is the width of the part that can be edited.
func (r *textRow) columns() int {
	if r.wide {
		r.makeCells(0)
	}
	return r.quickWidth()
}

// appendTo appends the row's text.
func (r *textRow) appendTo(out []byte) []byte {
	out = append(out, r.fixed...)
	out = append(out, r.text...)
	for i := range r.cells {
		out = r.cells[i].appendTo(out)
	}
	return out
}

func (c *textCell) appendTo(out []byte) []byte {
	if c.r == 0 {
		return out
	}
	out = utf8.AppendRune(out, c.r)
	for _, mark := range c.marks {
		out = utf8.AppendRune(out, mark)
	}
	return out
}

// fix makes what there is of the row its unchangeable beginning.
func (r *textRow) fix() {
	fixed := append(r.fixed, r.text...)
	for i := range r.cells {
		fixed = r.cells[i].appendTo(fixed)
	}
	r.reset()
	r.fixed = fixed
}

// makeCells turns a row of bytes into cells. All of them are taken to end at an
// offset behind them: what they say was seen before they are edited.
func (r *textRow) makeCells(end int64) {
	if r.cells != nil {
		return
	}
	r.cells = make([]textCell, 0, len(r.text)+8)
	r.overwrite(0, r.text, end, end)
	r.text, r.wide = r.text[:0], false
}

// overwrite writes characters from a column on, which is no further than the end,
// and returns the column behind them, and what does not fit into a row that can
// still be edited.
func (r *textRow) overwrite(at int, run []byte, begin, end int64) (column int, rest []byte) {
	verbatim := int64(len(run)) == end-begin
	for i := 0; i < len(run); {
		if at >= maxCells {
			return at, run[i:]
		}
		c, size := utf8.DecodeRune(run[i:])
		i += size
		cell := textCell{r: c, end: end}
		if verbatim {
			cell.end = begin + int64(i)
		}
		switch columns := runeColumns(c, at); columns {
		case 0:
			r.mark(at, c)
		default:
			r.set(at, columns, cell)
			at += columns
		}
	}
	return at, nil
}

// set puts a character into columns. One of which only a part is left becomes
// blank.
func (r *textRow) set(at, columns int, cell textCell) {
	for len(r.cells) < at+columns {
		r.cells = append(r.cells, textCell{r: ' ', end: cell.end})
	}
	r.split(at)
	r.split(at + columns)
	r.cells[at] = cell
	for i := 1; i < columns; i++ {
		r.cells[at+i] = textCell{end: cell.end}
	}
}

// split makes blanks of a character that reaches over the border in front of a
// column.
func (r *textRow) split(at int) {
	if at >= len(r.cells) || r.cells[at].r != 0 {
		return
	}
	first := at
	for first > 0 && r.cells[first].r == 0 {
		first--
	}
	for i := first; i < len(r.cells) && (i == first || r.cells[i].r == 0); i++ {
		r.cells[i] = textCell{r: ' ', end: r.cells[i].end}
	}
}

// mark adds a combining character to what is in front of a column.
func (r *textRow) mark(at int, mark rune) {
	for at--; at > 0 && r.cells[at].r == 0; at-- {
	}
	if at >= 0 && len(r.cells[at].marks) < marksPerCell {
		r.cells[at].marks = append(r.cells[at].marks, mark)
	}
}

// cut drops everything from a column on.
func (r *textRow) cut(at int) {
	if r.cells == nil {
		r.text = r.text[:at]
		return
	}
	r.split(at)
	r.cells = r.cells[:at]
}

// erase makes columns blank.
func (r *textRow) erase(from, to int) {
	r.makeCells(0)
	to = min(to, len(r.cells))
	if from >= to {
		return
	}
	r.split(from)
	r.split(to)
	for i := from; i < to; i++ {
		r.cells[i] = textCell{r: ' ', end: r.cells[i].end}
	}
}

// insert makes room for n columns.
func (r *textRow) insert(at, n int) {
	r.makeCells(0)
	if at >= len(r.cells) {
		return
	}
	r.split(at)
	end := r.cells[at].end
	r.cells = append(r.cells, make([]textCell, n)...)
	copy(r.cells[at+n:], r.cells[at:])
	for i := at; i < at+n; i++ {
		r.cells[i] = textCell{r: ' ', end: end}
	}
}

// remove takes n columns out.
func (r *textRow) remove(at, n int) {
	r.makeCells(0)
	if at >= len(r.cells) {
		return
	}
	n = min(n, len(r.cells)-at)
	r.split(at)
	r.split(at + n)
	r.cells = append(r.cells[:at], r.cells[at+n:]...)
}

// runeColumns is how many columns a character takes at a column: none if it
// combines, two if it is wide, and a tab those up to the next stop.
func runeColumns(r rune, at int) int {
	switch {
	case r == '\t':
		return 8 - at%8
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) || r >= 0x1160 && r <= 0x11ff:
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// each calls back for each character of the part of the row that can be edited.
// Text that is not cells is taken to end at an offset.
func (r *textRow) each(end int64, call func(text []byte, end int64)) {
	if r.cells == nil {
		for i := 0; i < len(r.text); {
			_, size := utf8.DecodeRune(r.text[i:])
			call(r.text[i:i+size], end)
			i += size
		}
		return
	}
	var buf []byte
	for i := range r.cells {
		if buf = r.cells[i].appendTo(buf[:0]); len(buf) > 0 {
			call(buf, r.cells[i].end)
		}
	}
}
