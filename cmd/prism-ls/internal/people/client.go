package people

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"sync"
	"syscall"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// Dial opens a connection that Serve answers at the other end.
type Dial func(ctx context.Context) (io.ReadWriteCloser, error)

// Client are the sessions of another process.
func Client(dial Dial) Sessions { return client{dial} }

type client struct{ dial Dial }

// ask makes a request, and hands the connection on with keep.
func ask[T any](ctx context.Context, c client, what request, keep *frames) (T, error) {
	var got struct {
		Value   T
		Failure *failure
	}
	conn, err := c.dial(ctx)
	if err != nil {
		return got.Value, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	in := bufio.NewReader(conn)
	err = writeLine(conn, what)
	if err == nil {
		err = readLine(in, &got)
	}
	switch {
	case !stop():
		err = context.Cause(ctx)
	case err != nil:
		err = tools.Errorf(tools.CodeIO, "the daemon's answer did not arrive: %w", err)
	case got.Failure != nil:
		err = got.Failure.err()
	}
	if err != nil || keep == nil {
		conn.Close()
		return got.Value, err
	}
	keep.out, keep.in = conn, in
	return got.Value, nil
}

func (c client) List(ctx context.Context) ([]procsess.Info, error) {
	return ask[[]procsess.Info](ctx, c, request{Verb: "list"}, nil)
}

func (c client) Output(ctx context.Context, id string, what procsess.Output) (procsess.Page, error) {
	return ask[procsess.Page](ctx, c, request{Verb: "output", ID: id, Output: &what}, nil)
}

func (c client) Wait(ctx context.Context, id string, what procsess.Wait) (procsess.Waited, error) {
	return ask[procsess.Waited](ctx, c, request{Verb: "wait", ID: id, Wait: &what}, nil)
}

func (c client) Signal(ctx context.Context, id string, signal syscall.Signal) error {
	_, err := ask[any](ctx, c, request{Verb: "signal", ID: id, Signal: signal}, nil)
	return err
}

func (c client) Kill(ctx context.Context, id string) (child.KillReport, error) {
	return ask[child.KillReport](ctx, c, request{Verb: "kill", ID: id}, nil)
}

func (c client) Resize(ctx context.Context, id string, columns, rows int) error {
	_, err := ask[any](ctx, c, request{Verb: "resize", ID: id, Columns: columns, Rows: rows}, nil)
	return err
}

func (c client) Attach(ctx context.Context, id string, from int64) (Attachment, error) {
	remote := &remote{}
	if _, err := ask[any](ctx, c, request{Verb: "attach", ID: id, From: from}, &remote.frames); err != nil {
		return nil, err
	}
	return remote, nil
}

// remote is an attachment to a session of another process.
type remote struct {
	frames
	rest   []byte // of a frame, not taken yet
	at     int64
	buf    []byte
	closed sync.Once
}

func (r *remote) Next(ctx context.Context, p []byte) (n int, at int64, err error) {
	stop := context.AfterFunc(ctx, func() { r.Close() })
	defer stop()
	for len(r.rest) == 0 {
		kind, payload, err := r.read(r.buf)
		switch {
		case ctx.Err() != nil:
			return 0, r.at, context.Cause(ctx)
		case err != nil:
			return 0, r.at, tools.Errorf(tools.CodeIO, "the connection to the session is gone: %w", err)
		}
		r.buf = payload
		switch {
		case kind == frameOutput && len(payload) >= 8:
			r.at, r.rest = int64(binary.BigEndian.Uint64(payload)), payload[8:]
		case kind == frameEnd && len(payload) == 0:
			return 0, r.at, io.EOF
		case kind == frameEnd:
			var why failure
			if err := json.Unmarshal(payload, &why); err != nil {
				return 0, r.at, err
			}
			return 0, r.at, why.err()
		}
	}
	n, at = copy(p, r.rest), r.at
	r.rest, r.at = r.rest[n:], r.at+int64(n)
	return n, at, nil
}

func (r *remote) Type(_ context.Context, p []byte) error {
	for len(p) > 0 {
		n := min(len(p), maxFrame)
		if err := r.write(frameInput, p[:n]); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

func (r *remote) Resize(_ context.Context, columns, rows int) error {
	var size [4]byte
	binary.BigEndian.PutUint16(size[:], uint16(columns))
	binary.BigEndian.PutUint16(size[2:], uint16(rows))
	return r.write(frameResize, size[:])
}

func (r *remote) Close() error {
	var err error
	r.closed.Do(func() {
		if conn, ok := r.out.(io.Closer); ok {
			err = conn.Close()
		}
	})
	return err
}
