package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state/sqlstate"
)

// handle is the open file.
type handle struct {
	db     *database
	info   os.FileInfo
	gate   *gate
	mark   *mark
	writer *sql.DB
	conn   *sql.Conn // the writer's only one
	reader *sql.DB
	// last is the sequence after the last commit that this handle has seen.
	last int64
	// Statements by their text: what the writer asks, what it does, what readers ask.
	statements map[string]*sql.Stmt
	direct     map[string]execer
	named      []driver.NamedValue // the writer's parameters, one statement after the other
	mu         sync.Mutex
	read       map[string]*sql.Stmt
}

// pageSize is for a new file. A change is logged as whole pages, mostly as two: of a row
// and of the sequence. In small ones it is half of a block of the file system, and in
// SQLite's own 4 KiB it is three blocks, which take longer to flush.
const pageSize = "page_size(1024)"

// readers is how many reads run at the same time.
const readers = 4

// openHandle opens the file, with nobody else writing, and brings its schema up to
// date.
func openHandle(ctx context.Context, d *database) (opened *handle, err error) {
	if !d.existing {
		if err := makeDir(filepath.Dir(d.path)); err != nil {
			return nil, err
		}
	}
	if err := refuseNetwork(filepath.Dir(d.path)); err != nil {
		return nil, err
	}
	if err := ownFiles(d.path); err != nil {
		return nil, err
	}
	h := &handle{db: d, statements: map[string]*sql.Stmt{}, direct: map[string]execer{}, read: map[string]*sql.Stmt{}}
	defer func() {
		if err != nil {
			_ = h.close()
		}
	}()
	if h.info, err = makeFile(d.path, !d.existing); err != nil {
		return nil, err
	}
	if h.gate, err = openGate(d.path + ".lock"); err != nil {
		return nil, err
	}
	if err := h.gate.enter(ctx); err != nil {
		return nil, err
	}
	defer h.gate.leave()
	// The mark is read before what it is compared with, which only grows.
	if h.mark, err = openMark(d.path + ".mark"); err != nil {
		return nil, err
	}
	if err := h.connect(ctx, d.path); err != nil {
		return nil, err
	}
	return h, h.prepare(ctx)
}

// makeDir makes the directory for the user alone. One that others may write to is no
// place for a store.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		err = tools.Errorf(tools.CodeStateUnavailable, "others may write to %s (mode %04o), where the store would be; chmod go-w it", dir, info.Mode().Perm())
	}
	return err
}

// makeFile makes an empty file for the user alone, if there is none, and says which it
// is. One that is there is not opened: closing it would end the locks that this
// process has on it (fcntl(2)).
func makeFile(path string, make bool) (os.FileInfo, error) {
	if make {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err == nil {
			err = file.Close()
		}
		if err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
	}
	return os.Stat(path)
}

// source is the file for the driver.
func source(path string, query url.Values) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // file:///C:/…
	}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: query.Encode()}).String()
}

func (h *handle) connect(ctx context.Context, path string) error {
	// Both are the whole process's. Where they cannot be had, commits take longer, and
	// the gate is what keeps writers apart.
	_, _ = sqlite.Fdatasync(true)
	_, _ = sqlite.OFDLocking(true)
	pragmas := []string{pageSize, "busy_timeout(10000)", "synchronous(FULL)", "foreign_keys(1)", "trusted_schema(0)"}
	connector, err := sqlite.NewConnector(source(path, url.Values{"_pragma": pragmas, "_txlock": {"immediate"}, "_dqs": {"0"}, "mode": {"rw"}}))
	if err != nil {
		return err
	}
	h.writer = sql.OpenDB(connector)
	h.writer.SetMaxOpenConns(1)
	if h.conn, err = h.writer.Conn(ctx); err != nil {
		return err
	}
	if _, err := schemaVersion(&writer{handle: h}); err != nil {
		return err // before anything is changed that is somebody else's
	}
	var mode string
	if err := h.conn.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return tools.Errorf(tools.CodeStateUnavailable, "%s cannot have its log written ahead (journal mode %s): its file system has no shared memory", path, mode)
	}
	// A transaction that finds somebody else's lock is begun again until its time is up.
	if _, err := h.conn.ExecContext(ctx, "PRAGMA busy_timeout = 200"); err != nil {
		return err
	}
	connector, err = sqlite.NewConnector(source(path, url.Values{"_pragma": {"busy_timeout(10000)", "query_only(1)", "trusted_schema(0)"}, "_dqs": {"0"}, "mode": {"rw"}}))
	if err != nil {
		return err
	}
	h.reader = sql.OpenDB(connector)
	h.reader.SetMaxOpenConns(readers)
	h.reader.SetMaxIdleConns(readers)
	return nil
}

