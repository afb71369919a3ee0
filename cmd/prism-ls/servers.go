package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

func (a *app) serversCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "servers",
		Short: "List, install and restart language servers",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return wrongUse("there is no command %q of servers%s", args[0], nearestCommand(cmd, args[0]))
		},
	}
	cmd.AddCommand(a.serversListCommand(), a.serversInstallCommand(), a.serversStatusCommand(), a.serversRestartCommand())
	return cmd
}

// serverObject is one server of the list as JSON.
type serverObject struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Group     string   `json:"group,omitempty"`
	Lint      bool     `json:"lint"`
	Languages []string `json:"languages"`
	Found     string   `json:"found"` // configured, local, path, installed or missing
	Program   string   `json:"program,omitempty"`
	Pinned    string   `json:"pinned,omitempty"`
	Installer string   `json:"installer,omitempty"`
	Present   bool     `json:"present"`
	Serves    bool     `json:"serves"`
	Missing   string   `json:"missing,omitempty"`
	Remedy    string   `json:"remedy,omitempty"`
	Degraded  string   `json:"degraded,omitempty"`
}

func (a *app) serversListCommand() *cobra.Command {
	var object, here bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the language servers that prism-ls knows, where each is, and which serve this workspace",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			return a.withLanguage(func(ctx context.Context, client *langintel.Client) error {
				list, err := client.Inventory(ctx)
				if err != nil {
					return err
				}
				objects := make([]serverObject, 0, len(list))
				for _, s := range list {
					if s.Present || !here {
						objects = append(objects, objectOf(&s))
					}
				}
				if object {
					return a.writeJSON(map[string][]serverObject{"servers": objects})
				}
				return a.serverTable(objects)
			})
		},
	}
	a.settingFlags(cmd)
	cmd.Flags().BoolVar(&object, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&here, "here", false, "only those of languages that this workspace has")
	return cmd
}

func objectOf(s *langintel.ServerInfo) serverObject {
	found := s.From
	if found == "" {
		found = "missing"
	}
	return serverObject{
		Name: s.Name, Title: s.Title, Group: s.Group, Lint: s.Lint, Languages: s.Languages,
		Found: found, Program: s.Program, Pinned: s.Pinned, Installer: s.Installer,
		Present: s.Present, Serves: s.Serves, Missing: s.Missing, Remedy: s.Remedy, Degraded: s.Degraded,
	}
}

func (a *app) serverTable(list []serverObject) error {
	table := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tFOUND\tPINNED\tHERE\tLANGUAGES")
	for _, s := range list {
		here := ""
		switch {
		case s.Serves && s.Missing != "":
			here = "missed"
		case s.Serves:
			here = "serves"
		case s.Present:
			here = "could"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", s.Name, s.Found, s.Pinned, here, strings.Join(s.Languages, ", "))
	}
	return table.Flush()
}

// installedObject is one installation as JSON.
type installedObject struct {
	Name    string `json:"name"`
	Program string `json:"program"`
	Version string `json:"version,omitempty"`
	Already bool   `json:"already"`
}

func (a *app) serversInstallCommand() *cobra.Command {
	var object, yes bool
	cmd := &cobra.Command{
		Use:   "install NAME…",
		Short: "Install language servers at their pinned versions",
		Long: `Install language servers: Go modules and npm packages at their pinned versions,
into prism-ls's own directory and with the ecosystem's own client (go, npm); Debian
packages with apt-get, for which this has to be root.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return wrongUse("servers install takes the names of servers; `prism-ls servers list` has them")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, names []string) error {
			return a.withLanguage(func(ctx context.Context, client *langintel.Client) error {
				how, err := a.installers(ctx, client, names)
				if err != nil {
					return err
				}
				if !yes {
					return wrongUse("this would install %s; add --yes to do that", strings.Join(how, ", "))
				}
				return a.installServers(ctx, client, names, object)
			})
		},
	}
	a.settingFlags(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	cmd.Flags().BoolVar(&object, "json", false, "print one JSON object")
	return cmd
}

// installers says how each server would be installed. Unknown names are refused
// before anything is.
func (a *app) installers(ctx context.Context, client *langintel.Client, names []string) ([]string, error) {
	list, err := client.Inventory(ctx)
	if err != nil {
		return nil, err
	}
	known, all := map[string]langintel.ServerInfo{}, []string{}
	for _, s := range list {
		known[s.Name], all = s, append(all, s.Name)
	}
	var how []string
	for _, name := range names {
		s, ok := known[name]
		switch {
		case !ok:
			return nil, wrongUse("no language server is called %q%s", name, tools.Nearest(name, all))
		case s.Installer == "":
			how = append(how, fmt.Sprintf("%s (not by prism-ls: %s)", name, s.How))
		default:
			how = append(how, strings.TrimSpace(name+" "+s.Pinned)+" with "+s.Installer)
		}
	}
	return how, nil
}

// installServers installs what can be, whatever fails.
func (a *app) installServers(ctx context.Context, client *langintel.Client, names []string, object bool) error {
	done := []installedObject{}
	var failures []error
	for _, name := range names {
		if !object {
			fmt.Fprintf(a.err, "installing %s\n", name)
		}
		got, err := client.Install(ctx, name)
		if err != nil {
			failures = append(failures, err)
			fmt.Fprintln(a.err, oneLine(err.Error()))
			continue
		}
		done = append(done, installedObject{name, got.Program, got.Version, got.Already})
		if !object {
			fmt.Fprintf(a.out, "%s\t%s\n", name, got.Program)
		}
	}
	if object {
		if err := a.writeJSON(map[string][]installedObject{"installed": done}); err != nil {
			return err
		}
	}
	if len(failures) > 0 {
		return told{tools.AsError(failures[0])}
	}
	return nil
}

func (a *app) serversStatusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of the language servers",
		Args:  exactArgs(0, "no arguments"),
	}
	return a.language(cmd, "lsp_status", func([]string) (request, error) { return request{}, nil })
}

func (a *app) serversRestartCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restart NAME",
		Short: "Start a language server anew",
		Args:  exactArgs(1, "the name of a server"),
	}
	return a.language(cmd, "lsp_status", func(args []string) (request, error) { return request{Restart: args[0]}, nil })
}

// withLanguage runs a function with the client of this workspace.
func (a *app) withLanguage(do func(context.Context, *langintel.Client) error) error {
	return a.withHost(func(ctx context.Context, opened *host.Host) error { return do(ctx, opened.Language()) })
}

func (a *app) writeJSON(value any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(value)
}
