//go:build unix

package procsess

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools"
)

// signalName is a signal's name as kill(1) writes it, with SIG.
func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return "SIG" + strconv.Itoa(int(sig))
}

// ParseSignal reads a signal's name, with or without SIG.
func ParseSignal(name string) (syscall.Signal, error) {
	upper := strings.ToUpper(name)
	if !strings.HasPrefix(upper, "SIG") {
		upper = "SIG" + upper
	}
	if sig := unix.SignalNum(upper); sig != 0 {
		return sig, nil
	}
	return 0, tools.Errorf(tools.CodeToolInput, "signal %.40q is not known; a name such as SIGINT, SIGTERM or SIGUSR1 is", name)
}

// ownFault reports whether a signal is one that a program brings upon itself.
func ownFault(sig syscall.Signal) bool {
	switch sig {
	case unix.SIGSEGV, unix.SIGBUS, unix.SIGILL, unix.SIGFPE, unix.SIGABRT, unix.SIGSYS, unix.SIGTRAP, unix.SIGPIPE, unix.SIGXCPU, unix.SIGXFSZ, unix.SIGALRM:
		return true
	}
	return false
}
