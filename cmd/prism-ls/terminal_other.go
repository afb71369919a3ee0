//go:build !linux

package main

import "github.com/prism-ls/prism-ls/tools"

// openTerminal refuses: on this system it cannot be shown that prism-ls did
// not start this process.
func openTerminal() (*terminal, error) {
	return nil, tools.Errorf(tools.CodeExecutionDenied, "that a person asks can be shown on Linux only; choose with --profile or the user's configuration file instead")
}

// notOurs returns an error, for the same reason.
func notOurs() error {
	_, err := openTerminal()
	return err
}
