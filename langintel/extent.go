package langintel

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// extent is where a declaration stands in its text, in bytes: more than the range
// that its server gives, which leaves out what belongs to it for people.
type extent struct {
	text *text
	lang string
	// lead is where its comments, decorators and attributes start, start where the
	// declaration itself does, with keywords such as "export const" before it.
	lead, start int
	// end is behind the declaration, tail behind the ; or , that follows it and a
	// comment on the same line.
	end, tail int
	separator string // ";", "," or ""
	keywords  string // what stands before the server's range
	// alone: nothing else stands on its lines.
	alone bool
}

// declarators are the words that servers leave out in front of a declaration.
var declarators = regexp.MustCompile(`^[ \t]*((?:(?:export|default|declare|const|let|var|type|pub(?:\([^)]*\))?|static|public|private|protected|readonly|async|abstract|final|override|inline|extern|typedef)[ \t]+)+)$`)

// extentOf measures a declaration. above is the end of what stands before it.
func extentOf(t *text, lang string, d *declared, above int) *extent {
	e := &extent{text: t, lang: lang, start: t.offset(d.whole.start), end: t.offset(d.whole.end)}
	for e.end > e.start && (t.data[e.end-1] == '\n' || t.data[e.end-1] == '\r' || t.data[e.end-1] == ' ' || t.data[e.end-1] == '\t') {
		e.end-- // some ranges go on to the start of the next line
	}
	// Some ranges begin with the comments.
	name := t.offset(d.selection.start)
	if code := e.skipTrivia(e.start); code > e.start && code <= name {
		e.start = code
	}
	e.takeKeywords()
	e.takeTail()
	e.lead = e.start
	line := t.at(e.start).line
	first, last := t.lines[line], t.at(e.end).line
	e.alone = len(bytes.TrimSpace(t.data[first:e.start])) == 0 && len(bytes.TrimSpace(t.data[e.tail:t.lineEnd(last)])) == 0
	if e.alone {
		e.takeLead(line, above)
	}
	return e
}

// takeKeywords moves the start over words in front of it on the same line.
func (e *extent) takeKeywords() {
	first := e.text.lines[e.text.at(e.start).line]
	if m := declarators.FindSubmatchIndex(e.text.data[first:e.start]); m != nil {
		e.keywords = string(e.text.data[first+m[2] : first+m[3]])
		e.start = first + m[2]
	}
}

// takeTail finds the separator behind the declaration, and a comment behind that.
func (e *extent) takeTail() {
	data, stop := e.text.data, e.text.lineEnd(e.text.at(e.end).line)
	e.tail = e.end
	rest := bytes.TrimLeft(data[e.end:stop], " \t")
	if last := data[max(e.start, e.end-1)]; last == ';' || last == ',' {
		e.separator = string(last)
	} else if len(rest) > 0 && (rest[0] == ';' || rest[0] == ',') {
		e.separator, rest = string(rest[0]), rest[1:]
		e.tail = stop - len(rest)
	}
	comment := bytes.TrimLeft(rest, " \t")
	if len(comment) > 0 && e.lineComment(comment) {
		e.tail = stop
	}
}

// takeLead looks for the first line from which only comments, decorators and
// attributes lead to the declaration. A blank line keeps a comment apart.
func (e *extent) takeLead(line, above int) {
	const most = 200
	best := line
	for n := line - 1; n >= 0 && line-n <= most && e.text.lines[n] >= above; n-- {
		content := bytes.TrimSpace(e.text.line(n))
		if len(content) == 0 {
			if best == n+1 {
				break
			}
			continue // inside a comment, perhaps
		}
		if e.skipTrivia(e.text.lines[n]) == e.start {
			best = n
		}
	}
	if best < line {
		at := e.text.lines[best]
		e.lead = at + len(e.text.line(best)) - len(bytes.TrimLeft(e.text.line(best), " \t"))
	}
}

