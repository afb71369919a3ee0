package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// querier is a transaction, or the pool.
type querier interface {
	ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, statement string, args ...any) *sql.Row
	QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error)
}

// transaction implements sqlstate.Tx.
type transaction struct {
	ctx context.Context
	on  querier
}

// Exec implements sqlstate.Tx.
func (t *transaction) Exec(statement string, args ...any) (int64, error) {
	result, err := t.on.ExecContext(t.ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Row implements sqlstate.Tx.
func (t *transaction) Row(statement string, args ...any) *sql.Row {
	return t.on.QueryRowContext(t.ctx, statement, args...)
}

// Rows implements sqlstate.Tx.
func (t *transaction) Rows(statement string, args ...any) (*sql.Rows, error) {
	return t.on.QueryContext(t.ctx, statement, args...)
}

// Now implements sqlstate.Tx: the moment of the call, and not the transaction's, which
// may have waited for a lock since it began.
func (t *transaction) Now() (time.Time, error) {
	var micros int64
	err := t.Row(`SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`).Scan(&micros)
	return state.Stamp(time.UnixMicro(micros)), err
}

// Token implements sqlstate.Tx. A sequence never goes back, whatever becomes of the
// transaction; who locks a row before asking gets more than whoever had it before.
func (t *transaction) Token() (token int64, err error) {
	return token, t.Row(`SELECT nextval('prism_token')`).Scan(&token)
}

// Sequence implements sqlstate.Tx.
func (t *transaction) Sequence() (sequence int64, err error) {
	return sequence, t.Row(`SELECT last_value FROM prism_token`).Scan(&sequence)
}

// Advance implements sqlstate.Tx.
func (t *transaction) Advance(to int64) error {
	var set int64
	return t.Row(`SELECT setval('prism_token', $1)`, to).Scan(&set)
}

// reading is a transaction for each statement.
type reading struct{ *transaction }

func newReading(ctx context.Context, pool *sql.DB) *reading {
	return &reading{&transaction{ctx, pool}}
}

// Exec implements sqlstate.Tx, but that nothing is changed by who reads.
func (*reading) Exec(string, ...any) (int64, error) {
	return 0, tools.Errorf(tools.CodeInternal, "a change where the store is read")
}
