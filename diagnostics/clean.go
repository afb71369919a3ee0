package diagnostics

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleanText makes producer text safe to show: valid UTF-8, no terminal
// sequences, no control characters but tab and newline, at most limit bytes and
// cut between runes. It reports whether the limit took something off.
func cleanText(text string, limit int) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == 0x1b:
			i += escapeLen(text[i:])
			continue
		case r == '\r' || unicode.IsControl(r) && r != '\n' && r != '\t':
			i += size
			continue
		}
		if b.Len()+utf8.RuneLen(r) > limit {
			return b.String(), true
		}
		b.WriteRune(r)
		i += size
	}
	return b.String(), false
}

// escapeLen is the length of the terminal sequence at the start of text: CSI
// (ECMA-48 §5.4: parameters and intermediates, then one final byte) whole, of
// any other the escape byte.
func escapeLen(text string) int {
	if len(text) < 2 || text[1] != '[' {
		return 1
	}
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x7e:
			return i // broken off: what follows is text
		}
	}
	return len(text)
}

// oneLine folds every run of white space into a blank.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
