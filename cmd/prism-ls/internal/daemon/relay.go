package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/mcpserver"
	"github.com/prism-ls/prism-ls/tools"
)

// Backend is who answers an MCP client: a daemon, or a server in this process.
type Backend interface {
	io.ReadWriteCloser
	// CloseWrite says that nothing more will be asked.
	CloseWrite() error
}

// Attach opens an MCP session with the daemon, which sets settings.Owner. An error
// is an [Unavailable], or says what is wrong with the settings.
func (d *Dialer) Attach(ctx context.Context, settings *Settings) (Backend, error) {
	found, err := d.connect(ctx, hello{Kind: kindMCP, Client: settings})
	if err != nil {
		return nil, err
	}
	settings.Owner = found.owner
	return &attached{found.conn, found.in}, nil
}

// attached reads first what came with the welcome.
type attached struct {
	*net.UnixConn
	in *bufio.Reader
}

func (a *attached) Read(p []byte) (int, error) { return a.in.Read(p) }

// Relay passes the frames of one MCP client on to a backend, which may be another
// one later: when the workspace is known at last, or when a daemon has ended. It
// knows what has not been answered yet. A new backend is told how the session
// began, and is asked again what only asks; a tool that was running when a daemon
// ended is answered with an error, since whether it took effect is not known.
type Relay struct {
	in  io.Reader
	out io.Writer
	// again opens a backend in the place of one that has ended.
	again func(context.Context) (Backend, error)

	mu       sync.Mutex
	backend  Backend // nil while there is none
	life     int     // counts the backends
	begin    []byte  // the initialize request
	beginID  string
	ready    []byte // the initialized notification
	pending  []*pending
	asked    map[string]bool // by the backend, and not answered yet
	ending   bool
	finished chan struct{}
	finish   sync.Once
	downs    sync.WaitGroup
	writing  sync.Mutex
}

// pending is a request that is not answered yet.
type pending struct {
	id, method string
	frame      []byte
	cancelled  bool
}

// maxBackends is how many times a backend is replaced before the session ends: a
// daemon that dies again and again would be started for ever.
const maxBackends = 20

// NewRelay makes a relay; out takes one frame a write.
func NewRelay(in io.Reader, out io.Writer, again func(context.Context) (Backend, error)) *Relay {
	return &Relay{in: in, out: out, again: again, asked: map[string]bool{}, finished: make(chan struct{})}
}

// Run passes frames on until the client's input has ended and all is answered,
// or ctx is done, or the session cannot go on.
func (r *Relay) Run(ctx context.Context, first Backend) {
	r.Move(first)
	inputEnded := make(chan struct{})
	go func() { // a read of standard input cannot be interrupted
		defer close(inputEnded)
		r.up(ctx)
	}()
	select {
	case <-inputEnded:
		if backend := r.end(); backend != nil {
			_ = backend.CloseWrite() // it may have ended
			select {
			case <-r.finished:
			case <-ctx.Done():
			}
		}
	case <-r.finished:
	case <-ctx.Done():
	}
	if backend := r.end(); backend != nil {
		_ = backend.Close()
	}
	r.downs.Wait()
}

// end marks the session as ending, and returns the backend.
func (r *Relay) end() Backend {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ending = true
	return r.backend
}

// Move goes on with another backend.
func (r *Relay) Move(to Backend) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.move(to)
}

func (r *Relay) move(to Backend) {
	old := r.backend
	r.backend = to
	r.life++
	skip := ""
	if r.begin != nil && !r.unanswered(r.beginID) {
		skip = r.beginID
		r.write(to, r.begin)
	}
	life := r.life
	r.downs.Go(func() { r.down(to, life, skip) })
	if r.ready != nil {
		r.write(to, r.ready)
	}
	for _, p := range r.pending {
		if !p.cancelled {
			r.write(to, p.frame)
		}
	}
	r.drop(func(p *pending) bool { return p.cancelled }, r.answerCancelled)
	if r.ending {
		_ = to.CloseWrite() // the client has said all
	}
	if old != nil {
		_ = old.Close()
	}
}

func (r *Relay) unanswered(id string) bool {
	for _, p := range r.pending {
		if p.id == id {
			return true
		}
	}
	return false
}

// drop answers and forgets requests.
func (r *Relay) drop(which func(*pending) bool, answer func(*pending)) {
	kept := r.pending[:0]
	for _, p := range r.pending {
		if which(p) {
			answer(p)
		} else {
			kept = append(kept, p)
		}
	}
	clear(r.pending[len(kept):])
	r.pending = kept
}

// write sends a frame. A failure is noticed where answers are read.
func (r *Relay) write(to Backend, frame []byte) { _, _ = to.Write(frame) }

