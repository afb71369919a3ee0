package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/people"
	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
)

func (a *app) stopCommand() *cobra.Command {
	var name string
	var grace time.Duration
	cmd := &cobra.Command{
		Use:   "stop ID|NAME",
		Short: "End a process session and all that it started",
		Long: `End a process session and all that it started. It is asked to end first, with HUP
and TERM, or the signal that is given, and killed when the grace time is over.`,
		Args: exactArgs(1, "a session's ID or name"),
		RunE: func(_ *cobra.Command, args []string) error {
			var first syscall.Signal
			if name != "" {
				var err error
				if first, err = builtin.SignalNumber(name); err != nil {
					return err
				}
			}
			if most := time.Duration(procsess.WaitTime.Hard) * time.Second; grace < 0 || grace > most {
				return wrongUse("--grace is %v, must be 0 to %v", grace, most)
			}
			return a.withSession(args[0], func(ctx context.Context, sessions people.Sessions, info *procsess.Info) error {
				return a.stop(ctx, sessions, info, first, grace)
			})
		},
	}
	a.placeFlags(cmd)
	cmd.Flags().StringVar(&name, "signal", "", "ask with this signal, such as INT")
	cmd.Flags().DurationVar(&grace, "grace", 2*time.Second, "how long to wait before it is killed")
	return cmd
}

func (a *app) stop(ctx context.Context, sessions people.Sessions, info *procsess.Info, first syscall.Signal, grace time.Duration) error {
	if first == 0 && grace != 2*time.Second { // which is what a kill gives by itself
		first = syscall.SIGTERM
	}
	if first != 0 && info.State.Live() {
		if err := sessions.Signal(ctx, info.ID, first); err != nil {
			return err
		}
		if grace > 0 {
			if _, err := sessions.Wait(ctx, info.ID, procsess.Wait{Exit: true, Timeout: grace}); err != nil {
				return err
			}
		}
	}
	report, err := sessions.Kill(ctx, info.ID)
	if err != nil {
		return err
	}
	now, err := people.Find(ctx, sessions, info.ID)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s: %s\n", info.ID, people.StateWords(&now))
	for _, survivor := range report.Survivors {
		fmt.Fprintf(a.err, "could not be ended: %s (pid %d)\n", printable(survivor.Command), survivor.PID)
	}
	if len(report.Survivors) > 0 {
		return told{tools.Errorf(tools.CodeProcessState, "%d processes of session %s could not be ended", len(report.Survivors), info.ID)}
	}
	return nil
}
