package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/daemon"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/plan"
)

func (a *app) planVerifyCommand() *cobra.Command {
	var checks []string
	var base string
	var object bool
	cmd := &cobra.Command{
		Use:   "verify TASK",
		Short: "Run a task's checks and tick the items of those that pass",
		Long: `Run a task's checks and tick the items of those that pass. When all have passed, the
task waits for "prism-ls plan approve". The checks are those of --check, else those
of the last time, else those that the plan has items for, else all that are declared.

Exit status: 0 the task waits for approval, 1 it does not, 2 wrong use.`,
		Example: "  prism-ls plan verify flaky-test --check test --base main",
		Args:    exactArgs(1, "the name of a task"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.onGoal("plan_verify", args[0], object, func(ctx context.Context, goals *plan.Goals, opened *host.Host) (*plan.Goal, error) {
				return goals.Verify(ctx, opened.People(), args[0], &plan.VerifyOptions{Checks: checks, Base: base})
			})
		},
	}
	a.settingFlags(cmd)
	cmd.Flags().StringSliceVar(&checks, "check", nil, "a check that has to pass (may be repeated)")
	cmd.Flags().StringVar(&base, "base", "", "the branch that the work is meant for")
	cmd.Flags().BoolVar(&object, "json", false, "print one JSON object")
	return cmd
}

func (a *app) planResumeCommand() *cobra.Command {
	var object bool
	cmd := &cobra.Command{
		Use:   "resume TASK",
		Short: "Go on with a task that was cut short",
		Args:  exactArgs(1, "the name of a task"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.onGoal("plan_resume", args[0], object, func(ctx context.Context, goals *plan.Goals, opened *host.Host) (*plan.Goal, error) {
				return goals.Resume(ctx, opened.People(), args[0])
			})
		},
	}
	a.settingFlags(cmd)
	cmd.Flags().BoolVar(&object, "json", false, "print one JSON object")
	return cmd
}

// goalOptions are those of whoever works on a task here.
func (a *app) goalOptions() host.GoalOptions {
	return host.GoalOptions{
		Call:     tools.CallOptions{Session: daemon.CLIOwner, Owner: daemon.CLIOwner, Approver: a.approver()},
		Revision: version(), Progress: func(check string) { fmt.Fprintf(a.err, "check %s runs\n", check) },
	}
}

// onGoal does something with a task, which is on record under that name, and shows how
// it is then.
func (a *app) onGoal(name, task string, object bool, do func(context.Context, *plan.Goals, *host.Host) (*plan.Goal, error)) error {
	return a.withHost(func(ctx context.Context, opened *host.Host) error {
		opts := a.goalOptions()
		goals, err := opened.Goals(opts)
		if err != nil {
			return err
		}
		step := &host.GoalStep{Name: name, TaskID: task, Call: opts.Call}
		if err := opened.Step(ctx, step, func(ctx context.Context) error {
			_, err := do(ctx, goals, opened)
			return err
		}); err != nil {
			return err
		}
		one, err := a.lookAtTask(ctx, opened, task)
		if err != nil {
			return err
		}
		if err := a.showTask(one, object); err != nil {
			return err
		}
		return notPassed(one)
	})
}
