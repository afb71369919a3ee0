package langintel

import (
	"bytes"
	"strings"
)

// fit lays a text out for a place with an indentation: common white space goes,
// the indentation comes. A text whose first line alone has lost its own is taken
// as meant for the place already.
func fit(given, indent, eol string) string {
	lines := strings.Split(strings.ReplaceAll(strings.Trim(given, "\r\n"), "\r\n", "\n"), "\n")
	for len(lines) > 1 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	for len(lines) > 1 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	first, rest := margin(lines[:1]), margin(lines[1:])
	placed := first == "" && rest != "" && strings.HasPrefix(rest, indent) && indent != ""
	if placed && !closer([]byte(lines[len(lines)-1])) {
		placed = len(rest) > len(indent) // else the body of a block without an end
	}
	common := margin(lines)
	for i, line := range lines {
		switch {
		case strings.TrimSpace(line) == "":
			lines[i] = ""
		case placed && i > 0:
		default:
			lines[i] = indent + strings.TrimPrefix(line, common)
		}
	}
	return strings.Join(lines, eol)
}

// margin is the white space that all lines begin with, blank ones aside.
func margin(lines []string) string {
	out, any := "", false
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		own := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if !any {
			out, any = own, true
		}
		for !strings.HasPrefix(own, out) {
			out = out[:len(out)-1]
		}
	}
	return out
}

// lineEnding is how most lines of a text end.
func (t *text) lineEnding() string {
	if crlf := bytes.Count(t.data, []byte("\r\n")); 2*crlf > len(t.lines)-1 {
		return "\r\n"
	}
	return "\n"
}
