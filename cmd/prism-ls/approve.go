package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/wording"
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
		fmt.Fprintf(a.out, "%s  %s: %s\n", offer.ID, printable(offer.Action.Operation), printable(offer.Reason))
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
		yes, err := terminal.confirm(wording.Action(offer.Action, offer.Reason) + "\nAllow exactly this, once?")
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
