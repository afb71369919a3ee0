package procsess

import (
	"context"
	"os"
)

// launch starts a session where it is to live.
func (r *Registry) launch(ctx context.Context, l *launch, e *entry) (verbs, error) {
	if l.SpoolDir != "" {
		if err := os.MkdirAll(l.SpoolDir, 0o700); err != nil {
			r.opts.Logger.Warn("of long output only the end is kept", "error", err)
			l.SpoolDir = ""
		}
	}
	if l.Durable {
		return r.startDurable(ctx, l, e)
	}
	s, err := startLocal(ctx, r.engine, l, func(*local) { r.wasEnded(e) })
	if err != nil {
		return nil, err
	}
	return s, nil
}
