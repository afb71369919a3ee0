package diagnostics

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// messageKeys are the forms of one message, strictest first: as it is; without
// the positions in it; without any number.
type messageKeys [3]string

func keysOf(message string) messageKeys {
	positions := blankPositions(message)
	return messageKeys{message, positions, blankNumbers(positions)}
}

// blankPositions replaces what reads as a place: "file.go:12:3", ":12", "(12,3)",
// "line 12", "column 3", "Ln 12", "Col 3".
func blankPositions(message string) string {
	var b strings.Builder
	rest := 0
	for i := 0; i < len(message); {
		if !isDigit(message[i]) {
			i++
			continue
		}
		end := digitsEnd(message, i)
		if isPlace(message[:i], message[end:]) {
			b.WriteString(message[rest : i-pathLen(message[rest:i])])
			b.WriteByte('#')
			rest = end
		}
		i = end
	}
	b.WriteString(message[rest:])
	return b.String()
}

// pathLen is how much of the end of text is the file of a "file:line": the other
// place may have got another name or have been moved to another file.
func pathLen(text string) int {
	name, ok := strings.CutSuffix(text, ":")
	if !ok {
		return 0
	}
	start := len(name)
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(name[:start])
		if !isWord(r) && !strings.ContainsRune(`./\+-@~`, r) {
			break
		}
		start -= size
	}
	if file := name[start:]; !strings.ContainsAny(file, `./\`) || strings.Trim(file, ".") == "" {
		return 0
	}
	return len(text) - start
}

// isPlace judges a number by what stands before and behind it.
func isPlace(before, after string) bool {
	switch {
	case strings.HasSuffix(before, ":"):
		// A colon directly before a number is file:line; "n: 3" has a blank, and a
		// letter behind it makes it a word.
		r, _ := utf8.DecodeRuneInString(after)
		return len(before) > 1 && before[len(before)-2] != ' ' && !unicode.IsLetter(r)
	case strings.HasSuffix(before, "("):
		return strings.HasPrefix(after, ",") && pairCloses(after[1:])
	case strings.HasSuffix(before, ","), strings.HasSuffix(before, ", "):
		open := strings.LastIndexByte(before, '(')
		return open >= 0 && strings.HasPrefix(after, ")") && allDigits(strings.TrimRight(before[open+1:], ", "))
	}
	word := strings.TrimRight(before, " ")
	if word == before {
		return false
	}
	for _, name := range [...]string{"line", "lines", "column", "columns", "ln", "col"} {
		if len(word) >= len(name) && strings.EqualFold(word[len(word)-len(name):], name) {
			r, _ := utf8.DecodeLastRuneInString(word[:len(word)-len(name)])
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}
	}
	return false
}

// pairCloses reports whether text is a number and a closing parenthesis.
func pairCloses(text string) bool {
	text = strings.TrimLeft(text, " ")
	end := digitsEnd(text, 0)
	return end > 0 && strings.HasPrefix(text[end:], ")")
}

func allDigits(text string) bool { return text != "" && digitsEnd(text, 0) == len(text) }

// blankNumbers replaces numbers that are not part of a name.
func blankNumbers(message string) string {
	var b strings.Builder
	for _, token := range tokens(message) {
		if isDigit(token[0]) {
			token = "#"
		}
		b.WriteString(token)
	}
	return b.String()
}

// tokens splits text into words (letters, digits, '_' and '$'), and single other
// runes; joined, they are the text again.
func tokens(text string) []string {
	var list []string
	for start := 0; start < len(text); {
		end := start
		for end < len(text) {
			r, size := utf8.DecodeRuneInString(text[end:])
			if !isWord(r) {
				break
			}
			end += size
		}
		if end == start {
			_, size := utf8.DecodeRuneInString(text[start:])
			end = start + size
		}
		list = append(list, text[start:end])
		start = end
	}
	return list
}

func isWord(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func digitsEnd(text string, start int) int {
	for start < len(text) && isDigit(text[start]) {
		start++
	}
	return start
}

// substitution applies renames to whole words, all at once, so that two names
// which changed places come out right.
type substitution map[string]string

func newSubstitution(renames []SymbolRename) substitution {
	if len(renames) == 0 {
		return nil
	}
	s := make(substitution, len(renames))
	for _, r := range renames {
		s[r.Old] = r.New
	}
	return s
}

// apply returns the message with the new names, and whether it held an old one.
func (s substitution) apply(message string) (string, bool) {
	if len(s) == 0 {
		return message, false
	}
	list := tokens(message)
	changed := false
	for i, token := range list {
		if to, ok := s[token]; ok {
			list[i] = to
			changed = true
		}
	}
	if !changed {
		return message, false
	}
	return strings.Join(list, ""), true
}
