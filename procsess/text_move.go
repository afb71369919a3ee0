package procsess

import "bytes"

// where is the cursor's column in the part of the row that can be edited.
func (s *textStream) where() int {
	s.bound()
	if s.atEnd {
		return s.rows[s.row].columns()
	}
	return s.column
}

// goTo puts the cursor into a column of the row.
func (s *textStream) goTo(column int) {
	row := s.rows[s.row]
	s.column = column
	if column == 0 {
		s.atEnd = row.blank()
		return
	}
	s.atEnd = column == row.columns()
}

// goRight moves the cursor, beyond the text within bounds.
func (s *textStream) goRight(n int) {
	s.goTo(min(s.where()+n, max(moveColumns, s.rows[s.row].columns())))
}

// bound fixes a row that is too long to be edited.
func (s *textStream) bound() {
	row := s.rows[s.row]
	if row.quickWidth() <= editColumns {
		return
	}
	row.fix()
	s.column, s.atEnd = 0, true
	if s.watch != nil && s.row == len(s.rows)-1 {
		s.watch.fixed()
	}
}

// padTo fills the row with blanks up to a column, as far as that is allowed. What
// makes them begins at an offset.
func (s *textStream) padTo(column int, at int64) {
	row := s.rows[s.row]
	n := column - row.columns()
	if n <= 0 || n > s.pad {
		return
	}
	s.pad -= n
	blanks := bytes.Repeat([]byte{' '}, n)
	if row.cells == nil {
		row.text = append(row.text, blanks...)
	} else {
		row.overwrite(len(row.cells), blanks, at, at)
	}
	s.grown(blanks, at, at)
}

// movesAndChanges are the final bytes of the control sequences that matter here.
const movesAndChanges = "ABCDEFGHJKPX@`adefsu"

// move carries out a control sequence, if it is one that matters to text.
func (s *textStream) move(final byte, end int64) {
	given := s.seq.given()
	if len(given) > 0 && given[0] >= 0x3c { // private
		if (final == 'h' || final == 'l') && switchesScreen(given[1:]) {
			s.freshRow(end)
		}
		return
	}
	if bytes.IndexByte([]byte(movesAndChanges), final) < 0 || len(given) > 0 && given[len(given)-1] < 0x30 {
		return
	}
	s.settle(end)
	at := s.where()
	n := s.seq.number(1, moveColumns)
	switch final {
	case 'A':
		s.vertical(-n, end)
	case 'B', 'e':
		s.vertical(n, end)
	case 'E', 'F':
		if final == 'F' {
			n = -n
		}
		s.vertical(n, end)
		s.goTo(0)
	case 'C', 'a':
		s.goRight(n)
	case 'D':
		s.goTo(max(0, at-n))
	case 'G', '`':
		s.goTo(min(n-1, max(moveColumns, s.rows[s.row].columns())))
	case 'H', 'f', 'd':
		s.freshRow(end)
	case 's':
		s.save()
	case 'u':
		s.restore(end)
	default:
		s.change(final, at, n, end)
	}
}

// switchesScreen reports whether DEC private modes include the alternate screen.
func switchesScreen(modes []byte) bool {
	for mode := range bytes.SplitSeq(modes, []byte(";")) {
		switch string(mode) {
		case "47", "1047", "1049":
			return true
		}
	}
	return false
}

// change carries out a control sequence that changes the row.
func (s *textStream) change(final byte, at, n int, end int64) {
	row := s.rows[s.row]
	switch final {
	case 'K':
		s.eraseLine(at, s.seq.number(0, 9), end)
	case 'J':
		if what := s.seq.number(0, 9); what >= 2 {
			s.freshRow(end)
		} else if what == 0 {
			s.eraseLine(at, 0, end)
			s.dropBelow(end)
		}
		return
	case '@':
		if at < row.columns() {
			row.insert(at, n)
			s.changed(end)
		}
	case 'P':
		if at < row.columns() {
			row.remove(at, n)
			s.changed(end)
		}
	case 'X':
		if at < row.columns() {
			row.erase(at, at+n)
			s.changed(end)
		}
	}
	s.goTo(at)
}

// eraseLine erases to the end of the row (0), its beginning (1) or all of it (2).
func (s *textStream) eraseLine(at, what int, end int64) {
	row := s.rows[s.row]
	switch {
	case what == 1 && !row.blank():
		row.erase(0, at+1)
	case what == 2 && !row.blank():
		row.cut(0)
	case what == 0 && at < row.columns():
		row.cut(at)
	default:
		return
	}
	s.changed(end)
	s.goTo(at)
}

// changed notes that the row was changed, or is as it was in the beginning.
func (s *textStream) changed(end int64) {
	row := s.rows[s.row]
	if row.blank() {
		row.cells, row.wide, row.dirty = nil, false, false
		if s.watch != nil && s.row == len(s.rows)-1 {
			s.watch.emptied()
		}
		return
	}
	row.dirty = s.watch != nil
	s.settle(end)
}

// dropBelow drops the rows below the cursor's.
func (s *textStream) dropBelow(end int64) {
	if s.row == len(s.rows)-1 {
		return
	}
	clear(s.rows[s.row+1:])
	s.rows = s.rows[:s.row+1]
	// What the watcher knows of is a row that is gone.
	row := s.rows[s.row]
	if s.watch != nil {
		s.watch.emptied()
		row.dirty = !row.empty()
		s.settle(end)
	}
}

// vertical moves the cursor up or down among the rows there are. Below the last
// one there is room for one more.
func (s *textStream) vertical(n int, end int64) {
	column := s.where()
	target := max(0, s.row+n)
	if target >= len(s.rows) {
		s.row = len(s.rows) - 1
		if s.rows[s.row].empty() {
			return
		}
		s.newline(end)
	} else {
		s.row = target
	}
	s.bound()
	s.goTo(column)
}

func (s *textStream) save() { s.saved, s.savedColumn = s.rows[s.row], s.where() }

// restore goes back to the saved place, or where that is gone to a row of its own.
func (s *textStream) restore(end int64) {
	for i, row := range s.rows {
		if row == s.saved {
			s.row = i
			s.goTo(s.savedColumn)
			return
		}
	}
	s.freshRow(end)
}
