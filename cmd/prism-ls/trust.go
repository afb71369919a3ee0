package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/tools"
)

func (a *app) trustCommand() *cobra.Command {
	var revoke bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Let this workspace run code of its own and set more than a stranger's may",
		Long: `Record, outside of the workspace, that you trust it: its own tools may be used,
and its prism-ls.toml, as it is now, may widen what is allowed. It needs a person
at a terminal, and is refused in anything that prism-ls started.`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			cfg, err := a.locate()
			if err != nil {
				return err
			}
			if revoke {
				return cfg.TrustFile(false)
			}
			terminal, err := openTerminal()
			if err != nil {
				return err
			}
			defer terminal.Close()
			yes, err := terminal.confirm(fmt.Sprintf("Trust %s to run code of its own, and its prism-ls.toml as it is now?", printable(cfg.Root)))
			if err != nil {
				return err
			}
			if !yes {
				return tools.Errorf(tools.CodeExecutionDenied, "%s is not trusted", cfg.Root)
			}
			if err := cfg.TrustFile(true); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "trusted %s\n", cfg.Root)
			return nil
		},
	}
	a.placeFlags(cmd)
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take trust back")
	return cmd
}
