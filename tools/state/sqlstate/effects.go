package sqlstate

import (
	"context"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// effects is the EffectStore.
type effects struct {
	view
	most int64
}

const (
	effectColumns = `key, tenant, account, person, operation, state, attempts, claim, expires, witnesses, result, reason, created, updated`

	selectEffect = `SELECT ` + effectColumns + ` FROM prism_effect WHERE key = $1`

	insertEffect = `INSERT INTO prism_effect (` + effectColumns + `)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING`

	updateEffect = `UPDATE prism_effect SET state = $2, attempts = $3, claim = $4, expires = $5, witnesses = $6, result = $7, reason = $8, updated = $9
		WHERE key = $1 AND claim = $10 AND state = $11`

	// An effect is listed by the state that it is shown in.
	listEffects = `SELECT ` + effectColumns + ` FROM prism_effect
		WHERE tenant = $1 AND account = $2 AND person = $3 AND key > $4
		AND CASE WHEN state = 'dispatched' AND expires <= $5 THEN 'unknown' ELSE state END IN ($6, $7, $8, $9, $10, $11)
		ORDER BY key LIMIT $12`

	settled = `CASE WHEN state = 'pending' THEN expires < $1 ELSE state IN ('completed', 'failed_retryable', 'failed_terminal') AND updated < $1 END`

	cleanupEffects = `DELETE FROM prism_effect WHERE key IN (SELECT key FROM prism_effect
		WHERE ` + settled + ` AND tenant = $2 AND account = $3 AND person = $4 ORDER BY key LIMIT $5)`

	settledEffects = `SELECT key FROM prism_effect WHERE ` + settled + ` LIMIT $2`

	removeEffect = `DELETE FROM prism_effect WHERE ` + settled + ` AND key = $2`
)

func scanEffect(row scanner) (state.Effect, error) {
	var e state.Effect
	var witnesses []byte
	var expires, created, updated int64
	err := row.Scan(&e.Key, &e.Owner.Tenant, &e.Owner.Account, &e.Owner.User, &e.Operation, &e.State, &e.Attempts, &e.Claim,
		&expires, &witnesses, &e.Result, &e.Reason, &created, &updated)
	if err != nil {
		return e, err
	}
	e.Expires, e.Created, e.Updated = fromMicros(expires), fromMicros(created), fromMicros(updated)
	e.Witnesses, err = state.DecodeWitnesses(witnesses)
	return e, err
}

// findEffect returns nil where there is none.
func findEffect(tx Tx, key, lock string) (*state.Effect, error) {
	effect, err := scanEffect(tx.Row(selectEffect+lock, key))
	if none(err) {
		return nil, nil
	}
	return &effect, err
}

const forUpdate = " FOR UPDATE"

// keep writes the effect as it is to be, over what was kept (nil: nothing), and
// reports whether that was there still.
func keep(tx Tx, kept *state.Effect, e state.Effect) (bool, error) {
	witnesses, err := state.EncodeWitnesses(e.Witnesses)
	if err != nil {
		return false, err
	}
	if kept == nil {
		affected, err := tx.Exec(insertEffect, e.Key, e.Owner.Tenant, e.Owner.Account, e.Owner.User, e.Operation, string(e.State), e.Attempts, e.Claim,
			micros(e.Expires), witnesses, some(e.Result), e.Reason, micros(e.Created), micros(e.Updated))
		return affected == 1, err
	}
	affected, err := tx.Exec(updateEffect, e.Key, string(e.State), e.Attempts, e.Claim, micros(e.Expires), witnesses, some(e.Result), e.Reason, micros(e.Updated),
		kept.Claim, string(kept.State))
	return affected == 1, err
}

// Begin implements state.EffectStore.
func (s *effects) Begin(ctx context.Context, owner state.Owner, identity state.EffectIdentity, opts *state.EffectOptions) (state.Effect, error) {
	attempt, err := state.NewEffectAttempt(owner, identity, opts)
	if err != nil {
		return state.Effect{}, err
	}
	attempt.Most = s.most
	var next state.Effect
	var refused error
	err = s.write(ctx, func(tx Tx) error {
		for range races {
			kept, err := findEffect(tx, attempt.Key, forUpdate)
			if err != nil {
				return err
			}
			if attempt.Now, err = tx.Now(); err != nil {
				return err
			}
			if attempt.Token, err = tx.Token(); err != nil {
				return err
			}
			var changed bool
			if next, changed, refused = attempt.Begin(kept); !changed {
				return nil
			}
			// What Begin found out stays, even if it refuses.
			if done, err := keep(tx, kept, next); err != nil || done {
				return err
			}
		}
		return errRaces
	})
	if err == nil {
		err = refused
	}
	if err != nil {
		return state.Effect{}, err
	}
	return next, nil
}

// step moves one effect on.
func (s *effects) step(ctx context.Context, owner state.Owner, key string, to func(e state.Effect, now time.Time) (state.Effect, error)) error {
	if err := owner.Check(); err != nil {
		return err
	}
	return s.write(ctx, func(tx Tx) error {
		for range races {
			kept, err := findEffect(tx, key, forUpdate)
			if err != nil {
				return err
			}
			if kept == nil {
				return state.NoEffect(key)
			}
			now, err := tx.Now()
			if err != nil {
				return err
			}
			next, err := to(*kept, now)
			if err != nil {
				return err
			}
			if done, err := keep(tx, kept, next); err != nil || done {
				return err
			}
		}
		return errRaces
	})
}

// MarkDispatched implements state.EffectStore.
func (s *effects) MarkDispatched(ctx context.Context, claim state.EffectClaim, witnesses []tools.Witness) error {
	return s.step(ctx, claim.Owner, claim.Key, func(e state.Effect, now time.Time) (state.Effect, error) {
		return e.Dispatch(claim, now, witnesses, s.most)
	})
}

// Complete implements state.EffectStore.
func (s *effects) Complete(ctx context.Context, claim state.EffectClaim, result []byte) error {
	return s.step(ctx, claim.Owner, claim.Key, func(e state.Effect, now time.Time) (state.Effect, error) {
		return e.Complete(claim, now, result, s.most)
	})
}

// Fail implements state.EffectStore.
func (s *effects) Fail(ctx context.Context, claim state.EffectClaim, retryable bool, reason string) error {
	return s.step(ctx, claim.Owner, claim.Key, func(e state.Effect, now time.Time) (state.Effect, error) {
		return e.Fail(claim, now, retryable, reason)
	})
}

// MarkUnknown implements state.EffectStore.
func (s *effects) MarkUnknown(ctx context.Context, claim state.EffectClaim, reason string) error {
	return s.step(ctx, claim.Owner, claim.Key, func(e state.Effect, now time.Time) (state.Effect, error) {
		return e.Doubt(claim, now, reason)
	})
}

// ResolveUnknown implements state.EffectStore.
func (s *effects) ResolveUnknown(ctx context.Context, owner state.Owner, key string, resolution state.EffectResolution) error {
	return s.step(ctx, owner, key, func(e state.Effect, now time.Time) (state.Effect, error) {
		return e.Resolve(owner, now, resolution, s.most)
	})
}

// Get implements state.EffectStore.
func (s *effects) Get(ctx context.Context, owner state.Owner, key string) (state.Effect, error) {
	if err := owner.Check(); err != nil {
		return state.Effect{}, err
	}
	var effect state.Effect
	err := s.read(ctx, func(tx Tx) error {
		kept, err := findEffect(tx, key, "")
		if err != nil {
			return err
		}
		if kept == nil {
			return state.NoEffect(key)
		}
		if err := kept.Own(owner); err != nil {
			return err
		}
		now, err := tx.Now()
		effect = kept.Seen(now)
		return err
	})
	if err != nil {
		return state.Effect{}, err
	}
	return effect, nil
}

// List implements state.EffectStore; the order is that of the keys.
func (s *effects) List(ctx context.Context, owner state.Owner, states []state.EffectState, cursor string, limit int64) (state.EffectPage, error) {
	wanted, err := state.CheckStates(states)
	if err != nil {
		return state.EffectPage{}, err
	}
	if err := owner.Check(); err != nil {
		return state.EffectPage{}, err
	}
	if limit, err = state.PageRecords.Option(limit); err != nil {
		return state.EffectPage{}, err
	}
	var page state.EffectPage
	err = s.read(ctx, func(tx Tx) error {
		page = state.EffectPage{}
		now, err := tx.Now()
		if err != nil {
			return err
		}
		args := []any{owner.Tenant, owner.Account, owner.User, cursor, micros(now)}
		for _, state := range wanted {
			args = append(args, string(state))
		}
		rows, err := tx.Rows(listEffects, append(args, limit+1)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			effect, err := scanEffect(rows)
			if err != nil {
				return err
			}
			page.Effects = append(page.Effects, effect.Seen(now))
		}
		return rows.Err()
	})
	if err != nil {
		return state.EffectPage{}, err
	}
	if int64(len(page.Effects)) > limit {
		page.Effects = page.Effects[:limit]
		page.Next = page.Effects[limit-1].Key
	}
	return page, nil
}

// Cleanup implements state.EffectStore.
func (s *effects) Cleanup(ctx context.Context, owner state.Owner, before time.Time, limit int64) (int, error) {
	if err := owner.Check(); err != nil {
		return 0, err
	}
	limit, err := state.PageRecords.Option(limit)
	if err != nil {
		return 0, err
	}
	var removed int64
	err = s.write(ctx, func(tx Tx) error {
		removed, err = tx.Exec(cleanupEffects, micros(before), owner.Tenant, owner.Account, owner.User, limit)
		return err
	})
	return int(removed), err
}
