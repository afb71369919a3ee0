package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/sqlstate"
)

// database implements sqlstate.Database. A handle that failed in a way that leaves
// open what is on the disk is closed, and the next call opens another one.
type database struct {
	path   string
	clock  func() time.Time
	wait   time.Duration
	logger *slog.Logger
	// accepting opens what is behind its mark; existing makes no file.
	accepting, existing bool
	// behind is whether it was, and floor is what the mark said.
	behind bool
	floor  int64

	// writing is held by whoever writes, and by whoever opens.
	writing chan struct{}

	mu     sync.Mutex
	handle *handle // nil before it is needed, and after a failure
	closed bool
}

func open(path string, opts *Options) (*database, state.Limits, error) {
	if opts == nil {
		opts = &Options{}
	}
	wait, err := WaitTime.Duration(opts.Wait)
	if err != nil {
		return nil, state.Limits{}, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, state.Limits{}, tools.Errorf(tools.CodeStateUnavailable, "finding the store %s: %w", path, err)
	}
	db := &database{path: path, clock: opts.Clock, wait: wait, logger: opts.Logger, writing: make(chan struct{}, 1)}
	if db.clock == nil {
		db.clock = time.Now
	}
	if db.logger == nil {
		db.logger = slog.New(slog.DiscardHandler)
	}
	return db, opts.Limits, nil
}

// Check opens the file if it is not open.
func (d *database) Check(ctx context.Context) error {
	ctx, cancel := d.bounded(ctx)
	defer cancel()
	if err := d.lock(ctx); err != nil {
		return err
	}
	defer d.unlock()
	_, err := d.opened(ctx)
	return err
}

// bounded is ctx with the time that may be waited.
func (d *database) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d.wait, tools.Errorf(tools.CodeStateUnavailable, "others have been writing to %s for %v", d.path, d.wait))
}

func (d *database) lock(ctx context.Context) error {
	select {
	case d.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (d *database) unlock() { <-d.writing }

// current returns the handle, nil if there is none, or if another file than the one it
// is of is at the path now.
func (d *database) current() (*handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return nil, tools.Errorf(tools.CodeStateUnavailable, "the store is closed")
	case d.handle == nil:
		return nil, nil
	}
	if info, err := os.Stat(d.path); err != nil || !os.SameFile(info, d.handle.info) {
		return nil, nil
	}
	return d.handle, nil
}

// drop closes the handle. writing is held.
func (d *database) drop() {
	d.mu.Lock()
	h := d.handle
	d.handle = nil
	d.mu.Unlock()
	if h == nil {
		return
	}
	if err := h.close(); err != nil {
		d.logger.Warn("closing the store", "path", d.path, "error", err)
	}
}

// opened returns the handle, made if need be. writing is held.
func (d *database) opened(ctx context.Context) (*handle, error) {
	h, err := d.current()
	if h != nil || err != nil {
		return h, err
	}
	d.drop()
	if h, err = openHandle(ctx, d); err != nil {
		return nil, d.failed("opening", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handle = h
	return h, nil
}

// Close implements sqlstate.Database.
func (d *database) Close() error {
	d.writing <- struct{}{}
	defer d.unlock()
	d.mu.Lock()
	h := d.handle
	d.handle, d.closed = nil, true
	d.mu.Unlock()
	if h == nil {
		return nil
	}
	return h.close()
}

// Write implements sqlstate.Database.
func (d *database) Write(ctx context.Context, do func(sqlstate.Tx) error) error {
	h := d.now()
	if h == nil {
		var cancel context.CancelFunc
		ctx, cancel = d.bounded(ctx)
		defer cancel()
		var err error
		if h, err = d.turn(ctx); err != nil {
			return err
		}
	}
	defer d.unlock()
	defer h.gate.leave()
	poisoned, err := h.write(ctx, do)
	if poisoned {
		// What the disk has is not known, and neither a second try nor what this
		// connection remembers would tell (a flush that failed once may succeed the
		// next time without the data).
		d.logger.Warn("the store failed and is opened anew", "path", d.path, "error", err)
		d.drop()
	}
	return d.failed("writing to", err)
}

// now is turn where nothing is to be waited for and nothing to be opened, which is the
// usual case and needs no timer; nil where that is not so.
func (d *database) now() *handle {
	select {
	case d.writing <- struct{}{}:
	default:
		return nil
	}
	if h, err := d.current(); h != nil && err == nil {
		if ok, err := h.gate.try(); ok && err == nil {
			return h
		}
	}
	d.unlock()
	return nil
}

// turn waits until nobody else writes, and returns with writing and the gate held.
func (d *database) turn(ctx context.Context) (*handle, error) {
	if err := d.lock(ctx); err != nil {
		return nil, err
	}
	h, err := d.opened(ctx)
	if err == nil {
		err = h.gate.enter(ctx)
	}
	if err != nil {
		d.unlock()
		return nil, err
	}
	return h, nil
}

// Read implements sqlstate.Database.
func (d *database) Read(ctx context.Context, do func(sqlstate.Tx) error) error {
	for again := false; ; again = true {
		h, err := d.current()
		if err == nil && h == nil {
			if err = d.Check(ctx); err == nil {
				h, err = d.current()
			}
		}
		switch {
		case err != nil:
			return err
		case h == nil:
			return tools.Errorf(tools.CodeStateUnavailable, "reading %s: it is replaced time and again", d.path)
		}
		err = do(&reader{handle: h, ctx: ctx})
		switch {
		case err == nil || isCode(err):
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case again || !d.replaced(h):
			return d.failed("reading", err)
		}
		// The handle was closed under it, because a write has failed.
	}
}

func (d *database) replaced(h *handle) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.handle != h && !d.closed
}

// isCode reports whether an error has a code already: it is a callback's.
func isCode(err error) bool {
	var coded *tools.Error
	return errors.As(err, &coded)
}

// failed is the error of an operation with the database's name, and a code.
func (d *database) failed(doing string, err error) error {
	if err == nil || isCode(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var failure *sqlite.Error
	if errors.As(err, &failure) && failure.Code()&0xff == sqlite3.SQLITE_FULL {
		return tools.Errorf(tools.CodeStateUnavailable, "%s %s: the disk is full: %w", doing, d.path, err)
	}
	if errors.Is(err, fs.ErrNotExist) && d.existing {
		return tools.Errorf(tools.CodeNotFound, "there is no store %s", d.path)
	}
	return tools.Errorf(tools.CodeStateUnavailable, "%s %s: %w", doing, d.path, err)
}
