package plan

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// claim is the right to work on a task, kept up for as long as that takes.
type claim struct {
	goals *Goals
	key   state.Key
	stop  context.CancelCauseFunc
	done  chan struct{}

	mu    sync.Mutex
	lease state.Lease
}

// claim takes the right to work on a task. The context ends when it is lost; release
// has to be called. CodeStateConflict: somebody else is at it.
func (g *Goals) claim(ctx context.Context, owner state.Owner, taskID string) (*claim, context.Context, error) {
	if err := checkID("taskId", taskID); err != nil {
		return nil, nil, err
	}
	key := g.key(owner, taskID)
	if _, err := g.opts.Stores.Checkpoints().Load(ctx, key); err != nil && !errors.Is(err, tools.CodeNotFound) {
		return nil, nil, err // above all: it is another's
	}
	lease, err := g.opts.Stores.Leases().TryAcquire(ctx, key, fmt.Sprintf("process %d, %s", os.Getpid(), rand.Text()), 0)
	if errors.Is(err, tools.CodeStateConflict) {
		return nil, nil, tools.Errorf(tools.CodeStateConflict, "somebody is at work on the task %s; after a crash that ends within %d seconds: %w", taskID, state.LeaseTime.Default, err)
	}
	if err != nil {
		return nil, nil, err
	}
	working, stop := context.WithCancelCause(ctx)
	c := &claim{goals: g, key: key, lease: lease, stop: stop, done: make(chan struct{})}
	go c.keep(working)
	return c, working, nil
}

func (c *claim) current() state.Lease {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lease
}

// keep renews the lease until it is lost, which ends the work, or the work ends.
func (c *claim) keep(ctx context.Context) {
	defer close(c.done)
	ticker := time.NewTicker(time.Duration(state.LeaseTime.Default) * time.Second / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		renewed, err := c.goals.opts.Stores.Leases().Renew(ctx, c.current(), 0)
		switch {
		case errors.Is(err, tools.CodeStateFence):
			c.stop(err)
			return
		case err == nil:
			c.mu.Lock()
			c.lease = renewed
			c.mu.Unlock()
		}
	}
}

// release gives the claim up, and turns an error that comes from having lost it into
// that.
func (c *claim) release(ctx context.Context, err *error) {
	if cause := context.Cause(ctx); *err != nil && errors.Is(cause, tools.CodeStateFence) {
		*err = cause
	}
	c.stop(nil)
	<-c.done
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = c.goals.opts.Stores.Leases().Release(limited, c.current()) // else it runs out by itself
}
