package procsess

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"sync"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// link is one connection between a registry and a holder, at either end. Requests
// run at the same time.
type link struct {
	conn    net.Conn
	life    context.Context // ends with the connection, for its cause
	running sync.WaitGroup
	slots   chan struct{}

	writing  sync.Mutex
	deadline time.Time // of writes, guarded by writing

	mu      sync.Mutex
	next    uint32
	pending map[uint32]chan frame
	serving map[uint32]context.CancelFunc
}

// linkCalls bounds what one side may ask at the same time; then it is not read.
const linkCalls = 256

// answerer answers one request.
type answerer func(ctx context.Context, body []byte) (json.RawMessage, error)

// newLink begins to serve; a client has nothing to answer and gives nil.
func newLink(conn net.Conn, answers map[string]answerer) *link {
	life, end := context.WithCancelCause(context.Background())
	l := &link{
		conn: conn, life: life, slots: make(chan struct{}, linkCalls),
		pending: map[uint32]chan frame{}, serving: map[uint32]context.CancelFunc{},
	}
	l.running.Go(func() {
		in := bufio.NewReader(conn)
		for {
			f, err := readFrame(in)
			if err != nil {
				conn.Close()
				end(err)
				return
			}
			l.take(f, answers)
		}
	})
	return l
}

// take deals with one message, in the reading goroutine.
func (l *link) take(f frame, answers map[string]answerer) {
	l.mu.Lock()
	switch f.kind {
	case frameAnswer, frameFailure:
		waiting := l.pending[f.id]
		delete(l.pending, f.id)
		l.mu.Unlock()
		if waiting != nil {
			waiting <- f
		}
		return
	case frameCancel:
		if cancel := l.serving[f.id]; cancel != nil {
			cancel()
		}
	case frameRequest:
		ctx, cancel := context.WithCancel(l.life)
		l.serving[f.id] = cancel
		l.mu.Unlock()
		l.slots <- struct{}{}
		l.running.Go(func() { l.answer(ctx, f, answers[f.method]) })
		return
	}
	l.mu.Unlock()
}

func (l *link) answer(ctx context.Context, f frame, how answerer) {
	var body json.RawMessage
	err := error(tools.Errorf(tools.CodeProcessUnsupported, "the holder does not know %.40q; it is of another version", f.method))
	if how != nil {
		body, err = how(ctx, f.body)
	}
	if err == nil {
		err = l.write(frame{kind: frameAnswer, id: f.id, body: body})
	}
	if err != nil { // perhaps only that it was too long; if the connection is gone, so is this
		_ = l.write(frame{kind: frameFailure, id: f.id, body: encodeFailure(err)})
	}
	l.mu.Lock()
	l.serving[f.id]()
	delete(l.serving, f.id)
	l.mu.Unlock()
	<-l.slots
}

func (l *link) write(f frame) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	// Each change of a deadline wakes the runtime's poller, so one serves for a while.
	if now := time.Now(); l.deadline.Before(now.Add(frameLimit)) {
		l.deadline = now.Add(2 * frameLimit)
		_ = l.conn.SetWriteDeadline(l.deadline)
	}
	return f.write(l.conn)
}

// exchange asks and waits for the answer, the end of the connection, or that of ctx,
// of which the other side is told.
func exchange[Out any](ctx context.Context, l *link, method string, in any) (out Out, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return out, tools.Errorf(tools.CodeInternal, "a request that cannot be encoded: %w", err)
	}
	answer := make(chan frame, 1)
	l.mu.Lock()
	l.next++
	id := l.next
	l.pending[id] = answer
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.pending, id)
		l.mu.Unlock()
	}()
	if err := l.write(frame{kind: frameRequest, id: id, method: method, body: body}); err != nil {
		if tools.AsError(err).Code == tools.CodeRecoveryUnknown {
			<-l.life.Done() // it has the reason
			err = context.Cause(l.life)
		}
		return out, err
	}
	var f frame
	select {
	case f = <-answer:
	case <-ctx.Done():
		_ = l.write(frame{kind: frameCancel, id: id})
		return out, tools.AsError(context.Cause(ctx))
	case <-l.life.Done():
		select {
		case f = <-answer: // it came last
		default:
			return out, context.Cause(l.life)
		}
	}
	if f.kind == frameFailure {
		return out, decodeFailure(f.body)
	}
	if err := json.Unmarshal(f.body, &out); err != nil {
		return out, tools.Errorf(tools.CodeRecoveryUntrusted, "an answer that is not of this protocol: %w", err)
	}
	return out, nil
}

func (l *link) isOver() bool { return l.life.Err() != nil }

// close ends the connection, what is being answered, and waits for it.
func (l *link) close() {
	_ = l.conn.Close()
	l.running.Wait()
}

// answering makes an answerer of a function.
func answering[In, Out any](f func(ctx context.Context, in In) (Out, error)) answerer {
	return func(ctx context.Context, body []byte) (json.RawMessage, error) {
		var in In
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, tools.Errorf(tools.CodeRecoveryUntrusted, "a request that is not of this protocol: %w", err)
		}
		out, err := f(ctx, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
}
