package langintel

import (
	"context"
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// ApplyActionQuery asks for an action of [Client.CodeActions] to be done.
type ApplyActionQuery struct {
	// ID is the action's. Where it was listed is known to the client that listed it;
	// another one is told by the embedded query.
	ID string
	CodeActionsQuery
	ChangeOptions
}

// ApplyCodeAction does an action: its edit, then its command, during which edits
// that the server asks for are made too. When any part fails all of it is taken
// back. Errors are those of [Client.Rename]; CodeLSPStale when the text is not the
// one that the action was listed for, CodeLSPUnsupported when it needs a command
// that is an editor's.
func (c *Client) ApplyCodeAction(ctx context.Context, q ApplyActionQuery) (*ChangeResult, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	mark, digest, ok := strings.Cut(q.ID, "-")
	if !ok || len(mark) != 8 || len(digest) != 12 {
		return nil, tools.Errorf(tools.CodeToolInput, "%q is no id of a code action; list them first", oneLine(q.ID, 60))
	}
	c.editing.Lock()
	defer c.editing.Unlock()
	at, known := c.actions.find(q.ID)
	if !known || q.Path != "" || q.Symbol != "" {
		if q.Path == "" && q.Symbol == "" {
			return nil, tools.Errorf(tools.CodeToolInput, "where %s was listed is not known any more; give the same place again", q.ID)
		}
		where, err := c.selection(ctx, q.CodeActionsQuery)
		if err != nil {
			return nil, hard(ctx, "the language server", err)
		}
		at = selectedAt{selected: where}
	}
	chosen, err := c.choose(ctx, q.ID, at)
	if err != nil {
		return nil, err
	}
	defer chosen.target.release()
	return chosen.apply(ctx, q.ChangeOptions)
}

// choose lists the actions anew and returns the one with the id.
func (c *Client) choose(ctx context.Context, id string, at selectedAt) (*offer, error) {
	if err := c.watch.sweep(ctx); err != nil {
		return nil, tools.AsError(err)
	}
	f, _, err := c.files.get(ctx, at.path)
	if err != nil {
		return nil, err
	}
	now := *at.selected
	if now.sha = f.sha; !strings.HasPrefix(id, now.mark()+"-") {
		return nil, tools.Errorf(tools.CodeLSPStale, "%s is not what it was when %s was listed; list the code actions again", at.path.Real, id)
	}
	list, answer, err := c.offers(ctx, &now, at.server)
	defer release(list)
	if err != nil {
		return nil, hard(ctx, answer.Server, err)
	}
	for _, o := range list {
		if o.id == id {
			held := *o.target
			held.release = held.server.hold()
			o.target = &held
			return &o, nil
		}
	}
	return nil, tools.Errorf(tools.CodeLSPStale, "the code action %s is not on offer any more; list them again", id)
}

// apply does the action.
func (o *offer) apply(ctx context.Context, opts ChangeOptions) (*ChangeResult, error) {
	v := o.target.session
	if o.action.Disabled != nil {
		return nil, tools.Errorf(tools.CodeLSPUnsupported, "%q cannot be done now: %s", oneLine(o.action.Title, 100), oneLine(o.action.Disabled.Reason, 300))
	}
	action, err := o.resolve(ctx)
	if err != nil {
		return nil, err
	}
	command, err := action.command()
	if err != nil {
		return nil, err
	}
	var first *plan
	if action.Edit != nil {
		if first, err = v.newPlan(ctx, action.Edit, opts.allowance()); err != nil {
			return nil, err
		}
	}
	skipped := ""
	if command != nil && !v.runs(command.Command) {
		// Commands that a server does not offer to run are an editor's: what they do
		// to its windows is no part of the edit, and of nothing else here.
		skipped = fmt.Sprintf("the command %q is one of an editor, not of %s", oneLine(command.Command, 100), v.spec.Name)
		command = nil
	}
	switch {
	case command != nil:
		return v.execute(ctx, opts, errand{command: *command, first: first, path: o.target.doc.path})
	case first == nil && skipped != "":
		return nil, tools.Errorf(tools.CodeLSPUnsupported, "%q needs more than a language server: %s", oneLine(action.Title, 100), skipped)
	case first == nil:
		return nil, tools.Errorf(tools.CodeNoChange, "%q has nothing to change", oneLine(action.Title, 100))
	}
	result, err := first.apply(ctx, opts)
	if err == nil && skipped != "" {
		result.Status, result.Reason = Partial, skipped+", and was left out"
	}
	return result, err
}

// resolve completes an action whose edit the server works out only when it is
// wanted (LSP 3.17 §codeAction_resolve).
func (o *offer) resolve(ctx context.Context) (*codeAction, error) {
	action := o.action
	if action.Edit != nil || action.bare() || !o.target.resolves("textDocument/codeAction") {
		return &action, nil
	}
	full := codeAction{}
	if err := o.target.call(ctx, "codeAction/resolve", action.raw, &full); err != nil {
		return nil, hard(ctx, o.target.spec.Name, err)
	}
	if full.Edit != nil {
		action.Edit = full.Edit
	}
	if offered(full.Command) {
		action.Command = full.Command
	}
	return &action, nil
}
