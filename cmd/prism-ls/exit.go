package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/tools"
)

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// wrongUse is an error about the command line itself.
func wrongUse(format string, args ...any) error {
	return tools.Errorf(tools.CodeToolInput, format, args...)
}

// told is a failure that has been shown already and only sets the exit status.
type told struct{ failure *tools.Error }

func (e told) Error() string { return e.failure.Error() }
func (e told) Unwrap() error { return e.failure }

// run runs one command line and returns the exit status.
func run(args []string, in io.Reader, out, stderr io.Writer) int {
	a := &app{in: in, out: out, err: stderr}
	root := a.root()
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return exitDone
	}
	failure := tools.AsError(err)
	if _, shown := errors.AsType[told](err); !shown {
		if wantsObject(args) {
			_ = writeObject(out, &tools.Result{Err: failure, Content: []tools.Block{}, Metadata: json.RawMessage("{}")})
		}
		fmt.Fprintln(stderr, oneLine(failure.Error()))
	}
	return statusOf(failure)
}

// statusOf tells wrong use from failure by the code alone, so that it is the
// same on every path.
func statusOf(failure *tools.Error) int {
	switch {
	case failure == nil:
		return exitDone
	case failure.Code == tools.CodeToolInput, failure.Code == tools.CodeToolUnknown:
		return exitUsage
	}
	return exitFailed
}

// wantsObject reports whether this is a `call --json`, which prints one object
// whatever happens.
func wantsObject(args []string) bool {
	return len(args) > 0 && args[0] == "call" && slices.ContainsFunc(args, func(arg string) bool {
		return arg == "--json" || arg == "--json=true"
	})
}

// oneLine keeps an error to a line of its own.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

func nearestCommand(root *cobra.Command, name string) string {
	var names []string
	for _, cmd := range root.Commands() {
		if !cmd.Hidden {
			names = append(names, cmd.Name())
		}
	}
	return tools.Nearest(name, names)
}

// exactArgs is cobra.ExactArgs with an error that names what is wanted.
func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return wrongUse("%s takes %s, and %d arguments were given", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}