// up passes on what the client says.
func (r *Relay) up(ctx context.Context) {
	frames := mcpserver.NewFrames(r.in)
	for {
		frame, err := frames.Next()
		switch {
		case errors.Is(err, mcpserver.ErrFrameTooLong):
			r.tell(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":"the frame is longer than %d bytes"}}`, jsonrpc.CodeInvalidRequest, mcpserver.MaxFrame))
			continue
		case err != nil:
			return
		}
		if !r.forward(ctx, append(frame, '\n')) {
			return
		}
	}
}

// forward passes one frame on. It returns false when the session cannot go on.
func (r *Relay) forward(ctx context.Context, frame []byte) bool {
	seen := glance(frame)
	r.mu.Lock()
	r.note(seen, frame)
	backend := r.backend
	if backend == nil && seen.id != "" && seen.method != "" {
		if backend = r.reopen(ctx); backend == nil {
			r.mu.Unlock()
			return false
		}
		r.mu.Unlock()
		return true // what is pending has been sent
	}
	r.mu.Unlock()
	if backend != nil {
		r.write(backend, frame)
	}
	return true
}

// note keeps what another backend would have to know.
func (r *Relay) note(seen glanced, frame []byte) {
	switch {
	case seen.method == "" && seen.id != "":
		delete(r.asked, seen.id)
	case seen.method == "":
	case seen.id != "":
		if r.unanswered(seen.id) {
			return // refused by whoever gets it
		}
		if seen.method == "initialize" {
			r.begin, r.beginID = frame, seen.id
		}
		r.pending = append(r.pending, &pending{id: seen.id, method: seen.method, frame: frame})
	case seen.method == "notifications/initialized":
		r.ready = frame
	case seen.method == "notifications/cancelled":
		var what struct {
			Params struct {
				RequestID json.RawMessage `json:"requestId"`
			} `json:"params"`
		}
		if json.Unmarshal(frame, &what) != nil {
			return
		}
		for _, p := range r.pending {
			p.cancelled = p.cancelled || p.id == string(what.Params.RequestID)
		}
	}
}

// reopen finds a backend in the place of one that has ended.
func (r *Relay) reopen(ctx context.Context) Backend {
	if r.life >= maxBackends || r.ending {
		return nil
	}
	next, err := r.again(ctx)
	if err != nil {
		return nil
	}
	r.move(next)
	return next
}

// down passes on what a backend says, until it ends.
func (r *Relay) down(from Backend, life int, skip string) {
	lines := bufio.NewReaderSize(from, 64<<10)
	for {
		frame, err := lines.ReadBytes('\n')
		if err != nil { // what is incomplete is nothing
			r.lost(life)
			return
		}
		seen := glance(frame)
		r.mu.Lock()
		if life != r.life {
			r.mu.Unlock()
			return
		}
		switch {
		case seen.id == "" || seen.method == "" && seen.id == skip:
		case seen.method != "":
			r.asked[seen.id] = true
		default:
			r.drop(func(p *pending) bool { return p.id == seen.id }, func(*pending) {})
		}
		r.mu.Unlock()
		if seen.method == "" && seen.id != "" && seen.id == skip {
			skip = ""
			continue
		}
		r.tell(frame)
	}
}

// lost says what becomes of the session when a backend has ended.
func (r *Relay) lost(life int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if life != r.life {
		return
	}
	r.backend = nil
	if r.ending {
		r.finishNow()
		return
	}
	r.drop(func(p *pending) bool { return p.method == "tools/call" || p.cancelled }, r.answerLost)
	// An answer to a question of the daemon that has ended could be taken for one to
	// a question of the next, which numbers them alike.
	if len(r.asked) > 0 || r.life >= maxBackends {
		r.drop(func(*pending) bool { return true }, r.answerLost)
		r.finishNow()
		return
	}
	if len(r.pending) > 0 {
		r.downs.Go(func() { // not here: a backend may be slow to open, and this one is over
			r.mu.Lock()
			defer r.mu.Unlock()
			ctx, cancel := context.WithTimeout(context.Background(), startTime+time.Second)
			defer cancel()
			if r.backend == nil && r.reopen(ctx) == nil {
				r.drop(func(*pending) bool { return true }, r.answerLost)
				r.finishNow()
			}
		})
	}
}

func (r *Relay) finishNow() { r.finish.Do(func() { close(r.finished) }) }

// tell writes one frame to the client.
func (r *Relay) tell(frame []byte) {
	if !bytes.HasSuffix(frame, []byte("\n")) {
		frame = append(frame, '\n')
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	if _, err := r.out.Write(frame); err != nil {
		r.finishNow()
	}
}

// answerLost answers a request whose daemon has ended. A tool call's answer is a
// result, since that is what a model is shown.
func (r *Relay) answerLost(p *pending) {
	failure := tools.Errorf(tools.CodeInternal, "the daemon of prism-ls ended during the call; whether it took effect is unknown")
	if p.method == "tools/call" {
		r.tell(mcpserver.FailureFrame(p.id, failure, r.begin == nil))
		return
	}
	r.tell(mcpserver.ErrorFrame(p.id, jsonrpc.CodeInternalError, failure.Error()))
}

func (r *Relay) answerCancelled(p *pending) {
	r.tell(mcpserver.ErrorFrame(p.id, mcpserver.CodeCancelled, "the request was cancelled"))
}
