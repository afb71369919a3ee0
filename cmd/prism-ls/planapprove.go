package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/plan"
)

func (a *app) planApproveCommand() *cobra.Command {
	var version int64
	cmd := &cobra.Command{
		Use:   "approve TASK",
		Short: "Approve what was done for a task, which is then handed off",
		Long: `Approve what was done for a task, which is then handed off. What is approved is the
tree that was checked: where it is another by now, the checks run again instead.
Approving needs a person at a terminal: it is refused in anything that prism-ls
started.`,
		Args: exactArgs(1, "the name of a task"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.judge(judgment{"plan_approve", args[0], "Approve this?", version}, func(ctx context.Context, goals *plan.Goals, opened *host.Host, version int64) error {
				goal, err := goals.Approve(ctx, opened.People(), args[0], version)
				if err != nil {
					return err
				}
				if goal.Status == plan.StatusCompleted {
					fmt.Fprintf(a.out, "approved %s; its hand-off: prism-ls plan show --handoff %s\n", args[0], args[0])
					return nil
				}
				fmt.Fprintf(a.out, "not approved: the work is another than that which was checked. The checks ran again, and %s is %s at version %d.\n", args[0], goal.Status, goal.Version)
				return told{tools.Errorf(tools.CodeCodingCheckpoint, "not approved")}
			})
		},
	}
	a.settingFlags(cmd)
	cmd.Flags().Int64Var(&version, "version", 0, "approve this version and no other (default: the one that is shown)")
	return cmd
}

func (a *app) planDenyCommand() *cobra.Command {
	var version int64
	var reason string
	cmd := &cobra.Command{
		Use:   "deny TASK",
		Short: "Turn down what was done for a task",
		Long: `Turn down what was done for a task, which is cancelled then; verifying it begins
anew. It needs a person at a terminal, as approving does.`,
		Args: exactArgs(1, "the name of a task"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.judge(judgment{"plan_deny", args[0], "Turn this down?", version}, func(ctx context.Context, goals *plan.Goals, opened *host.Host, version int64) error {
				goal, err := goals.Deny(ctx, opened.People(), args[0], version, reason)
				if err == nil {
					fmt.Fprintf(a.out, "%s is %s: %s\n", args[0], goal.Status, printable(goal.Reason))
				}
				return err
			})
		},
	}
	a.settingFlags(cmd)
	cmd.Flags().Int64Var(&version, "version", 0, "turn down this version and no other (default: the one that is shown)")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for whoever goes on with it")
	return cmd
}

// judgment is what a person is asked about a task. Version 0 is the one that is shown.
type judgment struct {
	name, task, question string
	version              int64
}

// judge shows a task to a person and does what they agree to, with the version that
// they have seen. That is on record under the judgment's name.
func (a *app) judge(about judgment, do func(context.Context, *plan.Goals, *host.Host, int64) error) error {
	terminal, err := openTerminal()
	if err != nil {
		return err
	}
	defer terminal.Close()
	return a.withHost(func(ctx context.Context, opened *host.Host) error {
		opts := a.goalOptions()
		goals, err := opened.Goals(opts)
		if err != nil {
			return err
		}
		one, err := a.lookAtTask(ctx, opened, about.task)
		if err != nil {
			return err
		}
		if about.version == 0 {
			about.version = one.Version
		}
		yes, err := await(ctx, func() (bool, error) { return terminal.confirm(taskText(one) + about.question) })
		if err != nil {
			return err
		}
		if !yes {
			return tools.Errorf(tools.CodeAborted, "%s stays as it is", about.task)
		}
		step := &host.GoalStep{Name: about.name, TaskID: about.task, Version: about.version, Call: opts.Call}
		return opened.Step(ctx, step, func(ctx context.Context) error { return do(ctx, goals, opened, about.version) })
	})
}
