package procsess

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/prism-ls/prism-ls/tools"
)

// remoteStream is a stream of the holder's. It asks for the next piece before anybody
// wants it, so that what follows a key needs one way through the socket and not two;
// a follower that takes nothing has one piece waiting.
type remoteStream struct {
	link   *link
	id     int64
	stop   context.CancelFunc
	asking sync.WaitGroup
	pieces chan piece

	mu   sync.Mutex
	left piece // what was taken and did not fit
}

// piece is what one request for output came to.
type piece struct {
	followed
	err error
}

func (s *remote) attach(ctx context.Context, from int64) (stream, error) {
	l, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	out, err := exchange[attached](ctx, l, callAttach, attaching{from})
	if err != nil {
		return nil, err
	}
	asking, stop := context.WithCancel(context.Background())
	f := &remoteStream{link: l, id: out.Stream, stop: stop, pieces: make(chan piece)}
	f.asking.Go(func() { f.ask(asking) })
	return f, nil
}

func (f *remoteStream) ask(ctx context.Context) {
	defer close(f.pieces)
	for {
		out, err := exchange[followed](ctx, f.link, callNext, following{f.id, drainBytes})
		if err == nil && out.EOF {
			err = io.EOF
		}
		select {
		case f.pieces <- piece{out, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (f *remoteStream) next(ctx context.Context, p []byte) (n int, at int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.left.Data) == 0 {
		if f.left.err != nil {
			return 0, f.left.At, f.left.err
		}
		select {
		case got, open := <-f.pieces:
			if !open {
				got.err = tools.Errorf(tools.CodeProcessState, "the attachment is closed")
			}
			f.left = got
		case <-ctx.Done():
			return 0, f.left.At, tools.AsError(context.Cause(ctx))
		}
	}
	at = f.left.At
	n = copy(p, f.left.Data)
	f.left.Data = f.left.Data[n:]
	f.left.At += int64(n)
	return n, at, nil
}

func (f *remoteStream) typed(ctx context.Context, p []byte) error {
	_, err := exchange[nothing](ctx, f.link, callTyped, keying{f.id, p})
	return err
}

func (f *remoteStream) resized(ctx context.Context, columns, rows int) error {
	_, err := exchange[nothing](ctx, f.link, callResized, sizing{f.id, columns, rows})
	return err
}

func (f *remoteStream) close() error {
	f.stop()
	f.asking.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	_, err := exchange[nothing](ctx, f.link, callDetach, attached{f.id})
	if f.link.isOver() || errors.Is(err, tools.CodeRecoveryFence) {
		return nil // it is closed already
	}
	return err
}
