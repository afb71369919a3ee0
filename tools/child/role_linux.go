package child

import (
	"os"
	"os/signal"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// roleFlag marks a process of this package; it is always the last argument.
const roleFlag = "--prism-child-role="

const (
	roleGuardian = "guardian"
	roleReaper   = "reaper"
	roleProbe    = "probe"
)

// Descriptors that a helper is started with.
const (
	socketFD   = 3 // guardian and reaper: to the owner
	lifelineFD = 4 // reaper: ends when the guardian does
)

// Exit statuses of helpers.
const (
	exitMisused   = 125
	exitSurvivors = 3
)

// Main runs the role of a guardian, reaper or probe, and does not return, when
// this process is one. It must be the first statement of main, and of TestMain
// in packages whose tests start programs: the helpers are the same executable,
// and all that runs before it runs in every one of them.
func Main() {
	role, ok := strings.CutPrefix(os.Args[len(os.Args)-1], roleFlag)
	if !ok {
		return
	}
	switch role {
	case roleGuardian, roleReaper:
		if kind, err := unix.GetsockoptInt(socketFD, unix.SOL_SOCKET, unix.SO_TYPE); err != nil || kind != unix.SOCK_SEQPACKET {
			os.Exit(exitMisused)
		}
	case roleProbe:
		os.Exit(runProbe(os.Args))
	default:
		os.Exit(exitMisused)
	}
	settle(role)
	if role == roleGuardian {
		os.Exit(guard())
	}
	os.Exit(reap())
}

// isHelper reports whether Main should have taken this process over.
func isHelper() bool {
	return strings.HasPrefix(os.Args[len(os.Args)-1], roleFlag)
}

// helperArgs is the argument vector for a role, after that of the helper.
func helperArgs(helper []string, role string) []string {
	return append(helper[:len(helper):len(helper)], roleFlag+role)
}

// helperEnv is the whole environment of guardian and reapers: little memory,
// no threads to spare, and in a binary with the race detector no second of
// sleep at the end.
func helperEnv() []string {
	return []string{
		"GOMAXPROCS=2", "GOGC=50",
		"GODEBUG=asyncpreemptoff=1,containermaxprocs=0,updatemaxprocs=0",
		"GORACE=atexit_sleep_ms=0",
	}
}

// settle makes this process what a helper is.
func settle(role string) {
	// Restricted threads are made for sandboxed starts and thrown away; the
	// first thread of a process can never be, so it is kept for this goroutine.
	runtime.LockOSThread()
	_ = os.Chdir("/") // nobody's directory is held on to; commands say theirs
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	_ = os.WriteFile("/proc/thread-self/comm", []byte("prism-"+role), 0) // what ps shows
	_ = unix.CloseRange(socketFD, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
	for _, fd := range []int{socketFD, lifelineFD} {
		unix.CloseOnExec(fd) // kernels before 5.11
	}
	// A helper ends with its sockets and not with a terminal's keys or a stray
	// kill. Caught, not ignored: what is ignored is inherited by programs.
	signal.Notify(make(chan os.Signal, 1), unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT,
		unix.SIGUSR1, unix.SIGUSR2, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGPIPE, unix.SIGALRM)
}

// closeStrays closes what leaked into a guardian from the program around it.
// What is not a file, pipe or socket is left: the Go runtime's own.
func closeStrays(keep int) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, entry := range entries {
		fd, ok := number(entry.Name())
		if !ok || fd <= keep {
			continue
		}
		target, err := os.Readlink("/proc/self/fd/" + entry.Name())
		if err != nil || strings.HasPrefix(target, "anon_inode:") || strings.HasPrefix(target, "/sys/") || strings.HasPrefix(target, "/proc/") {
			continue
		}
		unix.Close(fd)
	}
}
