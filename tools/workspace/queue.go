package workspace

import (
	"context"
	"sync"

	"github.com/prism-ls/prism-ls/tools"
)

// queue lets one goroutine at a time have a key, in the order of asking. The
// zero value is ready; keys nobody wants take no memory.
type queue struct {
	mu    sync.Mutex
	lanes map[uint64]*lane
}

type lane struct {
	turn  chan struct{} // holds one token while the lane is free
	users int
}

// acquire waits for the key. release must be called once.
func (q *queue) acquire(ctx context.Context, key uint64) (release func(), err error) {
	q.mu.Lock()
	if q.lanes == nil {
		q.lanes = map[uint64]*lane{}
	}
	l := q.lanes[key]
	if l == nil {
		l = &lane{turn: make(chan struct{}, 1)}
		l.turn <- struct{}{}
		q.lanes[key] = l
	}
	l.users++
	q.mu.Unlock()

	select {
	case <-l.turn:
		return func() {
			l.turn <- struct{}{}
			q.leave(key, l)
		}, nil
	case <-ctx.Done():
		q.leave(key, l)
		return nil, tools.AsError(ctx.Err())
	}
}

func (q *queue) leave(key uint64, l *lane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(q.lanes, key)
	}
}
