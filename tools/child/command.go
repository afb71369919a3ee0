package child

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Command is a program to start.
type Command struct {
	// Path is the program: an absolute path, or one with a separator that is
	// taken relative to Dir. It is never looked up in PATH; see [LookPath].
	Path string
	// Args are the arguments without argv[0], which is Path.
	Args []string
	// Dir is the working directory; empty is the owner's own.
	Dir string
	// Env is the whole environment as "NAME=value"; nil is an empty one.
	// [Environment] builds it.
	Env []string
	// Stdin, Stdout and Stderr become descriptors 0, 1 and 2, in blocking mode;
	// nil is the null device. The caller keeps its files and may close them as
	// soon as Start has returned. No other descriptor is inherited.
	Stdin, Stdout, Stderr *os.File
	// TTY makes Stdin, which must be a terminal, the controlling terminal of a
	// new session. Without it the program gets a new process group and has no
	// controlling terminal at all.
	TTY bool
	// Sandbox confines the program and all it starts; nil is [Off].
	Sandbox *Sandbox
}

// Exit is how a program ended.
type Exit struct {
	// Code is the exit status, or -1 when a signal ended the program.
	Code int
	// Signal is the signal that ended the program, or 0.
	Signal syscall.Signal
	// CoreDumped says that the kernel wrote a core file.
	CoreDumped bool
	// User and System are the processor time of the program and of those of its
	// children that it waited for (getrusage(2)).
	User, System time.Duration
	// MaxRSS is the largest resident set of any one of them, in bytes; 0 where
	// the system does not tell.
	MaxRSS int64
}

// String returns the end in the words of a shell: "exit 2", "signal: killed".
func (e Exit) String() string {
	if e.Signal == 0 {
		return fmt.Sprintf("exit %d", e.Code)
	}
	if e.CoreDumped {
		return fmt.Sprintf("signal: %v (core dumped)", e.Signal)
	}
	return fmt.Sprintf("signal: %v", e.Signal)
}

// Info names a process.
type Info struct {
	PID int
	// Command is the command line, joined with spaces and cut at 256 bytes, or
	// the kernel's name for it in brackets. It is whatever the process says.
	Command string
}

// KillReport says what became of a tree.
type KillReport struct {
	// Killed are the processes that were alive when the kill began, or appeared
	// while it ran, and are gone.
	Killed []Info
	// Survivors could not be ended: not permitted, or stuck in the kernel.
	Survivors []Info
}

// Errors of this package, for errors.Is. A program that could not be executed
// is an *fs.PathError with the system's error.
var (
	// ErrClosed: the owner is closed.
	ErrClosed = errors.New("child: owner is closed")
	// ErrLost: the reaper or guardian of a process was killed. The process was
	// killed with it; how it would have ended is not known.
	ErrLost = errors.New("child: the process's reaper is gone")
	// ErrSandbox: a sandbox was required and cannot be applied in full.
	ErrSandbox = errors.New("child: sandbox cannot be applied")
	// ErrUnsupported: this system cannot do it.
	ErrUnsupported = errors.New("child: not supported on this system")
	// ErrLetGo: the process was let go; how it ends is not known here.
	ErrLetGo = errors.New("child: process was let go")
	// ErrFinished: a signal was sent to a process that has ended.
	ErrFinished = errors.New("child: process has ended")
)

func (c *Command) check() error {
	switch {
	case c.Path == "":
		return errors.New("child: Command.Path is empty, must name a program")
	case !strings.ContainsRune(filepath.ToSlash(c.Path), '/'):
		return fmt.Errorf("child: Command.Path %q has no directory; resolve it first (LookPath)", c.Path)
	case c.TTY && c.Stdin == nil:
		return errors.New("child: Command.TTY needs a terminal as Stdin")
	}
	for _, text := range append(append([]string{c.Path, c.Dir}, c.Args...), c.Env...) {
		if strings.IndexByte(text, 0) >= 0 {
			return errors.New("child: a NUL byte in path, directory, arguments or environment")
		}
	}
	return c.Sandbox.check()
}

// LookPath resolves a program's name against the PATH in env, as the program's
// own environment would. A name with a separator is returned as it is. Empty
// and relative entries of PATH are skipped: what is found must not depend on
// the directory one happens to be in.
func LookPath(name string, env []string) (string, error) {
	if strings.ContainsRune(filepath.ToSlash(name), '/') {
		return name, nil
	}
	for _, entry := range env {
		list, ok := strings.CutPrefix(entry, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			if !filepath.IsAbs(dir) {
				continue
			}
			if path, ok := executable(filepath.Join(dir, name)); ok {
				return path, nil
			}
		}
	}
	return "", &os.PathError{Op: "look up", Path: name, Err: os.ErrNotExist}
}
