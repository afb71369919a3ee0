package langintel

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/edit"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// RejectNewErrors is the one RejectIf there is.
const RejectNewErrors = "new_errors"

// ChangeOptions say how files are changed. The zero value allows everything but
// generated and ignored files, and what a server wants confirmed.
type ChangeOptions struct {
	// DryRun works out the patch and writes nothing.
	DryRun bool
	// RejectIf "new_errors" takes the change back when the servers then report
	// errors that were not there before.
	RejectIf string
	// Authorise sees the whole change as a patch, and every file that would be
	// written, created, moved or removed, before anything is; an error of it ends
	// the change. nil: all is allowed. It is not asked for a dry run.
	Authorise func(ctx context.Context, patch string, paths []string) error
	// Confirm is asked instead of Authorise when the server wants a person to
	// confirm parts of its edit (LSP 3.17 §changeAnnotation), which reasons name.
	// nil: such an edit is refused, but for a dry run.
	Confirm func(ctx context.Context, patch string, paths, reasons []string) error
	// Run is asked before a server is told to run a command that is not known to
	// do nothing but edit. nil: it is allowed.
	Run func(ctx context.Context, server, command string, arguments []byte) error
	// AllowGenerated and AllowIgnored let the server edit generated files, and
	// files that git ignores.
	AllowGenerated, AllowIgnored bool
}

func (o ChangeOptions) allowance() allowance { return allowance{o.AllowGenerated, o.AllowIgnored} }

func (o ChangeOptions) check() error {
	if o.RejectIf != "" && o.RejectIf != RejectNewErrors {
		return tools.Errorf(tools.CodeToolInput, "rejectIf is %q, must be %q or absent", oneLine(o.RejectIf, 40), RejectNewErrors)
	}
	return nil
}

// again makes a change, and once more when files moved under it: places are then
// resolved anew.
func again(ctx context.Context, change func() (*ChangeResult, error)) (*ChangeResult, error) {
	result, err := change()
	if errors.Is(err, tools.CodeLSPStale) && ctx.Err() == nil {
		return change()
	}
	return result, err
}

// apply is the one way by which plans reach the disk: allowed, written, compared,
// and taken back where that is asked for.
func (p *plan) apply(ctx context.Context, opts ChangeOptions, renames ...diagnostics.SymbolRename) (*ChangeResult, error) {
	if err := p.fresh(ctx); err != nil {
		return nil, err
	}
	result := p.result(ctx)
	if len(result.Files) == 0 {
		return nil, tools.Errorf(tools.CodeNoChange, "%s has nothing to change", p.by)
	}
	if result.DryRun = opts.DryRun; opts.DryRun {
		return result, nil
	}
	if err := opts.allow(ctx, result); err != nil {
		return nil, err
	}
	before, err := p.client.survey(ctx, result.Files)
	if err != nil {
		return nil, hard(ctx, p.by, err)
	}
	w := &written{client: p.client}
	if err = w.commit(ctx, p); len(w.plans) == 0 {
		return nil, err
	}
	return result, w.conclude(ctx, opts, before, conclusion{result, renames, err})
}

// fresh refuses a plan made from texts that are no longer on disk, after telling
// the servers of the new ones.
func (p *plan) fresh(ctx context.Context) error {
	if len(p.stale) == 0 {
		return nil
	}
	if err := p.client.Changed(ctx, p.stale...); err != nil {
		return err
	}
	return tools.Errorf(tools.CodeLSPStale, "%s changed while %s worked on it; nothing was written", p.stale[0], p.by)
}

// result describes the plan.
func (p *plan) result(ctx context.Context) *ChangeResult {
	return &ChangeResult{
		Answer: Answer{Status: Complete, Server: p.by, Barrier: BarrierRequest},
		Files:  p.changed(), Edits: p.edits, Patch: p.patch(ctx), Confirmations: slices.Compact(slices.Sorted(slices.Values(p.reasons))),
	}
}

