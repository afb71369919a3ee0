// Package sqlite keeps package state's four stores in one file, which processes of
// one machine share:
//
//	stores, err := sqlite.Open("/home/ann/.local/state/prism-ls/state.db", nil)
//	defer stores.Close()
//
// What a method acknowledged is on the disk: the log is written ahead and flushed with
// every commit. One process writes at a time, and others wait for it.
//
// An older copy of the file that is put back is noticed: a number in it grows with
// every commit, and a second file, state.db.mark, says how far it had come. Opening
// what is behind its mark is CodeStateUnavailable until a person accepts it, see
// [Accept]. A copy that is put back together with its mark is not noticed.
//
// Opening a store switches two settings of modernc.org/sqlite for the whole process:
// it flushes with fdatasync(2), and locks files by open file and not by process.
package sqlite

import (
	"context"
	"log/slog"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/sqlstate"
)

// Options are the settings of Open; nil and zero are the defaults.
type Options struct {
	Limits state.Limits
	// Clock is the store's clock: time.Now. Processes that share a file should agree.
	Clock func() time.Time
	// Wait is how long a change waits for those of others before it is
	// CodeStateUnavailable, in seconds: WaitTime.
	Wait time.Duration
	// Logger hears of a store that is opened anew after a failure: nobody.
	Logger *slog.Logger
}

// WaitTime bounds the wait for other writers, in seconds.
var WaitTime = tools.Limit{Name: "waitSeconds", Default: 60, Hard: 600}

// Open opens the stores at path, which is made, for its user alone, with the directory
// it is in. CodeStateUnavailable: there is no such place, it is on a network file
// system, the file is no store of this version or an earlier one, or it is behind its
// mark.
func Open(path string, opts *Options) (*sqlstate.Stores, error) {
	return OpenContext(context.Background(), path, opts)
}

// OpenContext is Open that waits for others no longer than ctx lasts.
func OpenContext(ctx context.Context, path string, opts *Options) (*sqlstate.Stores, error) {
	db, limits, err := open(path, opts)
	if err != nil {
		return nil, err
	}
	if err := db.Check(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	return sqlstate.New(db, limits)
}

// Accept makes the store at path usable again that is behind its mark, and says what
// it changed: see sqlstate.Accept. A store that is not behind is left as it is.
func Accept(ctx context.Context, path string, opts *Options) (sqlstate.Acceptance, error) {
	db, _, err := open(path, opts)
	if err != nil {
		return sqlstate.Acceptance{}, err
	}
	defer db.Close()
	db.accepting = true
	if err := db.Check(ctx); err != nil {
		return sqlstate.Acceptance{}, err
	}
	if !db.behind {
		return sqlstate.Acceptance{}, nil
	}
	return sqlstate.Accept(ctx, db, db.floor)
}

// Summarize says what is in the store at path, also if it is behind its mark. It makes
// nothing: CodeNotFound is that there is no store.
func Summarize(ctx context.Context, path string, opts *Options) (sqlstate.Summary, error) {
	db, _, err := open(path, opts)
	if err != nil {
		return sqlstate.Summary{}, err
	}
	defer db.Close()
	db.accepting, db.existing = true, true
	if err := db.Check(ctx); err != nil {
		return sqlstate.Summary{}, err
	}
	summary, err := sqlstate.Summarize(ctx, db)
	summary.Behind = db.behind
	return summary, err
}
