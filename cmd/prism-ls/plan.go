package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/plan"
)

func (a *app) planCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Plans of tasks: look at them, check them, approve what was done",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return wrongUse("%s has no command %q%s", cmd.CommandPath(), args[0], nearestCommand(cmd, args[0]))
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(
		a.planListCommand(), a.planShowCommand(), a.planVerifyCommand(), a.planApproveCommand(), a.planDenyCommand(), a.planResumeCommand(),
	)
	return cmd
}

// maxPlans bounds the list of plans.
const maxPlans = 10_000

func (a *app) planListCommand() *cobra.Command {
	var object bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the tasks that have a plan, and how far each is",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			return a.withHost(func(ctx context.Context, opened *host.Host) error { return a.listPlans(ctx, opened, object) })
		},
	}
	a.placeFlags(cmd)
	cmd.Flags().BoolVar(&object, "json", false, "print one JSON object")
	return cmd
}

// taskObject is a task as JSON. Version and status are those on record; without one the
// task was never verified.
type taskObject struct {
	TaskID  string              `json:"taskId"`
	Path    string              `json:"path,omitempty"`
	Title   string              `json:"title,omitempty"`
	Goal    string              `json:"goal,omitempty"`
	Todos   []plan.Todo         `json:"todos,omitempty"`
	Total   int                 `json:"total"`
	Done    int                 `json:"done"`
	Status  plan.Status         `json:"status,omitempty"`
	Reason  string              `json:"reason,omitempty"`
	Version int64               `json:"version,omitempty"`
	TreeID  string              `json:"treeId,omitempty"`
	Checks  []plan.CheckSummary `json:"checks,omitempty"`
	Handoff *plan.Reference     `json:"handoff,omitempty"`
	// Problem says why the plan cannot be read.
	Problem string `json:"problem,omitempty"`
}

func describeTask(file *plan.File, goal *plan.Goal) taskObject {
	var o taskObject
	if file != nil {
		o = taskObject{TaskID: file.TaskID, Path: file.Path, Title: file.Title(), Goal: file.Goal(), Todos: file.Todos()}
		for _, todo := range o.Todos {
			if todo.Done {
				o.Done++
			}
		}
		o.Total = len(o.Todos)
	}
	if goal != nil {
		o.TaskID, o.Status, o.Reason, o.Version, o.TreeID, o.Checks = goal.TaskID, goal.Status, goal.Reason, goal.Version, goal.TreeID, goal.Checks
		if goal.Status == plan.StatusCompleted && len(goal.Artifacts) > 0 {
			o.Handoff = &goal.Artifacts[0]
		}
	}
	return o
}

func (a *app) listPlans(ctx context.Context, opened *host.Host, object bool) error {
	files, err := opened.Plans()
	if err != nil {
		return err
	}
	tasks, truncated, err := files.List(maxPlans)
	if err != nil {
		return err
	}
	records, err := a.recordedTasks(ctx, opened)
	if err != nil {
		return err
	}
	list := []taskObject{}
	for _, task := range tasks {
		file, err := files.Read(ctx, task)
		one := describeTask(file, records[task])
		if one.TaskID, one.Goal, one.Todos = task, "", nil; err != nil {
			one.Problem = err.Error()
		}
		list = append(list, one)
	}
	if object {
		return a.writeJSON(struct {
			Tasks     []taskObject `json:"tasks"`
			Truncated bool         `json:"truncated"`
		}{list, truncated})
	}
	if len(list) == 0 {
		fmt.Fprintln(a.out, "No task has a plan here; the tool plan_write makes one. docs/plans.md explains them.")
		return nil
	}
	table := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	for _, one := range list {
		status := string(one.Status)
		if status == "" {
			status = "-"
		}
		fmt.Fprintf(table, "%s\t%d/%d\t%s\t%s\n", one.TaskID, one.Done, one.Total, status, short(printable(one.Title+one.Problem)))
	}
	return table.Flush()
}

// recordedTasks are the tasks on record. Plans can be looked at without.
func (a *app) recordedTasks(ctx context.Context, opened *host.Host) (map[string]*plan.Goal, error) {
	goals, err := opened.Goals(host.GoalOptions{})
	if err == nil {
		var list []*plan.Goal
		if list, err = goals.List(ctx, opened.People()); err == nil {
			records := map[string]*plan.Goal{}
			for _, goal := range list {
				records[goal.TaskID] = goal
			}
			return records, nil
		}
	}
	return nil, a.withoutRecords(err)
}

