package langintel

import (
	"context"

	"go.lsp.dev/protocol"
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

// announce sends changes to every live server: to open documents as such, and
// as file events to those that registered for them.
func (c *Client) announce(ctx context.Context, changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	var first error
	for _, v := range c.sessions() {
		var events []*protocol.FileEvent
		for _, ch := range changes {
			v.reconsider(ch)
			watched := v.dynamic.watches(v, ch)
			if watched {
				events = append(events, &protocol.FileEvent{URI: v.uriOf(ch.path), Type: ch.kind})
			}
			if watched || v.spec.indexed() && v.spec.language(ch.path) != "" {
				v.changes.note(ch.path)
			}
		}
		if len(events) > 0 {
			if err := v.rpc.notify("workspace/didChangeWatchedFiles", protocol.DidChangeWatchedFilesParams{Changes: events}); err != nil && first == nil {
				first = err
			}
		}
		for _, ch := range changes {
			if err := v.docs.refresh(ctx, ch.path); err != nil && first == nil {
				first = err
			}
		}
	}
	return first
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
