//go:build unix

package builtin

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools"
)

// signalName returns a signal's name as kill(1) writes it, with SIG.
func signalName(signal syscall.Signal) string {
	if name := unix.SignalName(signal); name != "" {
		return name
	}
	return signal.String()
}

// SignalNumber finds a signal by its name, with or without SIG (signal(7)).
func SignalNumber(name string) (syscall.Signal, error) {
	full := "SIG" + strings.TrimPrefix(strings.ToUpper(name), "SIG")
	if number := unix.SignalNum(full); number != 0 {
		return number, nil
	}
	known := []string{"SIGHUP", "SIGINT", "SIGQUIT", "SIGKILL", "SIGUSR1", "SIGUSR2", "SIGTERM", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGWINCH"}
	return 0, tools.Errorf(tools.CodeToolInput, "there is no signal %q%s", name, tools.Nearest(full, known))
}
