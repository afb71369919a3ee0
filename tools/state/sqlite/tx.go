package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

var errOlder = errors.New("an older copy was put in its place while it was open")

// writer is the transaction that writes.
type writer struct {
	*handle
	changed   bool
	sequenced bool
	sequence  int64
	now       time.Time
}

const forUpdate = " FOR UPDATE"

// statement returns one that is prepared. SQLite has no FOR UPDATE: whoever writes is
// alone.
func (w *writer) statement(text string) (*sql.Stmt, error) {
	if prepared, ok := w.statements[text]; ok {
		return prepared, nil
	}
	prepared, err := w.conn.PrepareContext(context.Background(), strings.TrimSuffix(text, forUpdate))
	if err == nil {
		w.statements[text] = prepared
	}
	return prepared, err
}

// Exec implements sqlstate.Tx.
func (w *writer) Exec(text string, args ...any) (int64, error) {
	affected, err := w.exec(text, args...)
	w.changed = w.changed || affected > 0
	return affected, err
}

// exec goes to the driver itself: what database/sql does for each statement takes as
// long as SQLite does, and is all about connections, of which there is one.
func (w *writer) exec(text string, args ...any) (affected int64, err error) {
	named := w.named[:0] // the driver copies what it keeps
	defer func() { clear(named) }()
	for i, arg := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return 0, err
		}
		named = append(named, driver.NamedValue{Ordinal: i + 1, Value: value})
	}
	w.named = named
	err = w.conn.Raw(func(conn any) error {
		prepared, ok := w.direct[text]
		if !ok {
			statement, err := conn.(driver.ConnPrepareContext).PrepareContext(context.Background(), text)
			if err != nil {
				return err
			}
			prepared = statement.(execer)
			w.direct[text] = prepared
		}
		result, err := prepared.ExecContext(context.Background(), named)
		if err != nil {
			return err
		}
		affected, err = result.RowsAffected()
		return err
	})
	return affected, err
}

// execer is a statement of the driver.
type execer interface {
	driver.Stmt
	driver.StmtExecContext
}

// Row implements sqlstate.Tx.
func (w *writer) Row(text string, args ...any) *sql.Row {
	statement, err := w.statement(text)
	if err != nil { // the same error again, in a row
		return w.conn.QueryRowContext(context.Background(), strings.TrimSuffix(text, forUpdate), args...)
	}
	return statement.QueryRow(args...)
}

// Rows implements sqlstate.Tx.
func (w *writer) Rows(text string, args ...any) (*sql.Rows, error) {
	statement, err := w.statement(text)
	if err != nil {
		return nil, err
	}
	return statement.Query(args...)
}

// Now implements sqlstate.Tx: one moment for the whole transaction, after all that
// came before it has ended.
func (w *writer) Now() (time.Time, error) {
	if w.now.IsZero() {
		w.now = state.Stamp(w.db.clock())
	}
	return w.now, nil
}

// Token implements sqlstate.Tx. It is the sequence, which grows with every commit, so
// that whoever has a token has seen how far the store was.
func (w *writer) Token() (int64, error) {
	if w.sequenced {
		return w.sequence, nil
	}
	// It mostly is as this process left it, and need not be read.
	for at := w.last; ; {
		moved, err := w.exec(`UPDATE prism_meta SET value = $1 WHERE name = 'sequence' AND value = $2`, at+1, at)
		if err != nil {
			return 0, err
		}
		if moved == 1 {
			w.sequence, w.sequenced = at+1, true
			return w.sequence, nil
		}
		if at, err = w.Sequence(); err != nil {
			return 0, err
		}
		if at < w.last {
			return 0, errOlder
		}
	}
}

func (w *writer) begin() error {
	_, err := w.exec("BEGIN IMMEDIATE")
	return err
}

func (w *writer) commit() error {
	_, err := w.exec("COMMIT")
	return err
}

// rollback is no error where the database has done so already.
func (w *writer) rollback() error {
	if _, err := w.exec("ROLLBACK"); err != nil {
		// Of no transaction it says no more than SQLITE_ERROR.
		var failure *sqlite.Error
		if errors.As(err, &failure) && failure.Code() == sqlite3.SQLITE_ERROR {
			return nil
		}
		return err
	}
	return nil
}

// Sequence implements sqlstate.Tx.
func (w *writer) Sequence() (sequence int64, err error) {
	return sequence, w.Row(selectSequence).Scan(&sequence)
}

const selectSequence = `SELECT value FROM prism_meta WHERE name = 'sequence'`

// Advance implements sqlstate.Tx.
func (w *writer) Advance(to int64) error {
	_, err := w.Exec(`UPDATE prism_meta SET value = $1 WHERE name = 'sequence' AND value < $1`, to)
	w.sequence, w.sequenced = to, true
	return err
}

// reader reads, each statement for itself.
type reader struct {
	*handle
	ctx context.Context
}

func (r *reader) statement(text string) (*sql.Stmt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if prepared, ok := r.handle.read[text]; ok {
		return prepared, nil
	}
	prepared, err := r.reader.PrepareContext(r.ctx, text)
	if err == nil {
		r.handle.read[text] = prepared
	}
	return prepared, err
}

// Exec implements sqlstate.Tx, but that nothing is changed by who reads.
func (r *reader) Exec(string, ...any) (int64, error) {
	return 0, tools.Errorf(tools.CodeInternal, "a change where the store is read")
}

// Row implements sqlstate.Tx.
func (r *reader) Row(text string, args ...any) *sql.Row {
	statement, err := r.statement(text)
	if err != nil { // the same error again, in a row
		return r.reader.QueryRowContext(r.ctx, text, args...)
	}
	return statement.QueryRowContext(r.ctx, args...)
}

// Rows implements sqlstate.Tx.
func (r *reader) Rows(text string, args ...any) (*sql.Rows, error) {
	statement, err := r.statement(text)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(r.ctx, args...)
}

// Now implements sqlstate.Tx.
func (r *reader) Now() (time.Time, error) { return state.Stamp(r.db.clock()), nil }

// Token implements sqlstate.Tx.
func (r *reader) Token() (int64, error) {
	return 0, tools.Errorf(tools.CodeInternal, "a token where the store is read")
}

// Sequence implements sqlstate.Tx.
func (r *reader) Sequence() (sequence int64, err error) {
	return sequence, r.Row(selectSequence).Scan(&sequence)
}

// Advance implements sqlstate.Tx.
func (r *reader) Advance(int64) error {
	return tools.Errorf(tools.CodeInternal, "a change where the store is read")
}
