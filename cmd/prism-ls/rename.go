package main

import "github.com/spf13/cobra"

func (a *app) renameCommand() *cobra.Command {
	var file, dryRun, reject, text bool
	cmd := &cobra.Command{
		Use:     "rename PLACE NEW-NAME | --file FROM TO",
		Short:   "Rename a symbol, or a file with what imports it, everywhere or nowhere",
		Long:    "Rename a symbol, or a file or directory with what imports it, everywhere or\nnowhere, and say which problems that introduced.\n\n" + placeHelp,
		Example: "  prism-ls rename Command.Execute Run --dry-run\n  prism-ls rename main.go:12:parse parseArgs --reject-new-errors\n  prism-ls rename --file src/util.ts src/text/util.ts",
		Args:    exactArgs(2, "a place and the new name, or with --file two paths"),
	}
	cmd.Flags().BoolVar(&file, "file", false, "rename a file or directory, with the references to it")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show the patch and change nothing")
	cmd.Flags().BoolVar(&reject, "reject-new-errors", false, "take the rename back if it introduces errors")
	cmd.Flags().BoolVar(&text, "also-text", false, "list where comments, strings and other files still have the old name")
	return a.language(cmd, "lsp_rename", func(args []string) (request, error) {
		var in request
		var err error
		if file {
			in.From, in.To = args[0], args[1]
		} else {
			in, err = placeOf(args[0])
			in.NewName = args[1]
		}
		in.DryRun, in.AlsoText = dryRun, text
		if reject {
			in.RejectIf = "new_errors"
		}
		return in, err
	})
}
