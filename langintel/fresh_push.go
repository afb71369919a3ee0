package langintel

import (
	"context"
	"time"
)

// Pushes is for a server that publishes, a known time after each change, and once
// its answers are final: what it publishes before may be a placeholder.
func Pushes(lag time.Duration) Freshness { return pushes{lag} }

type pushes struct{ lag time.Duration }

func (pushes) Name() string { return "push" }

func (p pushes) check(ctx context.Context, v *session, doc document) (checked, error) {
	if pending := v.settle(ctx); pending != "" {
		return checked{Answer: Answer{Status: Partial, Server: v.spec.Name, Reason: pending}}, nil
	}
	v.problem.mu.Lock()
	v.problem.lag = max(v.problem.lag, p.lag)
	v.problem.mu.Unlock()
	return v.awaitPush(ctx, doc, didChangeParams{})
}

// Limited gets diagnostics as inner does, unless why says that the server finds
// none in a project: the answer is then partial, and the server is not asked.
func Limited(why func(p Project) string, inner Freshness) Freshness { return limited{why, inner} }

type limited struct {
	why   func(p Project) string
	inner Freshness
}

func (l limited) Name() string { return l.inner.Name() }

func (l limited) check(ctx context.Context, v *session, doc document) (checked, error) {
	if reason := l.why(v.project); reason != "" {
		return checked{Answer: Answer{Status: Partial, Server: v.spec.Name, Reason: reason}}, nil
	}
	return l.inner.check(ctx, v, doc)
}
