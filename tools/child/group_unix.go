//go:build unix && !linux

package child

import (
	"errors"
	"os"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func signalGroup(process *os.Process, sig syscall.Signal) error {
	return syscall.Kill(-process.Pid, sig)
}

// killGroup ends what is left of the group; an empty one is no error.
func killGroup(process *os.Process) error {
	err := signalGroup(process, syscall.SIGKILL)
	// Darwin answers EPERM for a group that holds only a zombie.
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) {
		return nil
	}
	return err
}

func exitOf(state *os.ProcessState) Exit {
	exit := Exit{Code: state.ExitCode(), User: state.UserTime(), System: state.SystemTime()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Code, exit.Signal, exit.CoreDumped = -1, status.Signal(), status.CoreDump()
	}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		exit.MaxRSS = int64(usage.Maxrss) * maxRSSUnit
	}
	return exit
}

const maxRSSUnit = 1
