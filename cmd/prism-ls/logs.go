package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/people"
	"github.com/prism-ls/prism-ls/procsess"
)

func (a *app) logsCommand() *cobra.Command {
	var follow, raw bool
	cmd := &cobra.Command{
		Use:   "logs ID|NAME",
		Short: "Show what a process session has written",
		Long: `Show what a process session has written, from its beginning or what is kept of it:
on a terminal with its colours, else as text without escape sequences.`,
		Args: exactArgs(1, "a session's ID or name"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withSession(args[0], func(ctx context.Context, sessions people.Sessions, info *procsess.Info) error {
				terminal := isTerminal(a.out)
				opts := people.LogsOptions{Follow: follow, Raw: raw || terminal, Terminal: terminal}
				err := people.Logs(ctx, sessions, info.ID, a.out, opts)
				if follow && ctx.Err() != nil {
					return nil // it was followed for as long as was wanted
				}
				return err
			})
		},
	}
	a.placeFlags(cmd)
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the session ends")
	cmd.Flags().BoolVar(&raw, "raw", false, "the bytes as they are, also into a pipe")
	return cmd
}
