package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// MoveOptions adjusts `move`.
type MoveOptions struct {
	// Operations do the moving; nil means the workspace's transactions.
	Operations MoveOperations
}

type moveInput struct {
	From      string `json:"from" check:"nonempty"`
	To        string `json:"to" check:"nonempty" jsonschema:"full new path, in an existing directory"`
	Overwrite bool   `json:"overwrite,omitempty" jsonschema:"replace an existing file"`
}

// MoveMetadata describes what was moved.
type MoveMetadata struct {
	From     string `json:"from"`
	To       string `json:"to"`
	UndoID   string `json:"undoId,omitempty"`
	Degraded string `json:"degraded,omitempty"`
}

type moveTool struct {
	MoveOptions
	ws   *workspace.Workspace
	seen *ReadPathSet
}

func newMove(d *Deps) (*tools.Tool, error) {
	t := &moveTool{MoveOptions: d.Move, ws: d.Workspace, seen: d.ReadPaths}
	if t.Operations == nil {
		t.Operations = localFiles{d.Workspace}
	}
	spec := tools.Spec{
		Name: "move", Title: "Move", Toolset: "core", Kind: tools.KindMove, Effect: tools.ChangesFiles,
		Description: "Rename or move a file or directory.",
	}
	return tools.New(spec, t.plan, t.run)
}

func (t *moveTool) plan(_ context.Context, _ *tools.Call, in moveInput) (tools.Action, error) {
	from, to, err := t.targets(in)
	if err != nil {
		return tools.Action{}, err
	}
	action := tools.Action{Paths: changing(t.ws, from, to), Risk: tools.RiskMedium}
	if in.Overwrite {
		action.Risk, action.Options = tools.RiskHigh, []string{"overwrite"}
	}
	return action, nil
}

func (t *moveTool) targets(in moveInput) (from, to target, err error) {
	if from, err = entry(t.ws, in.From); err != nil {
		return from, to, err
	}
	if to, err = entry(t.ws, in.To); err != nil {
		return from, to, err
	}
	switch {
	case from.policy == to.policy:
		return from, to, tools.Errorf(tools.CodeToolInput, "from and to are the same: %s", from.policy)
	case strings.HasPrefix(to.policy, from.policy+"/"):
		return from, to, tools.Errorf(tools.CodeToolInput, "%s lies in %s, which cannot be moved into itself", to.policy, from.policy)
	}
	_, err = t.ws.Lstat(from.at)
	return from, to, err
}

func (t *moveTool) run(ctx context.Context, call *tools.Call, in moveInput) (*tools.Outcome[MoveMetadata], error) {
	from, to, err := t.targets(in)
	if err != nil {
		return nil, err
	}
	if err := unmoved(call, 0, from); err != nil {
		return nil, err
	}
	if err := unmoved(call, 1, to); err != nil {
		return nil, err
	}
	done, err := t.Operations.Move(ctx, from.at, to.at, in.Overwrite)
	if err != nil {
		return nil, err
	}
	changed(call, []string{from.policy, to.policy})
	if t.seen.has(call, from.policy) {
		t.seen.mark(call, to.policy) // what was read is the same under its new name
	}
	m := MoveMetadata{From: t.ws.Abs(from.at), To: t.ws.Abs(to.at), UndoID: done.UndoID, Degraded: done.Degraded}
	return tools.Answer(fmt.Sprintf("Moved %s to %s", m.From, m.To), m), nil
}
