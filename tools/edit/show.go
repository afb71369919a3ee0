package edit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// showDifference renders two lines with what differs between them visible:
// everything but their common start and end. Each is cut to maxShown
// characters around the difference.
func showDifference(a, b string) (string, string) {
	ra, rb := []rune(clip(a)), []rune(clip(b))
	start := 0
	for start < len(ra) && start < len(rb) && ra[start] == rb[start] {
		start++
	}
	tail := 0
	for tail < len(ra)-start && tail < len(rb)-start && ra[len(ra)-1-tail] == rb[len(rb)-1-tail] {
		tail++
	}
	return showLine(ra, start, len(ra)-tail), showLine(rb, start, len(rb)-tail)
}

// clip bounds the work on a line to more than can be shown of it.
func clip(s string) string {
	if len(s) <= maxCompared {
		return s
	}
	s = s[:maxCompared]
	for len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s[:len(s)-1]
}

// showLine renders line, with runes from to to made visible.
func showLine(line []rune, from, to int) string {
	var b strings.Builder
	first := 0
	if to > maxShown*3/4 && len(line) > maxShown {
		first = min(max(0, from-maxShown/4), len(line)-maxShown)
		b.WriteString("…")
	}
	last := min(len(line), first+maxShown)
	for i := first; i < last; i++ {
		showRune(&b, line[i], i >= from && i < to)
	}
	if last < len(line) {
		b.WriteString("…")
	}
	return b.String()
}

// showRune renders one character. Control characters never pass as they are.
func showRune(b *strings.Builder, r rune, visible bool) {
	switch {
	case r == '\t':
		b.WriteString("→")
	case r == ' ' && visible:
		b.WriteString("·")
	case r < ' ' || r == 0x7f || r == utf8.RuneError || r > 0x7f && !unicode.IsPrint(r):
		fmt.Fprintf(b, "(U+%04X)", r)
	case r > 0x7f && visible:
		fmt.Fprintf(b, "%c(U+%04X)", r, r)
	default:
		b.WriteRune(r)
	}
}
