package daemon

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/tools/child"
)

// Spawn runs this very program again, in the background: in a session of its own,
// with nothing of this process but the part of its environment that any program
// gets. With wait it returns once that program has ended, which is then to have
// started another: whoever ends a client with all of its children (agents' hosts
// do) does not find that one among them.
func Spawn(system config.System, wait bool, args ...string) error {
	// What was inherited without the mark would go on to whatever is executed.
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return os.NewSyscallError("close_range", err)
	}
	cmd := exec.Command("/proc/self/exe", args...) // the same, also where the file was replaced
	cmd.Args[0] = "prism-ls"
	cmd.Dir = "/"
	cmd.Env = child.Environment(system.Environ, nil)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if wait {
		return cmd.Run()
	}
	return cmd.Start()
}
