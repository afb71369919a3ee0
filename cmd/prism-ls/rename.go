package main

import "github.com/spf13/cobra"

func (a *app) renameCommand() *cobra.Command {
	var dryRun, reject, text bool
	cmd := &cobra.Command{
		Use:     "rename PLACE NEW-NAME",
		Short:   "Rename a symbol everywhere or nowhere",
		Long:    "Rename a symbol everywhere or nowhere, and say which problems that introduced.\n\n" + placeHelp,
		Example: "  prism-ls rename Command.Execute Run --dry-run\n  prism-ls rename main.go:12:parse parseArgs --reject-new-errors",
		Args:    exactArgs(2, "a place and the new name"),
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show the patch and change nothing")
	cmd.Flags().BoolVar(&reject, "reject-new-errors", false, "take the rename back if it introduces errors")
	cmd.Flags().BoolVar(&text, "also-text", false, "list where comments, strings and other files still have the old name")
	return a.language(cmd, "lsp_rename", func(args []string) (request, error) {
		in, err := placeOf(args[0])
		in.NewName, in.DryRun, in.AlsoText = args[1], dryRun, text
		if reject {
			in.RejectIf = "new_errors"
		}
		return in, err
	})
}
