package procsess

import (
	"fmt"
	"sync"
)

const (
	// screenGap is how much output a screen follows; where more has come since it
	// was looked at, it begins anew with the last screenRestart bytes. A program that
	// fills the screen has drawn it anew by then.
	screenGap     = 1 << 20
	screenRestart = 256 << 10
	// screenPiece is how much is read at a time.
	screenPiece = 64 << 10
)

// resize is a change of the terminal's size at an offset of the output.
type resize struct {
	at            int64
	columns, rows int
}

// screen shows what a terminal would after the output so far. It takes output when
// it is asked, and then only what is new. Any number may ask.
//
// Screen.Alternate is as the output that was followed has it: where it began anew,
// the session's escapes know better.
type screen struct {
	mu       sync.Mutex
	emulator *emulator
	at       int64
	resized  int // how many changes of size are done
	why      string
}

// newScreen makes an empty screen of a size.
func newScreen(columns, rows int) *screen {
	columns, rows = min(max(columns, 1), int(Columns.Hard)), min(max(rows, 1), int(Rows.Hard))
	return &screen{emulator: newEmulator(columns, rows)}
}

// render follows the output to its end and returns what is shown: rows without
// blanks at their end, separated by newlines, and none behind the last that is not
// empty. resizes are all changes of size so far, in order; the terminal's first
// size is newScreen's.
func (s *screen) render(l *outputLog, resizes []resize) (text []byte, about Screen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follow(l, l.total(), resizes)
	t := s.emulator
	return t.shown(), Screen{
		Columns: t.columns, Rows: t.rows, CursorColumn: t.x + 1, CursorRow: t.y + 1,
		CursorHidden: t.hidden, Alternate: t.alternate, Title: t.title,
	}
}

// position follows the output to an offset and returns where the cursor is,
// 1-based, as a position report (CPR) has it. A screen of its own is to be used for
// that: one that others look at may be further already.
func (s *screen) position(l *outputLog, at int64, resizes []resize) (column, row int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follow(l, at, resizes)
	t := s.emulator
	row = t.y
	if t.origin {
		row -= t.top
	}
	return t.x + 1, row + 1
}

// degraded says what of the screen does not work, "" if everything does.
func (s *screen) degraded() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why
}

// follow feeds the terminal up to an offset.
func (s *screen) follow(l *outputLog, to int64, resizes []resize) {
	if to-s.at > screenGap {
		s.restart(l, to-screenRestart)
	}
	for s.at < to {
		s.apply(resizes)
		next := to
		if s.resized < len(resizes) {
			next = min(next, max(resizes[s.resized].at, s.at+1))
		}
		data, start := l.read(s.at, int(min(next-s.at, screenPiece)))
		if len(data) == 0 {
			break
		}
		if start > s.at {
			s.restart(l, start)
			continue
		}
		s.feed(data)
		s.at += int64(len(data))
	}
	s.apply(resizes)
}

// restart begins with an empty screen behind an offset, between units.
func (s *screen) restart(l *outputLog, from int64) {
	t := newEmulator(s.emulator.columns, s.emulator.rows)
	t.title = s.emulator.title
	if s.emulator.alternate {
		t.switchTo("47", true)
	}
	data, start, at := l.stretch(from, lookBehind)
	begin, _ := borders(data, at)
	s.emulator, s.at = t, start+int64(begin)
}

// apply changes the size where that is due.
func (s *screen) apply(resizes []resize) {
	for s.resized < len(resizes) && resizes[s.resized].at <= s.at {
		r := resizes[s.resized]
		s.emulator.resize(min(max(r.columns, 1), int(Columns.Hard)), min(max(r.rows, 1), int(Rows.Hard)))
		s.resized++
	}
}

// feed shows a piece. A fault in the emulator costs what is shown, and nothing
// else.
func (s *screen) feed(data []byte) {
	defer func() {
		if fault := recover(); fault != nil {
			s.why = fmt.Sprintf("the screen was begun anew after a fault: %v", fault)
			s.emulator = newEmulator(s.emulator.columns, s.emulator.rows)
		}
	}()
	s.emulator.write(data)
}
