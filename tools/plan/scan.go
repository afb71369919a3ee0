package plan

import (
	"bytes"
	"strings"
)

// A scanner finds the headings and list items of Markdown, and where they are, to the
// byte. It follows the block structure of CommonMark 0.31.2 as far as that decides
// what a check box is: lists, code, quotes and HTML. It reads every byte about once,
// whatever the text is, and nests no deeper than maxDepth.
type scanner struct {
	data     []byte
	open     []container
	fence    fence
	until    string // what ends the HTML block that is open; " " is a blank line
	para     span   // the paragraph that is open, if end is not 0
	quoted   bool   // that is in a quote: lines that are nothing else go on with it
	found    []box
	headings []heading
}

// container is a list item that is open: its content starts in column col.
type container struct {
	col   int
	box   int  // its place in found, or -1
	empty bool // nothing stood behind its marker, and nothing has come since
}

type span struct{ start, end int }

func (s span) of(data []byte) string { return string(data[s.start:s.end]) }

// fence is a run of n characters c that opened code; n 0 is none.
type fence struct {
	c byte
	n int
}

// box is a check box with an ID, at its place in the text.
type box struct {
	line   span // from the line's start to behind its ending
	marker int  // where the list marker ends, white space included
	mark   int  // the byte between the first brackets
	id     span
	text   span // without white space around it
	end    int  // behind the last line of the item, what is below it included
	depth  int  // 1 is not below another item
}

type heading struct {
	level int
	text  string
	line  span
}

// maxDepth bounds how deep lists nest; further markers are text.
const maxDepth = 32

// line is one line while it is looked at.
type line struct {
	span
	pos, col int // the first byte that is not white space
	end      int // where white space and line ending start
}

