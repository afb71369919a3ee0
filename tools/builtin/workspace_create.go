package builtin

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/plan/taskspace"
)

type workspaceBranch struct {
	RepositoryID string `json:"repositoryId" check:"nonempty"`
	Branch       string `json:"branch" check:"nonempty" jsonschema:"a new branch"`
	Base         string `json:"base,omitempty" jsonschema:"default HEAD"`
}

type workspaceCreateInput struct {
	TaskID       string            `json:"taskId" check:"nonempty"`
	Repositories []workspaceBranch `json:"repositories"`
}

func (w *taskSpaces) create() (*tools.Tool, error) {
	spec := workspaceSpec("workspace_create", "Create workspace",
		"Make a workspace for a task: a new branch in a work tree of its own for each repository. Asked again, it returns the one that is there.", tools.ChangesFiles)
	spec.Limits = []tools.Limit{{Name: "repositories", Hard: taskspace.RepositoryLimit.Hard}}
	plan := func(_ context.Context, _ *tools.Call, in workspaceCreateInput) (tools.Action, error) {
		action := tools.Action{Risk: tools.RiskMedium, Args: []string{in.TaskID}}
		for _, branch := range in.Repositories {
			action.Args = append(action.Args, branch.RepositoryID+" "+branch.Branch+" "+branch.Base)
		}
		return action, nil
	}
	return tools.New(spec, plan, func(ctx context.Context, call *tools.Call, in workspaceCreateInput) (*tools.Outcome[TaskWorkspace], error) {
		request := &taskspace.Request{TaskID: in.TaskID}
		for _, branch := range in.Repositories {
			request.Repositories = append(request.Repositories, taskspace.Branch(branch))
		}
		space, err := w.Spaces.Create(ctx, stateOwner(call), request)
		if err != nil {
			return nil, err
		}
		return answerSpace(space), nil
	})
}
