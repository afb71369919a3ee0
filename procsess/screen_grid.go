package procsess

import "slices"

// gridCell is one column of a screen. Colours and attributes are not kept: nobody
// sees them.
type gridCell struct {
	// r is 0 in a blank column, and wideRest in the second one of a wide character.
	r     rune
	marks []rune
}

const wideRest rune = -1

// gridRow is a row of a screen as far as something is in it: what lies behind is
// blank, so that erasing costs nothing.
type gridRow []gridCell

// grid is the cells of one screen, the main or the alternate one.
type grid struct {
	columns int
	rows    []gridRow
	saved   cursorState
}

func newGrid(columns, rows int) *grid { return &grid{columns: columns, rows: make([]gridRow, rows)} }

// text is the row without the blanks at its end.
func (r gridRow) text(out []byte) []byte {
	blanks := 0
	for _, c := range r {
		switch c.r {
		case 0, ' ':
			blanks++
			continue
		case wideRest:
			continue
		}
		for ; blanks > 0; blanks-- {
			out = append(out, ' ')
		}
		out = (&textCell{r: c.r, marks: c.marks}).appendTo(out)
	}
	return out
}

// split blanks a wide character that reaches over the border in front of a column.
func (r gridRow) split(at int) {
	if at > 0 && at < len(r) && r[at].r == wideRest {
		r[at-1], r[at] = gridCell{}, gridCell{}
	}
}

// pad makes the row reach to a column.
func (g *grid) pad(y, to int) gridRow {
	row := g.rows[y]
	if len(row) >= to {
		return row
	}
	was := len(row)
	row = slices.Grow(row, to-was)[:to]
	clear(row[was:])
	g.rows[y] = row
	return row
}

// put writes a character of one or two columns.
func (g *grid) put(x, y int, r rune, columns int) {
	row := g.pad(y, x+columns)
	row.split(x)
	row.split(x + columns)
	row[x] = gridCell{r: r}
	if columns == 2 {
		row[x+1] = gridCell{r: wideRest}
	}
}

// putASCII writes characters of one column each.
func (g *grid) putASCII(x, y int, p []byte) {
	row := g.pad(y, x+len(p))
	row.split(x)
	row.split(x + len(p))
	for i, b := range p {
		row[x+i] = gridCell{r: rune(b)}
	}
}

// mark adds a combining character to the one in a column.
func (g *grid) mark(x, y int, mark rune) {
	row := g.rows[y]
	if x >= len(row) {
		return
	}
	if row[x].r == wideRest {
		x--
	}
	if c := &row[x]; c.r != 0 && len(c.marks) < marksPerCell {
		c.marks = append(slices.Clip(c.marks), mark)
	}
}

// erase blanks the columns from one to another.
func (g *grid) erase(y, from, to int) {
	row := g.rows[y]
	to = min(to, len(row))
	if from >= to {
		return
	}
	row.split(from)
	row.split(to)
	if to == len(row) {
		g.rows[y] = row[:from]
		return
	}
	clear(row[from:to])
}

// insert moves what is from a column on to the right.
func (g *grid) insert(x, y, n int) {
	row := g.rows[y]
	if x >= len(row) {
		return
	}
	row.split(x)
	n = min(n, g.columns-x)
	row = slices.Insert(row, x, make([]gridCell, n)...)
	if len(row) > g.columns {
		row.split(g.columns)
		row = row[:g.columns]
	}
	g.rows[y] = row
}

// remove moves what is behind n columns to the left.
func (g *grid) remove(x, y, n int) {
	row := g.rows[y]
	if x >= len(row) {
		return
	}
	n = min(n, len(row)-x)
	row.split(x)
	row.split(x + n)
	g.rows[y] = slices.Delete(row, x, x+n)
}

// scroll moves the rows from top to bottom (not included) up by n, or down if n is
// negative.
func (g *grid) scroll(top, bottom, n int) {
	region := g.rows[top:bottom]
	size := len(region)
	n = min(max(n, -size), size)
	// Rows that leave on one side come back blank on the other.
	if n > 0 {
		gone := slices.Clone(region[:n])
		copy(region, region[n:])
		copy(region[size-n:], gone)
		blank(region[size-n:])
	} else if n < 0 {
		gone := slices.Clone(region[size+n:])
		copy(region[-n:], region)
		copy(region, gone)
		blank(region[:-n])
	}
}

// blank empties rows, and keeps their memory.
func blank(rows []gridRow) {
	for i := range rows {
		rows[i] = rows[i][:0]
	}
}

// resize cuts or adds columns and rows, as xterm does it without a scrollback: rows
// go at the bottom as long as they are below the cursor, then at the top. It
// returns by how many rows the cursor has moved up.
func (g *grid) resize(columns, rows, cursor int) (up int) {
	for y, row := range g.rows {
		if len(row) > columns {
			row.split(columns)
			g.rows[y] = row[:columns]
		}
	}
	if up = cursor - rows + 1; up > 0 {
		g.rows = slices.Delete(g.rows, 0, up)
	}
	if len(g.rows) > rows {
		g.rows = g.rows[:rows]
	}
	for len(g.rows) < rows {
		g.rows = append(g.rows, nil)
	}
	g.columns = columns
	return max(0, up)
}
