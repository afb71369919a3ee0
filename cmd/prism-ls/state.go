package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/sqlstate"
)

// stateTime bounds what is asked of the stores.
const stateTime = 30 * time.Second

func (a *app) stateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state",
		Short: "Show what is kept of records, leases, effects and artifacts, or accept an older copy",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.showState(false)
			}
			return wrongUse("there is no command %q of state%s", args[0], nearestCommand(cmd, args[0]))
		},
	}
	a.placeFlags(cmd)
	cmd.AddCommand(a.stateShowCommand(), a.stateAcceptCommand())
	return cmd
}

func (a *app) stateShowCommand() *cobra.Command {
	var object bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show what is kept, for all workspaces",
		Args:  exactArgs(0, "no arguments"),
		RunE:  func(*cobra.Command, []string) error { return a.showState(object) },
	}
	a.placeFlags(cmd)
	cmd.Flags().BoolVar(&object, "json", false, "print one JSON object")
	return cmd
}

// stateContext ends with an interrupt, or when the stores have taken too long.
func stateContext() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, cancel := context.WithTimeout(ctx, stateTime)
	return ctx, func() { cancel(); stop() }
}

func (a *app) showState(object bool) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	ctx, cancel := stateContext()
	defer cancel()
	summary, err := host.SummarizeStores(ctx, cfg)
	switch {
	case errors.Is(err, tools.CodeNotFound) && !object:
		fmt.Fprintf(a.out, "%s\nnothing is kept there yet\n", statePlace(cfg))
		return nil
	case err != nil:
		return err
	case object:
		return json.NewEncoder(a.out).Encode(summary)
	}
	showStores(a.out, statePlace(cfg), &summary)
	return nil
}

// statePlace is where the stores are, without anything secret.
func statePlace(cfg *config.Config) string {
	if cfg.StateDSN() != "" {
		return "the PostgreSQL database of [state] dsn"
	}
	return cfg.StateFile()
}

func showStores(out io.Writer, place string, s *sqlstate.Summary) {
	fmt.Fprintf(out, "%s\nschema %d, at change %d\n", place, s.Schema, s.Sequence)
	if s.Behind {
		fmt.Fprintln(out, "NOT USED: it is older than it was; prism-ls state accept")
	}
	fmt.Fprintf(out, "%-12s%d\n%-12s%d held\n", "records", s.Records, "leases", s.Leases)
	fmt.Fprintf(out, "%-12s%d, %d bytes\n", "artifacts", s.Artifacts, s.ArtifactBytes)
	for _, in := range []state.EffectState{
		state.EffectPending, state.EffectDispatched, state.EffectUnknown, state.EffectFailedRetryable, state.EffectFailedTerminal, state.EffectCompleted,
	} {
		if s.Effects[in] > 0 {
			fmt.Fprintf(out, "%-12s%d %s\n", "effects", s.Effects[in], in)
		}
	}
}

func (a *app) stateAcceptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "accept",
		Short: "Go on with an older copy of the stores that was put back",
		Long: `Take the stores, which were put back to how they once were, for what they are to be
from now on. Leases are over, and tokens and versions go on far above all that were
given out since; effects that may have moved on in that time are unknown, and wait
for you: prism-ls effects list. Of what was recorded only in that time nothing is known.
It needs a person at a terminal, and is refused in anything that prism-ls started.
Of a PostgreSQL database prism-ls cannot tell that it was put back: stop every
prism-ls that uses it, and say so here.`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return a.acceptState() },
	}
	a.placeFlags(cmd)
	return cmd
}

func (a *app) acceptState() error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	ctx, cancel := stateContext()
	defer cancel()
	summary, err := host.SummarizeStores(ctx, cfg)
	if err != nil {
		return err
	}
	if cfg.StateDSN() == "" && !summary.Behind {
		fmt.Fprintln(a.out, "nothing to accept: it is as prism-ls left it")
		return nil
	}
	terminal, err := openTerminal()
	if err != nil {
		return err
	}
	defer terminal.Close()
	yes, err := terminal.confirm(fmt.Sprintf("Go on with %s as it is, at change %d?", printable(statePlace(cfg)), summary.Sequence))
	if err != nil {
		return err
	}
	if !yes {
		return tools.Errorf(tools.CodeExecutionDenied, "the stores are left as they are")
	}
	ctx, cancel = stateContext() // the person may have taken longer
	defer cancel()
	accepted, err := host.AcceptStores(ctx, cfg)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "accepted: %d effects are unknown now, %d leases are over, tokens go on after %d\n", accepted.Effects, accepted.Leases, accepted.Sequence)
	return nil
}
