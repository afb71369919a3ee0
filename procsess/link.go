package procsess

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"

	"go.lsp.dev/jsonrpc2"

	"github.com/prism-ls/prism-ls/tools"
)

// link is one connection between a registry and a holder, at either end.
type link struct {
	conn jsonrpc2.Conn
	// life ends with the connection. (The Conn leaves those who wait for an answer
	// alone when it ends.)
	life    context.Context
	running sync.WaitGroup
	slots   chan struct{}

	mu      sync.Mutex
	serving map[jsonrpc2.ID]context.CancelFunc
}

// linkCalls bounds what one side may ask at the same time; then it is not read.
const linkCalls = 256

// answerer answers one request.
type answerer func(ctx context.Context, params []byte) (json.RawMessage, error)

// newLink begins to serve; a client has nothing to answer and gives nil.
func newLink(conn net.Conn, answers map[string]answerer) *link {
	l := &link{
		conn: jsonrpc2.NewConn(newFrames(conn)), serving: map[jsonrpc2.ID]context.CancelFunc{},
		slots: make(chan struct{}, linkCalls),
	}
	life, end := context.WithCancelCause(context.Background())
	l.life = life
	l.conn.Go(life, func(_ context.Context, reply jsonrpc2.Replier, request jsonrpc2.Request) error {
		l.take(reply, request, answers)
		return nil // an error would end the connection, and of another type the process
	})
	l.running.Go(func() {
		<-l.conn.Done()
		cause := tools.Errorf(tools.CodeRecoveryUnknown, "the connection to the session's holder has ended")
		var known *tools.Error
		if errors.As(l.conn.Err(), &known) && known.Code == tools.CodeRecoveryUntrusted {
			cause = known
		}
		end(cause)
	})
	return l
}

// take takes a request in the reading goroutine and answers it in another.
func (l *link) take(reply jsonrpc2.Replier, request jsonrpc2.Request, answers map[string]answerer) {
	call, asked := request.(*jsonrpc2.Call)
	if !asked {
		var id jsonrpc2.ID
		if request.Method() == noteCancel && json.Unmarshal(request.Params(), &id) == nil {
			l.mu.Lock()
			if cancel := l.serving[id]; cancel != nil {
				cancel()
			}
			l.mu.Unlock()
		}
		return
	}
	ctx, cancel := context.WithCancel(l.life)
	l.mu.Lock()
	l.serving[call.ID()] = cancel
	l.mu.Unlock()
	l.slots <- struct{}{}
	l.running.Go(func() {
		defer func() { <-l.slots }()
		defer func() {
			l.mu.Lock()
			delete(l.serving, call.ID())
			l.mu.Unlock()
			cancel()
		}()
		var result json.RawMessage
		err := error(tools.Errorf(tools.CodeProcessUnsupported, "the holder does not know %.40q; it is of another version", call.Method()))
		if answer := answers[call.Method()]; answer != nil {
			result, err = answer(ctx, call.Params())
		}
		if err = reply(ctx, result, wireError(err)); err != nil {
			// Too long, or the connection has ended and this one fails, too.
			_ = reply(ctx, nil, wireError(err))
		}
	})
}

// exchange asks and waits for the answer, the end of the connection, or that of ctx, of
// which the other side is told.
func exchange[Out any](ctx context.Context, l *link, method string, in any) (out Out, err error) {
	waiting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.life, func() { cancel(context.Cause(l.life)) })()
	params, err := json.Marshal(in)
	if err != nil {
		return out, tools.Errorf(tools.CodeInternal, "a request that cannot be encoded: %w", err)
	}
	var result json.RawMessage
	id, err := l.conn.Call(waiting, method, json.RawMessage(params), &result)
	switch {
	case err == nil:
		if err := json.Unmarshal(result, &out); err != nil {
			return out, tools.Errorf(tools.CodeRecoveryUntrusted, "an answer that is not of this protocol: %w", err)
		}
		return out, nil
	case ctx.Err() != nil:
		_ = l.conn.Notify(context.Background(), noteCancel, &id)
		return out, tools.AsError(context.Cause(ctx))
	case waiting.Err() != nil:
		return out, context.Cause(waiting)
	case errors.Is(err, tools.CodeRecoveryUnknown): // from our own side: it could not be sent
		<-l.life.Done()
		return out, context.Cause(l.life)
	}
	return out, errorFromWire(err)
}

func (l *link) isOver() bool { return l.life.Err() != nil }

// close ends the connection, what is being answered, and waits for it.
func (l *link) close() {
	_ = l.conn.Close()
	l.running.Wait()
}

// answering makes an answerer of a function. (The Conn would encode with another
// package, which has other ideas of times than its decoder.)
func answering[In, Out any](f func(ctx context.Context, in In) (Out, error)) answerer {
	return func(ctx context.Context, params []byte) (json.RawMessage, error) {
		var in In
		if err := json.Unmarshal(params, &in); err != nil {
			return nil, tools.Errorf(tools.CodeRecoveryUntrusted, "a request that is not of this protocol: %w", err)
		}
		out, err := f(ctx, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
}
