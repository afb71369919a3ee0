package main

import "github.com/spf13/cobra"

func (a *app) defCommand() *cobra.Command {
	var kind string
	cmd := &cobra.Command{
		Use:   "def PLACE",
		Short: "Show where a symbol is defined, declared, typed or implemented",
		Long:  "Show where a symbol is defined, declared, typed or implemented.\n\n" + placeHelp,
		Args:  exactArgs(1, "one place"),
	}
	cmd.Flags().StringVar(&kind, "kind", "", "definition (default), declaration, type or implementation")
	return a.language(cmd, "lsp_definition", func(args []string) (request, error) {
		in, err := placeOf(args[0])
		in.Kind = kind
		return in, err
	})
}
