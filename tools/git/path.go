package git

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

// The form of paths. A file name is bytes; JSON text is not. A path that is UTF-8 is
// written as it is. Where that cannot be, it is written between double quotes with
// the escapes that git itself uses (git-config(1), core.quotePath), and is then taken
// for exactly those bytes. The form is reversible: ParsePath(FormatPath(p)) is p,
// whatever bytes p has.

// FormatPath writes a path for JSON: as it is, or quoted where it is not UTF-8, holds
// a line break, or would be read as something else (a quoted path, a home directory, a
// file URI).
func FormatPath(path string) string {
	if utf8.ValidString(path) && !strings.ContainsAny(path, "\n\r\x00") && !strings.HasPrefix(path, "~") &&
		!strings.HasPrefix(strings.ToLower(path), "file:") && !quoted(path) {
		return path
	}
	return quotePath(path)
}

// DisplayPath writes a path for a line of text: as FormatPath does, and quoted also
// where it holds characters that a terminal acts upon or that change the order of
// what is shown. ParsePath reads both.
func DisplayPath(path string) string {
	form := FormatPath(path)
	if strings.ContainsFunc(form, unprintable) {
		return quotePath(path)
	}
	return form
}

// unprintable reports control characters and the formatting characters, among them
// those that reorder text (Unicode categories Cc and Cf).
func unprintable(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }

// ParsePath reads what FormatPath and DisplayPath write. literal reports that the path
// was quoted, so that nothing in it has a meaning beyond the bytes. A quoted path that
// is malformed, or that holds NUL, is CodeToolInput.
func ParsePath(text string) (path string, literal bool, err error) {
	if strings.ContainsAny(text, "\n\r") {
		return "", false, tools.Errorf(tools.CodeToolInput, "the path %q holds a line break; write it quoted, as %s", text, quotePath(text))
	}
	if !quoted(text) {
		return text, false, nil
	}
	path, _ = unquotePath(text)
	if strings.IndexByte(path, 0) >= 0 {
		return "", false, tools.Errorf(tools.CodeToolInput, "the path %s holds a NUL byte; no file name does", text)
	}
	return path, true, nil
}

func quoted(text string) bool {
	_, ok := unquotePath(text)
	return ok
}

// letters are the escapes of one letter, in pairs.
const letters = "a\ab\bf\fn\nr\rt\tv\v\"\"\\\\"

func quotePath(path string) string {
	var out strings.Builder
	out.WriteByte('"')
	for rest := path; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		piece := rest[:size]
		rest = rest[size:]
		if at := strings.Index(letters, piece); size == 1 && at >= 0 && (at%2 == 1 || piece == `"` || piece == `\`) {
			out.WriteByte('\\')
			out.WriteByte(letters[at/2*2])
			continue
		}
		if r != utf8.RuneError && !unprintable(r) || size > 1 && r == utf8.RuneError {
			out.WriteString(piece)
			continue
		}
		for _, c := range []byte(piece) {
			fmt.Fprintf(&out, `\%03o`, c)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// unquotePath undoes git's quoting; ok is false for what is not quoted, or not well.
func unquotePath(text string) (path string, ok bool) {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return "", false
	}
	text = text[1 : len(text)-1]
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			return "", false
		case text[i] != '\\':
			out = append(out, text[i])
			continue
		}
		i++
		if i == len(text) {
			return "", false
		}
		if c, ok := octal(text[i:]); ok {
			out = append(out, c)
			i += 2
			continue
		}
		at := -1
		for k := 0; k < len(letters); k += 2 {
			if letters[k] == text[i] {
				at = k
			}
		}
		if at < 0 {
			return "", false
		}
		out = append(out, letters[at+1])
	}
	return string(out), true
}

func octal(text string) (byte, bool) {
	if len(text) < 3 || text[0] < '0' || text[0] > '3' || text[1] < '0' || text[1] > '7' || text[2] < '0' || text[2] > '7' {
		return 0, false
	}
	return (text[0]-'0')<<6 | (text[1]-'0')<<3 | (text[2] - '0'), true
}
