package child

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// reaper is the process that one running command and all its orphans have as
// their parent in the end.
type reaper struct {
	socket   int
	lifeline int // ends when the guardian does; -1 is none
	null     int
	kick     chan struct{} // there is a child to wait for again
	changed  chan struct{} // a child was reaped
	over     chan struct{} // nobody waits for children any more, once there are none
	waited   chan struct{} // wait has returned

	// mu is held while children are started, reaped or signalled by number, so
	// that a number is never used for a process that is gone already.
	mu  sync.Mutex
	job *job // nil while idle
	// ending is set when what happens to the job is no longer its own doing.
	ending bool
	// free is set when the owner let go, and kept is what was left to us then.
	free bool
	kept []int
}

// job is the running command.
type job struct {
	pid    int
	reaped bool // pid and the group of that number may not be ours any more
	tty    bool
}

func reap() int {
	r, err := newReaper(socketFD, lifelineFD)
	if err != nil {
		return exitMisused
	}
	return r.run()
}

func newReaper(socket, lifeline int) (*reaper, error) {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &reaper{
		socket: socket, lifeline: lifeline, null: null,
		kick: make(chan struct{}, 1), changed: make(chan struct{}, 1),
		over: make(chan struct{}), waited: make(chan struct{}),
	}, nil
}

// run serves until the owner or the guardian is gone, or nothing is left of what
// was let go, and returns the status to exit with.
func (r *reaper) run() int {
	go r.wait()
	defer close(r.over)
	r.send(newPacket(kindDone, 0)) // ready
	buffer := make([]byte, maxPacket)
	for !r.free && r.ready() {
		m, err := receive(r.socket, buffer, 0)
		if errors.Is(err, errMalformed) {
			continue
		}
		if err != nil {
			break
		}
		r.serve(m)
		m.closeFiles()
	}
	if r.free {
		return r.linger()
	}
	return r.shutdown()
}

// ready waits for a message; false is the end of owner or guardian.
func (r *reaper) ready() bool {
	polled := []unix.PollFd{
		{Fd: int32(r.socket), Events: unix.POLLIN},
		{Fd: int32(r.lifeline), Events: unix.POLLIN}, // a negative one is left out
	}
	for {
		_, err := unix.Poll(polled, -1)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err == nil && polled[1].Revents == 0
	}
}

func (r *reaper) serve(m *message) {
	switch m.kind {
	case kindStart:
		r.start(m)
	case kindSignal:
		reply := newPacket(kindDone, m.request)
		reply.int(int64(r.signal(unix.Signal(m.fields.int()), int(m.fields.int()))))
		r.send(reply)
	case kindTerminate:
		r.report(m.request, r.terminate(), nil)
	case kindKill:
		killed, survivors := r.kill()
		r.report(m.request, killed, survivors)
	case kindTree:
		r.report(m.request, describeAll(r.look()), nil)
	case kindLetGo:
		r.letGo(m)
	}
}

func (r *reaper) send(packet encoder) { _ = send(r.socket, packet, nil, ownerPacket, 0) }

func (r *reaper) report(request uint64, first, second []Info) {
	reply := newPacket(kindReport, request)
	reply.infos(first)
	reply.infos(second)
	r.send(reply)
}

func (r *reaper) start(m *message) {
	s := m.fields.spec()
	pid, stage, err := 0, stageExec, m.fields.err
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.job != nil {
		err = unix.EBUSY
	}
	if err == nil {
		pid, stage, err = r.fork(s, m.files)
	}
	if err != nil {
		errno := unix.EINVAL
		_ = errors.As(err, &errno)
		reply := newPacket(kindFailed, m.request)
		reply.int(int64(stage))
		reply.int(int64(errno))
		reply.text(err.Error())
		r.send(reply)
		return
	}
	r.job = &job{pid: pid, tty: s.tty}
	reply := newPacket(kindStarted, m.request)
	reply.int(int64(pid))
	reply.int(int64(os.Getpid()))
	r.send(reply)
	notify(r.kick)
}

// stage says what could not be done.
type stage int

const (
	stageExec stage = iota
	stageConfine
)

func (r *reaper) fork(s *spec, files []int) (pid int, failed stage, err error) {
	attr := &syscall.ProcAttr{Dir: s.dir, Env: s.env, Sys: &syscall.SysProcAttr{Setpgid: true}}
	if s.tty {
		attr.Sys = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	}
	for _, given := range s.given {
		fd := r.null
		if given {
			if len(files) == 0 {
				return 0, stageExec, errMalformed
			}
			fd, files = files[0], files[1:]
		}
		attr.Files = append(attr.Files, uintptr(fd))
	}
	argv := append([]string{s.path}, s.args...)
	if !s.confine {
		pid, err = syscall.ForkExec(s.path, argv, attr)
		return pid, stageExec, err
	}
	// What a thread has given up it cannot have back: the goroutine keeps its
	// thread locked, and the runtime ends both together.
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err = confine(s); err != nil {
			failed = stageConfine
			return
		}
		pid, err = syscall.ForkExec(s.path, argv, attr)
	}()
	<-done
	return pid, failed, err
}

