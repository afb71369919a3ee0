package edit

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const bomUTF8 = "\xef\xbb\xbf"

// trimBOM takes a leading U+FEFF off text that a caller gave.
func trimBOM(s string) string { return strings.TrimPrefix(s, bomUTF8) }

// unifyEndings turns \r\n and a lone \r into \n.
func unifyEndings(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// source is a file being edited: its bytes and how to read them.
type source struct {
	data  []byte
	bom   int              // length of the byte order mark, 0 if there is none
	order binary.ByteOrder // of UTF-16; nil for UTF-8 and everything like it

	hasCR, hasLF bool

	raw  *finder // over data, made on first use
	view *view   // made on first use
	last line    // what ending found last
}

func newSource(data []byte) *source {
	s := &source{data: data}
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		s.bom, s.order = 2, binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		s.bom, s.order = 2, binary.BigEndian
	case bytes.HasPrefix(data, []byte(bomUTF8)):
		s.bom = len(bomUTF8)
	}
	s.hasCR, s.hasLF = s.next(s.bom, '\r') >= 0, s.next(s.bom, '\n') >= 0
	return s
}

// width is the size of a code unit in bytes.
func (s *source) width() int {
	if s.order == nil {
		return 1
	}
	return 2
}

// next returns the offset of the first code unit c at or after from, or -1.
func (s *source) next(from int, c byte) int {
	if s.order == nil {
		if i := bytes.IndexByte(s.data[from:], c); i >= 0 {
			return from + i
		}
		return -1
	}
	for i := from; i+1 < len(s.data); i += 2 {
		if s.order.Uint16(s.data[i:]) == uint16(c) {
			return i
		}
	}
	return -1
}

// previous returns the offset of the last code unit c before to, or -1.
func (s *source) previous(to int, c byte) int {
	if s.order == nil {
		return bytes.LastIndexByte(s.data[:to], c)
	}
	for i := (to - s.bom) / 2 * 2; i >= 2; i -= 2 {
		if s.order.Uint16(s.data[s.bom+i-2:]) == uint16(c) {
			return s.bom + i - 2
		}
	}
	return -1
}

// holds reports whether code unit c is at offset at.
func (s *source) holds(at int, c byte) bool {
	if at < s.bom || at+s.width() > len(s.data) {
		return false
	}
	if s.order == nil {
		return s.data[at] == c
	}
	return s.order.Uint16(s.data[at:]) == uint16(c)
}

// line is a stretch of the file in which one ending is passed on.
type line struct {
	start, end int
	ending     string
}

// ending returns the line ending that a match at offset at passes on to the
// line breaks of its replacement: its own line's; on an unterminated last line
// the previous one's.
func (s *source) ending(at int) string {
	if !s.hasCR {
		return "\n"
	}
	if !s.hasLF {
		return "\r"
	}
	if l := s.last; l.start <= at && at < l.end {
		return l.ending // many matches on a long line must not search it each time
	}
	s.last = line{start: at, end: len(s.data), ending: "\n"}
	lf := s.next(at, '\n')
	if lf < 0 {
		lf = s.previous(at, '\n')
	} else {
		s.last.end = lf + 1
	}
	if s.holds(lf-s.width(), '\r') {
		s.last.ending = "\r\n"
	}
	return s.last.ending
}

// encode writes text, whose lines end in \n, with the given ending and in the
// file's encoding.
func (s *source) encode(text, ending string) []byte {
	if ending != "\n" {
		text = strings.ReplaceAll(text, "\n", ending)
	}
	if s.order == nil {
		return []byte(text)
	}
	out := make([]byte, 0, 2*len(text))
	for _, r := range text {
		if r >= 0x10000 {
			high, low := utf16.EncodeRune(r)
			out = s.appendUnit(s.appendUnit(out, uint16(high)), uint16(low))
			continue
		}
		out = s.appendUnit(out, uint16(r))
	}
	return out
}

func (s *source) appendUnit(out []byte, unit uint16) []byte {
	var pair [2]byte
	s.order.PutUint16(pair[:], unit)
	return append(out, pair[:]...)
}

// representable reports whether text can be written in the file's encoding.
// UTF-8 files carry any bytes; UTF-16 needs code points.
func (s *source) representable(text string) bool {
	return s.order == nil || utf8.ValidString(text)
}

// separator is the code unit that ends a line as a person counts lines: \n, or
// a lone \r in a file that has no \n.
func (s *source) separator() byte {
	if s.hasCR && !s.hasLF {
		return '\r'
	}
	return '\n'
}

// lineAt returns the 1-based line of a byte offset.
func (s *source) lineAt(at int) int { return 1 + s.countLines(s.data, 0, at) }

// countLines counts the separators in data[from:to], where data is the file or
// its new content.
func (s *source) countLines(data []byte, from, to int) int {
	sep := s.separator()
	if s.order == nil {
		return bytes.Count(data[from:to], []byte{sep})
	}
	n := 0
	for i := max(from, s.bom); i+1 < to; i += 2 {
		if s.order.Uint16(data[i:]) == uint16(sep) {
			n++
		}
	}
	return n
}

// firstChangedLine finds where a result first differs from the file.
func (s *source) firstChangedLine(res *Result) int {
	at := res.Spans[0].NewStart
	for at < len(res.Data) && at < len(s.data) && res.Data[at] == s.data[at] {
		at++
	}
	if s.order != nil {
		at -= at % 2
	}
	return 1 + s.countLines(res.Data, 0, at)
}
