package procsess

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// signal implements verbs. On a terminal it is the foreground group's, as a key's
// would be; a shell there has its jobs in groups of their own.
func (s *local) signal(_ context.Context, sig syscall.Signal) error {
	s.mu.Lock()
	if !s.hasEnded() {
		s.sent |= 1 << sig
	}
	s.mu.Unlock()
	err := s.process.SignalGroup(s.foreground(), sig)
	switch {
	case errors.Is(err, child.ErrFinished):
		return tools.Errorf(tools.CodeProcessState, "session %s has nothing left to signal", s.launch.ID)
	case err != nil:
		return tools.Errorf(tools.AsError(err).Code, "session %s could not be signalled: %w", s.launch.ID, err)
	}
	return nil
}

// hasEnded is known a little before the session is over: who comes after it has not
// ended the program.
func (s *local) hasEnded() bool {
	select {
	case <-s.process.Done():
		return true
	default:
		return false
	}
}

// foreground is the group that the terminal's keys signal, 0 without a terminal.
func (s *local) foreground() int {
	if s.master == nil || s.isOver() {
		return 0
	}
	group, err := foregroundGroup(s.master)
	if err != nil || group <= 1 {
		return 0
	}
	return group
}

// kill implements verbs.
func (s *local) kill(_ context.Context, by By) (child.KillReport, error) {
	s.mu.Lock()
	if s.intent == "" && !s.hasEnded() {
		s.intent = by
	}
	s.mu.Unlock()
	report, err := s.process.Kill(killGrace)
	if err != nil && !errors.Is(err, child.ErrFinished) {
		return report, tools.Errorf(tools.CodeIO, "session %s could not be ended: %w", s.launch.ID, err)
	}
	// Its end is known a moment after, and nobody should see the session alive then.
	late := time.NewTimer(killGrace)
	defer late.Stop()
	select {
	case <-s.ended:
	case <-late.C: // a survivor is stuck in the kernel
	}
	return report, nil
}

// release implements verbs. What keeps the terminal open, so that the program is
// not hung up, is its reaper from now on.
func (s *local) release(context.Context) error {
	keep := []*os.File{s.out}
	if s.stdin != nil {
		keep = append(keep, s.stdin)
	}
	if err := s.process.LetGo(keep...); err != nil {
		if errors.Is(err, child.ErrFinished) {
			return tools.Errorf(tools.CodeProcessState, "session %s has ended, there is nothing to release", s.launch.ID)
		}
		return tools.Errorf(tools.CodeIO, "session %s could not be released: %w", s.launch.ID, err)
	}
	s.expiry.Stop()
	s.closeFiles()
	<-s.ended // let go, it counts as ended
	return nil
}

// terminalError is why a terminal does not do what it was asked for.
func (s *local) terminalError(err error) error {
	if s.isOver() {
		return tools.Errorf(tools.CodeProcessState, "session %s has ended, and its terminal with it", s.launch.ID)
	}
	return tools.Errorf(tools.CodePTYBackend, "the terminal of session %s does not answer: %w", s.launch.ID, err)
}

// resize implements verbs.
func (s *local) resize(_ context.Context, columns, rows int) error {
	if s.master == nil {
		return tools.Errorf(tools.CodeProcessUnsupported, "session %s has no terminal, so it has no size", s.launch.ID)
	}
	if !s.resizes.Allow() {
		return tools.Errorf(tools.CodePTYLimit, "session %s was resized %d times in a minute, which is the most; wait a second", s.launch.ID, s.launch.Resizes)
	}
	return s.setSize(columns, rows)
}

func (s *local) setSize(columns, rows int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := windowSize(s.master, columns, rows); err != nil {
		return s.terminalError(err)
	}
	s.columns, s.rows = columns, rows
	s.screens.resized(s.log.total(), columns, rows)
	return nil
}
