package builtin

import (
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/plan"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// PlanDeps is what the tools of plans stand on. They own none of it.
type PlanDeps struct {
	// Workspace has the plans, below plan.Dir. It is required.
	Workspace *workspace.Workspace
	// Limits bound a plan; zero is the default of each.
	Limits plan.Limits
}

// PlanMetadata is a plan as it is after a change. Todos has at most as many items as
// shownTodos; Total counts all, Done those that are ticked.
type PlanMetadata struct {
	Path      string      `json:"path"`
	SHA256    string      `json:"sha256"`
	Todos     []plan.Todo `json:"todos"`
	Total     int         `json:"total"`
	Done      int         `json:"done"`
	Truncated bool        `json:"truncated"`
	UndoID    string      `json:"undoId,omitempty"`
	Degraded  string      `json:"degraded,omitempty"`
}

// shownTodos bounds the items in a result.
const shownTodos = 1000

// planTools is what the tools of this group have in common.
type planTools struct {
	PlanDeps
	files *plan.Files
}

// Plans returns the tools of plans, which are in the toolset "plan".
func Plans(deps *PlanDeps) ([]*tools.Tool, error) {
	if deps == nil || deps.Workspace == nil {
		return nil, tools.Errorf(tools.CodeToolInput, "the tools of plans need a workspace")
	}
	files, err := plan.NewFiles(deps.Workspace, deps.Limits)
	if err != nil {
		return nil, err
	}
	p := &planTools{*deps, files}
	var list []*tools.Tool
	for _, make := range []func() (*tools.Tool, error){p.write, p.update} {
		tool, err := make()
		if err != nil {
			return nil, err
		}
		list = append(list, tool)
	}
	return list, nil
}

func planSpec(name, title, description string) tools.Spec {
	return tools.Spec{Name: name, Title: title, Description: description, Toolset: "plan", Kind: tools.KindEdit, Effect: tools.ChangesFiles}
}

// action is what a policy sees of a change of a task's plan.
func (p *planTools) action(taskID string) (tools.Action, error) {
	at, err := p.target(taskID)
	if err != nil {
		return tools.Action{}, err
	}
	return tools.Action{Paths: changing(p.Workspace, at)}, nil
}

func (p *planTools) target(taskID string) (target, error) {
	at, err := p.files.Place(taskID)
	if err != nil {
		return target{}, err
	}
	named := pin(p.Workspace, at)
	named.name = plan.Dir + "/" + taskID + ".md"
	return named, nil
}

// unmoved refuses when the plan is elsewhere than when the policy agreed.
func (p *planTools) unmoved(call *tools.Call, taskID string) error {
	at, err := p.target(taskID)
	if err != nil {
		return err
	}
	return unmoved(call, 0, at)
}

// answer tells the host of a change, and the caller how the plan is now.
func (p *planTools) answer(call *tools.Call, file *plan.File, what string) *tools.Outcome[PlanMetadata] {
	changed(call, []string{file.Path})
	call.Emit(tools.Event{Kind: tools.EventPlanChanged, Paths: []string{file.Path}, Name: file.TaskID})
	m := PlanMetadata{Path: file.Path, SHA256: file.SHA256, Todos: file.Todos(), UndoID: file.UndoID, Degraded: file.Degraded}
	m.Total = len(m.Todos)
	open := ""
	for _, todo := range m.Todos {
		switch {
		case todo.Done:
			m.Done++
		case open == "":
			open = fmt.Sprintf("\nNext: [%s] %s", todo.ID, plainText(todo.Text))
		}
	}
	if m.Total > shownTodos {
		m.Todos, m.Truncated = m.Todos[:shownTodos], true
	}
	text := fmt.Sprintf("%s %s: %d of %s done.%s", what, file.Path, m.Done, counted(m.Total, "item"), strings.TrimRight(open, " "))
	return tools.Answer(text, m)
}
