package main

import "github.com/spf13/cobra"

func (a *app) hoverCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hover PLACE",
		Short: "Show a symbol's signature and documentation",
		Long:  "Show a symbol's signature and documentation.\n\n" + placeHelp,
		Args:  exactArgs(1, "one place"),
	}
	return a.language(cmd, "lsp_hover", atPlace)
}
