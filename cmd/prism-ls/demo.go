package main

import (
	"context"
	"errors"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/demo"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/tools"
)

func (a *app) demoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo [DIR]",
		Short: "Show the whole loop on a scratch copy of a Go repository (default: this one)",
		Long: `Show the whole loop on a scratch copy of a Go repository: find a symbol, list
its references, rename it everywhere, see what that did to the diagnostics,
build, make a mistake, and take it all back. The repository itself is only read.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return wrongUse("demo takes one directory at most, and %d arguments were given", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.flags.Root = args[0]
			}
			return a.demo()
		},
	}
	a.placeFlags(cmd)
	return cmd
}

func (a *app) demo() (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	cfg, err := a.load()
	if err != nil {
		return err
	}
	if cfg.StateDir == "" {
		return tools.Errorf(tools.CodeStateUnavailable, "there is no home directory for the scratch copy; name one with --state-dir DIR")
	}
	source, err := host.Open(cfg, a.logger(cfg.Level()))
	if err != nil {
		return err
	}
	defer source.Close()
	scratch, err := demo.OpenScratch(filepath.Join(cfg.StateDir, "demo"), cfg.Root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scratch.Close()) }()
	waiting := &waiting{out: a.err}
	defer waiting.clear()
	return demo.Run(ctx, demo.Options{
		Source: source.Workspace(), Files: source.SourceFiles, Scratch: scratch.Dir, Open: a.openScratch, Out: a.out,
		Progress: waiting.show,
	})
}

// openScratch opens a host for a copy with nothing of the user's or the
// repository's configuration: what is shown is the default.
func (a *app) openScratch(root string) (*tools.Registry, func() error, error) {
	bare := *a
	bare.flags.Root, bare.flags.Profile = root, ""
	cfg, err := bare.load()
	if err != nil {
		return nil, nil, err
	}
	opened, err := host.Open(cfg, a.logger(cfg.Level()))
	if err != nil {
		return nil, nil, err
	}
	return opened.Registry(), opened.Close, nil
}
