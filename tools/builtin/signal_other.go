//go:build !unix

package builtin

import "syscall"

// signalName returns a signal's name; this system has none worth the name.
func signalName(signal syscall.Signal) string { return signal.String() }
