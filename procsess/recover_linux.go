package procsess

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/prism-ls/prism-ls/tools"
)

// Recover takes up the durable sessions on record that are the caller's, or those
// named by ids, and reports on each; those that this registry has already are left
// out. Whoever takes a session up last has it: the registry that had it before loses
// it (its verbs answer CodeRecoveryFence, its state is Unknown) and may take it up
// again in its turn. Of two that do so in the same moment one gets
// CodeRecoveryFence, and leaves the session to the other.
//
// A session is taken up only if what answers on its socket is, by the kernel's word
// and by a secret, the very process that was recorded. If nobody answers there, or
// the machine was started anew since, the session stays in the registry with its ID,
// in state Unknown (or as it was recorded, if its end was), and its record is gone.
//
// The error is CodeStateUnavailable (there are no records to be had), or
// CodeRecoveryLimit (there are more than 1024; the first of them were looked at).
func (r *Registry) Recover(ctx context.Context, caller Caller, ids ...string) ([]Recovered, error) {
	records, err := r.ledger()
	if err != nil {
		return nil, err
	}
	lines, out, err := records.all(ctx)
	if err != nil && !errors.Is(err, tools.CodeRecoveryLimit) {
		return nil, err
	}
	found := map[string]bool{}
	var wanted []*line
	for _, l := range lines {
		recorded, _ := l.now()
		found[recorded.Session] = true
		named := slices.Contains(ids, recorded.Session)
		mine := caller.Operator || recorded.Owner == caller.Owner
		switch {
		case len(ids) > 0 && !named, !mine && !named, r.holds(recorded.Session):
		case !mine:
			out = append(out, Recovered{ID: recorded.Session, Err: tools.Errorf(tools.CodeRecoveryOwnership, "session %s belongs to another owner", recorded.Session)})
		default:
			wanted = append(wanted, l)
		}
	}
	for _, id := range ids {
		if !found[id] && !r.holds(id) {
			out = append(out, Recovered{ID: id, Err: tools.Errorf(tools.CodeRecoveryUnknown, "nothing is on record of a session %.64q", id)})
		}
	}
	results := make([]Recovered, len(wanted))
	var group errgroup.Group
	group.SetLimit(recoverAtOnce)
	for i, l := range wanted {
		group.Go(func() error {
			results[i] = r.takeUp(ctx, caller, l)
			return nil
		})
	}
	_ = group.Wait()
	for _, result := range results {
		if result.ID != "" {
			out = append(out, result)
		}
	}
	slices.SortFunc(out, func(a, b Recovered) int { return strings.Compare(a.ID, b.ID) })
	return out, err
}

// all reads the records; those that cannot be read are told of.
func (l *ledger) all(ctx context.Context) (lines []*line, broken []Recovered, err error) {
	in := l.key("")
	in.Name = ""
	for cursor := ""; ; {
		page, err := l.store.List(ctx, in, cursor, 0)
		if err != nil {
			return nil, nil, err
		}
		for _, err := range page.Broken {
			broken = append(broken, Recovered{Err: err})
		}
		for _, kept := range page.Records {
			if len(lines) == mostRecords {
				return lines, broken, tools.Errorf(tools.CodeRecoveryLimit, "more than %d durable sessions are on record", mostRecords)
			}
			one, err := l.read(kept)
			if err != nil {
				broken = append(broken, Recovered{ID: kept.Key.Name, Err: err})
				continue
			}
			lines = append(lines, one)
		}
		if cursor = page.Next; cursor == "" {
			return lines, broken, nil
		}
	}
}

// holds reports whether the session is this registry's, and was not overtaken.
func (r *Registry) holds(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.sessions[id]
	if e == nil {
		return false
	}
	s, durable := e.verbs.(*remote)
	return !durable || !errors.Is(s.isLost(), tools.CodeRecoveryFence)
}

