package procsess

import (
	"context"
	"errors"
	"io"

	"github.com/prism-ls/prism-ls/tools"
)

// Attachment follows a session as a person's terminal does. Any number of them
// see the same bytes; a slow one loses what is not kept any more, and holds up
// nobody.
type Attachment struct {
	stream   stream
	registry *Registry
	caller   Caller
	id       string
	allowed  bool // by the guard, which is asked once
}

// Attach follows a session's output from a cursor on; -1 is what was written last
// and fits a screen. Errors: those of Registry.Output.
func (r *Registry) Attach(ctx context.Context, caller Caller, id string, from int64) (*Attachment, error) {
	e, err := r.find(caller, id)
	if err != nil {
		return nil, err
	}
	if from < -1 {
		return nil, tools.Errorf(tools.CodeToolInput, "cursor is %d, must be -1 or more", from)
	}
	if from < 0 {
		const recent = 16 << 10
		from = max(0, e.info(ctx).Cursor-recent)
	}
	s, err := e.attach(ctx, from)
	if err != nil {
		return nil, err
	}
	return &Attachment{stream: s, registry: r, caller: caller, id: id}, nil
}

// Next waits for output and copies what fits; at is the cursor of its first byte,
// which is beyond the end of what came before if something was lost between. io.EOF
// is the end of the session.
func (a *Attachment) Next(ctx context.Context, p []byte) (n int, at int64, err error) {
	ctx, done := a.registry.untilClosed(ctx)
	defer done()
	n, at, err = a.stream.next(ctx, p)
	if errors.Is(err, io.EOF) {
		return n, at, err
	}
	if _, lost := a.registry.find(a.caller, a.id); errors.Is(lost, tools.CodeProcessOwnership) {
		clear(p[:n]) // it was another's to read
		return 0, at, lost
	}
	return n, at, a.registry.orClosed(err)
}

// Type gives bytes to the program as a terminal would, and waits until it has room
// for them. It is for one goroutine at a time.
func (a *Attachment) Type(ctx context.Context, p []byte) error {
	if !a.allowed {
		if _, err := a.registry.permitted(ctx, a.caller, a.id, "input"); err != nil {
			return err
		}
		a.allowed = true
	} else if _, err := a.registry.live(a.caller, a.id); err != nil {
		return err
	}
	ctx, done := a.registry.untilClosed(ctx)
	defer done()
	return a.registry.orClosed(a.stream.typed(ctx, p))
}

// Resize tells the size of this follower's window; the last one told counts. Errors:
// those of Registry.Resize, but that too many in a minute wait, and that without a
// terminal nothing happens.
func (a *Attachment) Resize(ctx context.Context, columns, rows int) error {
	if err := checkSize(columns, rows); err != nil {
		return err
	}
	if _, err := a.registry.live(a.caller, a.id); err != nil {
		return err
	}
	ctx, done := a.registry.untilClosed(ctx)
	defer done()
	return a.registry.orClosed(a.stream.resized(ctx, columns, rows))
}

// Close ends the attachment; the session goes on.
func (a *Attachment) Close() error { return a.stream.close() }
