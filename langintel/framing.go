package langintel

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/prism-ls/prism-ls/tools"
)

const (
	readBuffer   = 64 << 10
	headerLine   = 4 << 10 // longest header line that is still one
	headerFields = 32
	smallBuffer  = 4 << 10
	keepBuffer   = 8 << 20 // a larger message buffer is not kept for reuse
)

// message is one message's bytes, in a buffer that is used again.
type message struct{ data []byte }

// frames reads messages framed as LSP 3.17 §baseProtocol says: header fields
// that end in CRLF, an empty line, and Content-Length bytes. It is for one
// reader at a time.
type frames struct {
	source     io.Reader
	limit      int64
	buf        []byte
	start, end int // unread bytes of buf
	pool       *sync.Pool
}

func newFrames(source io.Reader, limit int64) *frames {
	return &frames{source: source, limit: limit, buf: make([]byte, readBuffer), pool: new(sync.Pool)}
}

// next returns the next message in a buffer from the pool; release gives it
// back. The error is io.EOF at an end between messages, a coded one for
// everything that breaks the protocol.
func (f *frames) next() (*message, error) {
	length, err := f.header()
	if err != nil {
		return nil, err
	}
	m, _ := f.pool.Get().(*message)
	if m == nil {
		m = new(message)
	}
	if cap(m.data) < length {
		m.data = make([]byte, length, max(length, smallBuffer))
	}
	m.data = m.data[:length]
	n := copy(m.data, f.buf[f.start:f.end])
	f.start += n
	if _, err := io.ReadFull(f.source, m.data[n:]); err != nil {
		return nil, fmt.Errorf("the server's output ended inside a message: %w", err)
	}
	return m, nil
}

func (f *frames) release(m *message) {
	if m != nil && cap(m.data) <= keepBuffer {
		f.pool.Put(m)
	}
}

// header reads header fields up to the empty line and returns the length.
func (f *frames) header() (int, error) {
	length := int64(-1)
	for field := 0; ; field++ {
		line, err := f.line(field == 0)
		if err != nil {
			return 0, err
		}
		if len(line) == 0 {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || field >= headerFields {
			return 0, noise(line)
		}
		if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 63)
		if err != nil {
			return 0, noise(line)
		}
		length = int64(n)
	}
	switch {
	case length < 0:
		return 0, tools.Errorf(tools.CodeLSPFraming, "a message without Content-Length; LSP frames every message with it")
	case length > f.limit:
		return 0, tools.Errorf(tools.CodeLSPFraming, "a message of %d bytes, at most %d are taken", length, f.limit)
	}
	return int(length), nil
}

func noise(line string) error {
	return tools.Errorf(tools.CodeLSPFraming, "%q stands where a message header should be; a server may write only LSP messages to its standard output", clip(line, 120))
}

// line returns one header line without its end. Only before the first field of
// a message is the end of the input an end.
func (f *frames) line(first bool) (string, error) {
	for {
		if i := bytes.IndexByte(f.buf[f.start:f.end], '\n'); i >= 0 {
			line := f.buf[f.start : f.start+i]
			f.start += i + 1
			if i > headerLine {
				return "", noise(string(line[:headerLine]))
			}
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		if f.end-f.start > headerLine {
			return "", noise(string(f.buf[f.start : f.start+headerLine]))
		}
		copy(f.buf, f.buf[f.start:f.end])
		f.start, f.end = 0, f.end-f.start
		n, err := f.source.Read(f.buf[f.end:])
		f.end += n
		if n > 0 {
			continue
		}
		if err == nil {
			continue
		}
		if first && f.end == 0 {
			return "", err
		}
		if f.end > 0 {
			return "", noise(string(f.buf[:f.end]))
		}
		return "", fmt.Errorf("the server's output ended inside a message: %w", err)
	}
}
