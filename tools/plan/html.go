package plan

import (
	"bytes"
	"slices"
	"strings"
)

// verbatimEnd stands for the end of any of the verbatim tags.
const verbatimEnd = "</>"

// htmlEnd is what ends the block of HTML that text opens (CommonMark 0.31.2 §4.6): a
// word, verbatimEnd, " " for a blank line, or "" when it opens none. Of kind 7 there is nothing
// here: a lone tag of an unknown name.
func htmlEnd(text []byte) string {
	for _, block := range [...]struct{ start, end string }{{"<!--", "-->"}, {"<?", "?>"}, {"<![CDATA[", "]]>"}} {
		if bytes.HasPrefix(text, []byte(block.start)) {
			return block.end
		}
	}
	if len(text) > 2 && text[1] == '!' && isLetter(text[2]) {
		return ">"
	}
	name, closing := bytes.CutPrefix(text[1:], []byte("/"))
	size := 0
	for size < len(name) && (isLetter(name[size]) || size > 0 && name[size] >= '0' && name[size] <= '9') {
		size++
	}
	tag, after := strings.ToLower(string(name[:size])), name[size:]
	switch {
	case len(after) > 0 && !isSpace(after[0]) && after[0] != '>' && !bytes.HasPrefix(after, []byte("/>")):
		return ""
	case slices.Contains(verbatimTags(), tag) && !closing && !bytes.HasPrefix(after, []byte("/")):
		return verbatimEnd
	case tag != "" && strings.Contains(blockTags, " "+tag+" "):
		return " "
	}
	return ""
}

// endHTML ends the block that is open if the line has its end.
func (s *scanner) endHTML(text []byte) {
	ends := []string{s.until}
	switch s.until {
	case " ":
		return
	case verbatimEnd:
		ends = nil
		for _, tag := range verbatimTags() {
			ends = append(ends, "</"+tag+">")
		}
	}
	lower := bytes.ToLower(text)
	if slices.ContainsFunc(ends, func(end string) bool { return bytes.Contains(lower, []byte(end)) }) {
		s.until = ""
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func verbatimTags() []string { return []string{"pre", "script", "style", "textarea"} }

// blockTags has them in lower case, each between two spaces.
const blockTags = " address article aside base basefont blockquote body caption center col colgroup dd details" +
	" dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr" +
	" html iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section summary" +
	" table tbody td tfoot th thead title tr track ul "
