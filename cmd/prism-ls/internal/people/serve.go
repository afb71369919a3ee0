package people

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/prism-ls/prism-ls/tools"
)

// Serve answers the one request of a connection, and returns when it is answered,
// the connection is closed, or ctx ends. It closes the connection. Whoever calls it
// has made sure that a person is at the other end: a request is an operator's.
func Serve(ctx context.Context, conn io.ReadWriteCloser, sessions Sessions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer func() {
		if stop() {
			conn.Close()
		}
	}()
	in := bufio.NewReader(conn)
	var what request
	if err := readLine(in, &what); err != nil {
		return err
	}
	if what.Verb == "attach" {
		return serveAttach(ctx, &frames{out: conn, in: in}, sessions, &what)
	}
	// Nothing more comes, so that a read ends when the person has gone: a wait that
	// nobody waits for is given up.
	var gone sync.WaitGroup
	gone.Go(func() {
		_, _ = in.ReadByte()
		cancel()
	})
	defer gone.Wait()
	defer conn.Close()
	return writeLine(conn, answerTo(ctx, sessions, &what))
}

func answerTo(ctx context.Context, sessions Sessions, what *request) any {
	var value any
	var err error
	switch {
	case what.Verb == "list":
		value, err = sessions.List(ctx)
	case what.Verb == "output" && what.Output != nil:
		value, err = sessions.Output(ctx, what.ID, *what.Output)
	case what.Verb == "wait" && what.Wait != nil:
		value, err = sessions.Wait(ctx, what.ID, *what.Wait)
	case what.Verb == "signal":
		err = sessions.Signal(ctx, what.ID, what.Signal)
	case what.Verb == "kill":
		value, err = sessions.Kill(context.WithoutCancel(ctx), what.ID) // begun is finished
	case what.Verb == "resize":
		err = sessions.Resize(ctx, what.ID, what.Columns, what.Rows)
	default:
		err = tools.Errorf(tools.CodeToolInput, "%.40q is nothing that can be asked here", what.Verb)
	}
	if err != nil {
		return answer[any]{Failure: tools.AsError(err)}
	}
	return answer[any]{Value: value}
}

func serveAttach(ctx context.Context, f *frames, sessions Sessions, what *request) error {
	attachment, err := sessions.Attach(ctx, what.ID, what.From)
	if err != nil {
		return writeLine(f.out, answer[any]{Failure: tools.AsError(err)})
	}
	defer attachment.Close()
	if err := writeLine(f.out, answer[any]{}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var typing sync.WaitGroup
	typing.Go(func() {
		defer cancel()
		takeInput(ctx, f, attachment)
	})
	err = sendOutput(ctx, f, attachment)
	cancel()
	if closer, ok := f.out.(io.Closer); ok {
		closer.Close() // which ends the reading of input, too
	}
	typing.Wait()
	return err
}

func sendOutput(ctx context.Context, f *frames, attachment Attachment) error {
	buf := make([]byte, maxFrame-8)
	var head [8]byte
	for {
		n, at, err := attachment.Next(ctx, buf)
		if n > 0 {
			binary.BigEndian.PutUint64(head[:], uint64(at))
			if err := f.write(frameOutput, head[:], buf[:n]); err != nil {
				return err
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return f.write(frameEnd)
		default:
			return f.tell(err)
		}
	}
}

// tell ends an attachment with a failure.
func (f *frames) tell(err error) error {
	text, encodeErr := json.Marshal(tools.AsError(err))
	if encodeErr != nil {
		return encodeErr
	}
	return f.write(frameEnd, text)
}

// takeInput passes on what a person types and how large their window is, until
// they have gone.
func takeInput(ctx context.Context, f *frames, attachment Attachment) {
	var buf []byte
	for {
		kind, payload, err := f.read(buf)
		if err != nil {
			return
		}
		buf = payload
		switch {
		case kind == frameInput:
			err = attachment.Type(ctx, payload)
		case kind == frameResize && len(payload) == 4:
			// Too many of them, or a size out of bounds: the window is not followed, and
			// that is all.
			_ = attachment.Resize(ctx, int(binary.BigEndian.Uint16(payload)), int(binary.BigEndian.Uint16(payload[2:])))
		}
		// An ended session takes no input, and its end is told by its output.
		if err != nil && !errors.Is(err, tools.CodeProcessState) {
			_ = f.tell(err)
			return
		}
	}
}
