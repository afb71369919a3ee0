package child

import (
	"errors"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// shutdownGrace is the time between TERM and KILL when the owner ends.
const shutdownGrace = 500 * time.Millisecond

// guardian is the process below which everything runs. It starts reapers when
// the owner asks, kills what a lost reaper leaves, and ends with the owner.
type guardian struct {
	socket   int
	null     int
	lifeline [2]int // reapers hold the reading end, only we the writing end
	args     []string

	mu       sync.Mutex // held from fork until the child is known
	reapers  map[int]bool
	spared   map[int]bool // those of them that outlive us
	sweeping sync.Mutex

	kick    chan struct{}
	changed chan struct{}
}

func guard() int {
	closeStrays(socketFD)
	g := &guardian{
		socket:  socketFD,
		reapers: map[int]bool{},
		spared:  map[int]bool{},
		kick:    make(chan struct{}, 1),
		changed: make(chan struct{}, 1),
		args:    helperArgs(os.Args[:len(os.Args)-1], roleReaper),
	}
	var err error
	if g.null, err = unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return exitMisused
	}
	if err := unix.Pipe2(g.lifeline[:], unix.O_CLOEXEC); err != nil {
		return exitMisused
	}
	go g.wait()
	_ = send(g.socket, newPacket(kindDone, 0), nil, ownerPacket, 0) // Main was called
	buffer := make([]byte, maxPacket)
	for {
		m, err := receive(g.socket, buffer, 0)
		if errors.Is(err, errMalformed) {
			continue
		}
		if err != nil {
			return g.shutdown()
		}
		switch m.kind {
		case kindSpawn:
			g.spawn(m)
		case kindDrop:
			g.drop(m)
		case kindSpare:
			g.spare(m)
		}
		m.closeFiles()
	}
}

// spawn starts a reaper. When it cannot, the socket closes and the owner knows.
func (g *guardian) spawn(m *message) {
	if len(m.files) != 1 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	pid, err := syscall.ForkExec("/proc/self/exe", g.args, &syscall.ProcAttr{
		Env:   helperEnv(),
		Files: []uintptr{uintptr(g.null), uintptr(g.null), uintptr(g.null), uintptr(m.files[0]), uintptr(g.lifeline[0])},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err == nil {
		g.reapers[pid] = true
		notify(g.kick)
	}
}

// drop kills a reaper that does not answer, and with it what it holds.
func (g *guardian) drop(m *message) {
	pid := int(m.fields.int())
	g.mu.Lock()
	if g.reapers[pid] {
		// Still our child and not waited for: the number is surely its own.
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	g.mu.Unlock()
	for range 200 {
		g.reapChildren()
		if !g.holds(pid) {
			break
		}
		pause(g.changed, 10*time.Millisecond)
	}
	killed, survivors := g.sweep()
	reply := newPacket(kindReport, m.request)
	reply.infos(killed)
	reply.infos(survivors)
	_ = send(g.socket, reply, nil, ownerPacket, 0)
}

// spare marks a reaper that is about to be let go, with all below it; it is told
// here first, so that at no moment an end of ours takes what was let go.
func (g *guardian) spare(m *message) {
	pid, spared := int(m.fields.int()), m.fields.bool()
	g.mu.Lock()
	if spared && g.reapers[pid] {
		g.spared[pid] = true
	} else {
		delete(g.spared, pid)
	}
	g.mu.Unlock()
	_ = send(g.socket, newPacket(kindDone, m.request), nil, ownerPacket, 0)
}

func (g *guardian) holds(pid int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reapers[pid]
}

// wait reaps, and sweeps up after every lost reaper.
func (g *guardian) wait() {
	for {
		err := waitForChild()
		if errors.Is(err, unix.ECHILD) {
			<-g.kick
			continue
		}
		if g.reapChildren() {
			g.sweep()
		}
	}
}

// reapChildren reports whether anything ended, after which there may be
// processes here that no reaper holds.
func (g *guardian) reapChildren() (any bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return any
		}
		delete(g.reapers, pid)
		delete(g.spared, pid)
		notify(g.changed)
		any = true
	}
}

// strays are the processes that no reaper holds.
func (g *guardian) strays() []member {
	g.mu.Lock()
	defer g.mu.Unlock()
	return descendants(os.Getpid(), func(pid int) bool { return g.reapers[pid] })
}

func (g *guardian) sweep() (killed, survivors []Info) {
	g.sweeping.Lock()
	defer g.sweeping.Unlock()
	h := hunt{look: g.strays, all: func(unix.Signal) {}, changed: g.changed, over: func() bool {
		g.reapChildren()
		// A look may miss a child while its siblings end.
		for range 2 {
			if len(g.strays()) > 0 {
				return false
			}
		}
		return true
	}}
	return h.run()
}

// shutdown lets the reapers, which saw the same end, clear up; then it kills.
func (g *guardian) shutdown() int {
	deadline := time.Now().Add(2 * shutdownGrace)
	for !g.deserted() && time.Now().Before(deadline) {
		pause(g.changed, 10*time.Millisecond)
	}
	g.sweeping.Lock()
	h := hunt{
		look:    g.held,
		all:     func(unix.Signal) {},
		changed: g.changed,
		over:    g.deserted,
	}
	if _, survivors := h.run(); len(survivors) > 0 {
		return exitSurvivors
	}
	return 0
}

// held are the processes that end with us: all but what was let go.
func (g *guardian) held() []member {
	g.mu.Lock()
	defer g.mu.Unlock()
	return descendants(os.Getpid(), func(pid int) bool { return g.spared[pid] })
}

// deserted reports whether nothing is left that ends with us.
func (g *guardian) deserted() bool {
	g.reapChildren()
	g.mu.Lock()
	certain := len(g.spared) == 0
	g.mu.Unlock()
	if certain {
		return noChildren()
	}
	for range 2 { // a look may miss a child while its siblings end
		if len(g.held()) > 0 {
			return false
		}
	}
	return true
}

// noChildren reports whether this process has no child at all, living or dead.
// Without children there are no descendants: orphans would have become ours.
func noChildren() bool {
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return errors.Is(err, unix.ECHILD)
}

// waitForChild blocks until a child has ended, which stays to be reaped.
func waitForChild() error {
	for {
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// pause waits for a change, or for a while.
func pause(changed <-chan struct{}, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	}
}

func number(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil
}
