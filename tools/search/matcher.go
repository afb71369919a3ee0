package search

import (
	"bytes"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

// Mode is how a query's text is meant.
type Mode string

// The modes of a search. The indexed ones are refused with
// [tools.CodeIndexUnsupported] until there is an engine for them.
const (
	ModeLiteral        Mode = "literal"
	ModeRegex          Mode = "regex"
	ModeIndexedLiteral Mode = "indexed_literal"
	ModeSemantic       Mode = "semantic"
)

// matcher finds lines that match.
type matcher struct {
	literal    *literal
	expression *expression
	word       bool
}

func newMatcher(q *Query, maxBytes int64) (*matcher, error) {
	switch {
	case q.Query == "":
		return nil, tools.Errorf(tools.CodeToolInput, "the query is empty")
	case int64(len(q.Query)) > maxBytes:
		return nil, tools.Errorf(tools.CodeToolInput, "the query has %d bytes, at most %d are taken", len(q.Query), maxBytes)
	case !utf8.ValidString(q.Query):
		return nil, tools.Errorf(tools.CodeToolInput, "the query is not valid UTF-8")
	}
	switch q.Mode {
	case "", ModeLiteral:
		if strings.ContainsRune(q.Query, '\n') {
			return nil, tools.Errorf(tools.CodeToolInput, "the query holds a line break, but lines are searched one by one")
		}
		return &matcher{literal: newLiteral(q.Query, !q.CaseSensitive), word: q.Word}, nil
	case ModeRegex:
		x, err := newExpression(q.Query, !q.CaseSensitive, q.Word)
		if err != nil {
			return nil, err
		}
		return &matcher{expression: x}, nil
	case ModeIndexedLiteral, ModeSemantic:
		return nil, tools.Errorf(tools.CodeIndexUnsupported, "no index serves mode %q; literal and regex search the files themselves", q.Mode)
	}
	return nil, tools.Errorf(tools.CodeToolInput, "mode is %q, must be literal, regex, indexed_literal or semantic", q.Mode)
}

// find returns the first match at or after from, which is the start of a line.
func (m *matcher) find(buf []byte, from int, separator byte, quit *atomic.Bool) (start, end int, ok bool) {
	if m.expression != nil {
		return m.findExpression(buf, from, separator, quit)
	}
	for at := from; ; {
		start, end, ok = m.literal.find(buf, at)
		if !ok || !m.word || isWord(buf, start, end) {
			return start, end, ok
		}
		_, size := utf8.DecodeRune(buf[start:])
		at = start + size
	}
}

func (m *matcher) findExpression(buf []byte, from int, separator byte, quit *atomic.Bool) (start, end int, ok bool) {
	for at := from; at < len(buf) && !quit.Load(); {
		if required := m.expression.required; required != nil {
			hit, _, found := required.find(buf, at)
			if !found {
				return 0, 0, false
			}
			if before := bytes.LastIndexByte(buf[at:hit], separator); before >= 0 {
				at += before + 1
			}
		}
		stop := lineEnd(buf, at, separator)
		line := trimCR(buf[at:stop])
		if start, end, ok = m.expression.find(line, quit); ok {
			return at + start, at + end, true
		}
		at = stop + 1
	}
	return 0, 0, false
}

// trimCR takes the carriage return of a CRLF line end off.
func trimCR(line []byte) []byte { return bytes.TrimSuffix(line, []byte{'\r'}) }

// isWord reports whether no letter, digit, mark or connector touches the match.
func isWord(buf []byte, start, end int) bool {
	before, _ := utf8.DecodeLastRune(buf[:start])
	after, _ := utf8.DecodeRune(buf[end:])
	return !wordRune(before) && !wordRune(after)
}

func wordRune(r rune) bool {
	return r != utf8.RuneError && unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Pc)
}