// allow puts a change before whoever decides.
func (o ChangeOptions) allow(ctx context.Context, result *ChangeResult) error {
	if reasons := result.Confirmations; len(reasons) > 0 {
		if o.Confirm == nil {
			return tools.Errorf(tools.CodeLSPWorkspace, "%s wants a person to confirm this, and nobody can be asked: %s", result.Server, strings.Join(reasons, "; "))
		}
		return o.Confirm(ctx, result.Patch, result.Files, reasons)
	}
	if o.Authorise == nil {
		return nil
	}
	return o.Authorise(ctx, result.Patch, result.Files)
}

// written is what one change has put on disk: one transaction, or one for each
// edit that a command asked for.
type written struct {
	client *Client
	plans  []*plan
	done   []*workspace.Committed
}

// commit writes one plan. An error after the writing is one of telling the
// servers; the plan is among w.plans then.
func (w *written) commit(ctx context.Context, p *plan) error {
	done, err := p.commit(ctx)
	if done != nil {
		w.plans, w.done = append(w.plans, p), append(w.done, done)
	}
	return err
}

// rollbackTime bounds taking a change back, which also happens when the caller
// has gone.
const rollbackTime = 30 * time.Second

// rollback takes everything back, the last first.
func (w *written) rollback(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTime)
	defer cancel()
	for len(w.plans) > 0 {
		last := len(w.plans) - 1
		if err := w.plans[last].rollback(ctx, w.done[last]); err != nil {
			return err
		}
		w.plans, w.done = w.plans[:last], w.done[:last]
	}
	return nil
}

// undoIDs are those of the transactions, the newest first.
func (w *written) undoIDs() []string {
	var out []string
	for _, done := range slices.Backward(w.done) {
		if done.UndoID != "" {
			out = append(out, done.UndoID)
		}
	}
	return out
}

// conclusion is what is known of a change when it is on disk.
type conclusion struct {
	result  *ChangeResult
	renames []diagnostics.SymbolRename
	err     error // of telling the servers
}

// conclude compares the problems before and after. A failure shows in DeltaOf:
// what is written is written.
func (w *written) conclude(ctx context.Context, opts ChangeOptions, before *survey, c conclusion) error {
	result, err := c.result, c.err
	for _, done := range w.done {
		if done.Degraded != "" {
			result.Degraded = done.Degraded
		}
	}
	switch ids := w.undoIDs(); {
	case len(ids) == 1:
		result.UndoID = ids[0]
	case len(ids) > 1:
		result.UndoIDs = ids
	}
	var found *comparison
	if err == nil {
		found, err = before.measure(ctx, w.changes(), c.renames)
	}
	if err == nil {
		result.Delta, result.DeltaOf = found.delta, found.answer
		result.Introduced, result.Fixed = found.introduced, found.fixed
	} else {
		result.DeltaOf = Answer{Status: Partial, Server: result.Server, Reason: err.Error()}
	}
	if opts.RejectIf != RejectNewErrors {
		return nil
	}
	return w.reject(ctx, result)
}

// changes are the files before the first transaction and after the last.
func (w *written) changes() []edit.Change {
	if len(w.plans) == 1 {
		return w.plans[0].changes()
	}
	now := map[string]edit.Change{} // by the current name
	var gone []edit.Change
	for _, p := range w.plans {
		list := p.changes()
		earlier := map[string]edit.Change{}
		for _, ch := range list {
			if known, ok := now[ch.OldPath]; ok && ch.OldPath != "" {
				earlier[ch.OldPath] = known
				delete(now, ch.OldPath)
			}
		}
		for _, ch := range list {
			if known, ok := earlier[ch.OldPath]; ok {
				ch.OldPath, ch.Old, ch.OldMode = known.OldPath, known.Old, known.OldMode
			}
			switch {
			case ch.NewPath != "":
				now[ch.NewPath] = ch
			case ch.OldPath != "":
				gone = append(gone, ch)
			}
		}
	}
	for _, ch := range now {
		gone = append(gone, ch)
	}
	slices.SortFunc(gone, func(a, b edit.Change) int {
		return compare(a.NewPath+"\x00"+a.OldPath, b.NewPath+"\x00"+b.OldPath)
	})
	return gone
}