func scan(data []byte) *scanner {
	s := &scanner{data: data}
	start := 0
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		start = len("\ufeff")
	}
	for start < len(data) {
		end := len(data)
		if i := bytes.IndexByte(data[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		s.line(span{start, end})
		start = end
	}
	return s
}

func (s *scanner) line(at span) {
	l := line{span: at, pos: at.start, end: at.start + len(bytes.TrimRight(s.data[at.start:at.end], " \t\r\n"))}
	s.skip(&l)
	if l.pos < l.end {
		s.blocks(&l)
		for _, c := range s.open {
			if c.box >= 0 {
				s.found[c.box].end = at.end
			}
		}
		return
	}
	s.para = span{}
	if s.until == " " {
		s.until = ""
	}
	if n := len(s.open); n > 0 && s.open[n-1].empty {
		s.open = s.open[:n-1]
	}
}

// skip moves over white space; tabs stop at every fourth column.
func (s *scanner) skip(l *line) {
	for ; l.pos < l.end; l.pos++ {
		switch s.data[l.pos] {
		case ' ':
			l.col++
		case '\t':
			l.col += 4 - l.col%4
		default:
			return
		}
	}
}

// blocks decides what a line that is not blank is.
func (s *scanner) blocks(l *line) {
	inside := s.inside(l)
	if inside > 0 {
		s.open[inside-1].empty = false
	}
	if s.fence.n > 0 || s.until != "" {
		if inside == len(s.open) {
			s.verbatim(l)
			return
		}
		s.fence, s.until = fence{}, "" // the item that it was in is over
	}
	for {
		if l.col-s.column(inside) >= 4 {
			if s.para.end == 0 {
				s.open = s.open[:inside] // indented code
			}
			return
		}
		if s.leaf(l, inside) {
			return
		}
		if inside = s.item(l, inside); inside < 0 {
			return
		}
		if l.pos == l.end {
			return
		}
	}
}

// inside is how many of the open items the line's indentation lies in.
func (s *scanner) inside(l *line) int {
	for i, c := range s.open {
		if l.col < c.col {
			return i
		}
	}
	return len(s.open)
}

// column is where the content of the innermost of so many items starts.
func (s *scanner) column(inside int) int {
	if inside == 0 {
		return 0
	}
	return s.open[inside-1].col
}

// close ends the items that the line is not in, and the paragraph.
func (s *scanner) close(inside int) { s.open, s.para = s.open[:inside], span{} }

// verbatim looks for the end of code or HTML.
func (s *scanner) verbatim(l *line) {
	text := s.data[l.pos:l.end]
	if s.until != "" {
		s.endHTML(text)
		return
	}
	n := run(text, s.fence.c)
	if n >= s.fence.n && n == len(text) && l.col-s.column(len(s.open)) < 4 {
		s.fence = fence{}
	}
}

// leaf takes a line that is, or goes on with, something that is no list.
func (s *scanner) leaf(l *line, inside int) bool {
	text := s.data[l.pos:l.end]
	underlined := s.para.end > 0 && inside == len(s.open) && !s.quoted
	switch {
	case text[0] == '>':
		s.close(inside)
		if s.speaks(text) {
			s.para, s.quoted = span{l.pos, l.end}, true
		}
	case s.opens(text):
		s.close(inside)
		s.fence = fence{text[0], run(text, text[0])}
	case isHeading(text):
		s.close(inside)
		s.heading(run(text, '#'), unhashed(string(text)), l.span)
	case underlined && run(text, '=') == len(text):
		s.heading(1, s.para.of(s.data), span{s.para.start, l.span.end})
	case underlined && run(text, '-') == len(text):
		s.heading(2, s.para.of(s.data), span{s.para.start, l.span.end})
	case isBreak(text):
		s.close(inside)
	case text[0] == '<' && htmlEnd(text) != "":
		s.close(inside)
		s.until = htmlEnd(text)
		s.endHTML(text)
	case !s.marks(text, inside):
		if s.para.end == 0 {
			s.close(inside)
			s.para.start = l.pos
		}
		s.quoted = s.quoted && s.para.end > 0
		s.para.end = l.end
	default:
		return false
	}
	return true
}

// heading notes one that is in no list, and ends the paragraph that it was.
func (s *scanner) heading(level int, text string, at span) {
	if len(s.open) == 0 {
		s.headings = append(s.headings, heading{level, strings.Join(strings.Fields(text), " "), at})
	}
	s.para = span{}
}

// speaks reports whether a quoted line is text of a paragraph, as far as the line
// itself tells.
func (s *scanner) speaks(text []byte) bool {
	for deep := 0; len(text) > 0 && deep < maxDepth; deep++ {
		n := 0
		switch {
		case text[0] == '>':
			n = 1
		case isBreak(text), isHeading(text), s.opens(text), text[0] == '<' && htmlEnd(text) != "":
			return false
		default:
			if n = marker(text); n == 0 {
				return true
			}
		}
		rest := bytes.TrimLeft(text[n:], " \t")
		if len(text)-n-len(rest) >= 5 {
			return false
		}
		text = rest
	}
	return len(text) > 0 // nested too deep to matter: it is text
}

// unhashed is the text of a heading without the signs before it, and behind it.
func unhashed(text string) string {
	text = strings.TrimSpace(strings.TrimLeft(text, "#"))
	if bare := strings.TrimRight(text, "#"); bare == "" || isSpace(bare[len(bare)-1]) {
		return bare
	}
	return text
}

// opens reports whether a line opens fenced code. After back ticks there may be none.
func (s *scanner) opens(text []byte) bool {
	switch text[0] {
	case '`':
		n := run(text, '`')
		return n >= 3 && bytes.IndexByte(text[n:], '`') < 0
	case '~':
		return run(text, '~') >= 3
	}
	return false
}

// marks reports whether a list item starts here. Within a paragraph of the same item
// an empty one does not, nor one with a number but 1.
func (s *scanner) marks(text []byte, inside int) bool {
	n := marker(text)
	if n == 0 || inside >= maxDepth {
		return false
	}
	if s.para.end > 0 && inside == len(s.open) && !s.quoted {
		return n < len(text) && (n == 1 || n == 2 && text[0] == '1')
	}
	return true
}

// item opens a list item and moves to its content. It returns how many items that is
// in, or -1 when the content is code.
func (s *scanner) item(l *line, inside int) int {
	s.close(inside)
	n := marker(s.data[l.pos:l.end])
	l.pos, l.col = l.pos+n, l.col+n
	after := line{span: l.span, pos: l.pos, col: l.col, end: l.end}
	s.skip(&after)
	code := after.col-l.col >= 5
	if code || after.pos == l.end {
		s.open = append(s.open, container{col: l.col + 1, box: -1, empty: !code})
	} else {
		s.open = append(s.open, container{col: after.col, box: -1})
		if found, ok := s.box(&after); ok {
			found.depth = len(s.open)
			s.open[inside].box = len(s.found)
			s.found = append(s.found, found)
		}
	}
	*l = after
	if code {
		return -1
	}
	return inside + 1
}

// box reads "[ ] [id] text".
func (s *scanner) box(l *line) (box, bool) {
	text := s.data[l.pos:l.end]
	if len(text) < len("[ ] [i]") || text[0] != '[' || text[2] != ']' || !isSpace(text[3]) || !bytes.ContainsRune([]byte(" xX"), rune(text[1])) {
		return box{}, false
	}
	id := line{pos: l.pos + 3, end: l.end}
	s.skip(&id)
	size := bytes.IndexByte(s.data[id.pos:l.end], ']')
	if s.data[id.pos] != '[' || size < 0 || !isID(string(s.data[id.pos+1:id.pos+size])) {
		return box{}, false
	}
	name := span{id.pos + 1, id.pos + size}
	rest := line{pos: name.end + 1, end: l.end}
	s.skip(&rest)
	if rest.pos == name.end+1 && rest.pos < l.end {
		return box{}, false // a link
	}
	return box{line: l.span, marker: l.pos, mark: l.pos + 1, id: name, text: span{rest.pos, l.end}, end: l.span.end}, true
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// run is how often c stands at the start of text.
func run(text []byte, c byte) int { return len(text) - len(bytes.TrimLeft(text, string(c))) }

// marker is the length of the list marker that text starts with, or 0.
func marker(text []byte) int {
	n := 0
	switch {
	case text[0] == '-' || text[0] == '+' || text[0] == '*':
		n = 1
	default:
		for n < len(text) && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		if n == 0 || n > 9 || n == len(text) || text[n] != '.' && text[n] != ')' {
			return 0
		}
		n++
	}
	if n < len(text) && !isSpace(text[n]) {
		return 0
	}
	return n
}

func isHeading(text []byte) bool {
	n := run(text, '#')
	return n >= 1 && n <= 6 && (n == len(text) || isSpace(text[n]))
}

// isBreak reports whether text is a thematic break: three or more of a kind.
func isBreak(text []byte) bool {
	if c := text[0]; c != '-' && c != '*' && c != '_' {
		return false
	}
	n := bytes.Count(text, text[:1])
	return n >= 3 && n+bytes.Count(text, []byte(" "))+bytes.Count(text, []byte("\t")) == len(text)
}
