package search

import (
	"strings"
	"unicode/utf8"
)

// cutMark stands where a line goes on.
const cutMark = "…"

// window is the line as text, or the part of about limit bytes around the
// match when the line is longer.
func window(line []byte, start, end, limit int) string {
	if len(line) <= limit {
		return clean(line)
	}
	room := max(limit-(end-start), 0)
	from := max(start-room/2, 0)
	to := min(from+limit, len(line))
	from = max(min(from, to-limit), 0)
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	for to < len(line) && to > from && !utf8.RuneStart(line[to]) {
		to--
	}
	text := clean(line[from:to])
	if from > 0 {
		text = cutMark + text
	}
	if to < len(line) {
		text += cutMark
	}
	return text
}

// head is the start of a line.
func head(line []byte, limit int) string { return window(line, 0, 0, limit) }

// clean makes valid UTF-8: each byte that is not becomes U+FFFD, so that
// columns stay what they are counted as.
func clean(text []byte) string {
	if utf8.Valid(text) {
		return string(text)
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		b.WriteRune(r)
		text = text[size:]
	}
	return b.String()
}
