package parse

import (
	"bytes"
	"strings"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// maxLine is the longest line that is looked at whole; of longer ones the start is.
const maxLine = 64 << 10

// eachLine calls fn with every line, without its end and without the escape
// sequences that colour it (ECMA-48 §5.4).
func eachLine(output []byte, fn func(line string)) {
	for len(output) > 0 {
		line := output
		if end := bytes.IndexByte(output, '\n'); end >= 0 {
			line, output = output[:end], output[end+1:]
		} else {
			output = nil
		}
		fn(uncolour(string(bytes.TrimSuffix(line[:min(len(line), maxLine)], []byte{'\r'}))))
	}
}

// uncolour takes control sequences out of a line, and of the other escapes the
// escape character.
func uncolour(line string) string {
	if strings.IndexByte(line, 0x1b) < 0 {
		return line
	}
	var out strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] != 0x1b {
			out.WriteByte(line[i])
			continue
		}
		if i+1 == len(line) || line[i+1] != '[' {
			continue
		}
		for i += 2; i < len(line) && (line[i] < 0x40 || line[i] > 0x7e); i++ {
		}
	}
	return out.String()
}

// place reads "file:line: " or "file:line:column: " from the start of a line. The
// column is 0 where there is none.
func place(line string) (at problem, rest string, ok bool) {
	if line == "" || line[0] == ' ' || line[0] == '\t' {
		return at, "", false
	}
	for i := 1; i < len(line); i++ {
		if line[i] != ':' {
			continue
		}
		n, after, found := number(line[i+1:])
		if !found || !strings.HasPrefix(after, ":") {
			continue
		}
		at.file, at.line, rest = line[:i], n, after[1:]
		if n, after, found := number(rest); found && strings.HasPrefix(after, ":") {
			at.column, rest = n, after[1:]
		}
		return at, strings.TrimPrefix(rest, " "), true
	}
	return at, "", false
}

// number reads a decimal number of at most nine digits from the start of text.
func number(text string) (n int, rest string, ok bool) {
	i := 0
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		if i == 9 {
			return 0, text, false
		}
		n = n*10 + int(text[i]-'0')
		i++
	}
	return n, text[i:], i > 0
}

// trailingCode takes "message [code]" apart.
func trailingCode(message string) (text, code string) {
	text, rest, found := cutLast(message, " [")
	code, closed := strings.CutSuffix(rest, "]")
	if !found || !closed || code == "" || strings.ContainsAny(code, " []") {
		return message, ""
	}
	return strings.TrimRight(text, " "), code
}

func cutLast(text, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):], true
	}
	return text, "", false
}

// severityOf reads a severity in the words of many tools; unknown ones are errors,
// since the worst reading is the safe one.
func severityOf(word string) diagnostics.Severity {
	switch strings.ToLower(word) {
	case "warning", "warn":
		return diagnostics.Warning
	case "info", "information", "note", "style", "remark", "message", "suggestion":
		return diagnostics.Information
	case "hint", "help":
		return diagnostics.Hint
	}
	return diagnostics.Error
}
