package daemon

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/tools"
)

// protocol is the version of what is said below. Another build is refused
// whatever its protocol, so it only tells strangers apart.
const protocol = 1

// maxLine bounds a message: a call's input (tools.InputBytes) in base64 is the
// largest.
const maxLine = 192 << 20

// kind is what a client comes for.
type kind string

// The kinds.
const (
	kindMCP    kind = "mcp"
	kindCall   kind = "call"
	kindPerson kind = "person"
	kindStatus kind = "status"
	kindStop   kind = "stop"
)

// hello is a client's first line.
type hello struct {
	Protocol int       `json:"protocol"`
	Build    string    `json:"build"`
	Kind     kind      `json:"kind"`
	Client   *Settings `json:"client,omitempty"`
	Call     *Call     `json:"call,omitempty"`
}

// Settings are what a client is given by whoever started it.
type Settings struct {
	// Flags are those of its command line; paths in them are absolute.
	Flags config.Flags `json:"flags"`
	// System is its environment. What programs get of it is child.Environment's;
	// the rest is for knowing which secrets to take out of results.
	System config.System `json:"system"`
	// Owner is the name that an MCP client had with the daemon before; with the next
	// it is the same, unless somebody else has it by then.
	Owner string `json:"owner,omitempty"`
	// Structured is `mcp --structured`.
	Structured bool `json:"structured,omitempty"`
}

// Call is one call of the command line: its input is JSON, or key=value pairs.
type Call struct {
	Tool  string   `json:"tool"`
	Input []byte   `json:"input"`
	Pairs []string `json:"pairs,omitempty"`
	// Run is what the call is a step of; see [tools.CallOptions].
	Run string `json:"run,omitempty"`
	// Progress has the daemon tell how far the call is.
	Progress bool `json:"progress,omitempty"`
}

// refusal is why a client is not served.
type refusal string

// The refusals.
const (
	refusedProtocol refusal = "protocol"
	refusedBuild    refusal = "build"    // it is another build, and others need the daemon
	refusedLeaving  refusal = "leaving"  // the daemon is about to end
	refusedPeer     refusal = "peer"     // confined otherwise, or not known
	refusedSettings refusal = "settings" // Error says what is wrong with them
)

// welcome is the daemon's first line.
type welcome struct {
	Protocol int       `json:"protocol"`
	Refused  refusal   `json:"refused,omitempty"`
	Error    *wireFail `json:"error,omitempty"`
	Status   Status    `json:"status"`
	Owner    string    `json:"owner,omitempty"` // of an MCP client
}

// Status is what a daemon says of itself.
type Status struct {
	PID     int       `json:"pid"`
	Build   string    `json:"build"`
	Root    string    `json:"root"`
	Started time.Time `json:"started"`
	Clients int       `json:"clients"`
	// Sessions is how many process sessions live.
	Sessions int `json:"sessions"`
	// Leaving: it ends as soon as nothing needs it.
	Leaving bool `json:"leaving"`
}

// told is what a daemon says about a call; one member is set.
type told struct {
	// Begun comes before the call: from here on it may have an effect.
	Begun    *begun          `json:"begun,omitempty"`
	Progress *tools.Progress `json:"progress,omitempty"`
	Approve  *approveRequest `json:"approve,omitempty"`
	Ask      *askRequest     `json:"ask,omitempty"`
	Result   *wireResult     `json:"result,omitempty"`
}

type begun struct {
	Mutates bool `json:"mutates"`
}

// approveRequest asks the person at the client for consent.
type approveRequest struct {
	ID     int          `json:"id"`
	Action tools.Action `json:"action"`
	Reason string       `json:"reason"`
}

// askRequest puts a question to the person at the client.
type askRequest struct {
	ID       int            `json:"id"`
	Question tools.Question `json:"question"`
}

// answer is a client's reply to either.
type answer struct {
	ID       int         `json:"id"`
	Approved bool        `json:"approved,omitempty"`
	Reply    tools.Reply `json:"reply"`
	Error    *wireFail   `json:"error,omitempty"`
}

// wireFail is a tools.Error.
type wireFail struct {
	Code    tools.Code      `json:"code"`
	Message string          `json:"message"`
	Details json.RawMessage `json:"details,omitempty"`
}

func failOf(err *tools.Error) *wireFail {
	if err == nil {
		return nil
	}
	fail := &wireFail{Code: err.Code, Message: err.Message}
	if err.Details != nil {
		if text, encodeErr := encode(err.Details); encodeErr == nil {
			fail.Details = text
		}
	}
	return fail
}

func (f *wireFail) err() *tools.Error {
	if f == nil {
		return nil
	}
	err := tools.Errorf(f.Code, "%s", f.Message)
	if len(f.Details) > 0 {
		err.Details = f.Details
	}
	return err
}

// wireResult is a tools.Result, byte for byte: JSON strings cannot hold text that
// is not UTF-8.
type wireResult struct {
	Tool     string          `json:"tool"`
	Content  []wireBlock     `json:"content"`
	Metadata json.RawMessage `json:"metadata"`
	Error    *wireFail       `json:"error,omitempty"`
}

type wireBlock struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	Bytes    []byte `json:"bytes,omitempty"` // Text that is not UTF-8
	MIMEType string `json:"mimeType,omitempty"`
	Data     []byte `json:"data,omitempty"`
}

func resultOf(result *tools.Result) *wireResult {
	wire := &wireResult{Tool: result.Tool, Metadata: result.Metadata, Error: failOf(result.Err)}
	for _, block := range result.Content {
		w := wireBlock{Type: block.Type, Text: block.Text, MIMEType: block.MIMEType, Data: block.Data}
		if !utf8.ValidString(block.Text) {
			w.Text, w.Bytes = "", []byte(block.Text)
		}
		wire.Content = append(wire.Content, w)
	}
	return wire
}

func (w *wireResult) result() *tools.Result {
	result := &tools.Result{Tool: w.Tool, Content: []tools.Block{}, Metadata: w.Metadata, Err: w.Error.err()}
	for _, block := range w.Content {
		text := block.Text
		if block.Bytes != nil {
			text = string(block.Bytes)
		}
		result.Content = append(result.Content, tools.Block{Type: block.Type, Text: text, MIMEType: block.MIMEType, Data: block.Data})
	}
	return result
}

// errLine is a line that is longer than maxLine.
var errLine = errors.New("the message is too long")

// readLine reads one JSON message.
func readLine(r *bufio.Reader, into any) error {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return errLine
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return err
		}
		return json.Unmarshal(line, into)
	}
}

// lines writes JSON messages, each in one piece.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lines) send(message any) error {
	text, err := encode(message)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.w.Write(append(text, '\n'))
	return err
}

// encode is json.Marshal that leaves < > & as they are.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}
