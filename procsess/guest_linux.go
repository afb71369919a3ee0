package procsess

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/prism-ls/prism-ls/tools"
)

// guest is a connection to a holder, as the holder sees it.
type guest struct {
	*link
	holder *holder
	// in: it has said hello, with this fence. Both are guarded by the holder's mu.
	in    bool
	fence int64

	mu      sync.Mutex
	next    int64
	streams map[int64]stream
}

// welcome serves a connection. The first is from who started the holder.
func (h *holder) welcome(conn net.Conn, first bool) *guest {
	g := &guest{holder: h, streams: map[int64]stream{}}
	answers := map[string]answerer{}
	if first {
		var once sync.Once
		answers[callStart] = answering(func(ctx context.Context, c commission) (out welcome, err error) {
			err = tools.Errorf(tools.CodeProcessState, "the holder has a session already")
			once.Do(func() { out, err = h.start(ctx, c) })
			if err == nil {
				h.mu.Lock()
				g.in, g.fence = true, c.Fence
				h.mu.Unlock()
			}
			return out, err
		})
	} else {
		answers[callHello] = answering(func(_ context.Context, said hello) (welcome, error) { return h.admit(g, said) })
	}
	g.answerVerbs(answers)
	g.answerStreams(answers)
	h.mu.Lock()
	h.guests[g] = struct{}{}
	g.link = newLink(conn, answers)
	h.mu.Unlock()
	context.AfterFunc(g.life, g.left)
	return g
}

// left forgets a guest that has gone.
func (g *guest) left() {
	g.holder.mu.Lock()
	delete(g.holder.guests, g)
	g.holder.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	for id, s := range g.streams {
		_ = s.close()
		delete(g.streams, id)
	}
}

// asked makes an answerer of a verb, for guests that are in and were not overtaken.
func asked[In, Out any](g *guest, f func(ctx context.Context, s verbs, in In) (Out, error)) answerer {
	return answering(func(ctx context.Context, in In) (out Out, err error) {
		g.holder.mu.Lock()
		is, current := g.in, g.fence == g.holder.fence
		g.holder.mu.Unlock()
		if !is {
			return out, tools.Errorf(tools.CodeRecoveryUntrusted, "the first request must be hello")
		}
		if !current {
			return out, g.holder.overtaken()
		}
		return f(ctx, g.holder.session, in)
	})
}

func (g *guest) answerVerbs(to map[string]answerer) {
	to[callInfo] = asked(g, func(ctx context.Context, s verbs, _ nothing) (Info, error) { return s.info(ctx), nil })
	to[callOutput] = asked(g, func(ctx context.Context, s verbs, what Output) (Page, error) { return s.output(ctx, what) })
	to[callInput] = asked(g, func(ctx context.Context, s verbs, what typing) (Typed, error) { return s.input(ctx, what.input()) })
	to[callWait] = asked(g, func(ctx context.Context, s verbs, what Wait) (waitedOnWire, error) {
		out, err := s.wait(ctx, what)
		wire := waitedOnWire{Matched: []byte(out.Matched), Rest: out}
		wire.Rest.Matched = ""
		return wire, err
	})
	to[callSignal] = asked(g, func(ctx context.Context, s verbs, in signalling) (nothing, error) {
		return nothing{}, s.signal(ctx, in.Signal)
	})
	to[callKill] = asked(g, func(ctx context.Context, s verbs, in killing) (killed, error) {
		report, err := s.kill(ctx, in.By)
		return killed{report}, err
	})
	to[callResize] = asked(g, func(ctx context.Context, s verbs, in sizing) (nothing, error) {
		return nothing{}, s.resize(ctx, in.Columns, in.Rows)
	})
	to[callOver] = asked(g, func(ctx context.Context, s verbs, _ nothing) (Info, error) {
		select {
		case <-s.over():
			return s.info(ctx), nil
		case <-ctx.Done():
			return Info{}, tools.AsError(ctx.Err())
		}
	})
	to[callRelease] = asked(g, func(ctx context.Context, s verbs, _ nothing) (nothing, error) {
		err := s.release(ctx)
		if err == nil {
			g.holder.released.Store(true)
			g.holder.end()
		}
		return nothing{}, err
	})
	to[callDiscard] = asked(g, func(context.Context, verbs, nothing) (nothing, error) {
		g.holder.end()
		return nothing{}, nil
	})
}

func (g *guest) answerStreams(to map[string]answerer) {
	to[callAttach] = asked(g, func(ctx context.Context, s verbs, in attaching) (attached, error) {
		opened, err := s.attach(ctx, in.From)
		if err != nil {
			return attached{}, err
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if len(g.streams) >= linkCalls {
			return attached{}, errors.Join(opened.close(), tools.Errorf(tools.CodeProcessLimit, "%d attachments already", len(g.streams)))
		}
		g.next++
		g.streams[g.next] = opened
		return attached{g.next}, nil
	})
	to[callNext] = asked(g, func(ctx context.Context, _ verbs, in following) (followed, error) {
		s, err := g.stream(in.Stream)
		if err != nil {
			return followed{}, err
		}
		// Mostly a key's echo comes of it: a buffer for each would keep the collector busy.
		buffer := g.holder.engine.buffers.Get().(*[drainBytes]byte)
		defer g.holder.engine.buffers.Put(buffer)
		n, at, err := s.next(ctx, buffer[:min(max(in.Most, 1), drainBytes)])
		if errors.Is(err, io.EOF) {
			return followed{At: at, EOF: true}, nil
		}
		return followed{Data: bytes.Clone(buffer[:n]), At: at}, err
	})
	to[callTyped] = asked(g, func(ctx context.Context, _ verbs, in keying) (nothing, error) {
		s, err := g.stream(in.Stream)
		if err == nil {
			err = s.typed(ctx, in.Data)
		}
		return nothing{}, err
	})
	to[callResized] = asked(g, func(ctx context.Context, _ verbs, in sizing) (nothing, error) {
		s, err := g.stream(in.Stream)
		if err == nil {
			err = s.resized(ctx, in.Columns, in.Rows)
		}
		return nothing{}, err
	})
	to[callDetach] = asked(g, func(_ context.Context, _ verbs, in attached) (nothing, error) {
		g.mu.Lock()
		s := g.streams[in.Stream]
		delete(g.streams, in.Stream)
		g.mu.Unlock()
		if s == nil {
			return nothing{}, nil
		}
		return nothing{}, s.close()
	})
}

func (g *guest) stream(id int64) (stream, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.streams[id]; s != nil {
		return s, nil
	}
	return nil, tools.Errorf(tools.CodeProcessState, "there is no attachment %d", id)
}
