package langintel

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable bounds text from a server to limit bytes, on a rune boundary, and
// escapes what could act on a terminal or hide from a reader: control
// characters other than newline and tab, and the Unicode characters that format
// without being seen (bidirectional controls, zero-width ones).
func printable(text string, limit int) string {
	text = clip(text, limit)
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var out strings.Builder
	out.Grow(len(text) + 16)
	for _, r := range text {
		piece := string(r)
		if hidden(r) {
			quoted := strconv.QuoteRuneToASCII(r)
			piece = quoted[1 : len(quoted)-1]
		}
		if out.Len()+len(piece) > limit { // escaped it is longer than it was
			out.WriteString("…")
			break
		}
		out.WriteString(piece)
	}
	return out.String()
}

// hidden reports whether r must not reach a reader as it is. The zero-width
// joiner stays: words in several scripts, and emoji, are spelled with it.
func hidden(r rune) bool {
	switch r {
	case '\n', '\t', '\u200c', '\u200d':
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// oneLine is printable text on a single line.
func oneLine(text string, limit int) string {
	return strings.Join(strings.FieldsFunc(printable(text, limit), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

// clip cuts text to at most limit bytes, on a rune boundary, and marks the cut.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strings.ToValidUTF8(text[:cut], "\uFFFD") + "…"
}
