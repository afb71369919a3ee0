package langintel

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/tools"
)

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
	// Confirm is as in [ChangeOptions].
	Confirm func(ctx context.Context, patch string, paths, reasons []string) error
	// AllowGenerated and AllowIgnored let the server edit generated files, and
	// files that git ignores.
	AllowGenerated, AllowIgnored bool
}

func (q *RenameQuery) options() ChangeOptions {
	return ChangeOptions{
		DryRun: q.DryRun, RejectIf: q.RejectIf, Authorise: q.Authorise, Confirm: q.Confirm,
		AllowGenerated: q.AllowGenerated, AllowIgnored: q.AllowIgnored,
	}
}

// Rename renames a symbol. Errors: CodeLSPUnsupported, CodeLSPTimeout,
// CodeLSPServer when the server refuses; CodeLSPWorkspace when its edit breaks
// the workspace's rules, or RejectIf applied (the details then are a
// *Rejection); CodeLSPStale when files changed meanwhile. After any
// error nothing is changed.
func (c *Client) Rename(ctx context.Context, q RenameQuery) (*ChangeResult, error) {
	if q.NewName == "" || len(q.NewName) > 1000 {
		return nil, tools.Errorf(tools.CodeToolInput, "newName is %d bytes long, must be 1 to 1000", len(q.NewName))
	}
	if err := q.options().check(); err != nil {
		return nil, err
	}
	c.editing.Lock()
	defer c.editing.Unlock()
	return again(ctx, func() (*ChangeResult, error) { return c.rename(ctx, q) })
}

func (c *Client) rename(ctx context.Context, q RenameQuery) (*ChangeResult, error) {
	t, err := c.resolve(ctx, q.Place)
	if err != nil {
		return nil, hard(ctx, "the language server", err)
	}
	defer t.release()
	if !t.offers("textDocument/rename") {
		return nil, unsupported(t.session, "rename")
	}
	// One that still loads may find nothing to rename, which is not the last word.
	if pending := t.settle(ctx); pending != "" {
		return nil, tools.Errorf(tools.CodeLSPTimeout, "%s cannot be relied on yet to find every use: %s; nothing was changed", t.spec.Name, pending)
	}
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
	result, err := p.apply(ctx, q.options(), diagnostics.SymbolRename{Old: oldName, New: q.NewName})
	if err != nil {
		return nil, err
	}
	if lacks := t.lacks(); lacks != "" && result.Status == Complete {
		result.Status, result.Reason = Partial, t.spec.Name+" may not know every use: "+lacks
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
	if !t.has("textDocument/prepareRename") {
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
	var e workspaceEdit
	params := renameParams{TextDocumentPositionParams: t.params(), NewName: q.NewName}
	if err := t.call(ctx, "textDocument/rename", params, &e); err != nil {
		return nil, hard(ctx, t.spec.Name, err)
	}
	return t.newPlan(ctx, &e, q.options().allowance())
}
