package builtin

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
)

func (w *taskSpaces) verify() (*tools.Tool, error) {
	spec := workspaceSpec("workspace_verify", "Verify workspace",
		"Check that a task's workspace is as it was left, before going on with it.", tools.Observes)
	return tools.New(spec, nil, func(ctx context.Context, call *tools.Call, in taskInput) (*tools.Outcome[TaskWorkspace], error) {
		space, err := w.Spaces.Verify(ctx, stateOwner(call), in.TaskID, false)
		if err != nil {
			return nil, err
		}
		return answerSpace(space), nil
	})
}
