package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/propose"
	"github.com/prism-ls/prism-ls/tools"
)

func (a *app) initCommand() *cobra.Command {
	var print bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a commented configuration that proposes checks from what the repository has",
		Long: `Write prism-ls.toml into the workspace root. It proposes checks from what the
repository has: go.mod, scripts of package.json, pyproject.toml, Cargo.toml, targets
of a makefile. Everything in it is a comment, so that nothing is in force until you
take the # away, and what names a program counts only once you have run
"prism-ls trust". A file that is there already is left alone.`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return a.init(print) },
	}
	a.placeFlags(cmd)
	cmd.Flags().BoolVar(&print, "print", false, "print it, and write nothing")
	return cmd
}

func (a *app) init(print bool) error {
	cfg, err := a.locate()
	if err != nil {
		return err
	}
	root, err := propose.Open(cfg.Root)
	if err != nil {
		return tools.AsError(err)
	}
	defer root.Close()
	checks := root.Checks()
	text := propose.Configuration(checks)
	if print {
		_, err := io.WriteString(a.out, text)
		return err
	}
	name := filepath.Join(cfg.Root, config.FileName)
	if err := writeNew(name, text); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "wrote %s with %d proposed checks, all of them comments\n", printable(name), len(checks))
	return nil
}

// writeNew writes a file that must not be there yet, whole or not at all.
func writeNew(name, text string) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return tools.Errorf(tools.CodeExists, "%s is there already, and stays as it is; see what would be written with --print", name)
	}
	if err != nil {
		return tools.AsError(err)
	}
	_, err = io.WriteString(file, text)
	if err = errors.Join(err, file.Close()); err != nil {
		return tools.AsError(errors.Join(err, os.Remove(name)))
	}
	return nil
}
