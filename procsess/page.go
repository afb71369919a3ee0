package procsess

import "bytes"

// newlineTries bounds how many newlines are looked at for one that a page may end
// behind: those within escape sequences do not count.
const newlineTries = 16

// page cuts the page that begins at a cursor and has about most raw bytes.
//
// A page neither begins nor ends within a character or an escape sequence. A
// cursor within one is moved to its beginning, so that nothing is left out; a page
// that is smaller than the unit it begins with is as large as that. Where there is
// more output than fits, a page ends behind a line if it holds a whole one. What
// has no end yet waits for the next page, until eof says that nothing will follow.
//
// From one page's Cursor to the next, raw pages put together are the output.
// Behind a gap, units are recognized once lookBehind bytes are known; those
// before are lost with the gap.
//
// The text of a page is made of its bytes alone: a progress bar that goes on in the
// next page is there too.
//
// The screen view is none of the output's bytes: see screen.render.
func (l *outputLog) page(view View, cursor int64, most int, eof bool) Page {
	total := l.total()
	cursor = min(max(cursor, 0), total)
	if most <= 0 {
		most = int(ChunkBytes.Default)
	}
	data, start := []byte(nil), cursor
	if !eof || cursor < total { // else a unit without an end, which was read, would be read again
		data, start = l.cut(cursor, most, eof)
	}
	page := Page{View: view, Data: data, Start: start, Cursor: start + int64(len(data))}
	page.Lost = max(0, start-cursor)
	page.Total = max(total, page.Cursor)
	page.EOF = eof && page.Cursor == page.Total
	if view == TextView {
		page.Data = textOf(data)
	}
	return page
}

// cut finds the bytes of a page.
func (l *outputLog) cut(cursor int64, most int, eof bool) (data []byte, start int64) {
	for {
		data, start, at := l.stretch(cursor, most+maxSequence+lookBehind)
		begin, _ := borders(data, at)
		stop := start + int64(len(data))
		end := pageEnd(data, begin, most, eof && stop == l.total())
		if end > begin {
			return data[begin:end], start + int64(begin)
		}
		// Nothing, or the beginning of a unit. In front of a gap that is lost too.
		next, begins := l.read(stop, 1)
		if len(next) == 0 {
			return nil, start + int64(begin)
		}
		cursor = max(cursor, begins)
	}
}

// border is where the unit begins that a cursor lies in.
func (l *outputLog) border(cursor int64) int64 {
	data, start, at := l.stretch(cursor, maxSequence)
	begin, _ := borders(data, at)
	return start + int64(begin)
}

// stretch reads what surrounds a cursor, as far back as is needed to know where
// units begin, and in data the place from which on they are known.
func (l *outputLog) stretch(cursor int64, ahead int) (data []byte, start int64, at int) {
	from := max(0, cursor-lookBehind)
	data, start = l.read(from, int(cursor-from)+ahead)
	if start+int64(len(data)) <= cursor {
		if next, begins := l.read(cursor, 1); len(next) > 0 && begins > cursor {
			from = cursor
			data, start = l.read(cursor, ahead) // a gap lies between
		}
	}
	at = max(0, int(cursor-start))
	if start > from && start > 0 {
		known := min(lookBehind, len(data))
		if esc := bytes.IndexByte(data[:known], codeEscape); esc >= 0 {
			known = esc
		}
		at = max(at, known)
	}
	return data, start, min(at, len(data))
}

// pageEnd is where a page ends that begins at begin, which may be there too.
// final says that nothing follows b.
func pageEnd(b []byte, begin, most int, final bool) int {
	if begin+most >= len(b) {
		if final {
			return len(b)
		}
		end, _ := borders(b, len(b))
		return max(begin, end)
	}
	end, after := borders(b, begin+most)
	switch {
	case end > begin:
		return lineEnd(b, begin, end)
	case after >= 0:
		return after
	case final:
		return len(b)
	}
	return begin
}

// lineEnd is the last end of a line in b[begin:end], or end.
func lineEnd(b []byte, begin, end int) int {
	at := end
	for range newlineTries {
		i := bytes.LastIndexByte(b[begin:at], '\n')
		if i < 0 {
			break
		}
		at = begin + i
		if before, _ := borders(b, at+1); before == at+1 {
			return at + 1
		}
	}
	return end
}
