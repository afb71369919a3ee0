package builtin

import (
	"context"
	"errors"
	"fmt"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// DeleteOptions adjusts `delete`.
type DeleteOptions struct {
	// Operations do the deleting; nil means the workspace's transactions.
	Operations DeleteOperations
	// MaxEntries is what a call without maxEntries may take: see DeleteEntries.
	MaxEntries int64
}

type deleteInput struct {
	Path       string `json:"path" check:"nonempty"`
	Recursive  bool   `json:"recursive,omitempty" jsonschema:"a directory with all that is in it"`
	MaxEntries *int64 `json:"maxEntries,omitempty"`
}

// DeleteMetadata describes what was deleted.
type DeleteMetadata struct {
	Path     string `json:"path"`
	Entries  int    `json:"entries"`
	UndoID   string `json:"undoId,omitempty"`
	Degraded string `json:"degraded,omitempty"`
}

type deleteTool struct {
	DeleteOptions
	ws *workspace.Workspace
}

func newDelete(d *Deps) (*tools.Tool, error) {
	t := &deleteTool{DeleteOptions: d.Delete, ws: d.Workspace}
	if t.Operations == nil {
		t.Operations = localFiles{d.Workspace}
	}
	if err := settle(bound{&t.MaxEntries, DeleteEntries}); err != nil {
		return nil, err
	}
	spec := tools.Spec{
		Name: "delete", Title: "Delete", Toolset: "core", Kind: tools.KindDelete, Effect: tools.ChangesFiles,
		Description: "Delete a file, a link, or an empty directory; with recursive a directory tree, whole or not at all.",
		Limits:      []tools.Limit{DeleteEntries},
	}
	return tools.New(spec, t.plan, t.run)
}

// plan counts first, so that a deletion over the cap, or of a directory that is
// not empty, ends before anybody is asked and with nothing gone.
func (t *deleteTool) plan(ctx context.Context, _ *tools.Call, in deleteInput) (tools.Action, error) {
	at, most, err := t.target(in)
	if err != nil {
		return tools.Action{}, err
	}
	extent, err := t.Operations.Measure(ctx, at.at, most)
	switch {
	case err != nil:
		return tools.Action{}, err
	case !in.Recursive && extent.Entries > 1 || !in.Recursive && extent.More:
		return tools.Action{}, tools.Errorf(tools.CodeNotEmpty, "%s is a directory that is not empty; set recursive to delete all that is in it", at.name)
	case extent.More:
		return tools.Action{}, tools.Errorf(tools.CodeLimit, "%s has more than %d entries (maxEntries); nothing was deleted", at.name, most)
	}
	risk := tools.RiskMedium
	if extent.Dir {
		risk = tools.RiskHigh
	}
	return tools.Action{Paths: changing(t.ws, at), Entries: extent.Entries, Recursive: in.Recursive && extent.Dir, Risk: risk}, nil
}

func (t *deleteTool) target(in deleteInput) (target, int, error) {
	most := t.MaxEntries
	if in.MaxEntries != nil {
		most = *in.MaxEntries
	}
	at, err := entry(t.ws, in.Path)
	return at, int(most), err
}

func (t *deleteTool) run(ctx context.Context, call *tools.Call, in deleteInput) (*tools.Outcome[DeleteMetadata], error) {
	at, most, err := t.target(in)
	if err != nil {
		return nil, err
	}
	if err := unmoved(call, 0, at); err != nil {
		return nil, err
	}
	// No more may go than was counted when the policy agreed, and no directory
	// where there was a file.
	agreed := call.Action()
	done, err := t.Operations.Delete(ctx, at.at, &workspace.DeleteOptions{Recursive: agreed.Recursive, MaxEntries: min(most, max(1, agreed.Entries))})
	if agreed.Entries < most && errors.Is(err, tools.CodeLimit) || in.Recursive && errors.Is(err, tools.CodeNotEmpty) {
		return nil, tools.Errorf(tools.CodeFileChanged, "%s holds more now than the %d entries that it had when the call was checked; nothing was deleted", at.name, agreed.Entries)
	}
	if err != nil {
		return nil, err
	}
	changed(call, []string{at.policy})
	m := DeleteMetadata{Path: t.ws.Abs(at.at), Entries: call.Action().Entries, UndoID: done.UndoID, Degraded: done.Degraded}
	if done.Entries > 0 {
		m.Entries = done.Entries
	}
	text := "Deleted " + m.Path
	if m.Entries > 1 {
		text += fmt.Sprintf(" (%d entries)", m.Entries)
	}
	return tools.Answer(text, m), nil
}
