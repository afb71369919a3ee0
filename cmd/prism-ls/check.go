package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/check"
)

func (a *app) checkCommand() *cobra.Command {
	var object bool
	cmd := &cobra.Command{
		Use:   "check [NAME]",
		Short: "List the checks that are declared here, or run one",
		Long: `List the checks of the configuration, or run one as an agent would, with the tool
coding_check.

Exit status: 0 it passed, 1 it did not or could not run, 2 wrong use.`,
		Example: "  prism-ls check\n  prism-ls check test",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return wrongUse("%s takes one name, and %d arguments were given", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listChecks(object)
			}
			return a.check(args[0], object)
		},
	}
	a.settingFlags(cmd)
	cmd.Flags().BoolVar(&object, "json", false, "print one JSON object")
	return cmd
}

// check runs one, and fails when it does not pass.
func (a *app) check(name string, object bool) error {
	input, err := json.Marshal(map[string]string{"name": name})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	result, err := a.callTool(ctx, []string{"coding_check", string(input)}, callFlags{object: object})
	if err != nil {
		result = &tools.Result{Tool: "coding_check", Err: tools.AsError(err)}
	}
	if err := a.show(result, object); err != nil {
		return err
	}
	var ended struct {
		Passed bool `json:"passed"`
	}
	if err := json.Unmarshal(result.Metadata, &ended); err != nil || ended.Passed {
		return err
	}
	return told{tools.Errorf(tools.CodeInternal, "check %s did not pass", name)} // only the exit status counts
}

// checkObject is a declared check.
type checkObject struct {
	Name           string   `json:"name"`
	File           string   `json:"file"`
	Args           []string `json:"args"`
	CWD            string   `json:"cwd"`
	TimeoutSeconds int64    `json:"timeoutSeconds"`
	Parser         string   `json:"parser,omitempty"`
}

func (a *app) listChecks(object bool) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	list := []checkObject{}
	for _, d := range cfg.Definitions() {
		one := checkObject{Name: d.Name, File: d.File, Args: append([]string{}, d.Args...), CWD: d.Dir, TimeoutSeconds: int64(d.Timeout.Seconds()), Parser: d.Parser}
		if one.TimeoutSeconds == 0 {
			one.TimeoutSeconds = check.CheckTime.Default
		}
		list = append(list, one)
	}
	if object {
		return json.NewEncoder(a.out).Encode(map[string][]checkObject{"checks": list})
	}
	if len(list) == 0 {
		fmt.Fprintln(a.out, "No check is declared. `prism-ls init` proposes some; docs/checks.md explains them.")
		return nil
	}
	table := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	for _, one := range list {
		fmt.Fprintf(table, "%s\t%s\t%s\n", one.Name, printable(strings.Join(append([]string{one.File}, one.Args...), " ")), one.Parser)
	}
	return table.Flush()
}
