package host

import (
	"context"
	"errors"
	"log/slog"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools/child"
)

// Sessions are the process sessions of one workspace. A daemon has one for all of
// its clients, whatever their settings are, and keeps it when those change.
type Sessions struct {
	owner    *child.Owner
	registry *procsess.Registry
}

// OpenSessions starts nothing. Close ends the sessions that live, but for those
// that are durable. most is how many may live; zero is procsess.LiveSessions.
func OpenSessions(cfg *config.Config, logger *slog.Logger, most int64) (*Sessions, error) {
	opts := &procsess.Options{
		Env: environment(cfg), Dir: cfg.Root, Shell: cfg.Shell.Path, StateDir: cfg.SessionsDir(),
		Logger: logger, Sessions: most,
	}
	s := &Sessions{owner: child.NewOwner(&child.Options{Logger: logger})}
	var err error
	if s.registry, err = procsess.New(s.owner, opts); err != nil {
		return nil, errors.Join(err, s.owner.Close())
	}
	return s, nil
}

// Registry has the sessions.
func (s *Sessions) Registry() *procsess.Registry { return s.registry }

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
