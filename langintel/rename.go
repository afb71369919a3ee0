package langintel

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/tools"
)

// RejectNewErrors is the one RenameQuery.RejectIf there is.
const RejectNewErrors = "new_errors"

// RenameQuery asks for a symbol to get another name, everywhere or nowhere.
type RenameQuery struct {
	Place
	NewName string
	// DryRun works out the patch and writes nothing.
	DryRun bool
	// RejectIf "new_errors" takes the change back when the servers then report
	// errors that were not there before.
	RejectIf string
	// AlsoText lists where the old name is left in text (comments, strings, other
	// files); it changes nothing there.
	AlsoText bool
	// Authorise sees the whole change as a patch, and every file that would be
	// written, created, moved or removed, before anything is; an error of it ends
	// the rename. nil: all is allowed. It is not asked for a dry run.
	Authorise func(ctx context.Context, patch string, paths []string) error
	// AllowGenerated and AllowIgnored let the server edit generated files, and
	// files that git ignores.
	AllowGenerated, AllowIgnored bool
}

// Rename renames a symbol. Errors: CodeLSPUnsupported, CodeLSPTimeout,
// CodeLSPServer when the server refuses; CodeLSPWorkspace when its edit breaks
// the workspace's rules, or RejectIf applied (the details then are a
// *Rejection); CodeLSPStale when files changed meanwhile. After any
// error nothing is changed.
func (c *Client) Rename(ctx context.Context, q RenameQuery) (*RenameResult, error) {
	if q.NewName == "" || len(q.NewName) > 1000 {
		return nil, tools.Errorf(tools.CodeToolInput, "newName is %d bytes long, must be 1 to 1000", len(q.NewName))
	}
	if q.RejectIf != "" && q.RejectIf != RejectNewErrors {
		return nil, tools.Errorf(tools.CodeToolInput, "rejectIf is %q, must be %q or absent", oneLine(q.RejectIf, 40), RejectNewErrors)
	}
	c.editing.Lock()
	defer c.editing.Unlock()
	const attempts = 2
	for attempt := 0; ; attempt++ {
		result, err := c.rename(ctx, q)
		// The place is resolved anew: lines may have moved.
		if attempt < attempts-1 && errors.Is(err, tools.CodeLSPStale) && ctx.Err() == nil {
			continue
		}
		return result, err
	}
}

func (c *Client) rename(ctx context.Context, q RenameQuery) (*RenameResult, error) {
	t, err := c.resolve(ctx, q.Place)
	if err != nil {
		return nil, hard(ctx, "the language server", err)
	}
	defer t.release()
	oldName, err := t.prepareRename(ctx)
	if err != nil {
		return nil, err
	}
	if oldName == q.NewName {
		return nil, tools.Errorf(tools.CodeNoChange, "it is called %s already", oldName)
	}
	p, err := t.planRename(ctx, q)
	if err != nil {
		return nil, err
	}
	if len(p.stale) > 0 {
		if err := c.Changed(ctx, p.stale...); err != nil {
			return nil, err
		}
		return nil, tools.Errorf(tools.CodeLSPStale, "%s changed while %s worked on the rename; nothing was written", p.stale[0], t.spec.Name)
	}
	result := &RenameResult{
		Answer: Answer{Status: Complete, Server: t.spec.Name, Barrier: BarrierRequest},
		Files:  p.changed(), Edits: p.edits, Patch: p.patch(ctx), DryRun: q.DryRun,
	}
	if len(result.Files) == 0 {
		return nil, tools.Errorf(tools.CodeNoChange, "%s has nothing to change for that name", t.spec.Name)
	}
	if !q.DryRun {
		if err := p.apply(ctx, q, result, diagnostics.SymbolRename{Old: oldName, New: q.NewName}); err != nil {
			return nil, err
		}
	}
	if q.AlsoText {
		if result.Leftovers, err = c.leftovers(ctx, oldName, p); err != nil {
			// The rename is done: that it could not be searched is no reason to fail.
			result.Status, result.Reason = Partial, "what is left in text is not known: "+err.Error()
		}
	}
	return result, nil
}

// prepareRename asks whether there is something to rename, and what it is called
// (LSP 3.17 §textDocument_prepareRename).
func (t *target) prepareRename(ctx context.Context) (name string, err error) {
	if !t.offers("textDocument/rename") {
		return "", unsupported(t.session, "rename")
	}
	name = t.wordAt()
	if !t.offers("textDocument/prepareRename") {
		return name, nil
	}
	var raw jsontext.Value
	if err := t.call(ctx, "textDocument/prepareRename", t.params(), &raw); err != nil {
		return "", hard(ctx, t.spec.Name, err)
	}
	prepared, err := parsePrepareRename(raw)
	if err != nil {
		return "", err
	}
	if !prepared.ok {
		return "", tools.Errorf(tools.CodeLSPServer, "%s finds nothing to rename at %s:%d", t.spec.Name, t.doc.path, t.at.line+1)
	}
	if prepared.span != nil {
		where, err := t.wire.span(t.doc.file.text, *prepared.span, false)
		if err == nil {
			name = string(t.doc.file.text.data[t.doc.file.text.offset(where.start):t.doc.file.text.offset(where.end)])
		}
	}
	if prepared.named != "" {
		name = prepared.named
	}
	return name, nil
}

// wordAt returns the identifier at the target.
func (t *target) wordAt() string {
	line := t.doc.file.text.line(t.at.line)
	end := t.at.byte
	for _, r := range string(line[t.at.byte:]) {
		if !wordRune(r) {
			break
		}
		end += len(string(r))
	}
	return string(line[t.at.byte:end])
}

func (t *target) planRename(ctx context.Context, q RenameQuery) (*plan, error) {
	if pending := t.settle(ctx); pending != "" {
		return nil, tools.Errorf(tools.CodeLSPTimeout, "%s cannot be relied on yet to find every use: %s; nothing was changed", t.spec.Name, pending)
	}
	var e workspaceEdit
	params := renameParams{TextDocumentPositionParams: t.params(), NewName: q.NewName}
	if err := t.call(ctx, "textDocument/rename", params, &e); err != nil {
		return nil, hard(ctx, t.spec.Name, err)
	}
	return t.newPlan(ctx, &e, allowance{q.AllowGenerated, q.AllowIgnored})
}

// apply writes a plan, and takes it back when its errors say so. A failure after
// the writing shows in DeltaOf: what is written is written.
func (p *plan) apply(ctx context.Context, q RenameQuery, result *RenameResult, renamed diagnostics.SymbolRename) error {
	if q.Authorise != nil {
		if err := q.Authorise(ctx, result.Patch, result.Files); err != nil {
			return err
		}
	}
	before, err := p.survey(ctx)
	if err != nil {
		return hard(ctx, p.session.spec.Name, err)
	}
	done, err := p.commit(ctx)
	if done == nil {
		return err
	}
	result.UndoID, result.Degraded = done.UndoID, done.Degraded
	var found *comparison
	if err == nil {
		found, err = before.compare(ctx, p, renamed)
	}
	if err == nil {
		result.Delta, result.DeltaOf = found.delta, found.answer
		result.Introduced, result.Fixed = found.introduced, found.fixed
	} else {
		result.DeltaOf = Answer{Status: Partial, Server: p.session.spec.Name, Reason: err.Error()}
	}
	if q.RejectIf != RejectNewErrors {
		return nil
	}
	return p.reject(ctx, result, done)
}
