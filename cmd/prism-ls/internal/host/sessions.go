package host

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/child"
)

// Sessions are the process sessions of one workspace. A daemon has one for all of
// its clients, whatever their settings are, and keeps it when those change.
type Sessions struct {
	owner    *child.Owner
	registry *procsess.Registry
	log      *slog.Logger
	everyone bool // all agents' sessions are in here, and not one's
	recovery sync.Once
}

// OpenSessions starts nothing. Close ends the sessions that live, but for those
// that are durable. most is how many may live; zero is procsess.LiveSessions.
func OpenSessions(cfg *config.Config, logger *slog.Logger, most int64) (*Sessions, error) {
	opts := &procsess.Options{
		Env: environment(cfg), Dir: cfg.Root, StateDir: cfg.SessionsDir(), Logger: logger, Sessions: most,
	}
	shell := builtin.ShellOptions{Path: cfg.Shell.Path, Preferred: cfg.System.Shell, Environment: cfg.System.Environ}
	var err error
	if opts.Shell, err = builtin.FindShell(&shell); err != nil {
		return nil, err
	}
	s := &Sessions{owner: child.NewOwner(&child.Options{Logger: logger}), log: logger, everyone: most > 0}
	if s.registry, err = procsess.New(s.owner, opts); err != nil {
		return nil, errors.Join(err, s.owner.Close())
	}
	return s, nil
}

// Registry has the sessions.
func (s *Sessions) Registry() *procsess.Registry { return s.registry }

// TakeUp takes up, once unless it is again, the durable sessions that another
// process has or had: those of everyone, or where this process serves one client,
// the caller's.
func (s *Sessions) TakeUp(ctx context.Context, caller procsess.Caller, again bool) {
	if again {
		s.takeUp(ctx, caller)
		return
	}
	s.recovery.Do(func() { s.takeUp(ctx, caller) })
}

func (s *Sessions) takeUp(ctx context.Context, caller procsess.Caller) {
	if s.everyone {
		caller = procsess.Caller{Operator: true}
	}
	found, err := s.registry.Recover(ctx, caller)
	switch {
	case errors.Is(err, tools.CodeStateUnavailable), errors.Is(err, tools.CodeRecoveryUnsupported): // there are none
	case err != nil:
		s.log.Warn("durable sessions could not be taken up", "error", err)
	}
	for _, session := range found {
		if session.Err != nil {
			s.log.Warn("a durable session could not be taken up", "id", session.ID, "error", session.Err)
		}
	}
}

// processTools are the tools over the sessions. Programs get this client's
// environment and are confined as its commands are.
func (h *Host) processTools() ([]*tools.Tool, error) {
	sessions := h.shared.sessions
	return builtin.Processes(&builtin.ProcessDeps{
		Workspace: h.shared.files, Sessions: sessions.registry, Owner: sessions.owner,
		Shell: h.shellOptions(), TakeUp: sessions.TakeUp,
	})
}

// Live is how many sessions live.
func (s *Sessions) Live() int {
	live := 0
	for _, info := range s.registry.List(context.Background(), procsess.Caller{Operator: true}) {
		if info.State.Live() {
			live++
		}
	}
	return live
}

// Close ends the sessions.
func (s *Sessions) Close() error {
	return errors.Join(s.registry.Close(), s.owner.Close())
}
