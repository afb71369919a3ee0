package langintel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"
	"golang.org/x/sync/semaphore"

	"github.com/prism-ls/prism-ls/tools"
)

// The error codes of LSP 3.17 §errorCodes that the client acts on.
const (
	codeMethodNotFound   = int64(jsonrpc2.MethodNotFound)
	codeInvalidParams    = int64(jsonrpc2.InvalidParams)
	codeInternalError    = int64(jsonrpc2.InternalError)
	codeContentModified  = -32801
	codeServerCancelled  = -32802
	codeRequestCancelled = -32800
)

// rpcError is the error object of a response (JSON-RPC 2.0 §5.1).
type rpcError struct {
	Code    int64          `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data,omitzero"`
}

func (e *rpcError) Error() string {
	if e.Code == 0 { // a server that gives its errors no code
		return printable(e.Message, 500)
	}
	return fmt.Sprintf("%s (%d)", printable(e.Message, 500), e.Code)
}

// requestHandler answers a server's request; notificationHandler takes a
// notification, or looks at a request before that is answered, in the reading
// goroutine, so it must not wait for anything.
type (
	requestHandler      func(ctx context.Context, method string, params []byte) (any, error)
	notificationHandler func(method string, params []byte)
)

// rpc is one connection to a server.
type rpc struct {
	stream  *stream
	conn    jsonrpc2.Conn
	pending chan struct{} // one slot a request that waits

	requests chan func()
	// room is for the requests of the server that wait for their answer, in bytes.
	room    *semaphore.Weighted
	least   int64 // what the smallest counts for
	stop    context.CancelFunc
	running sync.WaitGroup
}

const (
	// serverRequests bounds the requests of one server that wait for their answer.
	serverRequests = 256
	// askPatience is how long the server is not read when that many do.
	askPatience = 5 * time.Second
)

func newRPC(in io.Reader, out io.WriteCloser, maxMessage, maxPending int64) *rpc {
	s := newStream(in, out, maxMessage)
	return &rpc{
		stream: s, conn: jsonrpc2.NewConn(s),
		pending:  make(chan struct{}, maxPending),
		requests: make(chan func(), serverRequests),
		room:     semaphore.NewWeighted(2 * maxMessage),
		least:    2 * maxMessage / serverRequests,
	}
}

// start begins reading. Requests are answered one after the other, away from
// the reading goroutine, which therefore never waits for a write. It waits only
// while the server has asked more than may be kept.
func (r *rpc) start(heed notificationHandler, request requestHandler, notification notificationHandler) {
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	r.running.Go(func() {
		for {
			select {
			case answer := <-r.requests:
				answer()
			case <-ctx.Done():
				return
			}
		}
	})
	r.conn.Go(ctx, func(ctx context.Context, reply jsonrpc2.Replier, req jsonrpc2.Request) error {
		if note, ok := req.(*incoming); ok {
			notification(note.Method(), note.params)
			r.stream.in.release(note.message)
			return nil
		}
		heed(req.Method(), req.Params())
		size := max(r.least, int64(len(req.Params())))
		wait, done := context.WithTimeout(ctx, askPatience)
		defer done()
		if r.room.Acquire(wait, size) != nil {
			r.stream.fail(tools.Errorf(tools.CodeLSPLimit, "the server asked more than %d things, or %d bytes, and did not wait for an answer", serverRequests, 2*r.stream.in.limit))
			return nil
		}
		r.requests <- func() { // as many as there is room for fit
			defer r.room.Release(size)
			result, err := request(ctx, req.Method(), req.Params())
			// A failed write ends the connection.
			_ = reply(ctx, result, err)
		}
		return nil
	})
}

// broken is closed when nothing can be sent to the server any more.
func (r *rpc) broken() <-chan struct{} { return r.stream.out.broken }

// done is closed when the server's output has ended and nobody waits any more.
func (r *rpc) done() <-chan struct{} { return r.conn.Done() }

// close ends writing and stops answering. The reader ends with the pipe.
func (r *rpc) close() {
	_ = r.stream.Close()
	r.stop()
	r.running.Wait()
}

// resultReader takes a result as it came, before its buffer is used again.
type resultReader func(jsontext.Value) error

