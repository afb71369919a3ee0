package procsess

import (
	"context"
	"io"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// follower is a stream over a local session. It has no buffer of its own: what it
// has not taken is in the log, or lost, and nobody waits for it.
type follower struct {
	*local
	at int64
}

func (s *local) attach(_ context.Context, from int64) (stream, error) {
	if total := s.log.total(); from > total {
		return nil, tools.Errorf(tools.CodeOutOfRange, "cursor is %d, the output has %d bytes so far", from, total)
	}
	return &follower{local: s, at: from}, nil
}

func (f *follower) next(ctx context.Context, p []byte) (n int, at int64, err error) {
	for {
		heard := f.bell.heard()
		end := f.ending()
		data, start := f.log.read(f.at, len(p))
		if len(data) > 0 {
			f.at = start + int64(len(data))
			return copy(p, data), start, nil
		}
		if end.settled {
			return 0, f.at, io.EOF
		}
		if !sleep(ctx, heard, end.left) {
			return 0, f.at, tools.AsError(context.Cause(ctx))
		}
	}
}

// typed waits for room, which is that person's own wait.
func (f *follower) typed(ctx context.Context, p []byte) error {
	for len(p) > 0 {
		piece := p[:min(len(p), 4<<10)]
		for f.writer.waiting() > 0 { // a person's keys do not pile up
			if !sleep(ctx, f.bell.heard(), 10*time.Millisecond) {
				return tools.AsError(context.Cause(ctx))
			}
			if f.isOver() {
				return tools.Errorf(tools.CodeProcessState, "session %s takes no input", f.launch.ID)
			}
		}
		if _, _, err := f.keys(piece); err != nil {
			return err
		}
		p = p[len(piece):]
	}
	return nil
}

// keys gives bytes as they come from a person's own terminal, which has no lines.
func (f *follower) keys(p []byte) (accepted, queued int, err error) {
	if f.master == nil {
		return f.put(p, false)
	}
	f.typing.Lock()
	defer f.typing.Unlock()
	modes, err := terminalMode(f.master)
	if err != nil {
		return 0, 0, f.terminalError(err)
	}
	if err := f.line.fits(modes, p); err != nil {
		return 0, 0, err
	}
	f.signalsBy(modes, p)
	if accepted, queued, err = f.put(p, false); err == nil {
		f.line.wrote(modes, p)
	}
	return accepted, queued, err
}

// resized follows a window, which may move faster than a program should be told.
func (f *follower) resized(ctx context.Context, columns, rows int) error {
	if f.master == nil {
		return nil
	}
	if err := f.resizes.Wait(ctx); err != nil {
		return tools.AsError(err)
	}
	return f.setSize(columns, rows)
}

func (f *follower) close() error { return nil }
