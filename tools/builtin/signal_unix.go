//go:build unix

package builtin

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// signalName returns a signal's name as kill(1) writes it, with SIG.
func signalName(signal syscall.Signal) string {
	if name := unix.SignalName(signal); name != "" {
		return name
	}
	return signal.String()
}
