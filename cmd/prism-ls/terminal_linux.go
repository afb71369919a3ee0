package main

import (
	"os"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/origin"
	"github.com/prism-ls/prism-ls/tools"
)

// openTerminal opens the controlling terminal, if a person could sit there: no
// ancestor of this process may be prism-ls.
func openTerminal() (*terminal, error) {
	if err := origin.NotOurs(); err != nil {
		return nil, err
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, tools.Errorf(tools.CodeExecutionDenied, "this needs a person at a terminal, and there is none: %w", err)
	}
	return newTerminal(tty), nil
}
