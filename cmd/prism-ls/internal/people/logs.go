package people

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
)

// LogsOptions are how a person looks at output.
type LogsOptions struct {
	// Follow goes on until the session ends.
	Follow bool
	// Raw gives the bytes as they are; else it is text.
	Raw bool
	// Terminal keeps from a terminal what it would answer to.
	Terminal bool
}

// Logs writes a session's output, from its beginning or what is kept of it.
func Logs(ctx context.Context, sessions Sessions, id string, out io.Writer, opts LogsOptions) error {
	l := &reader{sessions: sessions, id: id, out: out, opts: opts}
	if opts.Terminal {
		l.screening = &screening{}
		defer func() { _, _ = out.Write(l.screening.reset()) }() // the terminal may be gone
	}
	for {
		more, err := l.next(ctx)
		if err != nil || !more {
			return err
		}
	}
}

// reader goes through the output of a session.
type reader struct {
	sessions  Sessions
	id        string
	out       io.Writer
	opts      LogsOptions
	screening *screening
	cursor    int64
	buf       []byte
}

// quietTime is how long an unfinished line is waited for.
const quietTime = 500 * time.Millisecond

// next writes what there is now, and waits for more where that is wanted.
func (l *reader) next(ctx context.Context) (more bool, err error) {
	page, err := l.page(ctx, procsess.RawView, 0)
	if err != nil {
		return false, err
	}
	switch {
	case len(page.Data) > 0:
		return true, l.write(ctx, &page)
	case page.EOF, !l.opts.Follow:
		return false, nil
	}
	waited, err := l.sessions.Wait(ctx, l.id, procsess.Wait{Bytes: 1, Exit: true, Cursor: &l.cursor, Timeout: time.Duration(procsess.WaitTime.Hard) * time.Second})
	// Behind an end whose output somebody still holds open nothing is waited for.
	return waited.Reason != procsess.ReasonExit || waited.Cursor > l.cursor, err
}

func (l *reader) page(ctx context.Context, view procsess.View, most int) (procsess.Page, error) {
	return l.sessions.Output(ctx, l.id, procsess.Output{Cursor: &l.cursor, View: view, MaxBytes: most})
}

func (l *reader) write(ctx context.Context, page *procsess.Page) error {
	if page.Lost > 0 && !l.opts.Raw {
		if _, err := fmt.Fprintf(l.out, "[%d bytes were not kept]\n", page.Lost); err != nil {
			return err
		}
	}
	data := page.Data
	if !l.opts.Raw {
		text, err := l.text(ctx, page)
		if err != nil {
			return err
		}
		page, data = text, bytes.ToValidUTF8(text.Data, []byte("\uFFFD"))
	}
	l.cursor = page.Cursor
	if l.screening != nil {
		l.buf = l.screening.pass(l.buf[:0], data)
		data = l.buf
	}
	_, err := l.out.Write(data)
	return err
}

// text is the page as text. What follows may still change a line that has not
// ended (a progress bar), so one is waited for, as long as something comes.
func (l *reader) text(ctx context.Context, raw *procsess.Page) (*procsess.Page, error) {
	end := bytes.LastIndexByte(raw.Data, '\n') + 1
	if l.opts.Follow && end == 0 && !raw.EOF && raw.Cursor == raw.Total {
		what := procsess.Wait{Quiet: quietTime, Exit: true, Match: "\n", Cursor: &l.cursor, Timeout: time.Duration(procsess.WaitTime.Hard) * time.Second}
		if _, err := l.sessions.Wait(ctx, l.id, what); err != nil {
			return nil, err
		}
		again, err := l.page(ctx, procsess.RawView, 0)
		if err != nil {
			return nil, err
		}
		raw, end = &again, bytes.LastIndexByte(again.Data, '\n')+1
	}
	if end == 0 || !l.opts.Follow {
		end = len(raw.Data)
	}
	l.cursor = raw.Start
	page, err := l.page(ctx, procsess.TextView, end)
	return &page, err
}
