//go:build !unix

package builtin

import (
	"syscall"

	"github.com/prism-ls/prism-ls/tools"
)

// signalName returns a signal's name; this system has none worth the name.
func signalName(signal syscall.Signal) string { return signal.String() }

// SignalNumber refuses: this system has no signals.
func SignalNumber(name string) (syscall.Signal, error) {
	return 0, tools.Errorf(tools.CodeProcessUnsupported, "this system has no signal %s", name)
}
