package builtin

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
)

func (w *taskSpaces) cleanup() (*tools.Tool, error) {
	spec := workspaceSpec("workspace_cleanup", "Clean up workspace",
		"Remove the work trees of a task whose work is committed; branches stay. It refuses where something would be lost.", tools.ChangesFiles)
	plan := func(_ context.Context, _ *tools.Call, in taskInput) (tools.Action, error) {
		action := tools.Action{Risk: tools.RiskMedium, Args: []string{in.TaskID}}
		if w.Policy.Dirty {
			action.Options = []string{"dirty"}
		}
		return action, nil
	}
	return tools.New(spec, plan, func(ctx context.Context, call *tools.Call, in taskInput) (*tools.Outcome[TaskWorkspace], error) {
		space, err := w.Spaces.Cleanup(ctx, stateOwner(call), in.TaskID, w.Policy)
		if err != nil {
			return nil, err
		}
		return answerSpace(space), nil
	})
}
