package main

import "github.com/spf13/cobra"

func (a *app) formatCommand() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:     "format FILE | FILE:LINE | FILE:LINE-LINE",
		Short:   "Format a file, or some lines of it",
		Example: "  prism-ls format main.go --dry-run\n  prism-ls format src/page.ts:10-20",
		Args:    exactArgs(1, "one file"),
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show the patch and change nothing")
	return a.language(cmd, "lsp_format", func(args []string) (request, error) {
		in, err := linesOf(args[0])
		if err != nil || in.Line == 0 || in.Column != 0 {
			in, err = request{Path: args[0]}, nil
		}
		in.DryRun = dryRun
		return in, err
	})
}
