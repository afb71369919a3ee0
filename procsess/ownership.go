package procsess

import (
	"context"
	"errors"

	"github.com/prism-ls/prism-ls/tools"
)

func (e *entry) mayUse(caller Caller) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return caller.Operator || e.owner == caller.Owner || e.shared[caller.Owner]
}

// owned is find for what only the owner may decide.
func (r *Registry) owned(caller Caller, id string) (*entry, error) {
	e, err := r.find(caller, id)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !caller.Operator && e.owner != caller.Owner {
		return nil, tools.Errorf(tools.CodeProcessOwnership, "session %s is shared with you, only its owner can give it away", id)
	}
	return e, nil
}

// Share lets another owner use a session, too.
func (r *Registry) Share(caller Caller, id, with string) error {
	e, err := r.owned(caller, id)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shared[with] = true
	return nil
}

// Transfer gives a session to another owner. The former one has no part in it any
// more.
func (r *Registry) Transfer(caller Caller, id, to string) error {
	e, err := r.owned(caller, id)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.owner = to
	delete(e.shared, to)
	return nil
}

// CancelOwned ends the live sessions of an owner that is gone: those that asked
// for it are released, durable ones stay, the others are killed.
func (r *Registry) CancelOwned(ctx context.Context, owner string) error {
	r.mu.Lock()
	var mine []*entry
	for _, e := range r.sessions {
		e.mu.Lock()
		if e.owner == owner && !e.out {
			mine = append(mine, e)
		}
		e.mu.Unlock()
	}
	r.mu.Unlock()
	failures := make(chan error, len(mine))
	for _, e := range mine {
		go func() { failures <- r.cancel(ctx, e) }()
	}
	var errs []error
	for range mine {
		errs = append(errs, <-failures)
	}
	return errors.Join(errs...)
}

func (r *Registry) cancel(ctx context.Context, e *entry) error {
	switch {
	case e.isOver() || e.durable:
		return nil
	case e.keepAtEnd:
		return r.Release(ctx, Caller{Operator: true}, e.id)
	}
	_, err := e.kill(ctx, ByRelease)
	return err
}
