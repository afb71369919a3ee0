package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/people"
	"github.com/prism-ls/prism-ls/procsess"
)

func (a *app) attachCommand() *cobra.Command {
	var keys string
	cmd := &cobra.Command{
		Use:   "attach ID|NAME",
		Short: "Join a process session with this terminal",
		Long: `Join a process session with this terminal, which the session's follows in size.
Several may be attached at a time. The session goes on when you detach.`,
		Args: exactArgs(1, "a session's ID or name"),
		RunE: func(_ *cobra.Command, args []string) error {
			detach, err := people.ParseDetachKeys(keys)
			if err != nil {
				return err
			}
			return a.withSession(args[0], func(ctx context.Context, sessions people.Sessions, info *procsess.Info) error {
				return a.attach(ctx, sessions, info, detach)
			})
		},
	}
	a.placeFlags(cmd)
	cmd.Flags().StringVar(&keys, "detach-keys", "ctrl-]", "what detaches: a key, or several after each other, such as ctrl-p,ctrl-q")
	return cmd
}

func (a *app) attach(ctx context.Context, sessions people.Sessions, info *procsess.Info, detach []byte) error {
	in, inOK := a.in.(*os.File)
	out, outOK := a.out.(*os.File)
	if !inOK || !outOK {
		return wrongUse("attach needs a terminal for its input and its output; `prism-ls logs -f %s` needs none", info.ID)
	}
	resized := make(chan os.Signal, 1)
	notifyResize(resized)
	defer signal.Stop(resized)
	detached, err := people.Attach(ctx, sessions, info, &people.AttachOptions{In: in, Out: out, Detach: detach, Resized: resized})
	if err != nil {
		return err
	}
	if detached {
		fmt.Fprintf(a.err, "detached from %s\n", info.ID)
		return nil
	}
	now, err := people.Find(ctx, sessions, info.ID)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "%s: %s\n", info.ID, people.StateWords(&now))
	return nil
}
