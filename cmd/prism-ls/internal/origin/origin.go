// Package origin tells what prism-ls itself started from what a person or an
// agent's host did. What prism-ls starts stays below its guardian whatever it does
// (child subreaper, prctl(2)), so the ancestry cannot be shed as an environment
// variable can; a program of its own on a pseudo-terminal of prism-ls is below it
// as well.
package origin

import (
	"os"

	"github.com/prism-ls/prism-ls/tools"
)

// NotOurs returns an error in anything that prism-ls started, and where that
// cannot be told.
func NotOurs() error { return NotStarted(os.Getpid()) }

// NotStarted is NotOurs about another process, which may itself be prism-ls.
func NotStarted(process int) error {
	pid, err := ancestor(process)
	switch {
	case err != nil:
		return tools.Errorf(tools.CodeExecutionDenied, "it cannot be told what started this process: %w", err)
	case pid != 0:
		return tools.Errorf(tools.CodeExecutionDenied, "prism-ls (process %d) started this; a person has to do it in a terminal of their own", pid)
	}
	return nil
}
