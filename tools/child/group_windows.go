package child

import (
	"errors"
	"os"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return nil }

// signalGroup knows only how to end a process: Windows has no other signals.
func signalGroup(process *os.Process, sig syscall.Signal) error {
	if sig != syscall.SIGKILL {
		return errors.Join(errors.New("child: only SIGKILL can be sent"), ErrUnsupported)
	}
	return process.Kill()
}

func killGroup(process *os.Process) error {
	if err := process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

func exitOf(state *os.ProcessState) Exit {
	return Exit{Code: state.ExitCode(), User: state.UserTime(), System: state.SystemTime()}
}
