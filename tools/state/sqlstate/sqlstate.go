// Package sqlstate keeps package state's four stores in a database that speaks SQL.
// Packages sqlite and postgres beside it each bring a [Database], which is all that
// they differ in; a host uses those.
package sqlstate

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// Database runs transactions on a database that has this package's schema. Its
// methods may be called by any number of goroutines. Errors of the database come
// out as CodeStateUnavailable; those of a callback as they are.
type Database interface {
	// Write runs do in a transaction, and commits what it did unless it returns an
	// error. What do reads and then changes nobody else changes in between, as far as
	// it locked the rows (FOR UPDATE). It may run do again, from the start, when
	// nothing has come of the first time. Once do has begun, ctx does not end it.
	Write(ctx context.Context, do func(Tx) error) error
	// Read runs do, which changes nothing.
	Read(ctx context.Context, do func(Tx) error) error
	// Close frees what it holds, and is idempotent.
	Close() error
}

// Tx is one transaction. Statements are PostgreSQL's, with $1 for parameters; a
// dialect that lacks some of it rewrites them.
type Tx interface {
	// Exec returns how many rows were affected.
	Exec(statement string, args ...any) (int64, error)
	Row(statement string, args ...any) *sql.Row
	Rows(statement string, args ...any) (*sql.Rows, error)
	// Now is the store's clock.
	Now() (time.Time, error)
	// Token is higher than every one that was returned before in a transaction which
	// was committed, for whatever locked the same row.
	Token() (int64, error)
	// Sequence is the highest that Token has returned so far.
	Sequence() (int64, error)
	// Advance has Token go on after to, which is higher than Sequence.
	Advance(to int64) error
}

// Stores are the four over one database.
type Stores struct {
	db          Database
	checkpoints *records
	leases      *leases
	effects     *effects
	artifacts   *artifacts
}

// New returns stores over db, which they close; so does New itself when it fails.
func New(db Database, limits state.Limits) (stores *Stores, err error) {
	defer func() {
		if err != nil {
			_ = db.Close()
		}
	}()
	record, err := state.RecordBytes.Option(limits.RecordBytes)
	if err != nil {
		return nil, err
	}
	result, err := state.EffectResultBytes.Option(limits.EffectResultBytes)
	if err != nil {
		return nil, err
	}
	artifact, err := state.ArtifactBytes.Option(limits.ArtifactBytes)
	if err != nil {
		return nil, err
	}
	return &Stores{
		db:          db,
		checkpoints: &records{view: view{db: db}, most: record},
		leases:      &leases{view: view{db: db}},
		effects:     &effects{view: view{db: db}, most: result},
		artifacts:   &artifacts{view: view{db: db}, most: artifact},
	}, nil
}

// Checkpoints implements state.Stores.
func (s *Stores) Checkpoints() state.CheckpointStore { return s.checkpoints }

// Leases implements state.Stores.
func (s *Stores) Leases() state.LeaseStore { return s.leases }

// Effects implements state.Stores.
func (s *Stores) Effects() state.EffectStore { return s.effects }

// Artifacts implements state.Stores.
func (s *Stores) Artifacts() state.ArtifactStore { return s.artifacts }

// Close implements state.Stores.
func (s *Stores) Close() error {
	for _, view := range []*view{&s.checkpoints.view, &s.leases.view, &s.effects.view, &s.artifacts.view} {
		view.closed.Store(true)
	}
	return s.db.Close()
}

// view is one of the four, which may be closed alone.
type view struct {
	db     Database
	closed atomic.Bool
}

// Close makes every later call of this one fail. The database goes with Stores.Close.
func (v *view) Close() error {
	v.closed.Store(true)
	return nil
}

func (v *view) ready(ctx context.Context) error {
	switch {
	case v.closed.Load():
		return tools.Errorf(tools.CodeStateUnavailable, "the store is closed")
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return nil
}

func (v *view) write(ctx context.Context, do func(Tx) error) error {
	if err := v.ready(ctx); err != nil {
		return err
	}
	return v.db.Write(ctx, do)
}

func (v *view) read(ctx context.Context, do func(Tx) error) error {
	if err := v.ready(ctx); err != nil {
		return err
	}
	return v.db.Read(ctx, do)
}

// races bounds how often a change is tried that others come in between of.
const races = 100

var errRaces = tools.Errorf(tools.CodeStateUnavailable, "others changed it each time that it was about to be changed; try again")

// micros is a time as a column has it. Any later than all others is as good.
func micros(t time.Time) int64 { return t.UnixMicro() }

func fromMicros(n int64) time.Time { return time.UnixMicro(n).UTC() }

// some is data as a column has it that is never null.
func some(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// none reports whether a row is not there.
func none(err error) bool { return errors.Is(err, sql.ErrNoRows) }