// skipTrivia returns where the first code stands behind white space, comments,
// decorators and attributes.
func (e *extent) skipTrivia(at int) int {
	data := e.text.data
	for at < len(data) {
		rest := data[at:]
		switch {
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r':
			at++
		case e.lineComment(rest):
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				return len(data)
			}
			at += i
		case bytes.HasPrefix(rest, []byte("/*")):
			i := bytes.Index(rest[2:], []byte("*/"))
			if i < 0 {
				return at
			}
			at += i + 4
		case bytes.HasPrefix(rest, []byte("#[")) || bytes.HasPrefix(rest, []byte("#![")) || e.lang == "csharp" && rest[0] == '[':
			end := balanced(rest)
			if end == 0 {
				return at
			}
			at += end
		case rest[0] == '@' && len(rest) > 1 && !bytes.HasPrefix(rest, []byte("@interface")):
			end := 1
			for end < len(rest) && (rest[end] == '.' || rest[end] == ':' || wordRune(rune(rest[end]))) {
				end++
			}
			if end < len(rest) && rest[end] == '(' {
				end += balanced(rest[end:])
			}
			at += end
		default:
			return at
		}
	}
	return at
}

// lineComment reports whether a comment up to the end of the line begins here.
func (e *extent) lineComment(rest []byte) bool {
	hash := []string{"python", "ruby", "shellscript", "yaml", "toml", "r", "perl", "elixir", "dockerfile", "makefile", "php", "julia", "nix"}
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		return e.lang != "python"
	case rest[0] == '#':
		return slices.Contains(hash, e.lang) && !bytes.HasPrefix(rest, []byte("#[")) || bytes.HasPrefix(rest, []byte("# "))
	case bytes.HasPrefix(rest, []byte("--")):
		return slices.Contains([]string{"lua", "sql", "haskell", "elm", "ada"}, e.lang)
	}
	return false
}

// balanced returns the length of a bracketed text, strings in it skipped; 0 when
// it does not end.
func balanced(rest []byte) int {
	depth := 0
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'', '`':
			for i++; i < len(rest) && rest[i] != c && rest[i] != '\n'; i++ {
				if rest[i] == '\\' {
					i++
				}
			}
		}
	}
	return 0
}

// indent is the white space that the declaration's line starts with.
func (e *extent) indent() string {
	line := string(e.text.line(e.text.at(e.start).line))
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// firstLine and lastLine are those of all that belongs to the declaration.
func (e *extent) firstLine() int { return e.text.at(e.lead).line }
func (e *extent) lastLine() int  { return e.text.at(e.end).line }

func (e *extent) blank(n int) bool {
	return n >= 0 && n < len(e.text.lines) && len(bytes.TrimSpace(e.text.line(n))) == 0
}

// removal is what to take away so that neither holes nor crowds are left: the
// lines, and the blank lines on one side.
func (e *extent) removal() (from, to int) {
	t, first, last := e.text, e.firstLine(), e.lastLine()
	before, after := first-1, last+1
	for e.blank(before) {
		before--
	}
	for e.blank(after) {
		after++
	}
	opens := before < 0 || bytes.HasSuffix(bytes.TrimSpace(t.line(before)), []byte("{")) || bytes.HasSuffix(bytes.TrimSpace(t.line(before)), []byte("("))
	closes := after >= len(t.lines) || closer(t.line(after))
	switch {
	case closes && after < len(t.lines):
		first, last = before+1, after-1
	case closes:
		first, last = before+1, len(t.lines)-1 // the end of the file
	case opens || before < first-1:
		last = after - 1
	}
	from = t.lines[first]
	if last+1 < len(t.lines) {
		return from, t.lines[last+1]
	}
	if first == 0 {
		return 0, len(t.data)
	}
	// The last line has no end of its own: the one before it goes, unless the file
	// ends with a line's end now.
	if t.data[len(t.data)-1] == '\n' {
		return from, len(t.data)
	}
	return t.lineEnd(first - 1), len(t.data)
}

// closer reports whether a line ends what other lines began.
func closer(line []byte) bool {
	trimmed := bytes.TrimSpace(line)
	return len(trimmed) > 0 && bytes.IndexByte([]byte("})]"), trimmed[0]) >= 0 || bytes.Equal(trimmed, []byte("end"))
}
