package search

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

const (
	// binaryPrefix is how far a NUL makes a file binary.
	binaryPrefix = 8 << 10
	// firstRead is what is read before it is known whether a file is text.
	firstRead = 64 << 10
	// keptBuffer is the largest buffer a worker keeps between files.
	keptBuffer = 1 << 20
	// wholeLine is the longest line that is kept whole, in bytes; of a longer one
	// it is the size of the window around the match.
	wholeLine = 1 << 10
)

// hits are the matching lines of one file.
type hits struct {
	lines []Match // without their path
	count int     // all matching lines, kept or not
}

// scanner searches files for one call.
type scanner struct {
	matcher  *matcher
	context  int
	keep     int // matching lines kept of a file
	stop     int // matching lines after which the rest of a file does not matter
	maxBytes int64
	window   int
	unopened []string
}

// file reads and searches one visible file.
func (s *scanner) file(w *worker, d *dir, e *entry) {
	if slices.Contains(s.unopened, e.name) {
		e.skip = skipUnreadable
		return
	}
	data, reason := w.readFile(d, e, s.maxBytes)
	if e.skip = reason; reason != skipNone {
		return
	}
	e.size = int64(len(data))
	s.text(w, plain(data), e)
}

// readFile returns a file's content in the worker's buffer, valid until the
// next call, or why it is not to be searched.
func (w *worker) readFile(d *dir, e *entry, maxBytes int64) ([]byte, skip) {
	fd, size, ok, err := openFileAt(d.fd, e.name)
	switch {
	case err != nil && vanished(err), err == nil && !ok:
		return nil, skipGone
	case err != nil:
		return nil, skipUnreadable
	}
	defer closeFD(fd)
	if size > maxBytes {
		return nil, skipOversize
	}
	buf := w.buffer(int(size) + 1)
	n, reason := 0, skipNone
	for n <= int(size) {
		limit := len(buf)
		if n == 0 {
			limit = min(limit, firstRead)
		}
		got, err := readFD(fd, buf[n:limit])
		if err != nil {
			return nil, skipUnreadable
		}
		if n == 0 && isBinary(buf[:got]) {
			return nil, skipBinary
		}
		n += got
		if got == 0 || n == int(size) {
			break
		}
		if w.quit.Load() {
			return nil, skipGone
		}
	}
	return buf[:n], reason
}

// buffer returns the worker's own, or for a large file one that is not kept.
func (w *worker) buffer(need int) []byte {
	if need > keptBuffer {
		return make([]byte, need)
	}
	if len(w.buf) < need {
		w.buf = make([]byte, max(2*need, firstRead))
	}
	return w.buf
}

func isBinary(head []byte) bool {
	return bytes.IndexByte(head[:min(len(head), binaryPrefix)], 0) >= 0 && !isUTF16(head)
}

func isUTF16(head []byte) bool {
	return len(head) >= 2 && (head[0] == 0xFF && head[1] == 0xFE || head[0] == 0xFE && head[1] == 0xFF)
}

// plain is the text without a byte order mark, as UTF-8.
func plain(data []byte) []byte {
	if isUTF16(data) {
		if text, err := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder().Bytes(data); err == nil {
			return text
		}
	}
	return bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
}

// text finds the matching lines.
func (s *scanner) text(w *worker, buf []byte, e *entry) {
	separator := byte(0)
	line, counted := 1, 0 // the number of the line that starts at counted
	for from := 0; from < len(buf); {
		start, end, ok := s.matcher.find(buf, from, '\n', &w.quit)
		if !ok {
			break
		}
		if separator == 0 {
			// Only a file with a match pays for the question. A lone CR ends
			// lines in a file without LF.
			if separator = lineBreak(buf); separator == '\r' {
				s.lone(w, buf, e)
				return
			}
		}
		first := bytes.LastIndexByte(buf[from:start], '\n') + 1 + from
		last := lineEnd(buf, min(end, len(buf)), '\n')
		line += bytes.Count(buf[counted:first], []byte{'\n'})
		counted = first
		if !s.record(e, buf, span{first, last, start, end}, line) {
			return
		}
		from = last + 1
	}
}

func lineBreak(buf []byte) byte {
	if bytes.IndexByte(buf, '\n') < 0 && bytes.IndexByte(buf, '\r') >= 0 {
		return '\r'
	}
	return '\n'
}

// lone is text for files whose lines end in CR alone: the same bytes with LF.
func (s *scanner) lone(w *worker, buf []byte, e *entry) {
	s.text(w, bytes.ReplaceAll(buf, []byte{'\r'}, []byte{'\n'}), e)
}

// span is a match and the line it stands in, as offsets.
type span struct {
	first, last int // of the line, without its break
	start, end  int
}

// record keeps a matching line and reports whether the next one matters.
func (s *scanner) record(e *entry, buf []byte, at span, number int) bool {
	if e.hits == nil {
		e.hits = &hits{}
	}
	e.hits.count++
	if len(e.hits.lines) < s.keep {
		text := trimCR(buf[at.first:at.last])
		e.hits.lines = append(e.hits.lines, Match{
			Line:   number,
			Column: utf8.RuneCount(buf[at.first:at.start]) + 1,
			Text:   window(text, at.start-at.first, min(at.end-at.first, len(text)), s.window),
			Before: s.before(buf, at.first),
			After:  s.after(buf, at.last),
		})
	}
	return e.hits.count < s.stop
}

func (s *scanner) before(buf []byte, first int) []string {
	var lines []string
	for end := first - 1; end >= 0 && len(lines) < s.context; {
		start := bytes.LastIndexByte(buf[:end], '\n') + 1
		lines = append(lines, head(trimCR(buf[start:end]), s.window))
		end = start - 1
	}
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return lines
}

func (s *scanner) after(buf []byte, last int) []string {
	var lines []string
	for start := last + 1; start < len(buf) && len(lines) < s.context; {
		end := lineEnd(buf, start, '\n')
		lines = append(lines, head(trimCR(buf[start:end]), s.window))
		start = end + 1
	}
	return lines
}