// call sends a request and decodes its result; a nil result is not decoded. When
// ctx ends first the server is told that the answer is not wanted.
func (r *rpc) call(ctx context.Context, method string, params, result any) error {
	x := &exchange{}
	if err := x.encode(params); err != nil {
		return err
	}
	select {
	case r.pending <- struct{}{}:
		defer func() { <-r.pending }()
	default:
		return tools.Errorf(tools.CodeLSPLimit, "%d requests wait for the server already", cap(r.pending))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := r.conn.Call(context.WithValue(ctx, exchangeKey{}, x), method, nil, nil)
	if err != nil {
		r.stream.forget(x)
		if ctx.Err() != nil && x.sent {
			r.cancel(x)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return tools.AsError(err)
	}
	if x.err != nil {
		return x.err
	}
	if raw, ok := result.(*jsontext.Value); ok && x.reply.fault == nil {
		*raw = x.reply.result // the buffer is the caller's now
		return nil
	}
	defer r.stream.in.release(x.message)
	if reader, ok := result.(resultReader); ok && x.reply.fault == nil {
		return reader(x.reply.result)
	}
	return x.decode(method, result)
}

// cancel sends $/cancelRequest (LSP 3.17 §cancelRequest).
func (r *rpc) cancel(x *exchange) {
	// A failure shows elsewhere; the request is over for its caller anyway.
	_ = r.notify("$/cancelRequest", struct {
		ID jsonrpc2.ID `json:"id"`
	}{x.id})
}

// notify sends a notification.
func (r *rpc) notify(method string, params any) error {
	x := &exchange{}
	if err := x.encode(params); err != nil {
		return err
	}
	return r.conn.Notify(context.WithValue(context.Background(), exchangeKey{}, x), method, nil)
}

func (x *exchange) encode(params any) error {
	switch p := params.(type) {
	case nil:
		return nil
	case jsontext.Value:
		x.params = p
		return nil
	}
	text, err := json.Marshal(params, jsontext.AllowInvalidUTF8(true))
	x.params = text
	return err
}

func (x *exchange) decode(method string, result any) error {
	if x.reply.fault != nil {
		fault := new(rpcError)
		if err := decodeJSON(x.reply.fault, fault); err != nil {
			return err
		}
		return fault
	}
	if result == nil || len(x.reply.result) == 0 {
		return nil
	}
	if err := decodeJSON(x.reply.result, result); err != nil {
		return fmt.Errorf("the answer to %s: %w", method, err)
	}
	return nil
}

// decodeJSON decodes what a server wrote. Servers repeat members and cut strings
// in the middle of a character; neither is worth failing for.
func decodeJSON(text []byte, into any) error {
	if raw, ok := into.(*jsontext.Value); ok {
		*raw = jsontext.Value(text).Clone()
		return nil
	}
	err := json.Unmarshal(text, into, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if err != nil {
		return tools.Errorf(tools.CodeLSPServer, "the server sent JSON of another shape: %s", printable(err.Error(), 300))
	}
	return nil
}

// faultCode returns the LSP error code in err, or 0.
func faultCode(err error) int64 {
	if fault, ok := errors.AsType[*rpcError](err); ok {
		return fault.Code
	}
	return 0
}

// refused reports whether err is a server's own answer, whatever its code: some
// give all of them the code 0.
func refused(err error) bool {
	_, ok := errors.AsType[*rpcError](err)
	return ok
}

// retriggers reports the retriggerRequest flag of DiagnosticServerCancellationData
// (LSP 3.17 §textDocument_diagnostic); without data the flag is true there.
func retriggers(err error) bool {
	fault, ok := errors.AsType[*rpcError](err)
	if !ok || fault.Code != codeServerCancelled {
		return false
	}
	data := struct {
		Retrigger bool `json:"retriggerRequest"`
	}{true}
	if len(fault.Data) > 0 && decodeJSON(fault.Data, &data) != nil {
		return true
	}
	return data.Retrigger
}

// retryDelay is how long to leave a server alone before a read is repeated.
func retryDelay(attempt int) time.Duration {
	return min(time.Duration(attempt+1)*30*time.Millisecond, 500*time.Millisecond)
}
