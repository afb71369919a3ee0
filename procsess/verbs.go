package procsess

import (
	"context"
	"syscall"

	"github.com/prism-ls/prism-ls/tools/child"
)

// verbs are what can be done with one session, wherever it runs: in this process,
// or in a holder. Whose session it is, limits of the registry and the place where
// an owner has stopped reading are the registry's business; a request's Cursor is
// always set here.
type verbs interface {
	// info is what is known now. For a holder that does not answer it is what was
	// known last, with Degraded saying so.
	info(ctx context.Context) Info
	output(ctx context.Context, what Output) (Page, error)
	input(ctx context.Context, what Type) (Typed, error)
	wait(ctx context.Context, what Wait) (Waited, error)
	// signal signals the foreground group of a terminal, or the program's group.
	signal(ctx context.Context, sig syscall.Signal) error
	// kill ends the whole tree, and waits for it; by is what Exit will say.
	kill(ctx context.Context, by By) (child.KillReport, error)
	// release lets the program go on without anybody: it is not owned, read or
	// ended any more.
	release(ctx context.Context) error
	resize(ctx context.Context, columns, rows int) error
	// attach follows the output and takes raw input, for a person's terminal.
	attach(ctx context.Context, from int64) (stream, error)
	// over is closed when the program has ended, or nothing certain is known of it
	// any more.
	over() <-chan struct{}
	// detach leaves a durable session to its holder. Only sessions with one have it.
	detach() error
	// discard frees the output. The session has ended, or was released.
	discard() error
}

// stream is one follower of a session's output. A slow one holds up nobody: it
// loses what is not kept any more, and is told how much.
type stream interface {
	// next waits for output and copies it; at is where it begins. io.EOF is the end.
	next(ctx context.Context, p []byte) (n int, at int64, err error)
	// typed gives raw bytes to the program, as a terminal would.
	typed(ctx context.Context, p []byte) error
	// resized tells the size of this follower's window.
	resized(ctx context.Context, columns, rows int) error
	close() error
}
