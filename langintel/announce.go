package langintel

import (
	"cmp"
	"context"
	"slices"
)

// Changed tells the servers about files that were just created, changed or
// removed; paths are relative to the root. Without it the next question finds
// out by itself, a moment later.
func (c *Client) Changed(ctx context.Context, paths ...string) error {
	var real []string
	for _, name := range paths {
		if p, err := c.work.Resolve(name); err == nil && p.Real != "" {
			name = p.Real
		}
		real = append(real, name)
	}
	return c.announce(ctx, c.watch.note(ctx, real))
}

// announce sends changes to every server: to open documents as such, and as file
// events to those that want to hear of them.
func (c *Client) announce(ctx context.Context, changes []change) error {
	var first error
	for _, v := range c.listening() {
		for _, ch := range changes {
			v.reconsider(ch)
		}
		err := v.tell(changes)
		for _, ch := range changes {
			err = cmp.Or(err, v.docs.refresh(ctx, ch.path))
		}
		if !v.stopping.Load() { // what is wanted no more need not hear
			first = cmp.Or(first, err)
		}
	}
	return first
}

// listen has a session hear of changes from now on, before it is live: what its
// process reads while it starts may change at once after that.
func (c *Client) listen(v *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hearers = append(c.hearers, v)
}

// hush ends listen.
func (c *Client) hush(v *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hearers = slices.DeleteFunc(c.hearers, func(h *session) bool { return h == v })
}

// listening returns the sessions whose process runs, in the order of their start.
func (c *Client) listening() []*session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.hearers)
}

// sessions returns the live ones.
func (c *Client) sessions() []*session {
	c.mu.Lock()
	servers := c.list()
	c.mu.Unlock()
	var out []*session
	for _, s := range servers {
		s.mu.Lock()
		if s.live != nil {
			out = append(out, s.live)
		}
		s.mu.Unlock()
	}
	return out
}
