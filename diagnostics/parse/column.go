package parse

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// unit is what a tool counts columns in.
type unit uint8

const (
	unitByte    unit = iota // UTF-8 bytes: go, clang
	unitUTF16               // UTF-16 code units: everything that is written in JavaScript
	unitRune                // Unicode code points
	unitTabs                // code points, tabs to multiples of 8: Checkstyle
	unitDisplay             // columns of a terminal, tabs to multiples of 8: gcc
)

// The bounds of what is read for columns: of one file, of all, and how many files.
const (
	maxText  = 8 << 20
	maxTexts = 64 << 20
	maxFiles = 2000
)

// texts reads each file that is pointed into once.
type texts struct {
	content func(path string) ([]byte, bool)
	files   map[string][][]byte
	read    int
}

func newTexts(content func(string) ([]byte, bool)) *texts {
	return &texts{content: content, files: map[string][][]byte{}}
}

// line returns a line of a file, by 0-based number and without its end, and
// whether it is known.
func (t *texts) line(path string, n int) ([]byte, bool) {
	lines, ok := t.files[path]
	if !ok {
		if t.content == nil || len(t.files) >= maxFiles || t.read >= maxTexts {
			return nil, false
		}
		if text, found := t.content(path); found && len(text) <= maxText {
			t.read += len(text)
			lines = bytes.Split(text, []byte{'\n'})
		}
		t.files[path] = lines
	}
	if n < 0 || n >= len(lines) {
		return nil, false
	}
	return bytes.TrimSuffix(lines[n], []byte{'\r'}), true
}

// span is where a problem is. One without an end is empty: tools that give none
// point, they do not mark.
func (t *texts) span(path string, p *problem) diagnostics.Range {
	start := t.position(path, p.line, p.column, p.unit)
	if p.endLine == 0 && p.endColumn == 0 {
		return diagnostics.Range{Start: start, End: start}
	}
	line := p.endLine
	if line == 0 {
		line = p.line
	}
	end := t.position(path, line, p.endColumn, p.unit)
	if p.endColumn == 0 { // up to the line's end
		if text, ok := t.line(path, end.Line); ok {
			end.Byte, end.UTF16 = len(text), utf16Len(text)
		}
	}
	return diagnostics.Range{Start: start, End: end}
}

func (t *texts) position(path string, line, column int, in unit) diagnostics.Position {
	p := diagnostics.Position{Line: max(line-1, 0)}
	before := max(column-1, 0)
	if before == 0 {
		return p
	}
	text, ok := t.line(path, p.Line)
	if !ok {
		return unread(p, before, in)
	}
	units := 0
	for len(text) > 0 && units < before {
		r, size := utf8.DecodeRune(text)
		width := columnWidth(r, size, units, in)
		if units+width > before {
			break // within a character: its start is meant
		}
		units += width
		p.Byte += size
		p.UTF16 += utf16Width(r)
		text = text[size:]
	}
	if len(text) == 0 { // past the end, as of a file that has changed since
		p.Byte += before - units
		p.UTF16 += before - units
	}
	return p
}

// unread is a column of a line that is not at hand.
func unread(p diagnostics.Position, before int, in unit) diagnostics.Position {
	switch in {
	case unitByte:
		p.Byte, p.UTF16 = before, -1
	case unitUTF16:
		p.Byte, p.UTF16 = -1, before
	default: // the same in a line of ASCII without tabs
		p.Byte, p.UTF16 = before, before
	}
	return p
}

// columnWidth is how many columns a character takes that stands in column at.
func columnWidth(r rune, size, at int, in unit) int {
	switch in {
	case unitByte:
		return size
	case unitUTF16:
		return utf16Width(r)
	case unitTabs, unitDisplay:
		if r == '\t' {
			return 8 - at%8
		}
		if in == unitTabs {
			return 1
		}
		if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
			return 2
		}
	}
	return 1
}

func utf16Width(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

func utf16Len(text []byte) int {
	n := 0
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		n += utf16Width(r)
		text = text[size:]
	}
	return n
}
