package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/people"
	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools/builtin"
)

func (a *app) psCommand() *cobra.Command {
	var object bool
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "List the process sessions of this workspace, whoever started them",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			return a.withSessions(func(ctx context.Context, sessions people.Sessions) error {
				list, err := sessions.List(ctx)
				if err != nil {
					return err
				}
				if !object {
					return a.sessionTable(list)
				}
				objects := builtin.ProcList{Sessions: []builtin.ProcSession{}}
				for _, info := range list {
					objects.Sessions = append(objects.Sessions, builtin.ProcSessionOf(&info))
				}
				return a.writeJSON(objects)
			})
		},
	}
	a.placeFlags(cmd)
	cmd.Flags().BoolVar(&object, "json", false, "print one JSON object")
	return cmd
}

func (a *app) sessionTable(list []procsess.Info) error {
	table := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tSTATE\tINPUT\tAGE\tPORTS\tOWNER\tCOMMAND")
	for _, info := range list {
		input := ""
		if info.Input.State == procsess.BlockedRead || info.Input.State == procsess.AcceptsInput {
			input = strings.TrimSpace(string(info.Input.State) + " " + string(info.Input.Mode))
		}
		until := info.Ended
		if until.IsZero() {
			until = time.Now()
		}
		ports := strings.Trim(fmt.Sprint(info.Ports), "[]")
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", info.ID, printable(info.Name), people.StateWords(&info), input,
			until.Sub(info.Started).Round(time.Second), ports, printable(info.Owner), short(printable(info.Command)))
	}
	return table.Flush()
}

// short keeps a command to what fits beside the rest.
func short(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