// prepare migrates the schema, and compares with the mark.
func (h *handle) prepare(ctx context.Context) error {
	tx := &writer{handle: h}
	if err := tx.begin(); err != nil {
		return err
	}
	defer tx.rollback()
	from, err := schemaVersion(tx)
	if err != nil {
		return err
	}
	if err := sqlstate.Migrate(tx, from, func(statement string) string { return statement }); err != nil {
		return err
	}
	if from == 0 {
		if err := tx.found(); err != nil {
			return err
		}
	}
	identity, sequence, err := tx.position()
	if err != nil {
		return err
	}
	h.db.behind, h.db.floor = h.mark.ahead(identity, sequence), h.mark.sequence
	h.mark.identity = identity
	if h.db.behind && !h.db.accepting {
		return tools.Errorf(tools.CodeStateUnavailable,
			"%s is older than it was: it is at change %d, and was at %d or another store altogether. If it was put back from a copy on purpose: prism-ls state accept", h.db.path, sequence, h.db.floor)
	}
	if from == sqlstate.Version() {
		h.last = sequence
		return nil
	}
	if err := tx.commit(); err != nil {
		return err
	}
	h.last = sequence
	if !h.db.behind {
		h.mark.write(sequence)
	}
	return nil
}

// schemaVersion is 0 for an empty file.
func schemaVersion(tx *writer) (int64, error) {
	var tables, version int64
	if err := tx.Row(`SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil || tables == 0 {
		return 0, err
	}
	err := tx.Row(`SELECT value FROM prism_meta WHERE name = 'version'`).Scan(&version)
	if err != nil {
		return 0, tools.Errorf(tools.CodeStateUnavailable, "this is a database, but not a store: %w", err)
	}
	return version, nil
}

func (h *handle) close() error {
	var errs []error
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, statements := range []map[string]*sql.Stmt{h.statements, h.read} {
		for _, statement := range statements {
			_ = statement.Close()
		}
	}
	for _, statement := range h.direct {
		_ = statement.Close()
	}
	if h.reader != nil {
		errs = append(errs, h.reader.Close())
	}
	if h.conn != nil {
		errs = append(errs, h.conn.Close())
	}
	if h.writer != nil {
		errs = append(errs, h.writer.Close())
	}
	if h.mark != nil {
		errs = append(errs, h.mark.close())
	}
	if h.gate != nil {
		errs = append(errs, h.gate.close())
	}
	return errors.Join(errs...)
}

// write runs one transaction, with the gate held, and says whether the handle is of no
// use afterwards.
func (h *handle) write(ctx context.Context, do func(sqlstate.Tx) error) (poisoned bool, err error) {
	tx := &writer{handle: h}
	if err = tx.begin(); isBusy(err) {
		// Somebody who does not know of the gate: a person's sqlite3, or a checkpoint.
		ctx, cancel := h.db.bounded(ctx)
		defer cancel()
		for ; isBusy(err); err = tx.begin() {
			if ctx.Err() != nil {
				return false, context.Cause(ctx)
			}
		}
	}
	if err != nil {
		return true, err
	}
	if err := do(tx); err != nil {
		undone := tx.rollback()
		return poisons(err) || undone != nil, err
	}
	if !tx.changed {
		err := tx.rollback()
		return err != nil, err
	}
	_, err = tx.Token()
	if err == nil {
		err = tx.commit()
	}
	if err != nil {
		undone := tx.rollback()
		return poisons(err) || undone != nil, err
	}
	h.last = tx.sequence
	h.mark.write(tx.sequence)
	return false, nil
}

// poisons reports whether after an error it is not known what the disk has. A full
// disk is no such: SQLite says so when a write is short, before the log's flush, and
// what was not written whole counts for nothing (its checksum is wrong).
func poisons(err error) bool {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return !isCode(err)
	}
	switch failure.Code() & 0xff {
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_FULL, sqlite3.SQLITE_TOOBIG:
		return false
	}
	return true
}

func isBusy(err error) bool {
	if err == nil {
		return false
	}
	var failure *sqlite.Error
	return errors.As(err, &failure) && failure.Code()&0xff == sqlite3.SQLITE_BUSY
}
