package main

import (
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
)

// app is what every command has: the streams, and the flags about settings.
type app struct {
	in       io.Reader
	out, err io.Writer
	flags    config.Flags
	noDaemon bool
}

// commands is the one list of commands.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.mcpCommand(),
		a.serveCommand(),
		a.callCommand(),
		a.toolsCommand(),
		a.symbolsCommand(),
		a.defCommand(),
		a.refsCommand(),
		a.hoverCommand(),
		a.renameCommand(),
		a.actionsCommand(),
		a.formatCommand(),
		a.callsCommand(),
		a.typesCommand(),
		a.diagCommand(),
		a.serversCommand(),
		a.psCommand(),
		a.logsCommand(),
		a.attachCommand(),
		a.stopCommand(),
		a.workspaceCommand(),
		a.checkCommand(),
		a.demoCommand(),
		a.initCommand(),
		a.planCommand(),
		a.decideCommand(),
		a.approveCommand(),
		a.trustCommand(),
		a.auditCommand(),
		a.stateCommand(),
		a.effectsCommand(),
		a.doctorCommand(),
		a.docsCommand(),
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "prism-ls",
		Short:         "Files, language servers, terminals and Git of a workspace, as tools for a coding agent",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE:          unknownCommand,
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetVersionTemplate("prism-ls {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return wrongUse("%w", err) })
	root.AddCommand(a.commands()...)
	return root
}

// unknownCommand is what the root does with a first word that is no command.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return wrongUse("there is no command %q%s", args[0], nearestCommand(cmd, args[0]))
}

// settingFlags are the flags of every command that works in a workspace.
func (a *app) settingFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&a.flags.Root, "root", "", "workspace root (default: the working directory)")
	flags.StringVar(&a.flags.Profile, "profile", "", "what is allowed: read-only, unattended, guarded or trusted")
	flags.StringSliceVar(&a.flags.Toolsets, "toolsets", nil, "groups of tools on offer")
	flags.StringSliceVar(&a.flags.ExcludeTools, "exclude-tools", nil, "tools that are not on offer")
	flags.BoolVar(&a.flags.ReadOnly, "read-only", false, "hide every tool that can change anything")
	flags.BoolVar(&a.noDaemon, "no-daemon", false, "do everything in this process")
	flags.StringVar(&a.flags.LogLevel, "log-level", "", "debug, info, warn or error")
	a.placeFlags(cmd)
}

// placeFlags are the flags that say where things are kept.
func (a *app) placeFlags(cmd *cobra.Command) {
	if cmd.Flags().Lookup("root") == nil {
		cmd.Flags().StringVar(&a.flags.Root, "root", "", "workspace root (default: the working directory)")
	}
	cmd.Flags().StringVar(&a.flags.StateDir, "state-dir", "", "where prism-ls keeps its state")
	cmd.Flags().StringVar(&a.flags.File, "config", "", "the user's configuration file")
}

// load reads the settings.
func (a *app) load() (*config.Config, error) { return config.Load(config.ReadSystem(), a.flags) }

// locate finds root and directories without reading a configuration.
func (a *app) locate() (*config.Config, error) { return config.Locate(config.ReadSystem(), a.flags) }

func (a *app) logger(level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level}))
}
