package state

import (
	"context"
	"slices"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

type memoryEffects struct{ memoryView }

// clone shares no bytes with e.
func (e Effect) clone() Effect {
	e.Witnesses, e.Result = slices.Clone(e.Witnesses), slices.Clone(e.Result)
	return e
}

// Begin implements EffectStore.
func (s memoryEffects) Begin(ctx context.Context, owner Owner, identity EffectIdentity, opts *EffectOptions) (Effect, error) {
	attempt, err := NewEffectAttempt(owner, identity, opts)
	if err != nil {
		return Effect{}, err
	}
	now, leave, err := s.enter(ctx)
	if err != nil {
		return Effect{}, err
	}
	defer leave()
	s.token++
	attempt.Now, attempt.Token, attempt.Most = now, s.token, s.limits.EffectResultBytes
	var kept *Effect
	if effect, ok := s.claimed[attempt.Key]; ok {
		kept = &effect
	}
	next, changed, err := attempt.Begin(kept)
	if changed {
		s.claimed[attempt.Key] = next.clone()
	}
	if err != nil {
		return Effect{}, err
	}
	return next.clone(), nil
}

// step moves one effect on.
func (s memoryEffects) step(ctx context.Context, owner Owner, key string, to func(e Effect, now time.Time, most int64) (Effect, error)) error {
	most, err := EffectResultBytes.Option(s.limits.EffectResultBytes)
	if err != nil {
		return err
	}
	if err := owner.Check(); err != nil {
		return err
	}
	now, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	kept, ok := s.claimed[key]
	if !ok {
		return NoEffect(key)
	}
	next, err := to(kept, now, most)
	if err != nil {
		return err
	}
	s.claimed[key] = next.clone()
	return nil
}

// MarkDispatched implements EffectStore.
func (s memoryEffects) MarkDispatched(ctx context.Context, claim EffectClaim, witnesses []tools.Witness) error {
	return s.step(ctx, claim.Owner, claim.Key, func(e Effect, now time.Time, most int64) (Effect, error) {
		return e.Dispatch(claim, now, witnesses, most)
	})
}

// Complete implements EffectStore.
func (s memoryEffects) Complete(ctx context.Context, claim EffectClaim, result []byte) error {
	return s.step(ctx, claim.Owner, claim.Key, func(e Effect, now time.Time, most int64) (Effect, error) {
		return e.Complete(claim, now, result, most)
	})
}

// Fail implements EffectStore.
func (s memoryEffects) Fail(ctx context.Context, claim EffectClaim, retryable bool, reason string) error {
	return s.step(ctx, claim.Owner, claim.Key, func(e Effect, now time.Time, _ int64) (Effect, error) {
		return e.Fail(claim, now, retryable, reason)
	})
}

// MarkUnknown implements EffectStore.
func (s memoryEffects) MarkUnknown(ctx context.Context, claim EffectClaim, reason string) error {
	return s.step(ctx, claim.Owner, claim.Key, func(e Effect, now time.Time, _ int64) (Effect, error) {
		return e.Doubt(claim, now, reason)
	})
}

// ResolveUnknown implements EffectStore.
func (s memoryEffects) ResolveUnknown(ctx context.Context, owner Owner, key string, resolution EffectResolution) error {
	return s.step(ctx, owner, key, func(e Effect, now time.Time, most int64) (Effect, error) {
		return e.Resolve(owner, now, resolution, most)
	})
}

// Get implements EffectStore.
func (s memoryEffects) Get(ctx context.Context, owner Owner, key string) (Effect, error) {
	if err := owner.Check(); err != nil {
		return Effect{}, err
	}
	now, leave, err := s.enter(ctx)
	if err != nil {
		return Effect{}, err
	}
	defer leave()
	kept, ok := s.claimed[key]
	if !ok {
		return Effect{}, NoEffect(key)
	}
	if err := kept.Own(owner); err != nil {
		return Effect{}, err
	}
	return kept.Seen(now).clone(), nil
}

// List implements EffectStore; the order is that of the keys.
func (s memoryEffects) List(ctx context.Context, owner Owner, states []EffectState, cursor string, limit int64) (EffectPage, error) {
	wanted, err := CheckStates(states)
	if err != nil {
		return EffectPage{}, err
	}
	if err := owner.Check(); err != nil {
		return EffectPage{}, err
	}
	if limit, err = PageRecords.Option(limit); err != nil {
		return EffectPage{}, err
	}
	now, leave, err := s.enter(ctx)
	if err != nil {
		return EffectPage{}, err
	}
	defer leave()
	keys, next := cut(sorted(s.claimed, func(e Effect) bool {
		return e.Owner == owner && slices.Contains(wanted[:], e.Seen(now).State)
	}), cursor, limit)
	page := EffectPage{Next: next}
	for _, key := range keys {
		page.Effects = append(page.Effects, s.claimed[key].Seen(now).clone())
	}
	return page, nil
}

// Cleanup implements EffectStore.
func (s memoryEffects) Cleanup(ctx context.Context, owner Owner, before time.Time, limit int64) (int, error) {
	if err := owner.Check(); err != nil {
		return 0, err
	}
	limit, err := PageRecords.Option(limit)
	if err != nil {
		return 0, err
	}
	_, leave, err := s.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	keys := sorted(s.claimed, func(e Effect) bool { return e.Owner == owner && e.Settled(before) })
	keys, _ = cut(keys, "", limit)
	for _, key := range keys {
		delete(s.claimed, key)
	}
	return len(keys), nil
}
