package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) actionsCommand() *cobra.Command {
	var kinds []string
	var apply string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "actions PLACE | FILE:LINE | FILE:LINE-LINE",
		Short: "List the fixes and refactorings that are on offer at a place, or apply one",
		Long:  "List the fixes and refactorings that are on offer at a place, on a line or on\nseveral, or apply one of them by its id.\n\n" + placeHelp,
		Example: "  prism-ls actions main.go:12\n" +
			"  prism-ls actions main.go:1 --kind source.organizeImports --apply 0b605e8c-d15fa12ce112 --dry-run",
		Args: exactArgs(1, "one place"),
	}
	cmd.Flags().StringSliceVar(&kinds, "kind", nil, "only actions of this kind, as quickfix or refactor.extract")
	cmd.Flags().StringVar(&apply, "apply", "", "the id of the action to do")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show the patch and change nothing")
	return a.language(cmd, "lsp_code_actions", func(args []string) (request, error) {
		in, err := linesOf(args[0])
		in.Kinds, in.Apply, in.DryRun = kinds, apply, dryRun
		return in, err
	})
}

// linesOf reads a place, or whole lines of a file: FILE:12 or FILE:12-14.
func linesOf(text string) (request, error) {
	path, lines, ok := strings.Cut(text, ":")
	first, last, several := strings.Cut(lines, "-")
	line, err := strconv.Atoi(first)
	if !ok || err != nil || path == "" {
		return placeOf(text)
	}
	in := request{Path: path, Line: line}
	if several {
		if in.EndLine, err = strconv.Atoi(last); err != nil {
			return request{}, wrongUse("%q names no lines. %s", text, placeHelp)
		}
	}
	return in, nil
}
