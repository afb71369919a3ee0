package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
)

// docsCommand prints the pages of docs/ that are made from the code.
func (a *app) docsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:       "docs config|tools|servers",
		Short:     "Print a page of the documentation that is made from the code",
		Hidden:    true,
		Args:      exactArgs(1, "the name of a page: config, tools or servers"),
		ValidArgs: []string{"config", "tools", "servers"},
		RunE: func(_ *cobra.Command, args []string) error {
			switch args[0] {
			case "config":
				_, err := io.WriteString(a.out, config.Reference())
				return err
			case "tools":
				return a.toolsPage()
			case "servers": // a part of docs/languages.md
				_, err := io.WriteString(a.out, host.CatalogueTable())
				return err
			}
			return wrongUse("there is no page %q, only config, tools and servers", args[0])
		},
	}
	a.placeFlags(cmd)
	return cmd
}

func (a *app) toolsPage() error {
	cfg, err := a.locate()
	if err != nil {
		return err
	}
	opened, err := host.Open(cfg, a.logger(cfg.Level()))
	if err != nil {
		return err
	}
	defer opened.Close()
	_, err = fmt.Fprint(a.out, host.Reference(opened.All()))
	return err
}
