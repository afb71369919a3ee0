package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// MaxCalls is how many requests are worked on at once; more wait.
	MaxCalls = 256
	// maxWaiting is how many requests wait before reading stops. Up to there,
	// cancellations and replies that come behind them still get through.
	maxWaiting = 256
	// maxCallBytes bounds the frames of the requests being worked on, and of
	// those that wait; one request is always taken.
	maxCallBytes = 2 * MaxFrame
	// drainTime is how long requests may still be answered after the client
	// closed its end: a script that pipes requests in and then closes waits for
	// the answers, a client that died does not.
	drainTime = 400 * time.Millisecond
)

// CodeCancelled is the JSON-RPC error code for a request that its sender
// cancelled (the Language Server Protocol's RequestCancelled; MCP names none).
const CodeCancelled = -32800

// Conn is one client's connection: newline-delimited JSON-RPC over a pair of
// streams. It is an mcp.Transport that connects to itself, once.
//
// One goroutine reads frames until the input ends; Close does not wait for it,
// because a read of standard input cannot be interrupted.
type Conn struct {
	in  *Frames
	out io.Writer
	log *slog.Logger

	writing sync.Mutex // one frame at a time
	buffer  []byte

	mu        sync.Mutex
	ready     []jsonrpc.Message // for Read
	waiting   []call            // requests beyond MaxCalls, oldest first
	active    map[jsonrpc.ID]call
	bytes     int // of active
	parked    int // bytes of waiting
	ended     bool
	available chan struct{} // capacity 1: ready or ended changed
	freed     chan struct{} // capacity 1: a request was answered
	over      chan struct{}
	overOnce  sync.Once
	closed    chan struct{}
	closeOnce sync.Once
	startOnce sync.Once
}

// call is a request that is not answered yet.
type call struct {
	request *jsonrpc.Request
	id      []byte // the JSON text that the answer carries
	size    int
}

// NewConn makes a connection. If either stream is an io.Closer, closing it is
// the caller's affair, after Serve has returned. A nil logger discards.
func NewConn(in io.Reader, out io.Writer, logger *slog.Logger) *Conn {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Conn{
		in: newFrames(in, MaxFrame), out: out, log: logger,
		active:    map[jsonrpc.ID]call{},
		available: make(chan struct{}, 1),
		freed:     make(chan struct{}, 1),
		over:      make(chan struct{}),
		closed:    make(chan struct{}),
	}
}

// Connect implements mcp.Transport.
func (c *Conn) Connect(context.Context) (mcp.Connection, error) {
	c.startOnce.Do(func() { go c.receive() })
	return c, nil
}

// SessionID implements mcp.Connection; a pair of streams has no ID.
func (c *Conn) SessionID() string { return "" }

// End makes Read report the end of the input, as if the client had closed it:
// the SDK then cancels what is in flight.
func (c *Conn) End() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.overOnce.Do(func() { close(c.over) })
	wake(c.available)
}

// Over is closed when the connection has ended, from whichever side.
func (c *Conn) Over() <-chan struct{} { return c.over }

// Close implements mcp.Connection.
func (c *Conn) Close() error {
	c.overOnce.Do(func() { close(c.over) })
	c.closeOnce.Do(func() { close(c.closed) })
	return nil
}

// Read implements mcp.Connection.
func (c *Conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		c.mu.Lock()
		switch {
		case c.ended:
			c.mu.Unlock()
			return nil, io.EOF
		case len(c.ready) > 0:
			message := c.ready[0]
			c.ready[0] = nil
			c.ready = c.ready[1:]
			c.mu.Unlock()
			return message, nil
		}
		c.mu.Unlock()
		select {
		case <-c.available:
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// receive reads frames until the input ends.
func (c *Conn) receive() {
	for {
		frame, err := c.in.Next()
		switch {
		case errors.Is(err, ErrFrameTooLong):
			c.refuse(faultf(nil, jsonrpc.CodeInvalidRequest, "the frame is longer than %d bytes", MaxFrame))
			continue
		case err != nil:
			c.drain()
			c.End()
			return
		}
		message, id, err := decode(frame)
		if err != nil {
			c.refuse(err)
			continue
		}
		if !c.accept(message, id, len(frame)) {
			return
		}
	}
}

// accept files a message for Read, and waits while too much is waiting. It
// returns false when the connection is closed.
func (c *Conn) accept(message jsonrpc.Message, id []byte, size int) bool {
	request, ok := message.(*jsonrpc.Request)
	if !ok || !request.IsCall() {
		c.pass(message)
		return true
	}
	entry := call{request, id, size}
	for {
		taken, err := c.admit(entry)
		if err != nil {
			c.refuse(err)
			return true
		}
		if taken {
			return true
		}
		select {
		case <-c.freed:
		case <-c.closed:
			return false
		}
	}
}

// pass files a notification or a response. A cancellation of a request that
// waits brings that request forward, so that it is answered at once.
func (c *Conn) pass(message jsonrpc.Message) {
	if message == nil {
		return
	}
	c.mu.Lock()
	if request, ok := message.(*jsonrpc.Request); ok && request.Method == methodCancelled {
		target := request.Extra.(jsonrpc.ID)
		for i, entry := range c.waiting {
			if entry.request.ID == target {
				c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
				c.parked -= entry.size
				c.start(entry)
				break
			}
		}
		request.Extra = nil
	}
	c.ready = append(c.ready, message)
	c.mu.Unlock()
	wake(c.available)
}

// admit starts a request, or lets it wait; false means that there is no room
// to wait.
func (c *Conn) admit(entry call) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known(entry.request.ID) {
		return false, faultf(nil, jsonrpc.CodeInvalidRequest, "request ID %s is in use", entry.id)
	}
	if len(c.waiting) == 0 && c.room(entry) {
		c.start(entry)
		wake(c.available)
		return true, nil
	}
	if len(c.waiting) >= maxWaiting || len(c.waiting) > 0 && c.parked+entry.size > maxCallBytes {
		return false, nil
	}
	c.waiting = append(c.waiting, entry)
	c.parked += entry.size
	return true, nil
}

func (c *Conn) known(id jsonrpc.ID) bool {
	if _, ok := c.active[id]; ok {
		return true
	}
	for _, entry := range c.waiting {
		if entry.request.ID == id {
			return true
		}
	}
	return false
}

func (c *Conn) room(entry call) bool {
	return len(c.active) == 0 || len(c.active) < MaxCalls && c.bytes+entry.size <= maxCallBytes
}

func (c *Conn) start(entry call) {
	c.active[entry.request.ID] = entry
	c.bytes += entry.size
	c.ready = append(c.ready, entry.request)
}

// answered forgets a request and starts what waited for its place. It returns
// the JSON text of the request's ID.
func (c *Conn) answered(id jsonrpc.ID) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, ok := c.active[id]
	if !ok {
		return nil
	}
	delete(c.active, id)
	c.bytes -= entry.size
	for len(c.waiting) > 0 && c.room(c.waiting[0]) {
		next := c.waiting[0]
		c.waiting = c.waiting[1:]
		c.parked -= next.size
		c.start(next)
	}
	wake(c.available)
	wake(c.freed)
	return entry.id
}

