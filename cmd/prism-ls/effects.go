package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

func (a *app) effectsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "effects",
		Short: "What tools were about to change, and what came of it",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.effectsListCommand(), a.effectsShowCommand(), a.effectsReconcileCommand(), a.effectsResolveCommand())
	return cmd
}

// withEffects gives a command the account of the workspace.
func (a *app) withEffects(use func(ctx context.Context, effects *host.Effects) error) (err error) {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	opened, err := host.Open(cfg, a.logger(cfg.Level()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	effects, err := opened.Effects()
	if err != nil {
		return err
	}
	return use(context.Background(), effects)
}

// allEffects are those in some states (none: all), the latest first.
func allEffects(ctx context.Context, effects *host.Effects, states ...state.EffectState) ([]state.Effect, error) {
	var all []state.Effect
	cursor := ""
	for {
		page, err := effects.Store.List(ctx, effects.Owner, states, cursor, state.PageRecords.Hard)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Effects...)
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	slices.SortStableFunc(all, func(x, y state.Effect) int {
		return cmp.Or(y.Updated.Compare(x.Updated), strings.Compare(x.Key, y.Key))
	})
	return all, nil
}

// shownKey is how much of a key a person types.
const shownKey = 12

// findEffect finds an effect by the beginning of its key.
func findEffect(ctx context.Context, effects *host.Effects, begins string) (state.Effect, error) {
	all, err := allEffects(ctx, effects)
	if err != nil {
		return state.Effect{}, err
	}
	all = slices.DeleteFunc(all, func(e state.Effect) bool { return !strings.HasPrefix(e.Key, begins) })
	switch {
	case len(begins) < 4:
		return state.Effect{}, wrongUse("%q is too short for a key; `prism-ls effects list` has the first %d characters", begins, shownKey)
	case len(all) == 0:
		return state.Effect{}, tools.Errorf(tools.CodeNotFound, "no effect's key begins with %q; `prism-ls effects list` names them", begins)
	case len(all) > 1:
		return state.Effect{}, tools.Errorf(tools.CodeAmbiguous, "%d effects' keys begin with %q; give more of it", len(all), begins)
	}
	return all[0], nil
}

func (a *app) effectsListCommand() *cobra.Command {
	var states []string
	var object bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the effects in this workspace, the latest first",
		Long: `List the effects in this workspace, the latest first: pending, dispatched (begun),
completed, failed_retryable (nothing has happened), failed_terminal (given up), and
unknown, which are those that a person or "prism-ls effects reconcile" has to look at.`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			return a.withEffects(func(ctx context.Context, effects *host.Effects) error {
				wanted := make([]state.EffectState, len(states))
				for i, name := range states {
					wanted[i] = state.EffectState(name)
				}
				all, err := allEffects(ctx, effects, wanted...)
				if err != nil {
					return err
				}
				if object {
					return a.writeJSON(struct {
						Effects []effectObject `json:"effects"`
					}{effectObjects(all)})
				}
				return a.effectTable(all)
			})
		},
	}
	a.placeFlags(cmd)
	cmd.Flags().StringSliceVar(&states, "state", nil, "only those in that state; may be given again")
	cmd.Flags().BoolVar(&object, "json", false, "print one JSON object")
	return cmd
}

// effectObject is an effect as JSON shows it.
type effectObject struct {
	Key       string            `json:"key"`
	State     state.EffectState `json:"state"`
	Operation string            `json:"operation"`
	Attempts  int64             `json:"attempts"`
	Reason    string            `json:"reason,omitempty"`
	Created   time.Time         `json:"created"`
	Updated   time.Time         `json:"updated"`
	Expires   time.Time         `json:"expires"`
	Witnesses []tools.Witness   `json:"witnesses"`
}

func effectObjects(all []state.Effect) []effectObject {
	list := []effectObject{}
	for _, e := range all {
		witnesses := e.Witnesses
		if witnesses == nil {
			witnesses = []tools.Witness{}
		}
		list = append(list, effectObject{e.Key, e.State, e.Operation, e.Attempts, e.Reason, e.Created, e.Updated, e.Expires, witnesses})
	}
	return list
}

func (a *app) effectTable(all []state.Effect) error {
	table := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "EFFECT\tSTATE\tTOOL\tLAST CHANGE\tOF")
	for _, e := range all {
		of := ""
		if len(e.Witnesses) > 0 && e.Witnesses[0] != (tools.Witness{}) {
			of = e.Witnesses[0].Name()
		}
		if len(e.Witnesses) > 1 {
			of += fmt.Sprintf(" and %d more", len(e.Witnesses)-1)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", e.Key[:shownKey], e.State, printable(e.Operation), e.Updated.Local().Format(time.DateTime), short(printable(of)))
	}
	return table.Flush()
}

func (a *app) effectsShowCommand() *cobra.Command {
	var object bool
	cmd := &cobra.Command{
		Use:   "show EFFECT",
		Short: "Show what an effect was about to change, and what is there now",
		Args:  exactArgs(1, "the effect, as `prism-ls effects list` names it"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withEffects(func(ctx context.Context, effects *host.Effects) error {
				e, err := findEffect(ctx, effects, args[0])
				if err != nil {
					return err
				}
				if object {
					return a.writeJSON(effectObjects([]state.Effect{e})[0])
				}
				return a.showEffect(ctx, effects, e)
			})
		},
	}
	a.placeFlags(cmd)
	cmd.Flags().BoolVar(&object, "json", false, "print one JSON object")
	return cmd
}

