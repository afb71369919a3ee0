package langintel

import (
	"context"
	"errors"
	"sync"
	"time"
)

// pace is how long a server takes for a kind of answer, so that one that has
// stopped answering is not waited for as long as one that starts.
type pace struct {
	mu      sync.Mutex
	average time.Duration // 0: not known yet
}

const (
	// patience is how many times its average a server may take.
	patience = 4
	// leastPatience keeps a fast server from being given up in a moment of load.
	leastPatience = 5 * time.Second
)

// took adds one answer to the moving average.
func (p *pace) took(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.average == 0 {
		p.average = d
		return
	}
	p.average += (d - p.average) / 4
}

// limit is how long the next answer may take without progress; 0: as long as the
// caller allows.
func (p *pace) limit() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.average == 0 {
		return 0
	}
	return max(leastPatience, patience*p.average)
}

// patient returns a context that ends, with the cause context.DeadlineExceeded,
// when the server has taken far longer than it usually does; while its progress
// moves it gets more time.
func (v *session) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := v.pace.limit()
	if limit == 0 {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	seen := v.work.reports()
	var timer *time.Timer
	var mu sync.Mutex
	mu.Lock()
	timer = time.AfterFunc(limit, func() {
		mu.Lock()
		defer mu.Unlock()
		if now := v.work.reports(); now != seen {
			seen = now
			timer.Reset(limit)
			return
		}
		cancel(context.DeadlineExceeded)
	})
	mu.Unlock()
	return ctx, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}

// gaveUp reports whether an error comes from a patient context that ended.
func gaveUp(ctx context.Context, err error) bool {
	return errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), context.DeadlineExceeded)
}
