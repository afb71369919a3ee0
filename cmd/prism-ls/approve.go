package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/policy"
)

func (a *app) approveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approve [ID]",
		Short: "Allow one exact action that was refused for want of consent, once",
		Long: `Allow one exact action that was refused for want of consent, once. Without an ID,
list the actions that wait. Approving needs a person at a terminal: it is refused
in anything that prism-ls started.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := a.locate()
			if err != nil {
				return err
			}
			consents := policy.NewConsents(cfg.ConsentsDir())
			if len(args) == 0 {
				return a.listOffers(consents)
			}
			return a.approve(consents, args[0])
		},
	}
	a.placeFlags(cmd)
	return cmd
}

func (a *app) listOffers(consents *policy.Consents) error {
	offers, err := consents.List()
	if err != nil {
		return err
	}
	for _, offer := range offers {
		fmt.Fprintf(a.out, "%s  %s\n", offer.ID, describe(offer.Action, offer.Reason))
	}
	return nil
}

func (a *app) approve(consents *policy.Consents, id string) error {
	terminal, err := openTerminal()
	if err != nil {
		return err
	}
	defer terminal.Close()
	offers, err := consents.List()
	if err != nil {
		return err
	}
	for _, offer := range offers {
		if offer.ID != id {
			continue
		}
		yes, err := terminal.confirm(describe(offer.Action, offer.Reason) + "\nAllow exactly this, once?")
		if err != nil {
			return err
		}
		if !yes {
			return tools.Errorf(tools.CodeExecutionDenied, "%s was not approved", id)
		}
		break
	}
	approved, err := consents.Approve(id)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "approved %s: %s\n", approved.ID, approved.Action.Operation)
	return nil
}

// describe says in a few lines what an action would do.
func describe(action tools.Action, reason string) string {
	text := printable(action.Operation + ": " + reason)
	if action.Command != "" {
		text += "\n  command: " + printable(strings.Join(append([]string{action.Command}, action.Args...), " "))
	}
	for i, path := range action.Paths {
		if i == 10 {
			text += fmt.Sprintf("\n  … and %d more paths", len(action.Paths)-i)
			break
		}
		text += "\n  path: " + printable(path)
	}
	if len(action.Env) > 0 {
		text += "\n  environment: " + printable(strings.Join(action.Env, " "))
	}
	return text
}
