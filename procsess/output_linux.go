package procsess

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// output implements verbs.
func (s *local) output(_ context.Context, what Output) (Page, error) {
	view := what.View
	s.mu.Lock()
	eof, alternate := s.eof, s.modes.alternate && s.master != nil
	s.mu.Unlock()
	if view == "" {
		if view = TextView; alternate {
			view = ScreenView
		}
	}
	var page Page
	switch {
	case view == ScreenView && s.master == nil:
		return Page{}, tools.Errorf(tools.CodeProcessUnsupported, "session %s has no terminal and so no screen; take the view text or raw", s.launch.ID)
	case view == ScreenView:
		page = s.screenPage(eof, alternate)
	default:
		if *what.Cursor > s.log.total() {
			return Page{}, tools.Errorf(tools.CodeOutOfRange, "cursor is %d, the output has %d bytes so far", *what.Cursor, s.log.total())
		}
		page = s.log.page(view, *what.Cursor, what.MaxBytes, eof)
	}
	page.View = view
	page.State, page.Input, _ = s.situation()
	return page, nil
}

// screenPage is what the terminal shows. It goes on at the end of the output: a
// screen is no part of that.
func (s *local) screenPage(eof, alternate bool) Page {
	total := s.log.total()
	text, about := s.screens.render(s.log)
	about.Alternate = alternate // right even where the screen began anew
	return Page{Data: text, Start: total, Cursor: total, Total: total, EOF: eof, Screen: &about}
}

// situation is the state, whether the program waits for input, and how it ended. It
// is looked up last how the program is, since it may end while it is looked at.
func (s *local) situation() (State, Input, *Exit) {
	input := Input{State: NoInput}
	if !s.isOver() {
		input = s.waitsForInput()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exit != nil {
		input = Input{State: NoInput}
	}
	return s.state, input, s.exit
}

func (s *local) waitsForInput() Input {
	ev := &evidence{
		master: s.master, leader: s.process.PID(), tree: s.process.Tree,
		lastOutput: when(&s.lastOutput), lastInput: when(&s.lastInput),
	}
	if s.writer.waiting() > 0 {
		ev.lastInput = time.Now // still being given
	}
	if s.stdin != nil && !s.writer.ended() {
		ev.stdin = s.stdin
	}
	return lookForInput(ev)
}

// when is the time that a counter of nanoseconds since 1970 holds.
func when(at *atomic.Int64) func() time.Time {
	return func() time.Time { return time.Unix(0, at.Load()) }
}

// info implements verbs.
func (s *local) info(context.Context) Info {
	ports := s.ports()
	state, input, exit := s.situation()
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ended := s.launch, s.endedAt
	if exit == nil {
		ended = time.Time{} // it has ended only just now
	}
	return Info{
		ID: l.ID, Name: l.Name, Command: l.Display, State: state, Input: input, PID: s.process.PID(),
		PTY: !l.Pipe, Columns: s.columns, Rows: s.rows, Durable: l.Durable, Owner: l.Owner,
		Started: s.started, Ended: ended, Cursor: s.log.total(), EOF: s.eof, Ports: ports,
		Exit: exit, Degraded: cmp.Or(s.log.degraded(), s.screens.degraded()),
	}
}

// ports are those that processes of the session listen on, those that it left behind
// included: a server may well put itself into the background.
func (s *local) ports() []int {
	tree, err := s.process.Tree()
	if err != nil || len(tree) == 0 {
		return nil
	}
	pids := make([]int, len(tree))
	for i, p := range tree {
		pids[i] = p.PID
	}
	return listeningPorts(pids)
}

func (s *local) isOver() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// isComplete reports whether the program has ended and all of its output is there.
func (s *local) isComplete() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.exit != nil && s.eof
}
