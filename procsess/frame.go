package procsess

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// A frame is four bytes of length, big-endian, and that much: a kind, the number of
// the request (four bytes), of a request its method, led by its length in a byte, and
// JSON. It says what JSON-RPC would. A key's echo is some microseconds' work, which
// encoding its envelope as well would double.
type frameKind byte

const (
	frameRequest frameKind = iota + 1
	frameAnswer
	frameFailure // a failure
	frameCancel  // the request's answer is not wanted any more
)

const (
	// maxFrame bounds one message: what execve(2) takes for arguments and environment
	// (2 MiB), the most that one may hold, becomes a third longer.
	maxFrame = 4 << 20
	// frameLimit is how long a peer may leave a message untaken, at the least.
	frameLimit = 20 * time.Second
)

type frame struct {
	kind   frameKind
	id     uint32
	method string
	body   json.RawMessage
}

func (f *frame) write(conn net.Conn) error {
	size := 1 + 4 + len(f.body)
	if f.kind == frameRequest {
		size += 1 + len(f.method)
	}
	if size > maxFrame {
		return tools.Errorf(tools.CodeProcessLimit, "a message of %d bytes, at most %d are sent", size, maxFrame)
	}
	framed := make([]byte, 0, 4+size)
	framed = binary.BigEndian.AppendUint32(framed, uint32(size))
	framed = append(framed, byte(f.kind))
	framed = binary.BigEndian.AppendUint32(framed, f.id)
	if f.kind == frameRequest {
		framed = append(append(framed, byte(len(f.method))), f.method...)
	}
	framed = append(framed, f.body...)
	if _, err := conn.Write(framed); err != nil {
		conn.Close() // part of it may have been sent
		return errLinkEnded()
	}
	return nil
}

func readFrame(in *bufio.Reader) (f frame, err error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return f, errLinkEnded()
	}
	size := binary.BigEndian.Uint32(head[:])
	if size < 5 || size > maxFrame {
		return f, tools.Errorf(tools.CodeRecoveryUntrusted, "the peer announced a message of %d bytes, which none has", size)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(in, data); err != nil {
		return f, errLinkEnded()
	}
	f.kind, f.id, data = frameKind(data[0]), binary.BigEndian.Uint32(data[1:]), data[5:]
	if f.kind == frameRequest {
		if len(data) == 0 || len(data) <= int(data[0]) {
			return f, tools.Errorf(tools.CodeRecoveryUntrusted, "the peer sent a request without a method")
		}
		f.method, data = string(data[1:1+data[0]]), data[1+data[0]:]
	}
	f.body = data
	return f, nil
}

func errLinkEnded() *tools.Error {
	return tools.Errorf(tools.CodeRecoveryUnknown, "the connection to the session's holder has ended")
}
