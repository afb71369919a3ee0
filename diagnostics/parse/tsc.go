package parse

import "strings"

// parseTSC reads what the TypeScript compiler prints, with and without --pretty.
func parseTSC(in *Input) (*Result, error) {
	c, err := newCollector(in)
	if err != nil {
		return nil, err
	}
	t := &tsc{c: c}
	eachLine(in.Output, t.line)
	t.flush()
	return c.finish(), nil
}

type tsc struct {
	c       *collector
	pending *problem
}

func (t *tsc) line(line string) {
	if t.pending != nil && strings.HasPrefix(line, "  ") { // the message goes on
		t.pending.message += "\n" + line
		return
	}
	t.flush()
	at, rest, ok := tscPlace(line)
	if !ok {
		rest = line
	}
	word, message, found := strings.Cut(rest, ": ")
	severity, code, named := strings.Cut(word, " ")
	if !found || !named || !strings.HasPrefix(code, "TS") || severity != "error" && severity != "warning" && severity != "message" {
		return
	}
	at.unit, at.source, at.severity, at.code, at.message = unitUTF16, "tsc", severityOf(severity), code, message
	t.pending = &at
}

func (t *tsc) flush() {
	if t.pending != nil {
		t.c.add(t.pending) // one without a file is the project's, and has no place
	}
	t.pending = nil
}

// tscPlace reads "file(line,column): ", or "file:line:column - " of --pretty.
func tscPlace(line string) (at problem, rest string, ok bool) {
	for i := 1; i < len(line); i++ {
		if line[i] != '(' && line[i] != ':' {
			continue
		}
		separator, end := ",", "): "
		if line[i] == ':' {
			separator, end = ":", " - "
		}
		n, after, found := number(line[i+1:])
		if !found || !strings.HasPrefix(after, separator) {
			continue
		}
		m, after, found := number(after[1:])
		if rest, closed := strings.CutPrefix(after, end); found && closed {
			return problem{file: line[:i], line: n, column: m}, rest, true
		}
	}
	return at, "", false
}
