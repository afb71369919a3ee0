package people

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

// A connection carries one request. It is a line of JSON, and so is the answer.
// Behind the answer to an attach come frames in both directions: a byte that says
// what it is, four that say how long it is (big-endian), and that many.
const (
	frameOutput = 'o' // 8 bytes of cursor, then output
	frameEnd    = 'e' // a failure as JSON, or nothing at the end of the session
	frameInput  = 'i' // what a person typed
	frameResize = 'r' // columns and rows, 2 bytes each
)

const (
	// maxFrame bounds a frame: what both sides read at a time, with its head.
	maxFrame = 64<<10 + 8
	// maxLine bounds a request and an answer. A page of output is 1 MiB at the most,
	// which JSON makes longer by a third (base64).
	maxLine = 4 << 20
)

// request is what a person's command asks.
type request struct {
	Verb    string // a method of Sessions, in lower case
	ID      string
	Output  *procsess.Output
	Wait    *procsess.Wait
	Signal  syscall.Signal
	Columns int
	Rows    int
	From    int64
}

// answer is what it is told.
type answer[T any] struct {
	Value   T            `json:",omitempty"`
	Failure *tools.Error `json:",omitempty"`
}

// failure is an error on its way; it has the members of tools.Error's JSON.
type failure struct {
	Code    tools.Code      `json:"code"`
	Message string          `json:"message"`
	Details json.RawMessage `json:"details,omitempty"`
}

func (f *failure) err() error {
	failure := &tools.Error{Code: f.Code, Message: f.Message}
	if f.Details != nil {
		return failure.WithDetails(f.Details)
	}
	return failure
}

func writeLine(w io.Writer, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// readLine reads a line of JSON.
func readLine(r *bufio.Reader, value any) error {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return tools.Errorf(tools.CodeLimit, "a message has more than %d bytes", maxLine)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return err
		}
		return json.Unmarshal(line, value)
	}
}

// frames writes and reads frames; writing is for any number of goroutines.
type frames struct {
	mu  sync.Mutex
	out io.Writer
	in  *bufio.Reader
	buf []byte
}

func (f *frames) write(kind byte, parts ...[]byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.buf = append(f.buf[:0], kind, 0, 0, 0, 0)
	for _, part := range parts {
		f.buf = append(f.buf, part...)
	}
	if len(f.buf)-5 > maxFrame {
		return fmt.Errorf("a frame of %d bytes", len(f.buf)-5)
	}
	binary.BigEndian.PutUint32(f.buf[1:], uint32(len(f.buf)-5))
	if conn, ok := f.out.(interface{ SetWriteDeadline(time.Time) error }); ok {
		// Who takes nothing for that long is gone.
		if err := conn.SetWriteDeadline(time.Now().Add(time.Duration(procsess.AttachTime.Default) * time.Second)); err != nil {
			return err
		}
	}
	_, err := f.out.Write(f.buf)
	return err
}

// read returns the next frame; payload is good until the next read.
func (f *frames) read(payload []byte) (kind byte, _ []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(f.in, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > maxFrame {
		return 0, nil, tools.Errorf(tools.CodeLimit, "a frame has %d bytes, at most %d are taken", size, maxFrame)
	}
	payload = append(payload[:0], make([]byte, size)...)
	_, err = io.ReadFull(f.in, payload)
	return head[0], payload, err
}
