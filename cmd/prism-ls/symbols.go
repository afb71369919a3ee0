package main

import "github.com/spf13/cobra"

func (a *app) symbolsCommand() *cobra.Command {
	var query string
	cmd := &cobra.Command{
		Use:     "symbols FILE | --query NAME",
		Short:   "Outline a file, or find symbols of the workspace by a part of their name",
		Example: "  prism-ls symbols main.go\n  prism-ls symbols --query Registry",
		Args: func(_ *cobra.Command, args []string) error {
			if (len(args) == 1) == (query != "") || len(args) > 1 {
				return wrongUse("symbols takes either a file or --query NAME")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&query, "query", "", "part of a symbol's name")
	return a.language(cmd, "lsp_symbols", func(args []string) (request, error) {
		if query != "" {
			return request{Query: query}, nil
		}
		return request{Path: args[0]}, nil
	})
}