func (a *app) showEffect(ctx context.Context, effects *host.Effects, e state.Effect) error {
	fmt.Fprintf(a.out, "%s\n%s: %s", e.Key, printable(e.Operation), e.State)
	if e.Reason != "" {
		fmt.Fprintf(a.out, " (%s)", printable(e.Reason))
	}
	fmt.Fprintf(a.out, "\nbegun %s, last change %s, tried %d times\n", e.Created.Local().Format(time.DateTime), e.Updated.Local().Format(time.DateTime), e.Attempts)
	if e.State == state.EffectDispatched {
		fmt.Fprintf(a.out, "somebody is at it until %s\n", e.Expires.Local().Format(time.DateTime))
	}
	for _, w := range e.Witnesses {
		now := "cannot be told"
		if seen, err := effects.Look(ctx, w); err == nil {
			now = seenWords(seen)
		}
		fmt.Fprintf(a.out, "%s\n  before  %s\n  after   %s\n  now     %s\n", printable(w.Name()), seenWords(w.Before), seenWords(w.After), now)
	}
	return nil
}

// seenWords says what is at a path or ref.
func seenWords(s tools.Seen) string {
	switch {
	case !s.Exists:
		return "nothing"
	case s.ID != "":
		return printable(s.ID)
	case s.SHA256 != "":
		return fmt.Sprintf("%06o %s", s.Mode, s.SHA256)
	}
	return fmt.Sprintf("%06o", s.Mode)
}

func (a *app) effectsReconcileCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reconcile",
		Short: "Find out, of all effects in doubt, whether they happened",
		Long: `Find out, of all effects in doubt, whether they happened: compare what is there now
with what was there before and with what was to be there. What is all as it was to
become is completed; what is all as it was before may be tried again. Anything else
stays unknown, for a person to look at and "prism-ls effects resolve".`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			return a.withEffects(a.reconcileEffects)
		},
	}
	a.placeFlags(cmd)
	return cmd
}

func (a *app) reconcileEffects(ctx context.Context, effects *host.Effects) error {
	begun, err := allEffects(ctx, effects, state.EffectUnknown, state.EffectDispatched)
	if err != nil {
		return err
	}
	counts := map[state.Finding]int{}
	busy := 0
	for _, e := range begun {
		if e.State == state.EffectDispatched {
			busy++
			fmt.Fprintf(a.out, "%s  %s: somebody is at it until %s\n", e.Key[:shownKey], printable(e.Operation), e.Expires.Local().Format(time.DateTime))
			continue
		}
		done, err := state.Reconcile(ctx, effects.Store, e, effects.Look)
		if errors.Is(err, tools.CodeStateConflict) { // somebody else was faster
			continue
		}
		if err != nil {
			return err
		}
		counts[done.Finding]++
		fmt.Fprintf(a.out, "%s  %s: %s\n", e.Key[:shownKey], printable(e.Operation), findingWords(done))
	}
	fmt.Fprintf(a.out, "%d had happened, %d had not, %d are for a person to look at, %d are under way\n",
		counts[state.FoundCommitted], counts[state.FoundNotApplied], counts[state.FoundUnknown], busy)
	return nil
}

func findingWords(r state.Reconciled) string {
	switch r.Finding {
	case state.FoundCommitted:
		return "it happened"
	case state.FoundNotApplied:
		return "it did not happen, and may be tried again"
	}
	return "unknown: " + printable(r.Reason)
}

func (a *app) effectsResolveCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "resolve EFFECT happened|retry|never",
		Short: "Say what became of an effect in doubt",
		Long: `Say what became of an effect in doubt: it happened, and is not to be made again; it
did not, and may be tried again (retry); or it is not to be made at all (never).
It needs a person at a terminal: it is refused in anything that prism-ls started.`,
		Args: exactArgs(2, "the effect, and what became of it"),
		RunE: func(_ *cobra.Command, args []string) error {
			to, err := resolutionOf(args[1])
			if err != nil {
				return err
			}
			to.Reason = cmp.Or(reason, to.Reason)
			return a.withEffects(func(ctx context.Context, effects *host.Effects) error {
				return a.resolveEffect(ctx, effects, args[0], to)
			})
		},
	}
	a.placeFlags(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why, for whoever asks later")
	return cmd
}

func resolutionOf(word string) (state.EffectResolution, error) {
	switch word {
	case "happened":
		return state.EffectResolution{State: state.EffectCompleted, Reason: "a person said that it happened"}, nil
	case "retry":
		return state.EffectResolution{State: state.EffectFailedRetryable, Reason: "a person said that it did not happen"}, nil
	case "never":
		return state.EffectResolution{State: state.EffectFailedTerminal, Reason: "a person gave it up"}, nil
	}
	return state.EffectResolution{}, wrongUse("%q is nothing that became of an effect; say happened, retry or never", word)
}

func (a *app) resolveEffect(ctx context.Context, effects *host.Effects, begins string, to state.EffectResolution) error {
	terminal, err := openTerminal()
	if err != nil {
		return err
	}
	defer terminal.Close()
	e, err := findEffect(ctx, effects, begins)
	if err != nil {
		return err
	}
	if err := a.showEffect(ctx, effects, e); err != nil {
		return err
	}
	yes, err := terminal.confirm(fmt.Sprintf("Put on record that this is %s: %s?", to.State, printable(to.Reason)))
	if err != nil {
		return err
	}
	if !yes {
		return tools.Errorf(tools.CodeExecutionDenied, "%s stays as it is", e.Key[:shownKey])
	}
	if err := effects.Store.ResolveUnknown(ctx, effects.Owner, e.Key, to); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s is %s\n", e.Key[:shownKey], to.State)
	return nil
}
