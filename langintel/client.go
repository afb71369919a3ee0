package langintel

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// Client asks the language servers of one workspace. It is safe for concurrent
// use.
type Client struct {
	opts  Options
	work  *workspace.Workspace
	owner *child.Owner
	roots []string // the root's absolute names
	files *fileCache
	watch *watcher

	patterns *patterns
	tried    probes

	mu       sync.Mutex
	servers  map[serverKey]*server
	found    map[serverKey]availability
	external map[string]bool // dep: paths that results have named
	hearers  []*session      // those whose process runs
	closed   bool

	actions   actionIDs
	admission sync.Mutex // one server at a time is let in

	editing sync.Mutex // one change from a server at a time
	running sync.WaitGroup
	stop    context.CancelFunc
	ctx     context.Context // ends with the client
}

// serverKey is what there is one server for.
type serverKey struct{ root, name string }

// New makes a client; nothing runs before the first question. The workspace and
// the owner stay the caller's, and must outlive the client.
func New(work *workspace.Workspace, owner *child.Owner, opts *Options) (*Client, error) {
	resolved, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	c := &Client{
		opts: resolved, work: work, owner: owner, ctx: ctx, stop: stop,
		servers:  map[serverKey]*server{},
		found:    map[serverKey]availability{},
		external: map[string]bool{},
		roots:    []string{work.Root()},
	}
	if real, err := filepath.EvalSymlinks(work.Root()); err == nil && real != work.Root() {
		c.roots = append(c.roots, real)
	}
	c.patterns = newPatterns(c.opts.Servers)
	c.files = newFileCache(work)
	c.watch = newWatcher(c)
	return c, nil
}

// Close stops every server (shutdown, exit, TERM, KILL, with all that they
// started) and waits for it. Requests in flight fail.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	servers := c.list()
	c.mu.Unlock()
	var stopping sync.WaitGroup
	for _, s := range servers {
		stopping.Go(s.close)
	}
	stopping.Wait()
	c.stop()
	c.running.Wait()
	c.watch.close()
	return nil
}

// list returns the servers in a fixed order; c.mu is held.
func (c *Client) list() []*server {
	var out []*server
	for _, s := range c.servers {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *server) int {
		if a.root != b.root {
			return compare(a.root, b.root)
		}
		return compare(a.spec.Name, b.spec.Name)
	})
	return out
}

func (c *Client) progress(p Progress) {
	if c.opts.Progress != nil {
		c.opts.Progress(p)
	}
}

// keepHouse stops servers that nobody used for long, and those that outgrew
// their budget.
func (c *Client) keepHouse() {
	tick := time.NewTicker(min(c.opts.IdleTimeout/4+time.Millisecond, time.Minute))
	defer tick.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		}
		c.mu.Lock()
		servers := c.list()
		c.mu.Unlock()
		for _, s := range servers {
			s.keepHouse()
		}
	}
}

// Restart stops the named server's processes; the next question starts them,
// also when they were down after too many failures. Unknown names are refused.
func (c *Client) Restart(ctx context.Context, name string) error {
	c.mu.Lock()
	servers := slices.DeleteFunc(c.list(), func(s *server) bool { return s.spec.Name != name })
	c.mu.Unlock()
	known := slices.ContainsFunc(c.opts.Servers, func(s Spec) bool { return s.Name == name })
	if !known {
		return tools.Errorf(tools.CodeToolInput, "no language server is called %q; lsp status lists them", oneLine(name, 80))
	}
	for _, s := range servers {
		if err := s.restart(ctx); err != nil {
			return err
		}
	}
	return nil
}
