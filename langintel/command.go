package langintel

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/edit"
)

// errand is a command for a server to run, and the edit that comes before it.
type errand struct {
	command serverCommand
	first   *plan
	path    string // the document that it is about
}

// running is a command of ours that a server is at. While it is, and only then,
// edits that the server asks for are made.
type running struct {
	session *session
	ctx     context.Context
	opts    ChangeOptions
	watch   *watchdog

	mu      sync.Mutex
	over    bool
	asked   chan struct{} // closed at the first edit that is asked for
	written written
	shown   []*plan // instead, in a dry run
	reasons []string
	err     error // the first one of an edit
}

// watchdog ends a command that makes no progress; what people take to decide does
// not count.
type watchdog struct {
	timer *time.Timer
	limit time.Duration
}

func (w *watchdog) pause()  { w.timer.Stop() }
func (w *watchdog) resume() { w.timer.Reset(w.limit) }

// grace is how long after a command's end the edit may still come that it asked
// for: some servers answer before they ask.
const grace = 250 * time.Millisecond

// onlyEdits reports whether a command does nothing but ask for edits.
func (s *Spec) onlyEdits(command string) bool {
	return slices.ContainsFunc(s.EditCommands, func(pattern string) bool {
		ok, err := path.Match(pattern, command)
		return ok && err == nil
	})
}

// execute has the server run a command (LSP 3.17 §workspace_executeCommand), after
// the edit that goes before it. When any part fails, all is taken back.
func (v *session) execute(ctx context.Context, opts ChangeOptions, e errand) (*ChangeResult, error) {
	known := v.spec.onlyEdits(e.command.Command)
	if opts.DryRun && e.first != nil {
		result, err := e.first.apply(ctx, opts)
		if err == nil {
			result.Status, result.Reason = Partial, fmt.Sprintf("the command %q would be run after this", oneLine(e.command.Command, 100))
		}
		return result, err
	}
	if opts.DryRun && !known {
		return nil, tools.Errorf(tools.CodeLSPUnsupported, "what the command %q of %s does shows only when it is run", oneLine(e.command.Command, 100), v.spec.Name)
	}
	touched := []string{e.path}
	if e.first != nil {
		if err := e.first.fresh(ctx); err != nil {
			return nil, err
		}
		touched = append(touched, e.first.changed()...)
	}
	if !known && opts.Run != nil {
		if err := opts.Run(ctx, v.spec.Name, e.command.Command, e.command.Arguments); err != nil {
			return nil, err
		}
	}
	var before *survey
	if !opts.DryRun {
		var err error
		if before, err = v.client.survey(ctx, touched); err != nil {
			return nil, hard(ctx, v.spec.Name, err)
		}
	}
	r := &running{session: v, ctx: ctx, opts: opts, asked: make(chan struct{}), written: written{client: v.client}}
	err := r.run(e)
	if err != nil {
		if back := r.written.rollback(ctx); back != nil {
			return nil, tools.Errorf(tools.CodeLSPWorkspace, "%w; what was written could not be taken back: %w; undo ids %q", err, back, r.written.undoIDs())
		}
		return nil, err
	}
	return r.result(ctx, before, e)
}

// run makes the first edit and lets the server work.
func (r *running) run(e errand) error {
	if e.first != nil && len(e.first.changed()) > 0 {
		if err := r.make(e.first); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	limit := max(r.session.client.opts.Timeout, time.Second)
	r.watch = &watchdog{time.AfterFunc(limit, cancel), limit}
	defer r.watch.timer.Stop()
	r.session.command.Store(r)
	defer r.session.command.Store(nil)
	err := r.session.rpc.call(ctx, "workspace/executeCommand", e.command, nil)
	if err == nil {
		select {
		case <-r.asked:
		case <-time.After(grace):
		case <-ctx.Done():
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	switch {
	case r.err != nil:
		return r.err
	case err != nil && r.opts.DryRun && len(r.shown) > 0:
		return nil // it was told that its edit was not made
	case err != nil && ctx.Err() != nil && r.ctx.Err() == nil:
		return hard(r.ctx, r.session.spec.Name, context.DeadlineExceeded)
	case err != nil:
		return hard(r.ctx, r.session.spec.Name, err)
	}
	return r.ctx.Err()
}

// applyEdit answers workspace/applyEdit (LSP 3.17 §workspace_applyEdit): applied
// is said only of what is on disk.
func (v *session) applyEdit(params []byte) (any, error) {
	var p applyEditParams
	if err := decodeJSON(params, &p); err != nil {
		return nil, invalidParams()
	}
	r := v.command.Load()
	if r == nil {
		return applyEditResponse{Reason: "no command of the client is running"}, nil
	}
	if err := r.take(&p.Edit); err != nil {
		return applyEditResponse{Reason: printable(err.Error(), 500)}, nil
	}
	return applyEditResponse{Applied: true}, nil
}

// take makes an edit that the server asks for. After one that failed no other is
// made.
func (r *running) take(e *workspaceEdit) error {
	r.watch.pause()
	defer r.watch.resume()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.err != nil {
		return tools.Errorf(tools.CodeLSPWorkspace, "the command is over")
	}
	p, err := r.session.newPlan(r.ctx, e, r.opts.allowance())
	if err == nil {
		err = p.fresh(r.ctx)
	}
	if err == nil && r.opts.DryRun {
		r.shown = append(r.shown, p)
		r.ask()
		return tools.Errorf(tools.CodeLSPWorkspace, "this only shows what would be changed")
	}
	if err == nil && len(p.changed()) > 0 {
		err = r.make(p)
	}
	r.err = err
	r.ask()
	return err
}

func (r *running) ask() {
	select {
	case <-r.asked:
	default:
		close(r.asked)
	}
}

// make writes one plan, if it may.
func (r *running) make(p *plan) error {
	if err := r.opts.allow(r.ctx, p.result(r.ctx)); err != nil {
		return err
	}
	r.reasons = append(r.reasons, p.reasons...)
	return r.written.commit(r.ctx, p)
}

// result describes all that the command did.
func (r *running) result(ctx context.Context, before *survey, e errand) (*ChangeResult, error) {
	name := fmt.Sprintf("the command %q of %s", oneLine(e.command.Command, 100), r.session.spec.Name)
	out := &ChangeResult{
		Answer: Answer{Status: Complete, Server: r.session.spec.Name, Barrier: BarrierRequest},
		DryRun: r.opts.DryRun, Confirmations: r.reasons,
	}
	all := written{client: r.session.client, plans: r.shown}
	if !r.opts.DryRun {
		all = r.written
	}
	for _, p := range all.plans {
		out.Files = append(out.Files, p.changed()...)
		out.Edits += p.edits
	}
	slices.Sort(out.Files)
	out.Files = slices.Compact(out.Files)
	out.Patch = edit.Patch(ctx, all.changes()...)
	switch {
	case r.opts.DryRun && len(all.plans) == 0:
		return nil, tools.Errorf(tools.CodeNoChange, "%s asks for no edit", name)
	case r.opts.DryRun:
		out.Status, out.Reason = Partial, name+" may ask for more once this is done"
		return out, nil
	case len(all.plans) == 0:
		out.Status, out.Reason = Partial, name+" was run and asked for no edit; what else it did is not known"
		return out, r.session.client.watch.sweep(ctx)
	}
	return out, r.written.conclude(ctx, r.opts, before, conclusion{result: out})
}
