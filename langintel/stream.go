package langintel

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"go.lsp.dev/jsonrpc2"

	"github.com/prism-ls/prism-ls/tools"
)

// stream is the bounded transport below a jsonrpc2.Conn. The Conn pairs requests
// with responses; parameters and results do not pass through it, because it would
// encode and decode each of them twice. They ride beside: an outgoing request's
// context carries an exchange with the encoded parameters, and the response's
// bytes are left in it.
type stream struct {
	in  *frames
	out *outbox

	mu      sync.Mutex
	pending map[jsonrpc2.ID]*exchange
	asked   map[jsonrpc2.ID][]byte // a server's own request ids, by the one given to the Conn
	seq     int64
	failure error
}

// exchange is one request or notification of ours.
type exchange struct {
	params []byte
	id     jsonrpc2.ID
	sent   bool

	reply   envelope
	message *message // holds what reply points at
	err     error    // the transport ended first
}

type exchangeKey struct{}

// incoming is a notification whose parameters were not copied; they are good
// until the handler returns.
type incoming struct {
	*jsonrpc2.Notification
	params  []byte
	message *message
}

func newStream(in io.Reader, out io.WriteCloser, limit int64) *stream {
	return &stream{
		in:      newFrames(in, limit),
		out:     newOutbox(out, int(limit)*2),
		pending: map[jsonrpc2.ID]*exchange{},
		asked:   map[jsonrpc2.ID][]byte{},
	}
}

// Read implements jsonrpc2.Stream. After the end it answers every pending
// request before it reports the end, so that nobody waits for a dead server.
func (s *stream) Read(context.Context) (jsonrpc2.Message, int64, error) {
	for {
		if message, failure := s.leftover(); failure != nil {
			if message == nil {
				return nil, 0, failure
			}
			return message, 0, nil
		}
		buffer, err := s.in.next()
		if err != nil {
			s.fail(err)
			continue
		}
		env, err := scanEnvelope(buffer.data)
		if err != nil {
			s.fail(tools.Errorf(tools.CodeLSPFraming, "a message that is not JSON-RPC: %v", err))
			continue
		}
		if message := s.accept(env, buffer); message != nil {
			return message, int64(len(buffer.data)), nil
		}
	}
}

// leftover returns a response for one request that can no longer be answered.
func (s *stream) leftover() (jsonrpc2.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == nil {
		return nil, nil
	}
	for id, x := range s.pending {
		delete(s.pending, id)
		x.err = s.failure
		return respond(id), s.failure
	}
	return nil, s.failure
}

// fail marks the stream as ended; the first reason stays.
func (s *stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		return
	}
	var coded *tools.Error
	if !errors.As(err, &coded) {
		// One concrete type for every end: jsonrpc2.Conn keeps it in an atomic.Value.
		coded = tools.Errorf(tools.CodeLSPServer, "the connection to the server ended: %w", err)
	}
	s.failure = coded
}

func (s *stream) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}

// accept turns a message into what the Conn takes; nil: it concerns nobody.
func (s *stream) accept(env envelope, buffer *message) jsonrpc2.Message {
	switch {
	case env.method == "" && env.id != nil:
		return s.acceptReply(env, buffer)
	case env.method == "":
		s.fail(tools.Errorf(tools.CodeLSPFraming, "a message with neither method nor id"))
	case env.id == nil:
		note, err := jsonrpc2.NewNotification(env.method, nil)
		if err == nil {
			return &incoming{Notification: note, params: env.params, message: buffer}
		}
	default:
		s.mu.Lock()
		s.seq++
		id := jsonrpc2.NewStringID("s" + strconv.FormatInt(s.seq, 10))
		s.asked[id] = slices.Clone(env.id)
		s.mu.Unlock()
		var params any
		if env.params != nil {
			params = rawJSON(slices.Clone(env.params))
		}
		call, err := jsonrpc2.NewCall(id, env.method, params)
		s.in.release(buffer)
		if err != nil {
			s.fail(tools.Errorf(tools.CodeLSPFraming, "a request that is not JSON: %v", err))
			return nil
		}
		return call
	}
	return nil
}

func (s *stream) acceptReply(env envelope, buffer *message) jsonrpc2.Message {
	n, err := strconv.ParseInt(string(env.id), 10, 32)
	id := jsonrpc2.NewNumberID(int32(n))
	s.mu.Lock()
	x := s.pending[id]
	delete(s.pending, id)
	s.mu.Unlock()
	if err != nil || x == nil {
		s.in.release(buffer) // an answer that came after its request was given up
		return nil
	}
	x.reply, x.message = env, buffer
	return respond(id)
}

