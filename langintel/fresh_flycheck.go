package langintel

import (
	"context"
	"strings"
	"time"

	"go.lsp.dev/protocol"

	"github.com/prism-ls/prism-ls/tools"
)

// Flycheck gets diagnostics from a server that finds some by itself, which it is
// asked for, and has a compiler find the others after each save, which it
// publishes when the run is over: rust-analyzer with cargo check. token is how the
// names of the run's progress begin; checks says whether the compiler runs in a
// project at all.
func Flycheck(token string, checks func(p Project) bool) Freshness { return flycheck{token, checks} }

type flycheck struct {
	token  string
	checks func(p Project) bool
}

func (flycheck) Name() string { return "flycheck" }

// flycheckBegins is how long after a save a run may begin, the server's own pause
// between runs included.
const flycheckBegins = 5 * time.Second

func (f flycheck) check(ctx context.Context, v *session, doc document) (checked, error) {
	if pending := v.settle(ctx); pending != "" {
		return checked{Answer: Answer{Status: Partial, Server: v.spec.Name, Reason: pending}}, nil
	}
	runs := f.checks == nil || f.checks(v.project)
	reason := ""
	if runs {
		reason = f.run(ctx, v, doc)
	}
	options, ok := v.pullOptions()
	if !ok {
		return checked{}, tools.Errorf(tools.CodeLSPUnsupported, "%s does not answer for diagnostics", v.spec.Name)
	}
	out, err := v.pull(ctx, doc, options)
	if err != nil {
		return out, err
	}
	if pub, _ := v.problem.last(doc.path); pub != nil && runs {
		out.items, out.dropped = v.bound(unite(out.items, pub.items))
		out.Barrier = BarrierFlycheck
	}
	switch {
	case reason != "":
		out.Status, out.Reason = Partial, reason
	case !runs:
		out.Status, out.Reason = Partial, "the compiler is not run, so only what the server finds by itself is here"
	}
	return out, nil
}

// run sees to it that a run of the compiler has seen the last change, and returns
// why it has not.
func (f flycheck) run(ctx context.Context, v *session, doc document) (reason string) {
	ctx, cancel := context.WithTimeout(ctx, v.client.opts.StartTimeout)
	defer cancel()
	counts := func(token string) bool { return strings.HasPrefix(token, f.token) }
	number := v.changes.now()
	v.problem.mu.Lock()
	covered := v.problem.checkedTo
	v.problem.mu.Unlock()
	if covered != nil && *covered >= number {
		return ""
	}
	saved := time.Now()
	if err := v.docs.saveAgain(doc.path); err != nil {
		return err.Error()
	}
	for {
		open, began, ended, moved := v.work.runs(counts, saved)
		if began && ended && !open {
			v.problem.mu.Lock()
			if v.problem.checkedTo == nil || *v.problem.checkedTo < number {
				v.problem.checkedTo = &number
			}
			v.problem.mu.Unlock()
			return ""
		}
		var missing <-chan time.Time
		if !began && !open {
			left := time.Until(saved.Add(flycheckBegins))
			if left <= 0 {
				return "the compiler was not started after the change"
			}
			missing = time.After(left)
		}
		select {
		case <-moved:
		case <-missing:
		case <-v.dead:
			return "the server ended"
		case <-ctx.Done():
			return "the compiler has not finished"
		}
	}
}

// unite returns both lists, what stands in both once.
func unite(a, b []lspDiagnostic) []lspDiagnostic {
	type key struct {
		where                 protocol.Range
		source, code, message string
	}
	of := func(d *lspDiagnostic) key { return key{d.Range, d.Source, d.code(), d.Message} }
	seen := map[key]bool{}
	out := a[:len(a):len(a)]
	for i := range a {
		seen[of(&a[i])] = true
	}
	for i := range b {
		if !seen[of(&b[i])] {
			out = append(out, b[i])
		}
	}
	return out
}
