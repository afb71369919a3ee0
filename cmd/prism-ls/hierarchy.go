package main

import "github.com/spf13/cobra"

func (a *app) callsCommand() *cobra.Command {
	return a.hierarchyCommand("calls", "Show who calls a function, or with --out what it calls", "what it calls")
}

func (a *app) typesCommand() *cobra.Command {
	return a.hierarchyCommand("types", "Show the types above one, or with --out those below it", "the types below it")
}

func (a *app) hierarchyCommand(kind, short, out string) *cobra.Command {
	var below bool
	var depth int
	cmd := &cobra.Command{
		Use:   kind + " PLACE",
		Short: short,
		Long:  short + ".\n\n" + placeHelp,
		Args:  exactArgs(1, "one place"),
	}
	cmd.Flags().BoolVar(&below, "out", false, out)
	cmd.Flags().IntVar(&depth, "depth", 1, "how many steps to follow, at most 5")
	return a.language(cmd, "lsp_hierarchy", func(args []string) (request, error) {
		in, err := placeOf(args[0])
		in.Kind, in.Direction, in.Depth = kind, "in", depth
		if below {
			in.Direction = "out"
		}
		return in, err
	})
}
