//go:build !linux

package origin

import "github.com/prism-ls/prism-ls/tools"

// ancestor fails: on this system it cannot be shown that prism-ls did not start a
// process.
func ancestor(int) (int, error) {
	return 0, tools.Errorf(tools.CodeExecutionDenied, "that a person asks can be shown on Linux only; choose with --profile or the user's configuration file instead")
}
