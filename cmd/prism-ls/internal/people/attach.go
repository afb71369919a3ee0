package people

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

// AttachOptions are how a person attaches.
type AttachOptions struct {
	// In and Out are the person's terminal.
	In, Out *os.File
	// Detach are the keys that end the attachment; see ParseDetachKeys.
	Detach []byte
	// Resized tells when the window has another size; it is closed by nobody.
	Resized <-chan os.Signal
}

// Attach joins a terminal with a session until the session ends, the keys are
// typed, which is detached, or ctx ends. The terminal is as it was before,
// whichever way that is.
func Attach(ctx context.Context, sessions Sessions, info *procsess.Info, opts *AttachOptions) (detached bool, err error) {
	in, out := int(opts.In.Fd()), int(opts.Out.Fd())
	if !term.IsTerminal(in) || !term.IsTerminal(out) {
		return false, tools.Errorf(tools.CodeToolInput, "attach needs a terminal for its input and its output; `prism-ls logs -f %s` needs none", info.ID)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	j := &joint{opts: opts, keys: detacher{keys: opts.Detach}, cancel: cancel}
	from, picture, err := present(ctx, sessions, info)
	if err != nil {
		return false, err
	}
	if j.attachment, err = sessions.Attach(ctx, info.ID, from); err != nil {
		return false, err
	}
	defer j.attachment.Close()
	before, err := term.MakeRaw(in)
	if err != nil {
		return false, tools.Errorf(tools.CodeIO, "the terminal cannot be used: %w", err)
	}
	defer func() {
		// Also when this panics.
		_, writeErr := opts.Out.Write(append(j.screening.reset(), "\r\n"...))
		err = errors.Join(err, writeErr, term.Restore(in, before))
	}()
	defer j.follow(ctx, out, sessions, info)()
	if err := j.show(picture); err != nil {
		return false, err
	}
	return j.run(ctx)
}

// present is what the session shows now, and the cursor behind it.
func present(ctx context.Context, sessions Sessions, info *procsess.Info) (from int64, picture []byte, err error) {
	if !info.PTY {
		return -1, nil, nil
	}
	end := info.Cursor
	page, err := sessions.Output(ctx, info.ID, procsess.Output{Cursor: &end, View: procsess.ScreenView})
	if err != nil || page.Screen == nil {
		return -1, nil, err
	}
	var text bytes.Buffer
	if page.Screen.Alternate {
		text.WriteString("\x1b[?1049h\x1b[H\x1b[2J")
	}
	lines := bytes.Split(bytes.TrimRight(page.Data, "\n"), []byte("\n"))
	text.Write(bytes.Join(lines, []byte("\r\n")))
	switch {
	case page.Screen.Alternate:
		fmt.Fprintf(&text, "\x1b[%d;%dH", page.Screen.CursorRow, page.Screen.CursorColumn)
	case page.Screen.CursorRow > len(lines):
		text.WriteString("\r\n")
	case page.Screen.CursorColumn > 0:
		fmt.Fprintf(&text, "\x1b[%dG", page.Screen.CursorColumn)
	}
	return page.Cursor, text.Bytes(), nil
}

// joint is where a terminal and a session are joined.
type joint struct {
	opts       *AttachOptions
	attachment Attachment
	keys       detacher
	cancel     context.CancelFunc

	mu        sync.Mutex // guards what writes to the terminal
	screening screening
	shown     []byte
}

// show writes output to the terminal.
func (j *joint) show(p []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.shown = j.screening.pass(j.shown[:0], p)
	_, err := j.opts.Out.Write(j.shown)
	return err
}

// follow has the session's terminal be as large as the person's window, and gives
// it back its size in the end.
func (j *joint) follow(ctx context.Context, fd int, sessions Sessions, info *procsess.Info) (stop func()) {
	if !info.PTY {
		return func() {}
	}
	resize := func() {
		if columns, rows, err := term.GetSize(fd); err == nil && columns > 0 && rows > 0 {
			_ = j.attachment.Resize(ctx, columns, rows) // too large or too often: it stays as it is
		}
	}
	resize()
	done := make(chan struct{})
	var routine sync.WaitGroup
	routine.Go(func() {
		for {
			select {
			case <-j.opts.Resized:
				resize()
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		routine.Wait()
		_ = sessions.Resize(context.WithoutCancel(ctx), info.ID, info.Columns, info.Rows) // it may have ended
	}
}

// outcome is how one direction ended.
type outcome struct {
	detached bool
	err      error
}

// run passes on bytes until one of the directions ends. The reading of the
// terminal cannot be ended, and ends with the process.
func (j *joint) run(ctx context.Context) (detached bool, err error) {
	typed, shown := make(chan outcome, 1), make(chan outcome, 1)
	go func() { typed <- guarded(func() outcome { return j.typing(ctx) }) }()
	go func() { shown <- guarded(func() outcome { return j.showing(ctx) }) }()
	var end outcome
	select {
	case end = <-typed:
		j.cancel()
		j.attachment.Close()
		<-shown
	case end = <-shown:
	}
	if end.err != nil && ctx.Err() != nil && !end.detached {
		end.err = context.Cause(ctx)
	}
	return end.detached, end.err
}

// guarded has a panic be an error, so that the terminal is restored.
func guarded(do func() outcome) (end outcome) {
	defer func() {
		if p := recover(); p != nil {
			end = outcome{err: tools.Errorf(tools.CodeInternal, "attach failed by a fault of its own: %v", p)}
		}
	}()
	return do()
}

func (j *joint) typing(ctx context.Context) outcome {
	buf := make([]byte, 4<<10)
	for {
		n, err := j.opts.In.Read(buf)
		if ctx.Err() != nil {
			return outcome{}
		}
		typed, detached := j.keys.take(buf[:n])
		if len(typed) > 0 {
			if err := j.attachment.Type(ctx, typed); err != nil && !errors.Is(err, tools.CodeProcessState) {
				return outcome{err: err}
			}
		}
		switch {
		case detached, errors.Is(err, io.EOF): // a terminal that hung up leaves the session alone
			return outcome{detached: true}
		case err != nil:
			return outcome{err: tools.Errorf(tools.CodeIO, "the terminal cannot be read: %w", err)}
		}
	}
}

func (j *joint) showing(ctx context.Context) outcome {
	buf := make([]byte, 32<<10)
	next := int64(-1)
	for {
		n, at, err := j.attachment.Next(ctx, buf)
		if lost := at - next; next >= 0 && lost > 0 {
			if err := j.show(fmt.Appendf(nil, "\r\n[%d bytes were not kept]\r\n", lost)); err != nil {
				return outcome{err: err}
			}
		}
		next = at + int64(n)
		if showErr := j.show(buf[:n]); showErr != nil {
			return outcome{err: showErr}
		}
		switch {
		case errors.Is(err, io.EOF):
			return outcome{}
		case err != nil:
			return outcome{err: err}
		}
	}
}
