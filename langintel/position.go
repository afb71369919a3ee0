package langintel

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/prism-ls/prism-ls/tools"
)

// encoding is the unit in which a server counts the characters of a line (LSP
// 3.17 §positionEncodingKind).
type encoding string

const (
	utf8Units  encoding = "utf-8"
	utf16Units encoding = "utf-16"
	utf32Units encoding = "utf-32"
)

// point is a place in a text: 0-based line, and byte in that line. It is the one
// position type inside the package; units appear only at the wire.
type point struct{ line, byte int }

func (p point) before(q point) bool {
	return p.line < q.line || p.line == q.line && p.byte < q.byte
}

// span is the text from start up to end.
type span struct{ start, end point }

func (s span) contains(p point) bool { return !p.before(s.start) && p.before(s.end) }

// text is one version of a file's content with its lines found. Lines end with
// LF or CRLF, as every line number that people see counts them.
type text struct {
	data  []byte
	lines []int // offset of each line's first byte
}

func newText(data []byte) *text {
	lines := make([]int, 1, 1+bytes.Count(data, []byte{'\n'}))
	for at := 0; ; {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return &text{data: data, lines: lines}
		}
		at += i + 1
		lines = append(lines, at)
	}
}

// line returns a line without its end; nil beyond the last.
func (t *text) line(n int) []byte {
	if n < 0 || n >= len(t.lines) {
		return nil
	}
	end := len(t.data)
	if n+1 < len(t.lines) {
		end = t.lines[n+1] - 1
		if end > t.lines[n] && t.data[end-1] == '\r' {
			end--
		}
	}
	return t.data[t.lines[n]:end]
}

func (t *text) offset(p point) int { return t.lines[p.line] + p.byte }

// at returns the point of an offset.
func (t *text) at(offset int) point {
	n := sort.SearchInts(t.lines, offset+1) - 1
	return point{n, offset - t.lines[n]}
}

// size returns how many units a rune takes. A byte that is not UTF-8 reaches a
// server as U+FFFD.
func (e encoding) size(r rune) int {
	switch e {
	case utf8Units:
		return utf8.RuneLen(r)
	case utf16Units:
		if r > 0xFFFF {
			return 2
		}
	}
	return 1
}

// column counts the units before a byte of a line.
func (e encoding) column(line []byte, at int) int {
	units := 0
	for i := 0; i < at && i < len(line); {
		r, n := rune(line[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(line[i:])
		}
		units += e.size(r)
		i += n
	}
	return units
}

// bytesOf returns the byte of a line that units stand before. Beyond the end it
// is the end, as LSP 3.17 §position says; exact is false then, and when units
// point into the middle of a character.
func (e encoding) bytesOf(line []byte, units int) (at int, exact bool) {
	for at < len(line) && units > 0 {
		r, n := rune(line[at]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(line[at:])
		}
		size := e.size(r)
		if units < size {
			return at, false
		}
		units -= size
		at += n
	}
	return at, units == 0
}

// wire says how one server counts.
type wire struct {
	units encoding
	// loneCR: a CR without LF ends a line, as LSP 3.17 §textDocuments has it;
	// some servers count LF only.
	loneCR bool
}

// encode turns a point into the server's position.
func (w wire) encode(t *text, p point) protocol.Position {
	start, line := t.lines[p.line], p.line
	if w.loneCR {
		extra, last := w.loneBefore(t, t.offset(p))
		line += extra
		start = max(start, last)
	}
	column := w.units.column(t.data[start:t.lineEnd(p.line)], t.offset(p)-start)
	return protocol.Position{Line: uint32(line), Character: uint32(column)}
}

// lineEnd is the offset after a line's text, before its end.
func (t *text) lineEnd(n int) int { return t.lines[n] + len(t.line(n)) }

// loneBefore counts the lone CRs that end a line before an offset, and returns
// where the line after the last of them starts.
func (w wire) loneBefore(t *text, offset int) (count, start int) {
	for at := 0; at < offset; {
		i := bytes.IndexByte(t.data[at:offset], '\r')
		if i < 0 {
			break
		}
		at += i + 1
		if at >= len(t.data) || t.data[at] != '\n' {
			count, start = count+1, at
		}
	}
	return count, start
}

// decode turns a server's position into a point. With strict, a position that is
// not exactly one in this text is an error: an edit there would hit other bytes.
func (w wire) decode(t *text, p protocol.Position, strict bool) (point, error) {
	start, end, ok := w.lineAt(t, int(p.Line))
	if !ok {
		last := t.at(len(t.data))
		if strict && (int(p.Line) > len(t.lines) || p.Character > 0) {
			return last, tools.Errorf(tools.CodeLSPStale, "the server speaks of line %d, the text has %d lines", p.Line+1, len(t.lines))
		}
		return last, nil
	}
	at, exact := w.units.bytesOf(t.data[start:end], int(p.Character))
	if strict && !exact {
		return point{}, tools.Errorf(tools.CodeLSPStale, "the server speaks of character %d of line %d, which is not one of that line", p.Character, p.Line+1)
	}
	return t.at(start + at), nil
}

// lineAt returns the extent of a line as the server counts lines.
func (w wire) lineAt(t *text, n int) (start, end int, ok bool) {
	if !w.loneCR || bytes.IndexByte(t.data, '\r') < 0 {
		if n >= len(t.lines) {
			return 0, 0, false
		}
		return t.lines[n], t.lineEnd(n), true
	}
	for line := 0; ; line++ {
		end = start + bytes.IndexAny(t.data[start:], "\r\n")
		if end < start {
			return start, len(t.data), line == n
		}
		if line == n {
			return start, end, true
		}
		if t.data[end] == '\r' && end+1 < len(t.data) && t.data[end+1] == '\n' {
			end++
		}
		start = end + 1
	}
}

// span decodes a range.
func (w wire) span(t *text, r protocol.Range, strict bool) (span, error) {
	start, err := w.decode(t, r.Start, strict)
	if err != nil {
		return span{}, err
	}
	end, err := w.decode(t, r.End, strict)
	if err == nil && end.before(start) {
		if strict {
			return span{}, tools.Errorf(tools.CodeLSPWorkspace, "an edit that ends before it starts, on line %d", r.Start.Line+1)
		}
		end = start
	}
	return span{start, end}, err
}

// characters is the 1-based column of a point as a person counts: code points.
func (t *text) characters(p point) int {
	return utf32Units.column(t.data[t.lines[p.line]:], p.byte) + 1
}

// pointAt turns a 1-based line and column (code points) into a point.
func (t *text) pointAt(line, column int) (point, error) {
	if line < 1 || line > len(t.lines) {
		return point{}, tools.Errorf(tools.CodeOutOfRange, "line is %d, the file has %d", line, len(t.lines))
	}
	content := t.line(line - 1)
	at, exact := utf32Units.bytesOf(content, column-1)
	if column < 1 || !exact {
		return point{}, tools.Errorf(tools.CodeOutOfRange, "column is %d, line %d has %d characters", column, line, utf8.RuneCount(content))
	}
	return point{line - 1, at}, nil
}

// lsp returns a span as LSP counts by default: 0-based, UTF-16.
func (t *text) lsp(s span) protocol.Range {
	w := wire{units: utf16Units}
	return protocol.Range{Start: w.encode(t, s.start), End: w.encode(t, s.end)}
}
