package tools

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// everyone is the weight of an exclusive call: all that a lane has.
const everyone = 1 << 20

// lanes lets an exclusive call of a session run alone among that session's
// calls, in the order of arrival. Sessions do not wait for one another.
type lanes struct {
	mu    sync.Mutex
	lanes map[string]*lane
}

type lane struct {
	weight *semaphore.Weighted
	users  int
}

func newLanes() *lanes { return &lanes{lanes: map[string]*lane{}} }

// enter waits for a place, and returns what gives it back.
func (l *lanes) enter(ctx context.Context, session string, exclusive bool) (leave func(), err error) {
	l.mu.Lock()
	own := l.lanes[session]
	if own == nil {
		own = &lane{weight: semaphore.NewWeighted(everyone)}
		l.lanes[session] = own
	}
	own.users++
	l.mu.Unlock()

	weight := int64(1)
	if exclusive {
		weight = everyone
	}
	if err := own.weight.Acquire(ctx, weight); err != nil {
		l.forget(session, own)
		return nil, err
	}
	return func() {
		own.weight.Release(weight)
		l.forget(session, own)
	}, nil
}

func (l *lanes) forget(session string, own *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(l.lanes, session)
	}
}
