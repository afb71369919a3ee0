package builtin

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/plan"
)

type planTodo struct {
	ID   string `json:"id" check:"nonempty"`
	Text string `json:"text" check:"nonempty"`
	Done bool   `json:"done,omitempty"`
}

type planWriteInput struct {
	TaskID       string     `json:"taskId" check:"nonempty"`
	Title        string     `json:"title" check:"nonempty"`
	Goal         string     `json:"goal" check:"nonempty"`
	Todos        []planTodo `json:"todos"`
	ExpectSHA256 string     `json:"expectSha256,omitempty" jsonschema:"to replace a plan: its hash"`
}

func (p *planTools) write() (*tools.Tool, error) {
	spec := planSpec("plan_write", "Write plan", "Make the plan of a task, plans/TASK.md: goal and todo items. An item named as a check is ticked by that check.")
	most, err := plan.Todos.Option(p.Limits.Todos)
	if err != nil {
		return nil, err
	}
	size, err := plan.PlanBytes.Option(p.Limits.PlanBytes)
	if err != nil {
		return nil, err
	}
	spec.Limits = []tools.Limit{{Name: "todos", Hard: most}}
	spec.InputBytes = jsonBytes(size)
	check := func(_ context.Context, _ *tools.Call, in planWriteInput) (tools.Action, error) {
		document, err := plan.Compose(in.draft(), p.Limits)
		if err != nil {
			return tools.Action{}, err
		}
		action, err := p.action(in.TaskID)
		action.Content = hexHash(document.Bytes())
		return action, err
	}
	return tools.New(spec, check, func(ctx context.Context, call *tools.Call, in planWriteInput) (*tools.Outcome[PlanMetadata], error) {
		if err := p.unmoved(call, in.TaskID); err != nil {
			return nil, err
		}
		file, err := p.files.Write(ctx, in.TaskID, in.draft(), in.ExpectSHA256)
		if err != nil {
			return nil, err
		}
		return p.answer(call, file, "Wrote"), nil
	})
}

func (in planWriteInput) draft() plan.Draft {
	draft := plan.Draft{Title: in.Title, Goal: in.Goal}
	for _, todo := range in.Todos {
		draft.Todos = append(draft.Todos, plan.Todo(todo))
	}
	return draft
}
