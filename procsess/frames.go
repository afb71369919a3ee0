package procsess

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"time"

	"go.lsp.dev/jsonrpc2"

	"github.com/prism-ls/prism-ls/tools"
)

const (
	// maxFrame bounds one message: what execve(2) takes for arguments and environment
	// (2 MiB), the most that one may hold, becomes a third longer.
	maxFrame = 4 << 20
	// frameLimit is how long a peer may leave a message untaken.
	frameLimit = 30 * time.Second
)

// frames is the transport of a jsonrpc2.Conn between a holder and its clients: four
// bytes of length, big-endian, and that much JSON. Its errors are all of one type,
// since the Conn keeps them in an atomic.Value.
type frames struct {
	conn net.Conn
	in   *bufio.Reader
}

func newFrames(conn net.Conn) *frames { return &frames{conn: conn, in: bufio.NewReader(conn)} }

// Read implements jsonrpc2.Stream.
func (f *frames) Read(context.Context) (jsonrpc2.Message, int64, error) {
	var head [4]byte
	if _, err := io.ReadFull(f.in, head[:]); err != nil {
		return nil, 0, ended(err)
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxFrame {
		return nil, 0, tools.Errorf(tools.CodeRecoveryUntrusted, "the peer announced a message of %d bytes, at most %d are taken", size, maxFrame)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(f.in, data); err != nil {
		return nil, 0, ended(err)
	}
	message, err := jsonrpc2.DecodeMessage(data)
	if err != nil {
		return nil, 0, tools.Errorf(tools.CodeRecoveryUntrusted, "the peer sent what is no message: %w", err)
	}
	return message, int64(size), nil
}

// Write implements jsonrpc2.Stream. A message that is too long is refused and the
// connection goes on.
func (f *frames) Write(_ context.Context, message jsonrpc2.Message) (int64, error) {
	data, err := json.Marshal(message)
	if err != nil {
		return 0, tools.Errorf(tools.CodeInternal, "a message that cannot be encoded: %w", err)
	}
	if len(data) > maxFrame {
		return 0, tools.Errorf(tools.CodeProcessLimit, "a message of %d bytes, at most %d are sent", len(data), maxFrame)
	}
	framed := make([]byte, 0, 4+len(data))
	framed = binary.BigEndian.AppendUint32(framed, uint32(len(data)))
	framed = append(framed, data...)
	_ = f.conn.SetWriteDeadline(time.Now().Add(frameLimit))
	if _, err := f.conn.Write(framed); err != nil {
		f.conn.Close() // part of it may have been sent
		return 0, ended(err)
	}
	return int64(len(framed)), nil
}

// Close implements jsonrpc2.Stream.
func (f *frames) Close() error { return f.conn.Close() }

func ended(err error) error {
	return tools.Errorf(tools.CodeRecoveryUnknown, "the connection ended: %w", err)
}
