package procsess

import (
	"context"
	"errors"
	"maps"
	"slices"

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
	return e.change(func(owner string, shared map[string]bool) string {
		shared[with] = true
		return owner
	})
}

// Transfer gives a session to another owner. The former one has no part in it any
// more.
func (r *Registry) Transfer(caller Caller, id, to string) error {
	e, err := r.owned(caller, id)
	if err != nil {
		return err
	}
	return e.change(func(_ string, shared map[string]bool) string {
		delete(shared, to)
		return to
	})
}

// change changes whose a session is. Where that is on record, it changes there first.
func (e *entry) change(make func(owner string, shared map[string]bool) string) error {
	e.sharing.Lock()
	defer e.sharing.Unlock()
	e.mu.Lock()
	shared := maps.Clone(e.shared)
	owner := make(e.owner, shared)
	e.mu.Unlock()
	if s, ok := e.verbs.(interface {
		belongs(owner string, shared []string) error
	}); ok {
		if err := s.belongs(owner, slices.Sorted(maps.Keys(shared))); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.owner, e.shared = owner, shared
	return nil
}

// CancelOwned ends the sessions of an owner that is gone, with what those that have
// ended left behind: those that asked for it are released, durable ones stay, the
// others are killed.
func (r *Registry) CancelOwned(ctx context.Context, owner string) error {
	r.mu.Lock()
	var mine []*entry
	for _, e := range r.sessions {
		if e.ownedBy(owner) {
			mine = append(mine, e)
		}
	}
	started := map[*entry]chan struct{}{}
	for e, done := range r.starting {
		if e.ownedBy(owner) {
			mine, started[e] = append(mine, e), done
		}
	}
	r.mu.Unlock()
	failures := make(chan error, len(mine))
	for _, e := range mine {
		go func() { failures <- r.cancel(ctx, e, started[e]) }()
	}
	var errs []error
	for range mine {
		errs = append(errs, <-failures)
	}
	return errors.Join(errs...)
}

func (e *entry) ownedBy(owner string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.owner == owner && !e.out
}

// cancel waits for a session that is being started; started is nil for others.
func (r *Registry) cancel(ctx context.Context, e *entry, started <-chan struct{}) error {
	if started != nil {
		select {
		case <-started:
		case <-ctx.Done():
			return tools.AsError(context.Cause(ctx))
		}
		r.mu.Lock()
		known := r.sessions[e.id] == e
		r.mu.Unlock()
		if !known {
			return nil
		}
	}
	switch {
	case e.durable:
		return nil
	case e.keepAtEnd && !e.isOver():
		err := r.Release(ctx, Caller{Operator: true}, e.id)
		if errors.Is(err, tools.CodeProcessState) {
			return nil // it has ended, or was released, in this moment
		}
		return err
	case e.keepAtEnd:
		return nil // what it left behind was to stay
	}
	_, err := e.kill(ctx, ByRelease)
	return err
}
