package builtin

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/prism-ls/prism-ls/tools"
)

// blockBytes is how much is read at once: large enough that counting runs at
// the speed of memory, small enough to stay in a processor's cache.
const blockBytes = 256 << 10

// errScanCap ends a scan that has read all that it may.
var errScanCap = errors.New("scan cap met")

// lineReader goes through a text block by block and knows at which line it is.
// Lines end at sep and are counted as a person counts them: what follows the
// last sep is a line only if it is not empty.
type lineReader struct {
	ctx     context.Context
	in      io.Reader
	sep     byte
	buf     []byte
	pending []byte // read and not consumed, part of buf
	line    int64  // 1-based number of the line that pending starts in or at
	at      int64  // bytes of text consumed
	open    bool   // what was consumed last did not end its line
	eof     bool
}

// newLineReader reads lines of about size bytes in all; small texts get small
// buffers.
func newLineReader(ctx context.Context, in io.Reader, sep byte, size int64) *lineReader {
	block := min(max(size+1, 4<<10), blockBytes)
	return &lineReader{ctx: ctx, in: in, sep: sep, line: 1, buf: make([]byte, block)}
}

// fill makes pending non-empty, or returns io.EOF or errScanCap.
func (r *lineReader) fill() error {
	for len(r.pending) == 0 {
		if r.eof {
			return io.EOF
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
		n, err := r.in.Read(r.buf)
		r.pending = r.buf[:n]
		switch {
		case err == io.EOF:
			r.eof = true
		case err != nil:
			return err
		}
	}
	return nil
}

// consume takes n bytes that hold seps line ends off pending.
func (r *lineReader) consume(n int, seps int64) {
	if n > 0 {
		r.open = r.pending[n-1] != r.sep
	}
	r.pending = r.pending[n:]
	r.at += int64(n)
	r.line += seps
}

// skipTo moves to the start of a line at or after the present one. It returns
// io.EOF when the text ends at or before that line's start.
func (r *lineReader) skipTo(line int64) error {
	for r.line < line {
		if err := r.fill(); err != nil {
			return err
		}
		count := int64(bytes.Count(r.pending, []byte{r.sep}))
		if r.line+count < line {
			r.consume(len(r.pending), count)
			continue
		}
		end := nthIndex(r.pending, r.sep, line-r.line)
		r.consume(end+1, line-r.line)
	}
	return r.fill()
}

// nthIndex returns the index of the n-th c in b, which holds at least n. It
// halves the part it looks at, since counting is faster than finding one by one.
func nthIndex(b []byte, c byte, n int64) int {
	base := 0
	for len(b) > 1024 {
		half := len(b) / 2
		if count := int64(bytes.Count(b[:half], []byte{c})); count < n {
			n -= count
			base += half
			b = b[half:]
		} else {
			b = b[:half]
		}
	}
	at := -1
	for range n {
		at += 1 + bytes.IndexByte(b[at+1:], c)
	}
	return base + at
}

// next returns the next line with its end, keeping at most most bytes of it;
// size is its whole length. It returns io.EOF when there is none, and
// errScanCap when the cap was met within it. What it returns is only good until the
// next call unless into had room for it.
func (r *lineReader) next(into []byte, most int) (line []byte, size int64, err error) {
	line = into[:0]
	for {
		if err := r.fill(); err != nil {
			if err == io.EOF && size > 0 {
				r.line, r.open = r.line+1, false
				return line, size, nil
			}
			return line, size, err
		}
		piece := r.pending
		end := bytes.IndexByte(piece, r.sep)
		if end >= 0 {
			piece = piece[:end+1]
		}
		if room := most + 1 - len(line); room > 0 {
			line = append(line, piece[:min(room, len(piece))]...)
		}
		size += int64(len(piece))
		if end >= 0 {
			r.consume(len(piece), 1)
			return line, size, nil
		}
		r.consume(len(piece), 0)
	}
}

// skipBytes moves n bytes on within the present line. It stops before the
// line's end and reports how far it came.
func (r *lineReader) skipBytes(n int64) (int64, error) {
	var moved int64
	for moved < n {
		if err := r.fill(); err != nil {
			return moved, err
		}
		piece := r.pending[:min(int64(len(r.pending)), n-moved)]
		if end := bytes.IndexByte(piece, r.sep); end >= 0 {
			r.consume(end, 0)
			return moved + int64(end), nil
		}
		r.consume(len(piece), 0)
		moved += int64(len(piece))
	}
	return moved, nil
}

// countRest reads on for at most more bytes and returns how many lines the
// whole text has, if its end came within them.
func (r *lineReader) countRest(more int64) (total int64, known bool, err error) {
	for {
		switch err := r.fill(); {
		case err == io.EOF:
			return r.lines(), true, nil
		case errors.Is(err, errScanCap):
			return 0, false, nil
		case err != nil:
			return 0, false, err
		}
		if more <= 0 {
			return 0, false, nil
		}
		more -= int64(len(r.pending))
		r.consume(len(r.pending), int64(bytes.Count(r.pending, []byte{r.sep})))
	}
}

// lines returns how many lines have been gone through, the last one included
// if it is open.
func (r *lineReader) lines() int64 {
	if r.open {
		return r.line
	}
	return r.line - 1
}

// countLines counts the lines of a whole text as a person does: those that end
// in \n and one more that does not end; lone \r count where there is no \n.
func countLines(text []byte) int {
	sep := byte('\n')
	if bytes.IndexByte(text, '\n') < 0 {
		sep = '\r'
	}
	lines := bytes.Count(text, []byte{sep})
	if len(text) > 0 && text[len(text)-1] != sep {
		lines++
	}
	return lines
}

// pastEnd is the error for a line that the text does not have.
func pastEnd(field string, line, total int64) error {
	return tools.Errorf(tools.CodeOutOfRange, "%s is %d, but the file has %d lines", field, line, total)
}
