package main

import "github.com/spf13/cobra"

func (a *app) diagCommand() *cobra.Command {
	var severity string
	cmd := &cobra.Command{
		Use:   "diag FILE",
		Short: "Show the errors and warnings in a file, as it is now",
		Args:  exactArgs(1, "one file"),
	}
	cmd.Flags().StringVar(&severity, "severity", "", "the mildest to show: error, warning, information or hint")
	return a.language(cmd, "lsp_diagnostics", func(args []string) (request, error) {
		return request{Path: args[0], Severity: severity}, nil
	})
}
