package sqlstate

import (
	"context"
	"time"

	"github.com/prism-ls/prism-ls/tools/state"
)

// Acceptance is what Accept changed.
type Acceptance struct {
	// Sequence is what tokens go on after.
	Sequence int64 `json:"sequence"`
	// Effects are now unknown, and Leases are over.
	Effects int64 `json:"effects"`
	Leases  int64 `json:"leases"`
	Records int64 `json:"records"`
}

// jump is more than any store counts up in its life, and so often in 2^53 that it is
// never used up.
const jump = 1 << 32

// Accept takes the database, which was put back to how it once was, for what it is to
// be from now on. Whatever was given out in the time that is lost must not count: tokens
// go on far above floor, the highest that is known of; leases are over; versions of
// records jump, and so do fences, so that no change made for a record of the lost time
// fits one of today. Effects that might have moved on are unknown, for a person. What
// was recorded only in the lost time nobody knows of.
func Accept(ctx context.Context, db Database, floor int64) (Acceptance, error) {
	var accepted Acceptance
	err := db.Write(ctx, func(tx Tx) error {
		sequence, err := tx.Sequence()
		if err != nil {
			return err
		}
		now, err := tx.Now()
		if err != nil {
			return err
		}
		accepted.Sequence = max(sequence, floor) + jump
		if err := tx.Advance(accepted.Sequence); err != nil {
			return err
		}
		accepted.Effects, err = tx.Exec(`UPDATE prism_effect SET state = 'unknown', updated = $1,
			reason = 'the store was put back to an earlier time, and what became of this since is not known'
			WHERE state IN ('pending', 'dispatched', 'failed_retryable')`, micros(now))
		if err != nil {
			return err
		}
		if accepted.Leases, err = tx.Exec(`UPDATE prism_lease SET expires = 0 WHERE expires > $1`, micros(now)); err != nil {
			return err
		}
		accepted.Records, err = tx.Exec(`UPDATE prism_record SET version = version + $1, fence = CASE WHEN fence > 0 THEN CAST($2 AS BIGINT) ELSE 0 END`, int64(jump), accepted.Sequence)
		return err
	})
	return accepted, err
}

// Tidy is EffectStore's Cleanup for all owners, those too that never come back: whose
// workspace is gone. It is for whoever all of them belong to.
func (s *Stores) Tidy(ctx context.Context, before time.Time, limit int64) (int, error) {
	limit, err := state.PageRecords.Option(limit)
	if err != nil {
		return 0, err
	}
	var keys []string
	// Finding them takes long where much is kept, and keeps nobody from writing.
	err = s.effects.read(ctx, func(tx Tx) error {
		keys = nil
		rows, err := tx.Rows(settledEffects, micros(before), limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var key string
			if err := rows.Scan(&key); err != nil {
				return err
			}
			keys = append(keys, key)
		}
		return rows.Err()
	})
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	var removed int64
	err = s.effects.write(ctx, func(tx Tx) error {
		removed = 0
		for _, key := range keys {
			affected, err := tx.Exec(removeEffect, micros(before), key)
			if err != nil {
				return err
			}
			removed += affected
		}
		return nil
	})
	return int(removed), err
}

// Summary is what is in a store.
type Summary struct {
	Schema int64 `json:"schema"`
	// Sequence is how far it has come.
	Sequence int64 `json:"sequence"`
	// Behind: it is older than it was, and not used until a person accepts that.
	Behind  bool  `json:"behind"`
	Records int64 `json:"records"`
	// Leases that are held.
	Leases int64 `json:"leases"`
	// Effects by the state that they are in.
	Effects       map[state.EffectState]int64 `json:"effects"`
	Artifacts     int64                       `json:"artifacts"`
	ArtifactBytes int64                       `json:"artifactBytes"`
}

// Summarize counts, for all owners.
func Summarize(ctx context.Context, db Database) (Summary, error) {
	var s Summary
	err := db.Read(ctx, func(tx Tx) error {
		s = Summary{Effects: map[state.EffectState]int64{}}
		now, err := tx.Now()
		if err != nil {
			return err
		}
		if s.Sequence, err = tx.Sequence(); err != nil {
			return err
		}
		counts := `SELECT (SELECT value FROM prism_meta WHERE name = 'version'), (SELECT count(*) FROM prism_record),
			(SELECT count(*) FROM prism_lease WHERE expires > $1),
			(SELECT count(*) FROM prism_artifact WHERE sha256 IS NOT NULL),
			(SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM prism_artifact WHERE sha256 IS NOT NULL)`
		if err := tx.Row(counts, micros(now)).Scan(&s.Schema, &s.Records, &s.Leases, &s.Artifacts, &s.ArtifactBytes); err != nil {
			return err
		}
		rows, err := tx.Rows(`SELECT state, expires <= $1, count(*) FROM prism_effect GROUP BY 1, 2`, micros(now))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var in state.EffectState
			var expired bool
			var count int64
			if err := rows.Scan(&in, &expired, &count); err != nil {
				return err
			}
			if in == state.EffectDispatched && expired {
				in = state.EffectUnknown
			}
			s.Effects[in] += count
		}
		return rows.Err()
	})
	return s, err
}
