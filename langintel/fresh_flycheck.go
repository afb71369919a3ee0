package langintel

import (
	"context"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/tools"
)

// Flycheck is for a server that finds some problems by itself, which it is asked
// for, and has a compiler find the others, which it publishes: rust-analyzer with
// cargo check. A run is asked for when something changed since the last one, never
// two at a time; both lists belong to the answer.
func Flycheck(o FlycheckOptions) Freshness { return flycheck{o} }

// FlycheckOptions say how the compiler is run.
type FlycheckOptions struct {
	// Request is the notification that asks for a run, and Token how the names of
	// its progress begin.
	Request, Token string
	// Source is what problems of the compiler are marked with.
	Source string
	// Checks says whether the compiler may run in a project; nil: always.
	Checks func(p Project) bool
	// Blocked says why a run that found errors in some files did not get to
	// another; "": it did. nil: it always does.
	Blocked func(files *Files, path string, failing []string) string
}

type flycheck struct{ FlycheckOptions }

func (flycheck) Name() string { return "flycheck" }

const (
	// flycheckBegins is how long after a request a run may begin.
	flycheckBegins = 10 * time.Second
	// flycheckPause is longer than from the end of a run that another request ended
	// to the begin of the next.
	flycheckPause = 300 * time.Millisecond
)

func (f flycheck) check(ctx context.Context, v *session, doc document) (checked, error) {
	if pending := v.settle(ctx); pending != "" {
		return checked{Answer: Answer{Status: Partial, Server: v.spec.Name, Reason: pending}}, nil
	}
	runs := f.Checks == nil || f.Checks(v.project)
	reason := "the compiler is not run in a workspace that is not trusted, so only what " + v.spec.Name + " finds by itself is here"
	if runs {
		reason = f.run(ctx, v)
	}
	options, ok := v.pullOptions()
	if !ok {
		return checked{}, tools.Errorf(tools.CodeLSPUnsupported, "%s does not answer for diagnostics", v.spec.Name)
	}
	// What the run found is published by the time that this is answered.
	out, err := v.pull(ctx, doc, options)
	if err != nil {
		return out, err
	}
	if runs {
		var compiled []lspDiagnostic
		if pub, _ := v.problem.last(doc.path); pub != nil {
			compiled = pub.items
			out.dropped += pub.dropped
		}
		items, more := v.bound(f.unite(out.items, compiled))
		out.items, out.dropped, out.Barrier = items, out.dropped+more, BarrierFlycheck
		if reason == "" && f.Blocked != nil {
			files := v.client.filesNow(ctx)
			reason = f.Blocked(files, doc.path, f.failing(v))
		}
	}
	if reason == "" {
		reason = v.lacks()
	}
	if reason != "" {
		out.Status, out.Reason = Partial, reason
	}
	return out, nil
}

// run sees to it that a run of the compiler has seen the last change, and returns
// why it has not.
func (f flycheck) run(ctx context.Context, v *session) (reason string) {
	ctx, cancel := context.WithTimeout(ctx, v.client.opts.StartTimeout)
	defer cancel()
	state := &v.problem.compiler
	select {
	case state.turn <- struct{}{}:
		defer func() { <-state.turn }()
	case <-ctx.Done():
		return "the compiler has not finished"
	}
	number := v.changes.now()
	if state.checkedTo != nil && *state.checkedTo >= number {
		return ""
	}
	asked := time.Now()
	if err := v.rpc.notify(f.Request, struct {
		TextDocument *struct{} `json:"textDocument"`
	}{}); err != nil {
		return err.Error()
	}
	pause := time.Duration(0)
	if state.abandoned {
		pause = flycheckPause // the first end may be that of the run before
	}
	state.abandoned = true
	if reason := f.await(ctx, v, asked, pause); reason != "" {
		return reason
	}
	state.abandoned, state.checkedTo = false, &number
	return ""
}

// await waits for the end of a run that begins after a moment, and for a pause in
// which none begins.
func (f flycheck) await(ctx context.Context, v *session, asked time.Time, pause time.Duration) (reason string) {
	counts := func(token string) bool { return strings.HasPrefix(token, f.Token) }
	for {
		open, began, ended, moved := v.work.runs(counts, asked)
		var wake <-chan time.Time
		switch {
		case began && ended && !open:
			left := time.Until(v.work.lastEnd(counts).Add(pause))
			if left <= 0 {
				return ""
			}
			wake = time.After(left)
		case !began && !open:
			left := time.Until(asked.Add(flycheckBegins))
			if left <= 0 {
				return "the compiler was not started after the change"
			}
			wake = time.After(left)
		}
		select {
		case <-moved:
		case <-wake:
		case <-v.dead:
			return "the server ended"
		case <-ctx.Done():
			return "the compiler has not finished"
		}
	}
}

// unite joins what the server found with what the compiler did. The server's own
// word on a line with an error of the compiler is about the same mistake, mostly
// less exactly; and notes that only point back at an error are part of that.
func (f flycheck) unite(own, compiled []lspDiagnostic) []lspDiagnostic {
	lines := map[uint32]bool{}
	var out []lspDiagnostic
	for i := range compiled {
		d := &compiled[i]
		if d.Severity == int(diagnostics.Hint) && d.Source == f.Source && len(d.Tags) == 0 && len(d.Related) > 0 {
			continue
		}
		if d.Severity == int(diagnostics.Error) {
			lines[d.Range.Start.Line] = true
		}
		out = append(out, *d)
	}
	for i := range own {
		if own[i].Severity != int(diagnostics.Error) || !lines[own[i].Range.Start.Line] {
			out = append(out, own[i])
		}
	}
	return out
}

// failing returns the files in which the compiler found errors.
func (f flycheck) failing(v *session) []string {
	v.problem.mu.Lock()
	defer v.problem.mu.Unlock()
	var out []string
	for path, pub := range v.problem.byPath {
		for i := range pub.items {
			if pub.items[i].Severity == int(diagnostics.Error) {
				out = append(out, path)
				break
			}
		}
	}
	return out
}
