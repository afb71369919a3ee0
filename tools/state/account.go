package state

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	mathrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// AccountOptions adjust an Account. The zero value serves a host whose owners are its
// users.
type AccountOptions struct {
	// Owner is whose the effects of a call are; nil is Owner{User: call.Owner}.
	Owner func(call tools.EffectCall) Owner
	// Tenant is a part of every identity, such as the place that calls work in.
	Tenant string
	// Session is what a run belongs to, and has to be the same when the run goes on;
	// nil is the call's session.
	Session func(call tools.EffectCall) string
	// Look tells what is there now. Calls of a run are then taken up after a crash if it
	// can be told what became of them. nil: a person has to say.
	Look Looker
	// TTL is how long a claim lasts: EffectTime. A call that may take longer gets more.
	TTL time.Duration
	// Attempts is how often a call of a run may be made: EffectAttempts.
	Attempts int64
	// ResultBytes bounds a result that is kept; no more than the store takes.
	ResultBytes int64
	// Keep is how long what has ended is kept; zero is a week.
	Keep time.Duration
	// Tidy removes what ended before a time; nil is EffectStore.Cleanup, for the owner
	// whose call has ended.
	Tidy func(ctx context.Context, before time.Time) error
	// Wait is how long a call without a run waits for the store before it goes on
	// without account; zero is two seconds.
	Wait time.Duration
	// Logger hears of calls without account. nil: nobody does.
	Logger *slog.Logger
}

// Account keeps account of tools' calls in an EffectStore: it is a tools.Effects.
//
// A call that changes nothing writes nothing. One without a run is on record from the
// moment before its first effect, in one durable step that it waits for, and its end
// is recorded behind its back; if the store is not available it is made without
// account. A call of a run waits for its end to be on record as well, and is not made
// if the store is not available.
type Account struct {
	store EffectStore
	opts  AccountOptions
	down  atomic.Int64 // unix nanoseconds before which the store is not tried again
	lost  atomic.Bool  // somebody was told that calls go without account

	mu     sync.Mutex
	closed bool
	ends   chan func() // what is recorded behind a call's back
	done   chan struct{}
}

// retryAfter is how long calls without a run leave a store alone that failed.
const retryAfter = 5 * time.Second

// cleanupEvery is after how many ends there is a cleanup, on the average: many a
// process lives for one call, and what it takes to look through all is not each one's.
const cleanupEvery = 256

// NewAccount keeps account in store, which stays the caller's to close, after the
// Account. It starts nothing before there is something to record.
func NewAccount(store EffectStore, opts *AccountOptions) (*Account, error) {
	a := &Account{store: store}
	if opts != nil {
		a.opts = *opts
	}
	for _, bound := range []struct {
		limit tools.Limit
		value *int64
	}{{EffectAttempts, &a.opts.Attempts}, {EffectResultBytes, &a.opts.ResultBytes}} {
		value, err := bound.limit.Option(*bound.value)
		if err != nil {
			return nil, err
		}
		*bound.value = value
	}
	seconds, err := EffectTime.Option(int64((a.opts.TTL + time.Second - 1) / time.Second))
	if err != nil {
		return nil, err
	}
	a.opts.TTL = time.Duration(seconds) * time.Second
	if a.opts.Keep <= 0 {
		a.opts.Keep = 7 * 24 * time.Hour
	}
	if a.opts.Wait <= 0 {
		a.opts.Wait = 2 * time.Second
	}
	if a.opts.Logger == nil {
		a.opts.Logger = slog.New(slog.DiscardHandler)
	}
	return a, nil
}

// Close waits until all that has ended is on record.
func (a *Account) Close() error {
	a.mu.Lock()
	ends := a.ends
	if !a.closed {
		a.closed = true
		if ends != nil {
			close(ends)
		}
	}
	a.mu.Unlock()
	if ends != nil {
		<-a.done
	}
	return nil
}

// Begin implements tools.Effects.
func (a *Account) Begin(ctx context.Context, call tools.EffectCall) (tools.EffectAccount, error) {
	if call.Run == "" && time.Now().UnixNano() < a.down.Load() {
		return nil, nil
	}
	e := &entry{account: a, call: call, owner: Owner{User: call.Owner}}
	if a.opts.Owner != nil {
		e.owner = a.opts.Owner(call)
	}
	e.identify()
	if call.Run != "" {
		if err := e.takeUp(ctx); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// identify says which effect the call is: without a run one that there never was.
func (e *entry) identify() {
	call := &e.call
	session := call.Session
	if e.account.opts.Session != nil {
		session = e.account.opts.Session(*call)
	}
	e.identity = EffectIdentity{Tenant: e.account.opts.Tenant, Session: session, Run: call.Run, Operation: call.Tool, Arguments: call.Arguments}
	if call.Run != "" {
		return
	}
	// Two strings always encode. The call's own name is the host's to choose, and may
	// come twice.
	e.identity.Arguments, _ = json.Marshal(struct {
		Call string `json:"call"`
		One  string `json:"one"`
	}{call.ID, rand.Text()})
}

// options are those of a claim of the call.
func (e *entry) options() *EffectOptions {
	ttl := e.account.opts.TTL
	if need := e.call.Timeout + time.Minute; e.call.Timeout > 0 && need > ttl {
		ttl = min(need, time.Duration(EffectTime.Hard)*time.Second)
	}
	return &EffectOptions{TTL: ttl, Attempts: e.account.opts.Attempts}
}

// later records something behind a call's back, in order. When much waits already, or
// the account is being closed, the caller does it.
func (a *Account) later(record func()) {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		record()
		return
	}
	if a.ends == nil {
		a.ends, a.done = make(chan func(), 64), make(chan struct{})
		go func() {
			defer close(a.done)
			for record := range a.ends {
				record()
			}
		}()
	}
	select {
	case a.ends <- record:
		a.mu.Unlock()
	default:
		a.mu.Unlock()
		record()
	}
}

// tidy removes, now and then, what ended long ago.
func (a *Account) tidy(ctx context.Context, owner Owner) {
	if mathrand.N(cleanupEvery) != 0 {
		return
	}
	before := time.Now().Add(-a.opts.Keep)
	var err error
	if a.opts.Tidy != nil {
		err = a.opts.Tidy(ctx, before)
	} else {
		_, err = a.store.Cleanup(ctx, owner, before, PageRecords.Hard)
	}
	if err != nil {
		a.opts.Logger.Debug("old effects were not removed", "error", err)
	}
}

// storeFailed reports whether err says nothing about the effect, only that the store
// cannot be used.
func storeFailed(err error) bool {
	return errors.Is(err, tools.CodeStateUnavailable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, tools.CodeTimeout) ||
		errors.Is(err, tools.CodeNoSpace) || errors.Is(err, tools.CodeIO) || errors.Is(err, tools.CodePermission)
}
