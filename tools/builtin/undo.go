package builtin

import (
	"context"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// UndoOptions adjusts `undo`.
type UndoOptions struct {
	// Operations do the undoing; nil means the workspace's own record.
	Operations UndoOperations
}

type undoInput struct {
	UndoID string `json:"undoId" check:"nonempty" jsonschema:"from the result of the change"`
}

// UndoMetadata lists what is as it was before, relative to the root.
type UndoMetadata struct {
	Files []string `json:"files"`
}

type undoTool struct{ ops UndoOperations }

func newUndo(d *Deps) (*tools.Tool, error) {
	t := &undoTool{d.Undo.Operations}
	if t.ops == nil {
		t.ops = localFiles{d.Workspace}
	}
	spec := tools.Spec{
		Name: "undo", Title: "Undo change", Toolset: "core", Kind: tools.KindEdit, Effect: tools.ChangesFiles,
		Description: "Take one committed change back, once, if its files are still as it left them.",
	}
	return tools.New(spec, t.plan, t.run)
}

// plan shows the policy what the undo changes: taking back the change of a file
// needs as much consent as the change did.
func (t *undoTool) plan(ctx context.Context, _ *tools.Call, in undoInput) (tools.Action, error) {
	files, err := t.ops.Touches(ctx, in.UndoID)
	if err != nil {
		return tools.Action{}, err
	}
	return tools.Action{Paths: files, Args: []string{in.UndoID}, Risk: tools.RiskMedium}, nil
}

func (t *undoTool) run(ctx context.Context, call *tools.Call, in undoInput) (*tools.Outcome[UndoMetadata], error) {
	files, err := t.ops.Undo(ctx, in.UndoID)
	if err != nil {
		return nil, err
	}
	changed(call, files)
	return tools.Answer("Undone. These are as they were before:\n"+strings.Join(files, "\n"), UndoMetadata{files}), nil
}
