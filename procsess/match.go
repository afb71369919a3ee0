package procsess

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/search"
)

const (
	// matchWindow bounds a match in bytes; longer ones are not found.
	matchWindow = 64 << 10
	// literalBytes bounds a literal to look for.
	literalBytes = 4 << 10
	// rescanBytes of rows that were edited may be looked at again, and
	// rescanPerByte more for each byte of output: otherwise two bytes that change
	// one character in a long line would cost the whole line.
	rescanBytes   = 1 << 20
	rescanPerByte = 64
)

// matcher looks for a literal or an expression in the text view of output, which
// it takes piece by piece. It finds the first match: the one that begins first and
// is the one that RE2 prefers of those that begin there, in what there is at the
// end of the piece in which the first one is complete.
//
// Rows are looked at as they grow, the unfinished one too, each character once.
// One that is edited (a progress bar) is looked at again each time the cursor
// leaves what was changed. ^ and $ are the borders of lines, and $ is also the end
// of what there is: `\$ $` finds a prompt.
type matcher struct {
	text *textStream
	find finder
	// atRow is the finder as it was at the beginning of the last row.
	atRow finder
	// window is text that a match may begin in, from windowAt on, both counted in
	// bytes of text; rowAt is where the last row begins.
	window          []byte
	windowAt, rowAt int64
	rescan          int
	quit            atomic.Bool
	found           *match
}

// match is text that was found and where in the output it ends.
type match struct {
	text string
	end  int64
}

// newMatcher makes a matcher for output from an offset on. Either of literal and
// regex may be "", with both any of them is looked for. The error is CodeToolInput.
func newMatcher(literal, regex string, at int64) (*matcher, error) {
	if len(literal) > literalBytes {
		return nil, tools.Errorf(tools.CodeToolInput, "match has %d bytes; it can have %d", len(literal), literalBytes)
	}
	var parts []string
	if literal != "" {
		// The text view knows line feeds only.
		parts = append(parts, regexp.QuoteMeta(strings.ReplaceAll(literal, "\r\n", "\n")))
	}
	if regex != "" {
		parts = append(parts, regex)
	}
	if len(parts) == 0 {
		return nil, tools.Errorf(tools.CodeToolInput, "there is nothing to look for: give match or regex")
	}
	for _, part := range parts { // "a)|(b" is no expression, although "(a)|(b)" is
		if _, err := search.CompileProgram(part, syntax.Perl&^syntax.OneLine); err != nil {
			return nil, err
		}
	}
	program, err := search.CompileProgram("(?:"+strings.Join(parts, ")|(?:")+")", syntax.Perl&^syntax.OneLine)
	if err != nil {
		return nil, err
	}
	m := &matcher{text: newTextStream(at), rescan: rescanBytes}
	m.text.watch = m
	m.find = newFinder(program, at)
	m.atRow = m.find.clone()
	return m, nil
}

// feed takes the next piece of output. Once ok is true there is a match; text is
// what was found, and end the offset behind it. feed may be abandoned.
func (m *matcher) feed(p []byte) (text string, end int64, ok bool) {
	if m.found == nil {
		m.rescan = min(m.rescan+rescanPerByte*len(p), 1<<30)
		m.text.write(p)
		m.look()
	}
	if m.found == nil || m.quit.Load() {
		return "", 0, false
	}
	return m.found.text, m.found.end, true
}

// abandon has a feed that runs, and every later one, come back soon without a
// match. It may be called from anywhere.
func (m *matcher) abandon() { m.quit.Store(true) }

// look takes the end of what there is for the end of the text.
func (m *matcher) look() {
	if m.found != nil {
		return
	}
	end := m.find.clone()
	end.finish()
	m.take(&end)
}

// take notes the match of a finder, if it has one.
func (m *matcher) take(f *finder) {
	if !f.matched || m.found != nil {
		return
	}
	// What an edited row began with may be gone, if it was longer than the window.
	from, to := max(0, f.from-m.windowAt), max(0, f.to-m.windowAt)
	m.found = &match{string(m.window[from:to]), f.end}
}

// appended implements [textWatcher].
func (m *matcher) appended(run []byte, begin, end int64) {
	if m.found != nil {
		return
	}
	m.window = append(m.window, run...)
	m.find.feed(run, begin, end, &m.quit)
	m.decided()
	m.trim()
}

// decided takes a match that no further text can change.
func (m *matcher) decided() {
	if m.find.matched && len(m.find.threads) == 0 {
		m.take(&m.find)
	}
}

// trim drops what no match can begin in any more.
func (m *matcher) trim() {
	if len(m.window) <= 2*matchWindow {
		return
	}
	drop := len(m.window) - matchWindow - utf8.UTFMax
	m.windowAt += int64(drop)
	m.window = append(m.window[:0], m.window[drop:]...)
}

// emptied implements [textWatcher].
func (m *matcher) emptied() {
	m.find = m.atRow.clone()
	if m.rowAt < m.windowAt { // the row was longer than the window
		m.window, m.windowAt = m.window[:0], m.rowAt
		return
	}
	m.window = m.window[:m.rowAt-m.windowAt]
}

// fixed implements [textWatcher].
func (m *matcher) fixed() { m.beginRow() }

// newline implements [textWatcher].
func (m *matcher) newline(end int64) {
	m.appended([]byte{'\n'}, end-1, end)
	m.beginRow()
}

// beginRow notes where a row begins, to come back to when it is edited.
func (m *matcher) beginRow() {
	m.atRow = m.find.clone()
	m.rowAt = m.windowAt + int64(len(m.window))
}

// edited implements [textWatcher].
func (m *matcher) edited(row *textRow, last bool, end int64) {
	if m.found != nil {
		return
	}
	if cost := row.quickWidth() + 1; cost > m.rescan {
		row.dirty = true // it will be looked at later
		return
	} else {
		m.rescan -= cost
	}
	if !last {
		m.elsewhere(row, end)
		return
	}
	m.emptied()
	row.each(end, func(text []byte, end int64) {
		if m.found == nil {
			m.appended(text, end-1, end)
		}
	})
	m.look()
}

// elsewhere looks at a row that is not the last one, by itself.
func (m *matcher) elsewhere(row *textRow, end int64) {
	alone := &matcher{text: m.text, find: newFinder(m.find.program, m.find.offset)}
	row.each(end, func(text []byte, end int64) {
		alone.window = append(alone.window, text...)
		alone.find.feed(text, end-1, end, &m.quit)
	})
	alone.find.finish()
	alone.take(&alone.find)
	m.found = alone.found
}
