// Package postgres keeps package state's four stores in a PostgreSQL database, for a
// fleet of machines:
//
//	stores, err := postgres.Open(ctx, "postgres://prism@db.example/prism", nil)
//	defer stores.Close()
//
// Its tables begin with prism_, and are made in the first schema of the connection's
// search path, by whoever connects first; that needs the right to create tables there
// and no more. The server's clock is the stores'.
//
// What a method acknowledged is flushed by the server (synchronous_commit), as far as
// the server itself is set up to be durable. That an older copy was put back is not
// noticed: whoever does it says so, see [Accept].
package postgres

import (
	"context"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/sqlstate"
)

// Options are the settings of Open; nil and zero are the defaults.
type Options struct {
	Limits state.Limits
	// Wait bounds one call, in seconds: WaitTime. It waits for a connection, and for
	// whoever changes the same.
	Wait time.Duration
	// Connections is how many there are at most: Connections.
	Connections int64
}

// The bounds of Options.
var (
	WaitTime    = tools.Limit{Name: "waitSeconds", Default: 60, Hard: 600}
	Connections = tools.Limit{Name: "connections", Default: 8, Hard: 100}
)

// Open connects, and brings the schema up to date. CodeToolInput: dsn cannot be read;
// it is libpq's, as a URL or as keywords. CodeStateUnavailable: the server cannot be
// reached, or the schema is a later version's.
func Open(ctx context.Context, dsn string, opts *Options) (*sqlstate.Stores, error) {
	db, limits, err := open(dsn, opts)
	if err != nil {
		return nil, err
	}
	if err := db.migrate(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	return sqlstate.New(db, limits)
}

// Accept is for whoever has put a copy of the database back, with no prism-ls running:
// see sqlstate.Accept.
func Accept(ctx context.Context, dsn string, opts *Options) (sqlstate.Acceptance, error) {
	db, _, err := open(dsn, opts)
	if err != nil {
		return sqlstate.Acceptance{}, err
	}
	defer db.Close()
	if err := db.migrate(ctx); err != nil {
		return sqlstate.Acceptance{}, err
	}
	return sqlstate.Accept(ctx, db, 0)
}

// Summarize says what is in the stores. It makes nothing: CodeNotFound is that there
// are none.
func Summarize(ctx context.Context, dsn string, opts *Options) (sqlstate.Summary, error) {
	db, _, err := open(dsn, opts)
	if err != nil {
		return sqlstate.Summary{}, err
	}
	defer db.Close()
	var version int64
	if err := db.Read(ctx, func(tx sqlstate.Tx) (err error) {
		version, err = schemaVersion(tx)
		return err
	}); err != nil {
		return sqlstate.Summary{}, err
	}
	if version == 0 {
		return sqlstate.Summary{}, tools.Errorf(tools.CodeNotFound, "there is no store in the database %s yet", db.name)
	}
	return sqlstate.Summarize(ctx, db)
}
