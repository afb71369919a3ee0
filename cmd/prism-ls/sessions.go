package main

import (
	"context"
	"errors"
	"os/signal"
	"syscall"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/origin"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/people"
	"github.com/prism-ls/prism-ls/procsess"
)

// withSessions runs a function with the process sessions of this workspace, as
// their operator. Only a person is one: what prism-ls has started, an agent's
// command among it, has the tools of its own agent.
func (a *app) withSessions(do func(context.Context, people.Sessions) error) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	if err := origin.NotOurs(); err != nil {
		return err
	}
	cfg, err := a.locate()
	if err != nil {
		return err
	}
	sessions, done, err := a.sessions(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	return do(ctx, sessions)
}

// sessions finds them: in the daemon, or else those that outlive one.
func (a *app) sessions(ctx context.Context, cfg *config.Config) (people.Sessions, func() error, error) {
	d := a.findDaemon(cfg)
	if _, there, err := d.Find(ctx); err == nil && there {
		return people.Client(d.Person), func() error { return nil }, nil
	}
	opened, err := host.OpenSessions(cfg, a.logger(cfg.Level()), procsess.DaemonSessions.Default)
	if err != nil {
		return nil, nil, err
	}
	opened.TakeUp(ctx, procsess.Caller{Operator: true}, false)
	return people.Local(opened.Registry()), opened.Close, nil
}

// withSession is withSessions for the one that is meant.
func (a *app) withSession(given string, do func(context.Context, people.Sessions, *procsess.Info) error) error {
	return a.withSessions(func(ctx context.Context, sessions people.Sessions) error {
		info, err := people.Find(ctx, sessions, given)
		if err != nil {
			return err
		}
		return do(ctx, sessions, &info)
	})
}
