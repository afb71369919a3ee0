package daemon

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/filelock"
)

// acquire takes the lock, or returns ErrAnother if somebody who listens has it.
// Who has it and does not listen is starting or ending, and is waited for.
func (d *Daemon) acquire(ctx context.Context) error {
	var err error
	if d.lock, err = d.place.lockFile(); err != nil {
		return tools.Errorf(tools.CodeStateUnavailable, "the daemon's lock beside %s cannot be opened: %w", d.place.path, err)
	}
	ctx, cancel := context.WithTimeout(ctx, takeOverTime)
	defer cancel()
	for {
		step, stop := context.WithTimeout(ctx, 50*time.Millisecond)
		err := filelock.Wait(step, d.lock)
		stop()
		if err == nil {
			return nil
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if conn, dialErr := d.place.dial(ctx); dialErr == nil {
			_ = conn.Close() // a hello that never comes
			return ErrAnother
		}
		if ctx.Err() != nil {
			return tools.Errorf(tools.CodeStateUnavailable, "another daemon of this workspace is ending, and has not ended for %s", takeOverTime)
		}
	}
}

// keep holds a descriptor open until the process ends.
func (d *Daemon) keep(file *os.File) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept = append(d.kept, file)
}
