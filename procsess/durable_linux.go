package procsess

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"path/filepath"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// startTime bounds the start of a holder and its program.
const startTime = 30 * time.Second

func (o *Options) sessionsDir() string { return filepath.Join(o.StateDir, "sessions") }

// ledger is where this registry's durable sessions are written down.
func (r *Registry) ledger() (*ledger, error) {
	if r.opts.StateDir == "" {
		return nil, tools.Errorf(tools.CodeStateUnavailable, "durable sessions need a state directory, and there is none")
	}
	store, err := state.NewFiles(filepath.Join(r.opts.StateDir, "records"), nil)
	if err != nil {
		return nil, err
	}
	return &ledger{store: store}, nil
}

// startDurable starts a session in a holder. What is about to be started is on
// record first: if this process ends at any moment from there on, the next registry
// finds the session, or that there is none.
func (r *Registry) startDurable(ctx context.Context, l *launch, e *entry) (verbs, error) {
	records, err := r.ledger()
	if err != nil {
		return nil, err
	}
	sockets, err := openSocketDir(r.opts.sessionsDir(), true)
	if err != nil {
		return nil, err
	}
	sockets.close()
	mark := newMark()
	recorded, err := records.enter(ctx, record{
		Schema: recordSchema, Session: l.ID, Name: l.Name, Owner: l.Owner, State: Starting,
		Fingerprint: hashOf(append([]string{l.Path}, l.Args...)...), Mark: hashOf(mark),
		Socket: socketName(l.ID), PTY: !l.Pipe, Created: time.Now().UTC(),
	})
	if err != nil {
		return nil, err
	}
	s, err := r.bear(ctx, l, recorded, mark)
	if err != nil {
		return nil, err
	}
	s.watch(func() { r.wasEnded(e) })
	return s, nil
}

// bear starts the holder, tells it what it is for, and records what came of it.
func (r *Registry) bear(ctx context.Context, l *launch, recorded *line, mark string) (*remote, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, errNoAnswer(l.ID))
	defer cancel()
	var encoded bytes.Buffer
	if err := gob.NewEncoder(&encoded).Encode(l); err != nil {
		return nil, tools.Errorf(tools.CodeInternal, "what to start cannot be encoded: %w", err)
	}
	born, fence := recorded.now()
	conn, err := startHolder(ctx, r.opts.Helper)
	if err != nil {
		return nil, errors.Join(tools.AsError(err), recorded.strike(context.WithoutCancel(ctx)))
	}
	link := newLink(conn, nil)
	said, err := exchange[welcome](ctx, link, callStart, commission{
		Launch: encoded.Bytes(), Mark: mark, Fence: fence, Sessions: r.opts.sessionsDir(), Socket: born.Socket, Kept: r.opts.Kept,
	})
	if err != nil {
		link.close()
		if ctx.Err() != nil {
			// Whether it was started is not known. The record stays: recovery finds out.
			return nil, context.Cause(ctx)
		}
		return nil, errors.Join(err, recorded.strike(ctx))
	}
	s := newRemote(recorded, r.opts.sessionsDir(), r.opts.Logger, link, said.Info)
	err = recorded.change(ctx, func(r *record) {
		r.State, r.Boot, r.Holder, r.Child, r.Started = Running, said.Reference.Boot, said.Reference.Holder, said.Reference.Child, said.Info.Started
	})
	if err != nil {
		// What cannot be taken up again is not durable, and was not asked for otherwise.
		_, killErr := exchange[killed](ctx, link, callKill, killing{ByRelease})
		_, discardErr := exchange[nothing](ctx, link, callDiscard, nothing{})
		link.close()
		return nil, errors.Join(err, killErr, discardErr)
	}
	return s, nil
}
