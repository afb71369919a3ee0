package langintel

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// ServerStatus is what is known of one server.
type ServerStatus struct {
	Name         string
	Languages    []string
	State        string // stopped, starting, ready, backoff, down
	Version      string // as the server says
	RootPath     string // relative to the workspace
	Program      string
	From         string // configured, local, path or installed
	PID          int
	MemoryBytes  int64 // of the process and all that it started; 0: not known
	MemoryBudget int64
	Idle         time.Duration // since the last question
	IdleTimeout  time.Duration
	Restarts     int64 // after an unexpected end
	OpenFiles    int
	Degraded     string
	LastError    string
	Progress     string // what it says it is working on
}

// Status lists the servers of the catalogue that this workspace has used, and
// those it has not as stopped. It starts nothing.
func (c *Client) Status(ctx context.Context) ([]ServerStatus, error) {
	if err := ctx.Err(); err != nil {
		return nil, tools.AsError(err)
	}
	c.mu.Lock()
	servers := c.list()
	c.mu.Unlock()
	used := map[string]bool{}
	var out []ServerStatus
	for _, s := range servers {
		used[s.spec.Name] = true
		out = append(out, s.status())
	}
	for i := range c.opts.Servers {
		if spec := &c.opts.Servers[i]; !used[spec.Name] {
			out = append(out, ServerStatus{Name: spec.Name, Languages: spec.languages(), State: stateStopped, RootPath: "."})
		}
	}
	return out, nil
}

func (s *Spec) languages() []string {
	var out []string
	for _, l := range s.Languages {
		out = append(out, l.ID)
	}
	return out
}

func (s *server) status() ServerStatus {
	s.mu.Lock()
	out := ServerStatus{
		Name: s.spec.Name, Languages: s.spec.languages(), State: s.state, RootPath: s.root,
		MemoryBudget: s.client.opts.MemoryBudget, IdleTimeout: s.client.opts.IdleTimeout,
		Restarts: s.total, Degraded: s.degraded, LastError: s.lastError,
	}
	if !s.lastUsed.IsZero() && s.using == 0 {
		out.Idle = time.Since(s.lastUsed)
	}
	live := s.live
	s.mu.Unlock()
	if live == nil {
		return out
	}
	if err := live.rpc.stream.failed(); err != nil { // it ended a moment ago
		out.State, out.LastError = stateBackoff, err.Error()
		return out
	}
	out.Version, out.Program, out.From = serverVersion(live.info.Version), live.run.path, live.run.from
	out.PID, out.MemoryBytes = live.process.PID(), live.memory()
	out.OpenFiles, out.Progress = len(live.docs.paths()), live.work.current()
	reasons := []string{s.spec.degraded(live.projectNow()), s.client.watch.degraded()}
	if out.MemoryBytes > out.MemoryBudget {
		reasons = append(reasons, "over its memory budget; starts again when nobody waits for it")
	}
	if state, _ := live.signals.status(); state.health == "warning" || state.health == "error" {
		reasons = append(reasons, oneLine(state.message, 300))
	}
	out.Degraded = joinReasons(append(reasons, out.Degraded))
	return out
}

func (s *Spec) degraded(p Project) string {
	if s.Degraded == nil {
		return ""
	}
	return s.Degraded(p)
}

func joinReasons(reasons []string) string {
	return strings.Join(slices.DeleteFunc(reasons, func(r string) bool { return r == "" }), "; ")
}

// memory sums the resident memory of the server's processes.
func (v *session) memory() int64 {
	tree, err := v.process.Tree()
	if err != nil {
		return 0
	}
	var sum int64
	for _, p := range tree {
		sum += residentBytes(p.PID)
	}
	return sum
}
