package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/sqlstate"
)

// database implements sqlstate.Database.
type database struct {
	name string // for errors: nothing of it is secret
	wait time.Duration
	pool *sql.DB
}

func open(dsn string, opts *Options) (*database, state.Limits, error) {
	if opts == nil {
		opts = &Options{}
	}
	wait, err := WaitTime.Duration(opts.Wait)
	if err != nil {
		return nil, state.Limits{}, err
	}
	connections, err := Connections.Option(opts.Connections)
	if err != nil {
		return nil, state.Limits{}, err
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		// The library's words have the string, and only mostly without its password.
		return nil, state.Limits{}, tools.Errorf(tools.CodeToolInput, "the DSN of the state database cannot be read; it is like postgres://USER@HOST:5432/DATABASE or host=HOST user=USER dbname=DATABASE")
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "prism-ls"
	}
	pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(durable))
	pool.SetMaxOpenConns(int(connections))
	pool.SetMaxIdleConns(int(connections))
	pool.SetConnMaxIdleTime(5 * time.Minute)
	name := fmt.Sprintf("%s on %s:%d", config.Database, config.Host, config.Port)
	return &database{name: name, wait: wait, pool: pool}, opts.Limits, nil
}

// durable has a commit wait for the disk, if the server is set up not to.
func durable(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`)
	return err
}

// Close implements sqlstate.Database.
func (d *database) Close() error { return d.pool.Close() }

func (d *database) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d.wait, tools.Errorf(tools.CodeStateUnavailable, "the database %s did not answer for %v, or others have changed the same for as long", d.name, d.wait))
}

// retries is how often a transaction is begun again that came to nothing because of
// others.
const retries = 50

// Write implements sqlstate.Database. READ COMMITTED is enough: what a change depends
// on is in its WHERE clause, or locked.
func (d *database) Write(ctx context.Context, do func(sqlstate.Tx) error) error {
	ctx, cancel := d.bounded(ctx)
	defer cancel()
	for attempt := range retries {
		err := d.try(ctx, do)
		if !undone(err) {
			return d.failed(ctx, "writing to", err)
		}
		select {
		case <-time.After(rand.N(time.Duration(attempt+1) * time.Millisecond)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return tools.Errorf(tools.CodeStateUnavailable, "writing to %s: others came first %d times", d.name, retries)
}

func (d *database) try(ctx context.Context, do func(sqlstate.Tx) error) error {
	// Statements end with ctx, the transaction itself does not: half a commit is worse
	// than a late one.
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.wait+commitTime)
	defer cancel()
	conn, tx, err := d.begin(ctx, lasting)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := do(&transaction{ctx, tx}); err != nil {
		_ = tx.Rollback() // else the connection is at its end, and the transaction with it
		return err
	}
	return tx.Commit()
}

// commitTime bounds a commit that nobody waits for any more.
const commitTime = 30 * time.Second

// begin takes a connection that works: those in the pool may have ended with the
// server since. Nothing has happened when it fails.
func (d *database) begin(ctx, lasting context.Context) (*sql.Conn, *sql.Tx, error) {
	for attempt := 0; ; attempt++ {
		conn, err := d.pool.Conn(ctx)
		if err != nil {
			return nil, nil, err
		}
		tx, err := conn.BeginTx(lasting, nil)
		if err == nil {
			return conn, tx, nil
		}
		_ = conn.Close()
		if attempt > d.pool.Stats().MaxOpenConnections || ctx.Err() != nil {
			return nil, nil, err
		}
	}
}

// Read implements sqlstate.Database.
func (d *database) Read(ctx context.Context, do func(sqlstate.Tx) error) error {
	ctx, cancel := d.bounded(ctx)
	defer cancel()
	return d.failed(ctx, "reading", do(newReading(ctx, d.pool)))
}

// undone reports whether a transaction has come to nothing because of others, and may
// do better the next time.
func undone(err error) bool {
	var failure *pgconn.PgError
	if !errors.As(err, &failure) {
		return false
	}
	switch failure.Code { // appendix A of the manual
	case "40001", "40P01", "55P03", "23505": // serialization, deadlock, lock not available, unique violation
		return true
	}
	return false
}

func (d *database) failed(ctx context.Context, doing string, err error) error {
	var coded *tools.Error
	switch {
	case err == nil || errors.As(err, &coded):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return tools.Errorf(tools.CodeStateUnavailable, "%s the database %s: %w", doing, d.name, err)
}

// rewrite turns the schema's types and options into PostgreSQL's. Texts are compared
// byte by byte.
func rewrite(statement string) string {
	return strings.NewReplacer(" INTEGER", " BIGINT", " BLOB", " BYTEA", " TEXT", ` TEXT COLLATE "C"`, ") STRICT;", ");").Replace(statement)
}

// migration is a number that only these migrations lock.
const migration = 0x707269736d // "prism"

// migrate brings the schema up to date, one process at a time.
func (d *database) migrate(ctx context.Context) error {
	return d.Write(ctx, func(tx sqlstate.Tx) error {
		if _, err := tx.Exec(`SELECT pg_advisory_xact_lock($1)`, int64(migration)); err != nil {
			return err
		}
		from, err := schemaVersion(tx)
		if err != nil {
			return err
		}
		if from == 0 {
			if _, err := tx.Exec(`CREATE SEQUENCE prism_token`); err != nil {
				return err
			}
		}
		return sqlstate.Migrate(tx, from, rewrite)
	})
}

// schemaVersion is 0 where there are no tables yet.
func schemaVersion(tx sqlstate.Tx) (int64, error) {
	var there bool
	if err := tx.Row(`SELECT to_regclass('prism_meta') IS NOT NULL`).Scan(&there); err != nil || !there {
		return 0, err
	}
	var version int64
	err := tx.Row(`SELECT value FROM prism_meta WHERE name = 'version'`).Scan(&version)
	return version, err
}