// drain waits until everything is answered, for drainTime at most.
func (c *Conn) drain() {
	timeout := time.NewTimer(drainTime)
	defer timeout.Stop()
	for {
		c.mu.Lock()
		busy := len(c.active)+len(c.waiting) > 0 && !c.ended
		c.mu.Unlock()
		if !busy {
			return
		}
		select {
		case <-c.freed:
		case <-c.closed:
			return
		case <-timeout.C:
			return
		}
	}
}

// Write implements mcp.Connection.
func (c *Conn) Write(_ context.Context, message jsonrpc.Message) error {
	response, ok := message.(*jsonrpc.Response)
	if !ok {
		text, err := jsonrpc.EncodeMessage(message)
		if err != nil {
			return err
		}
		return c.send(func(b []byte) []byte { return append(b, text...) })
	}
	id := c.answered(response.ID)
	if id == nil {
		c.log.Debug("an answer to no request was dropped")
		return nil
	}
	if response.Error != nil {
		return c.reply(id, wireError(response.Error))
	}
	return c.send(func(b []byte) []byte {
		b = append(b, `{"jsonrpc":"2.0","id":`...)
		b = append(b, id...)
		b = append(b, `,"result":`...)
		b = append(b, response.Result...)
		return append(b, '}')
	})
}

// refuse answers a frame that was not taken.
func (c *Conn) refuse(err error) {
	var failure *fault
	if !errors.As(err, &failure) {
		failure = faultf(nil, jsonrpc.CodeInternalError, "%v", err)
	}
	if err := c.reply(failure.id, &jsonrpc.Error{Code: failure.code, Message: failure.message}); err != nil {
		c.log.Debug("a refusal could not be written", "error", err)
		c.End()
	}
}

func (c *Conn) reply(id []byte, failure *jsonrpc.Error) error {
	if len(failure.Data) > 0 && !json.Valid(failure.Data) {
		// The SDK quotes a caller's text as Go does, which is not always JSON. An
		// answer without data is better than none, and than no server.
		bare := *failure
		bare.Data = nil
		failure = &bare
	}
	text, err := json.Marshal(failure)
	if err != nil {
		return err
	}
	if id == nil {
		id = []byte("null")
	}
	return c.send(func(b []byte) []byte {
		b = append(b, `{"jsonrpc":"2.0","id":`...)
		b = append(b, id...)
		b = append(b, `,"error":`...)
		b = append(b, text...)
		return append(b, '}')
	})
}

// send writes one frame in one piece.
func (c *Conn) send(frame func([]byte) []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.buffer = append(frame(c.buffer[:0]), '\n')
	_, err := c.out.Write(c.buffer)
	if cap(c.buffer) > 1<<20 {
		c.buffer = nil // one large result should not be paid for ever after
	}
	return err
}

// wireError gives an error of the SDK a code, where it has none.
func wireError(err error) *jsonrpc.Error {
	var coded *jsonrpc.Error
	switch {
	case errors.As(err, &coded) && coded.Code != 0:
		return &jsonrpc.Error{Code: coded.Code, Message: err.Error(), Data: coded.Data}
	case errors.Is(err, context.Canceled):
		return &jsonrpc.Error{Code: CodeCancelled, Message: "the request was cancelled"}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
}

// wake signals a channel of capacity one.
func wake(signal chan struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}