// wait reaps, until run has returned and nothing is left to wait for.
func (r *reaper) wait() {
	defer close(r.waited)
	for {
		err := waitForChild()
		r.reapChildren()
		if errors.Is(err, unix.ECHILD) {
			select {
			case <-r.kick:
			case <-r.over:
				return
			}
		}
	}
}

// reapChildren reaps what has ended, and tells the owner of the main program's
// end and of the tree's, which mostly are one.
func (r *reaper) reapChildren() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var end *Exit
	for {
		var status unix.WaitStatus
		var usage unix.Rusage
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, &usage)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || pid == 0 {
			r.announce(end, errors.Is(err, unix.ECHILD))
			return
		}
		notify(r.changed)
		if r.job != nil && pid == r.job.pid && !r.job.reaped {
			r.job.reaped = true
			exit := exitStatus(status, &usage)
			end = &exit
		}
	}
}

// announce needs mu.
func (r *reaper) announce(end *Exit, childless bool) {
	empty := childless && r.job != nil && r.job.reaped
	if empty {
		r.job = nil
	}
	switch {
	case end != nil && !r.ending:
		packet := newPacket(kindExited, 0)
		packet.exit(*end)
		packet.bool(empty)
		r.send(packet)
	case empty:
		r.send(newPacket(kindEmpty, 0))
	}
}

func exitStatus(status unix.WaitStatus, usage *unix.Rusage) Exit {
	exit := Exit{
		Code:   status.ExitStatus(),
		User:   time.Duration(usage.Utime.Nano()),
		System: time.Duration(usage.Stime.Nano()),
		MaxRSS: int64(usage.Maxrss) << 10, // the kernel counts KiB
	}
	if status.Signaled() {
		exit.Code, exit.Signal, exit.CoreDumped = -1, status.Signal(), status.CoreDump()
	}
	return exit
}

func (r *reaper) look() []member { return descendants(os.Getpid(), nil) }

// signal signals a group, 0 for the main program's, and returns the error's number.
func (r *reaper) signal(sig unix.Signal, group int) unix.Errno {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.job == nil {
		return unix.ESRCH
	}
	err := r.signalGroup(sig, group)
	errno := unix.Errno(0)
	_ = errors.As(err, &errno)
	return errno
}

// signalGroup needs mu. The main program's is signalled as one. Once that is
// reaped its number may belong to another group, and other groups never are surely
// ours, so their members are picked from our own tree.
func (r *reaper) signalGroup(sig unix.Signal, group int) error {
	if group == 0 || group == r.job.pid {
		if group = r.job.pid; !r.job.reaped {
			return unix.Kill(-group, sig)
		}
	}
	result := error(unix.ESRCH)
	for _, m := range r.look() {
		if m.group == group {
			result = m.signal(sig)
		}
	}
	return result
}

// terminate asks everything to end and returns what it asked: the group as
// one, then each process outside of it. A terminal's session gets HUP too,
// since an interactive shell ignores TERM. CONT lets stopped ones act on it.
func (r *reaper) terminate() []Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.job == nil {
		return nil
	}
	members := r.look()
	infos := describeAll(members)
	signals := []unix.Signal{unix.SIGTERM, unix.SIGCONT}
	if r.job.tty {
		signals = []unix.Signal{unix.SIGHUP, unix.SIGTERM, unix.SIGCONT}
	}
	for _, sig := range signals {
		if !r.job.reaped {
			_ = unix.Kill(-r.job.pid, sig)
		}
		for _, m := range members {
			if r.job.reaped || m.group != r.job.pid {
				_ = m.signal(sig)
			}
		}
	}
	return infos
}

func (r *reaper) kill() (killed, survivors []Info) {
	h := hunt{
		look:    r.look,
		changed: r.changed,
		all: func(sig unix.Signal) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.job != nil && !r.job.reaped {
				_ = unix.Kill(-r.job.pid, sig)
			}
		},
		over: func() bool {
			r.reapChildren()
			return noChildren()
		},
	}
	return h.run()
}

// shutdown ends what runs, with a little time to clear up, when the owner or
// the guardian is gone.
func (r *reaper) shutdown() int {
	r.mu.Lock()
	r.ending = true
	r.mu.Unlock()
	r.terminate()
	deadline := time.Now().Add(shutdownGrace)
	for !noChildren() && time.Now().Before(deadline) {
		pause(r.changed, 10*time.Millisecond)
	}
	if _, survivors := r.kill(); len(survivors) > 0 {
		return exitSurvivors
	}
	return 0
}
