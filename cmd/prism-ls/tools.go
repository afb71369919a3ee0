package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/tools"
)

func (a *app) toolsCommand() *cobra.Command {
	var object bool
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the tools that are on offer here",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			cfg, err := a.load()
			if err != nil {
				return err
			}
			opened, err := host.Open(cfg, a.logger(cfg.Level()))
			if err != nil {
				return err
			}
			defer opened.Close()
			if object {
				return a.toolObjects(opened.Registry().Tools())
			}
			return a.toolTable(opened.Registry().Tools())
		},
	}
	a.settingFlags(cmd)
	cmd.Flags().BoolVar(&object, "json", false, "print one JSON object, with descriptions and schemas")
	return cmd
}

func (a *app) toolTable(list []*tools.Tool) error {
	table := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	for _, tool := range list {
		spec := tool.Spec()
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", spec.Name, spec.Toolset, spec.Kind, spec.Title)
	}
	return table.Flush()
}

type toolObject struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	Toolset      string          `json:"toolset"`
	Kind         tools.Kind      `json:"kind"`
	Effect       tools.Effect    `json:"effect"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

func (a *app) toolObjects(list []*tools.Tool) error {
	objects := make([]toolObject, 0, len(list))
	for _, tool := range list {
		spec := tool.Spec()
		objects = append(objects, toolObject{spec.Name, spec.Title, spec.Description, spec.Toolset, spec.Kind, spec.Effect, tool.InputSchema(), tool.OutputSchema()})
	}
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		Tools []toolObject `json:"tools"`
	}{objects})
}
