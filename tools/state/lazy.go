package state

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// Lazy is Stores that are opened when the first of their methods is called, so that
// whoever may need them can be made without opening anything. While they cannot be
// opened every method returns why, CodeStateUnavailable, and tries again the next time.
type Lazy struct {
	open        func(ctx context.Context) (Stores, error)
	checkpoints lazyCheckpoints
	leases      lazyLeases
	effects     lazyEffects
	artifacts   lazyArtifacts

	// ending ends what opens when the stores are closed.
	ending context.Context
	end    context.CancelFunc

	mu      sync.Mutex
	opening *attempt // nil while nobody opens
	stores  Stores
	closed  bool
}

// attempt is one opening, which whoever needs the stores waits for.
type attempt struct {
	done   chan struct{}
	stores Stores
	err    error
}

// NewLazy returns stores that open opens.
func NewLazy(open func(ctx context.Context) (Stores, error)) *Lazy {
	l := &Lazy{open: open}
	l.ending, l.end = context.WithCancel(context.Background())
	l.checkpoints = lazyCheckpoints{lazyOf(l, Stores.Checkpoints)}
	l.leases = lazyLeases{lazyOf(l, Stores.Leases)}
	l.effects = lazyEffects{lazyOf(l, Stores.Effects)}
	l.artifacts = lazyArtifacts{lazyOf(l, Stores.Artifacts)}
	return l
}

// Checkpoints implements Stores.
func (l *Lazy) Checkpoints() CheckpointStore { return l.checkpoints }

// Leases implements Stores.
func (l *Lazy) Leases() LeaseStore { return l.leases }

// Effects implements Stores.
func (l *Lazy) Effects() EffectStore { return l.effects }

// Artifacts implements Stores.
func (l *Lazy) Artifacts() ArtifactStore { return l.artifacts }

// Close closes the stores if they were opened. Afterwards they are not.
func (l *Lazy) Close() error {
	l.end()
	l.mu.Lock()
	opening, stores := l.opening, l.stores
	l.stores, l.closed = nil, true
	l.mu.Unlock()
	if opening != nil {
		<-opening.done // it closes what it has opened
	}
	if stores == nil {
		return nil
	}
	return stores.Close()
}