// withoutRecords lets a plan be shown alone where its record cannot be had.
func (a *app) withoutRecords(err error) error {
	if !errors.Is(err, tools.CodeStateUnavailable) {
		return err
	}
	fmt.Fprintln(a.err, "how far tasks are is not known:", oneLine(err.Error()))
	return nil
}

func (a *app) planShowCommand() *cobra.Command {
	var object, handoff bool
	cmd := &cobra.Command{
		Use:   "show TASK",
		Short: "Show a task: its items, its checks, and what comes next",
		Args:  exactArgs(1, "the name of a task"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withHost(func(ctx context.Context, opened *host.Host) error {
				if handoff {
					return a.showHandoff(ctx, opened, args[0])
				}
				one, err := a.lookAtTask(ctx, opened, args[0])
				if err != nil {
					return err
				}
				return a.showTask(one, object)
			})
		},
	}
	a.placeFlags(cmd)
	cmd.Flags().BoolVar(&object, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&handoff, "handoff", false, "print the hand-off of a completed task, which is JSON")
	return cmd
}

// lookAtTask reads the plan and what is on record of it, either of which may not be.
func (a *app) lookAtTask(ctx context.Context, opened *host.Host, task string) (taskObject, error) {
	files, err := opened.Plans()
	if err != nil {
		return taskObject{}, err
	}
	file, err := files.Read(ctx, task)
	if err != nil {
		return taskObject{}, err
	}
	goals, err := opened.Goals(host.GoalOptions{})
	var goal *plan.Goal
	if err == nil {
		goal, err = goals.Get(ctx, opened.People(), task)
	}
	if err != nil && !errors.Is(err, tools.CodeNotFound) {
		goal, err = nil, a.withoutRecords(err)
	} else {
		err = nil
	}
	return describeTask(file, goal), err
}

func (a *app) showHandoff(ctx context.Context, opened *host.Host, task string) error {
	goals, err := opened.Goals(host.GoalOptions{})
	if err != nil {
		return err
	}
	text, err := goals.ReadHandoff(ctx, opened.People(), task)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s\n", text)
	return err
}

func (a *app) showTask(one taskObject, object bool) error {
	if object {
		return a.writeJSON(one)
	}
	fmt.Fprint(a.out, taskText(one))
	return nil
}

// taskText is a task for a person, with what comes next.
func taskText(one taskObject) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s (%s)\n", one.TaskID, printable(one.Title), printable(one.Path))
	for _, todo := range one.Todos {
		mark := " "
		if todo.Done {
			mark = "x"
		}
		fmt.Fprintf(&text, "  [%s] [%s] %s\n", mark, todo.ID, printable(todo.Text))
	}
	for _, check := range one.Checks {
		fmt.Fprintf(&text, "check %s: %s\n", check.Name, printable(check.Summary))
	}
	if one.Status != "" {
		fmt.Fprintf(&text, "%s, version %d", one.Status, one.Version)
		if one.Reason != "" {
			fmt.Fprintf(&text, ": %s", printable(one.Reason))
		}
		text.WriteByte('\n')
	}
	next := map[plan.Status]string{
		"": "verify", plan.StatusPlanned: "resume", plan.StatusChecking: "resume", plan.StatusEditing: "verify",
		plan.StatusAwaitingApproval: "approve", plan.StatusReadyForHandoff: "resume", plan.StatusCompleted: "show --handoff",
		plan.StatusFailed: "verify", plan.StatusCancelled: "verify",
	}
	fmt.Fprintf(&text, "Next: prism-ls plan %s %s\n", next[one.Status], one.TaskID)
	return text.String()
}

// notPassed is told by the exit status; what happened was shown.
func notPassed(one taskObject) error {
	if one.Status == plan.StatusAwaitingApproval || one.Status == plan.StatusCompleted {
		return nil
	}
	return told{tools.Errorf(tools.CodeInternal, "the task %s is %s", one.TaskID, one.Status)}
}
