package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/tools/policy"
)

func (a *app) auditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "The account of what was changed and run",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.auditVerifyCommand())
	return cmd
}

func (a *app) auditVerifyCommand() *cobra.Command {
	var object bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that no line of the audit log was changed, removed or put in",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			cfg, err := a.locate()
			if err != nil {
				return err
			}
			report, err := policy.VerifyAudit(cfg.AuditFile())
			if err != nil {
				return err
			}
			if object {
				return json.NewEncoder(a.out).Encode(report)
			}
			fmt.Fprintf(a.out, "%d entries, all as they were written; %d torn by a crash, %d calls without a recorded outcome\n",
				report.Entries, report.Torn, len(report.Open))
			return nil
		},
	}
	a.placeFlags(cmd)
	cmd.Flags().BoolVar(&object, "json", false, "print one JSON object")
	return cmd
}