// respond makes the empty response that wakes the Conn's caller.
func respond(id jsonrpc2.ID) *jsonrpc2.Response {
	response, _ := jsonrpc2.NewResponse(id, nil, nil) // nil always encodes
	return response
}

// rawJSON is encoded text that encodes as itself.
type rawJSON []byte

func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }

// Write implements jsonrpc2.Stream.
func (s *stream) Write(ctx context.Context, message jsonrpc2.Message) (int64, error) {
	frame, err := s.encode(ctx, message)
	if err != nil {
		return 0, err
	}
	if int64(len(frame)) > s.in.limit {
		return 0, tools.Errorf(tools.CodeLSPLimit, "a message of %d bytes, at most %d are sent", len(frame), s.in.limit)
	}
	var scratch [48]byte
	head := append(scratch[:0], "Content-Length: "...)
	head = strconv.AppendInt(head, int64(len(frame)-len(scratch)), 10)
	head = append(head, "\r\n\r\n"...)
	framed := frame[len(scratch)-len(head):]
	copy(framed, head)
	if err := s.out.write(framed); err != nil {
		s.fail(err)
		return 0, err
	}
	return int64(len(framed)), nil
}

// encode writes the message after room for its header.
func (s *stream) encode(ctx context.Context, message jsonrpc2.Message) ([]byte, error) {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	switch m := message.(type) {
	case *jsonrpc2.Call:
		if x == nil {
			return nil, tools.Errorf(tools.CodeInternal, "request %s was sent past the client", m.Method())
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.failure != nil {
			return nil, s.failure
		}
		x.id, x.sent = m.ID(), true
		s.pending[x.id] = x
		return encodeRequest(m.Method(), x), nil
	case *jsonrpc2.Notification:
		if x == nil {
			return nil, tools.Errorf(tools.CodeInternal, "notification %s was sent past the client", m.Method())
		}
		return encodeRequest(m.Method(), x), nil
	case *jsonrpc2.Response:
		return s.encodeResponse(m)
	}
	return nil, tools.Errorf(tools.CodeInternal, "a message of type %T", message)
}

func encodeRequest(method string, x *exchange) []byte {
	frame := make([]byte, 48, 48+96+len(method)+len(x.params))
	frame = append(frame, `{"jsonrpc":"2.0",`...)
	if x.sent {
		frame = append(frame, `"id":`...)
		frame = appendID(frame, x.id)
		frame = append(frame, ',')
	}
	frame = append(frame, `"method":"`...)
	frame = append(frame, method...) // method names are plain ASCII words
	frame = append(frame, '"')
	if x.params != nil {
		frame = append(frame, `,"params":`...)
		frame = append(frame, x.params...)
	}
	return append(frame, '}')
}

func appendID(frame []byte, id jsonrpc2.ID) []byte {
	text, _ := id.MarshalJSON() // a number always encodes
	return append(frame, text...)
}

func (s *stream) encodeResponse(m *jsonrpc2.Response) ([]byte, error) {
	s.mu.Lock()
	id, ok := s.asked[m.ID()]
	delete(s.asked, m.ID())
	s.mu.Unlock()
	if !ok {
		return nil, tools.Errorf(tools.CodeInternal, "a second answer to one request of the server")
	}
	frame := make([]byte, 48, 48+64+len(m.Result()))
	frame = append(frame, `{"jsonrpc":"2.0","id":`...)
	frame = append(frame, id...)
	if err := m.Err(); err != nil {
		fault := rpcError{Code: codeInternalError, Message: err.Error()}
		var known *rpcError
		if errors.As(err, &known) {
			fault = *known
		}
		if !utf8.ValidString(fault.Message) {
			fault.Message = "error"
		}
		text, err := json.Marshal(fault)
		if err != nil {
			return nil, err
		}
		frame = append(append(frame, `,"error":`...), text...)
		return append(frame, '}'), nil
	}
	frame = append(frame, `,"result":`...)
	if len(m.Result()) == 0 {
		frame = append(frame, "null"...)
	}
	frame = append(frame, m.Result()...)
	return append(frame, '}'), nil
}

// forget drops a request that its caller no longer waits for.
func (s *stream) forget(x *exchange) {
	s.mu.Lock()
	if s.pending[x.id] == x {
		delete(s.pending, x.id)
	}
	s.mu.Unlock()
}

// Close implements jsonrpc2.Stream. It ends writing; reading ends when the
// server closes its side or the owner of the pipe closes it.
func (s *stream) Close() error {
	s.fail(io.EOF)
	return s.out.close()
}
