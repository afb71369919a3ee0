package builtin

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/plan"
)

type planUpdateInput struct {
	TaskID       string  `json:"taskId" check:"nonempty"`
	ID           string  `json:"id" check:"nonempty"`
	Done         *bool   `json:"done,omitempty"`
	Text         *string `json:"text,omitempty"`
	Add          bool    `json:"add,omitempty" jsonschema:"a new item, with text"`
	ExpectSHA256 string  `json:"expectSha256,omitempty"`
}

func (p *planTools) update() (*tools.Tool, error) {
	spec := planSpec("plan_update", "Update plan", "Tick, reword or add one item of a task's plan; nothing else in it changes.")
	check := func(ctx context.Context, _ *tools.Call, in planUpdateInput) (tools.Action, error) {
		file, err := p.files.Read(ctx, in.TaskID)
		if err != nil {
			return tools.Action{}, err
		}
		if _, err := file.Edit(in.edit()); err != nil {
			return tools.Action{}, err
		}
		return p.action(in.TaskID)
	}
	return tools.New(spec, check, func(ctx context.Context, call *tools.Call, in planUpdateInput) (*tools.Outcome[PlanMetadata], error) {
		if err := p.unmoved(call, in.TaskID); err != nil {
			return nil, err
		}
		file, err := p.files.Edit(ctx, in.TaskID, in.edit(), in.ExpectSHA256)
		if err != nil {
			return nil, err
		}
		return p.answer(call, file, "Updated"), nil
	})
}

func (in planUpdateInput) edit() plan.Edit {
	return plan.Edit{ID: in.ID, Done: in.Done, Text: in.Text, Add: in.Add}
}
