package main

import "github.com/spf13/cobra"

func (a *app) refsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "refs PLACE",
		Short: "List every use of a symbol",
		Long:  "List every use of a symbol, by file and enclosing symbol.\n\n" + placeHelp,
		Args:  exactArgs(1, "one place"),
	}
	return a.language(cmd, "lsp_references", atPlace)
}