// Open opens the stores if they are not open, and returns them. It waits no longer
// than ctx lasts; the opening goes on, for whoever asks next.
func (l *Lazy) Open(ctx context.Context) (Stores, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	l.mu.Lock()
	if l.closed || l.stores != nil {
		defer l.mu.Unlock()
		if l.closed {
			return nil, errClosed()
		}
		return l.stores, nil
	}
	opening := l.opening
	if opening == nil {
		opening = &attempt{done: make(chan struct{})}
		l.opening = opening
		go l.try(opening)
	}
	l.mu.Unlock()
	select {
	case <-opening.done:
		return opening.stores, opening.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// try opens the stores. What comes after Close is closed.
func (l *Lazy) try(opening *attempt) {
	defer close(opening.done)
	stores, err := l.open(l.ending)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opening = nil
	switch {
	case err != nil:
		opening.err = openError(err)
	case l.closed:
		_ = stores.Close()
		opening.err = errClosed()
	default:
		l.stores, opening.stores = stores, stores
	}
}

// openError has whatever keeps the stores closed be CodeStateUnavailable.
func openError(err error) error {
	var coded *tools.Error
	switch {
	case !errors.As(err, &coded):
		return tools.Errorf(tools.CodeStateUnavailable, "opening the stores: %w", err)
	case coded.Code != tools.CodeStateUnavailable:
		return tools.Errorf(tools.CodeStateUnavailable, "%s", coded.Message)
	}
	return err
}

// lazy is one of the four, which may be closed alone: whoever does is done with it,
// and not with the others.
type lazy[S any] struct {
	lazy   *Lazy
	of     func(Stores) S
	closed *atomic.Bool
}

func lazyOf[S any](l *Lazy, of func(Stores) S) lazy[S] {
	return lazy[S]{l, of, new(atomic.Bool)}
}

// Close makes every later call fail.
func (l lazy[S]) Close() error {
	l.closed.Store(true)
	return nil
}

// with calls do with the opened store.
func with[S, R any](ctx context.Context, l lazy[S], do func(S) (R, error)) (R, error) {
	var none R
	if l.closed.Load() {
		return none, errClosed()
	}
	stores, err := l.lazy.Open(ctx)
	if err != nil {
		return none, err
	}
	return do(l.of(stores))
}

// only is with, of what returns nothing but an error.
func only[S any](ctx context.Context, l lazy[S], do func(S) error) error {
	_, err := with(ctx, l, func(store S) (struct{}, error) { return struct{}{}, do(store) })
	return err
}

type lazyCheckpoints struct{ lazy[CheckpointStore] }

func (l lazyCheckpoints) Load(ctx context.Context, key Key) (Record, error) {
	return with(ctx, l.lazy, func(s CheckpointStore) (Record, error) { return s.Load(ctx, key) })
}

func (l lazyCheckpoints) Save(ctx context.Context, key Key, change Change) (Record, error) {
	return with(ctx, l.lazy, func(s CheckpointStore) (Record, error) { return s.Save(ctx, key, change) })
}

func (l lazyCheckpoints) Delete(ctx context.Context, key Key, version, fence int64) error {
	return only(ctx, l.lazy, func(s CheckpointStore) error { return s.Delete(ctx, key, version, fence) })
}

func (l lazyCheckpoints) List(ctx context.Context, in Key, cursor string, limit int64) (Page, error) {
	return with(ctx, l.lazy, func(s CheckpointStore) (Page, error) { return s.List(ctx, in, cursor, limit) })
}

type lazyLeases struct{ lazy[LeaseStore] }

func (l lazyLeases) TryAcquire(ctx context.Context, key Key, holder string, ttl time.Duration) (Lease, error) {
	return with(ctx, l.lazy, func(s LeaseStore) (Lease, error) { return s.TryAcquire(ctx, key, holder, ttl) })
}

func (l lazyLeases) Renew(ctx context.Context, lease Lease, ttl time.Duration) (Lease, error) {
	return with(ctx, l.lazy, func(s LeaseStore) (Lease, error) { return s.Renew(ctx, lease, ttl) })
}

func (l lazyLeases) Release(ctx context.Context, lease Lease) error {
	return only(ctx, l.lazy, func(s LeaseStore) error { return s.Release(ctx, lease) })
}

type lazyEffects struct{ lazy[EffectStore] }

func (l lazyEffects) Begin(ctx context.Context, owner Owner, identity EffectIdentity, opts *EffectOptions) (Effect, error) {
	return with(ctx, l.lazy, func(s EffectStore) (Effect, error) { return s.Begin(ctx, owner, identity, opts) })
}

func (l lazyEffects) MarkDispatched(ctx context.Context, claim EffectClaim, witnesses []tools.Witness) error {
	return only(ctx, l.lazy, func(s EffectStore) error { return s.MarkDispatched(ctx, claim, witnesses) })
}

func (l lazyEffects) Complete(ctx context.Context, claim EffectClaim, result []byte) error {
	return only(ctx, l.lazy, func(s EffectStore) error { return s.Complete(ctx, claim, result) })
}

func (l lazyEffects) Fail(ctx context.Context, claim EffectClaim, retryable bool, reason string) error {
	return only(ctx, l.lazy, func(s EffectStore) error { return s.Fail(ctx, claim, retryable, reason) })
}

func (l lazyEffects) MarkUnknown(ctx context.Context, claim EffectClaim, reason string) error {
	return only(ctx, l.lazy, func(s EffectStore) error { return s.MarkUnknown(ctx, claim, reason) })
}

func (l lazyEffects) ResolveUnknown(ctx context.Context, owner Owner, key string, resolution EffectResolution) error {
	return only(ctx, l.lazy, func(s EffectStore) error { return s.ResolveUnknown(ctx, owner, key, resolution) })
}

func (l lazyEffects) Get(ctx context.Context, owner Owner, key string) (Effect, error) {
	return with(ctx, l.lazy, func(s EffectStore) (Effect, error) { return s.Get(ctx, owner, key) })
}

func (l lazyEffects) List(ctx context.Context, owner Owner, states []EffectState, cursor string, limit int64) (EffectPage, error) {
	return with(ctx, l.lazy, func(s EffectStore) (EffectPage, error) { return s.List(ctx, owner, states, cursor, limit) })
}

func (l lazyEffects) Cleanup(ctx context.Context, owner Owner, before time.Time, limit int64) (int, error) {
	return with(ctx, l.lazy, func(s EffectStore) (int, error) { return s.Cleanup(ctx, owner, before, limit) })
}

type lazyArtifacts struct{ lazy[ArtifactStore] }

func (l lazyArtifacts) Put(ctx context.Context, owner Owner, r io.Reader) (Artifact, error) {
	return with(ctx, l.lazy, func(s ArtifactStore) (Artifact, error) { return s.Put(ctx, owner, r) })
}

func (l lazyArtifacts) Open(ctx context.Context, owner Owner, sha256 string) (io.ReadCloser, error) {
	return with(ctx, l.lazy, func(s ArtifactStore) (io.ReadCloser, error) { return s.Open(ctx, owner, sha256) })
}

func (l lazyArtifacts) Stat(ctx context.Context, owner Owner, sha256 string) (Artifact, error) {
	return with(ctx, l.lazy, func(s ArtifactStore) (Artifact, error) { return s.Stat(ctx, owner, sha256) })
}

func (l lazyArtifacts) List(ctx context.Context, owner Owner, cursor string, limit int64) (ArtifactPage, error) {
	return with(ctx, l.lazy, func(s ArtifactStore) (ArtifactPage, error) { return s.List(ctx, owner, cursor, limit) })
}

func (l lazyArtifacts) Delete(ctx context.Context, owner Owner, sha256 string) error {
	return only(ctx, l.lazy, func(s ArtifactStore) error { return s.Delete(ctx, owner, sha256) })
}