// takeUp takes up one session; a result without ID is nothing to tell of.
func (r *Registry) takeUp(ctx context.Context, caller Caller, l *line) Recovered {
	recorded, _ := l.now()
	fail := func(err error) Recovered { return Recovered{ID: recorded.Session, Err: tools.AsError(err)} }
	if recorded.State == Released {
		_ = l.strike(ctx) // its registry was about to
		return Recovered{}
	}
	if recorded.State == Starting && time.Since(recorded.Created) < startTime {
		return fail(tools.Errorf(tools.CodeRecoveryTimeout, "session %s is being started; try again", recorded.Session))
	}
	boot, err := bootID()
	if err != nil {
		return fail(err)
	}
	e := recorded.entry()
	if err := r.takePlace(caller, e); err != nil {
		if errors.Is(err, tools.CodeProcessLimit) {
			err = tools.Errorf(tools.CodeRecoveryLimit, "there is no place for session %s: %w", recorded.Session, err)
		}
		return fail(err)
	}
	if recorded.Boot != "" && recorded.Boot != boot {
		r.givePlace(e, false)
		return r.bury(ctx, e, l, tools.Errorf(tools.CodeRecoveryUnknown, "the machine was started anew since; session %s ended with that", recorded.Session))
	}
	err = l.take(ctx)
	var s *remote
	if err == nil {
		s, err = r.reach(ctx, l)
	}
	switch {
	case errors.Is(err, tools.CodeRecoveryUnknown), errors.Is(err, tools.CodeRecoveryUntrusted):
		r.givePlace(e, false)
		return r.bury(ctx, e, l, err)
	case err != nil:
		r.givePlace(e, false)
		return fail(err)
	}
	e.verbs = s
	close(e.placed)
	r.givePlace(e, true)
	s.watch(func() { r.wasEnded(e) })
	return Recovered{ID: e.id, Info: e.describe(ctx)}
}

// reach connects to the holder with the fence that was taken.
func (r *Registry) reach(ctx context.Context, l *line) (*remote, error) {
	recorded, fence := l.now()
	link, said, err := greet(ctx, r.opts.sessionsDir(), &recorded, fence)
	if err != nil {
		return nil, err
	}
	if recorded.State == Starting {
		err = l.change(ctx, func(r *record) {
			r.State, r.Boot, r.Holder, r.Child, r.Started = Running, said.Reference.Boot, said.Reference.Holder, said.Reference.Child, said.Info.Started
		})
		if err != nil {
			link.close()
			return nil, err
		}
	}
	return newRemote(l, r.opts.sessionsDir(), r.opts.Logger, link, said.Info), nil
}

// bury keeps a session that cannot be had any more by its ID.
func (r *Registry) bury(ctx context.Context, e *entry, l *line, why error) Recovered {
	recorded, _ := l.now()
	info := Info{
		ID: e.id, Name: recorded.Name, State: Unknown, Input: Input{State: UnknownInput}, PID: recorded.Child.PID, PTY: recorded.PTY,
		Durable: true, Owner: recorded.Owner, Started: recorded.Started, Ended: recorded.Ended, Degraded: tools.AsError(why).Message,
	}
	if !recorded.State.Live() {
		info.State, info.Exit = recorded.State, recorded.Exit
	}
	if errors.Is(why, tools.CodeRecoveryUnknown) {
		// What answers and is not it stays on record: somebody should look.
		if err := l.strike(ctx); err != nil {
			return Recovered{ID: e.id, Err: tools.AsError(err)}
		}
		_ = os.Remove(filepath.Join(r.opts.sessionsDir(), recorded.Socket)) // nobody listens there
	}
	e.verbs = newTombstone(l, r.opts.Logger, info, why)
	r.mu.Lock()
	r.sessions[e.id] = e
	r.mu.Unlock()
	close(e.placed)
	r.wasEnded(e)
	return Recovered{ID: e.id, Info: e.describe(ctx), Err: why}
}

// entry is a registry's entry for the session.
func (r *record) entry() *entry {
	e := &entry{
		id: r.Session, name: r.Name, durable: true, owner: r.Owner,
		shared: map[string]bool{}, cursors: map[string]int64{}, placed: make(chan struct{}),
	}
	for _, who := range r.Shared {
		e.shared[who] = true
	}
	return e
}
