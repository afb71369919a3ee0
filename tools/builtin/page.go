package builtin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

// truncatedBy names the cap that ended a result.
type truncatedBy string

// The caps of a page.
const (
	byLines truncatedBy = "lines"
	byBytes truncatedBy = "bytes"
	byScan  truncatedBy = "scan"
)

// Values lists the caps.
func (truncatedBy) Values() []string {
	return []string{"results", "matches", "entries", "files", "depth", "scan", "bytes", "lines", "time"}
}

// Truncation says how much of a text is shown, and why not more.
type Truncation struct {
	Truncated             bool        `json:"truncated"`
	TruncatedBy           truncatedBy `json:"truncatedBy,omitempty"`
	TotalLines            *int64      `json:"totalLines,omitempty"`
	TotalBytes            *int64      `json:"totalBytes,omitempty"`
	OutputLines           int64       `json:"outputLines"`
	OutputBytes           int64       `json:"outputBytes"`
	FirstLineExceedsLimit bool        `json:"firstLineExceedsLimit"`
	MaxLines              int64       `json:"maxLines"`
	MaxBytes              int64       `json:"maxBytes"`
	NextOffset            int64       `json:"nextOffset,omitempty"`
	NextByteOffset        int64       `json:"nextByteOffset,omitempty"`
}

// lookAhead is how far a read goes on behind a page to say how many lines are
// left: a fraction of a millisecond.
const lookAhead = 1 << 20

// window is which lines of a text are asked for, and how much may be shown.
type window struct {
	field      string // the input that offset came from
	offset     int64
	limit      int64 // 0: no limit but the caps
	byteOffset *int64
	maxLines   int64
	maxBytes   int64
	numbers    bool
	ahead      int64
}

// page is what a window shows.
type page struct {
	text     []byte
	lines    int64
	by       truncatedBy // "" when the text ends with the page
	next     int64
	nextByte int64
	tooLong  int64 // size of the first line, which alone is over the cap
	total    int64
	known    bool // total is the number of lines
	invalid  bool
}

// readPage fills a window. A first line past the end is CodeOutOfRange; a scan
// cap gives a page of what was found.
func readPage(r *lineReader, w window) (*page, error) {
	p := &page{next: w.offset}
	err := r.skipTo(w.offset)
	if errors.Is(err, io.EOF) {
		if w.offset == 1 {
			p.known = true
			return p, nil
		}
		return nil, pastEnd(w.field, w.offset, r.lines())
	}
	if err == nil && w.byteOffset != nil {
		err = p.piece(r, w)
	}
	if err == nil {
		err = p.fill(r, w)
	}
	switch {
	case errors.Is(err, errScanCap):
		p.by = byScan
		return p, nil
	case err != nil:
		return nil, err
	}
	if p.total, p.known, err = r.countRest(w.ahead); err != nil {
		return nil, err
	}
	return p, nil
}

// piece shows the first line from a byte of it on.
func (p *page) piece(r *lineReader, w window) error {
	moved, err := r.skipBytes(*w.byteOffset)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if moved < *w.byteOffset {
		return tools.Errorf(tools.CodeOutOfRange, "byteOffset is %d, but line %d has %d bytes", *w.byteOffset, w.offset, moved)
	}
	line, size, err := r.next(nil, int(w.maxBytes))
	switch {
	case errors.Is(err, io.EOF):
		p.next = w.offset + 1
		return nil
	case err != nil:
		return err
	case size <= w.maxBytes:
		p.add(line, w)
		return nil
	}
	line = line[:runeBoundary(line, int(w.maxBytes))]
	p.nextByte = moved + int64(len(line))
	p.add(line, w)
	p.next, p.by = w.offset, byBytes
	return nil
}

// fill adds whole lines until a limit is met or the text ends.
func (p *page) fill(r *lineReader, w window) error {
	most := w.maxLines
	if w.limit > 0 {
		most = min(most, w.limit)
	}
	scratch := make([]byte, 0, 4096)
	for p.by == "" {
		if p.lines >= most {
			if r.fill() != io.EOF {
				p.by = byLines
			}
			return nil
		}
		line, size, err := r.next(scratch, int(w.maxBytes))
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if size > w.maxBytes || !p.add(line, w) {
			p.by = byBytes
			if p.lines == 0 {
				p.tooLong = size
			}
		}
		scratch = line
	}
	return nil
}

// add appends a line as it is shown, if there is room for it.
func (p *page) add(line []byte, w window) bool {
	if !utf8.Valid(line) {
		line = showable(line)
		p.invalid = true
	}
	number := ""
	if w.numbers {
		number = strconv.FormatInt(p.next, 10) + "\t"
	}
	if int64(len(p.text)+len(number)+len(line)) > w.maxBytes && (p.lines > 0 || w.byteOffset == nil) {
		return false
	}
	p.text = append(append(p.text, number...), line...)
	p.lines++
	p.next++
	return true
}

// notice says how to go on, or nothing when the text ends with the page.
func (p *page) notice(maxBytes int64) string {
	switch {
	case p.tooLong > 0:
		return fmt.Sprintf("[Line %d has %d bytes, more than the %d of a page. Use offset=%d and byteOffset=0 to read it in pieces.]", p.next, p.tooLong, maxBytes, p.next)
	case p.nextByte > 0:
		return fmt.Sprintf("[Line %d goes on. Use offset=%d and byteOffset=%d to continue.]", p.next, p.next, p.nextByte)
	case p.by == "":
		return ""
	case p.known:
		return fmt.Sprintf("[%d more lines in file. Use offset=%d to continue.]", p.total-p.next+1, p.next)
	}
	return fmt.Sprintf("[truncated by %s. Use offset=%d to continue.]", p.by, p.next)
}

// truncation puts the page into its metadata.
func (p *page) truncation(w window, size int64) Truncation {
	t := Truncation{
		Truncated: p.by != "", TruncatedBy: p.by, TotalBytes: &size,
		OutputLines: p.lines, OutputBytes: int64(len(p.text)), FirstLineExceedsLimit: p.tooLong > 0,
		MaxLines: w.maxLines, MaxBytes: w.maxBytes,
	}
	if p.known {
		t.TotalLines = &p.total
	}
	if t.Truncated {
		t.NextOffset, t.NextByteOffset = p.next, p.nextByte
	}
	return t
}

// runeBoundary returns the largest length up to most that does not cut a UTF-8
// sequence of b.
func runeBoundary(b []byte, most int) int {
	if len(b) <= most {
		return len(b)
	}
	for back := range utf8.UTFMax {
		if most-back > 0 && utf8.RuneStart(b[most-back]) {
			return most - back
		}
	}
	return most
}

// withNotice appends a notice on a line of its own.
func withNotice(text, notice string) string {
	switch {
	case notice == "":
		return text
	case text == "" || text[len(text)-1] == '\n':
		return text + notice
	}
	return text + "\n" + notice
}

// openLines starts a line reader at the beginning of a text.
func (t *textFile) openLines(ctx context.Context, hashed bool) *lineReader {
	return newLineReader(ctx, t.from(0, hashed), t.sep, t.file.Size())
}
