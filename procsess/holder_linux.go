package procsess

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// A durable session lives in a holder: this program, executed again, with one
// session and no helper. It is started detached: in a session of its own, and by a
// launcher that ends at once, so that nobody has it as a child who could end it or
// would have to wait for it.
const (
	holderFlag   = "--prism-session-role="
	roleLauncher = "launcher"
	roleHolder   = "holder"
	// holderFD is the connection that a holder is born with.
	holderFD = 3
)

const (
	// bornLimit is how long a holder waits to be told what it is for.
	bornLimit = 30 * time.Second
	// keepLimit is how long the output of a session that has ended is kept for
	// somebody to come and read it.
	keepLimit = 24 * time.Hour
	// addressCheck is how often a holder whom nobody has a connection to looks whether
	// anybody can still make one.
	addressCheck = 5 * time.Second
	// farewell is how long clients have to take the last answer.
	farewell = time.Second
)

// Main runs the holder of a durable session, and does not return, when this process
// is one. Like child.Main, beside which it stands, it must come first in main, and
// in TestMain of packages whose tests start durable sessions.
func Main() {
	switch os.Args[len(os.Args)-1] {
	case holderFlag + roleLauncher:
		os.Exit(launchHolder())
	case holderFlag + roleHolder:
		os.Exit(hold())
	}
}

// holderEnv is the whole environment of a holder; there is little for its collector
// to do, and little memory to have for it.
func holderEnv() []string {
	return []string{"GOMAXPROCS=1", "GOGC=50", "GODEBUG=madvdontneed=1,containermaxprocs=0,updatemaxprocs=0", "GORACE=atexit_sleep_ms=0"}
}

func holderArgs(before []string, role string) []string {
	return append(before[:len(before):len(before)], holderFlag+role)
}

// startHolder starts the launcher, which starts the holder, and returns the
// connection to it.
func startHolder(ctx context.Context, helper []string) (net.Conn, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "holder"), os.NewFile(uintptr(pair[1]), "holder")
	defer ours.Close() // FileConn has its own
	defer theirs.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	path, argv := "/proc/self/exe", os.Args[:1]
	if len(helper) > 0 {
		path, argv = helper[0], helper
	}
	launcher, err := os.StartProcess(path, holderArgs(argv, roleLauncher), &os.ProcAttr{
		Dir: "/", Env: holderEnv(), Files: []*os.File{null, null, null, theirs},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = launcher.Kill() })()
	state, err := launcher.Wait()
	if err != nil || !state.Success() {
		return nil, tools.Errorf(tools.CodeRecoveryUnsupported, "the holder did not start (%v); are child.Main and procsess.Main the first statements of the program?", state)
	}
	return net.FileConn(ours)
}

// launchHolder is the launcher.
func launchHolder() int {
	null, err := unix.Open(os.DevNull, unix.O_RDWR, 0)
	if err != nil {
		return 1
	}
	_, err = syscall.ForkExec("/proc/self/exe", holderArgs(os.Args[:len(os.Args)-1], roleHolder), &syscall.ProcAttr{
		Dir: "/", Env: holderEnv(), Files: []uintptr{uintptr(null), uintptr(null), uintptr(null), holderFD},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 1
	}
	return 0
}

// holder is the process of one durable session.
type holder struct {
	session  verbs
	engine   *engine
	owner    *child.Owner
	listener *net.UnixListener
	dir      *socketDir
	born     commission
	ref      reference

	routines sync.WaitGroup
	started  chan struct{} // closed when there is a session
	over     chan struct{} // closed when there is nothing to hold any more
	once     sync.Once
	released atomic.Bool

	mu     sync.Mutex
	fence  int64
	guests map[*guest]struct{}
}

// hold is the holder.
func hold() int {
	// See child: what a sandboxed start gives up, the first thread keeps.
	runtime.LockOSThread()
	_ = os.WriteFile("/proc/self/comm", []byte("prism-holder"), 0) // what ps shows
	_ = unix.CloseRange(holderFD, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
	unix.CloseOnExec(holderFD) // kernels before 5.11
	if kind, err := unix.GetsockoptInt(holderFD, unix.SOL_SOCKET, unix.SO_TYPE); err != nil || kind != unix.SOCK_STREAM {
		return 1
	}
	file := os.NewFile(holderFD, "born")
	conn, err := net.FileConn(file)
	file.Close()
	if err != nil {
		return 1
	}
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, unix.SIGTERM, unix.SIGINT, unix.SIGQUIT)
	// Caught, not ignored: what is ignored is inherited by programs.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE, unix.SIGALRM, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU)
	h := &holder{
		owner:   child.NewOwner(&child.Options{Solo: true}),
		started: make(chan struct{}), over: make(chan struct{}), guests: map[*guest]struct{}{},
	}
	return h.live(conn, ends)
}

// live lasts until there is nothing to hold.
func (h *holder) live(conn net.Conn, ends <-chan os.Signal) int {
	first := h.welcome(conn, true)
	select {
	case <-h.started:
	case <-first.life.Done():
		first.running.Wait() // it may be starting right now
	case <-time.After(bornLimit):
	case <-ends:
	}
	select {
	case <-h.started: // and goes on, whoever comes to take it up
	default:
		_ = h.owner.Close()
		return 1
	}
	debug.FreeOSMemory() // what starting took
	keep := time.AfterFunc(1<<62, h.end)
	defer keep.Stop()
	h.routines.Go(func() {
		select {
		case <-h.session.over():
			keep.Reset(keepLimit)
		case <-h.over:
		}
	})
	h.routines.Go(h.stayReachable)
	select {
	case <-h.over:
	case <-ends:
		h.end()
	}
	return h.leave()
}

// end has the holder leave; it does not wait for it.
func (h *holder) end() { h.once.Do(func() { close(h.over) }) }

// stayReachable ends a holder that nobody is connected to, nor ever can be, because
// its socket was removed, mostly with the whole state directory: what it holds could
// not be read, fed or ended any more.
func (h *holder) stayReachable() {
	ticker := time.NewTicker(addressCheck)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-h.over:
			return
		}
		_, err := os.Lstat(h.dir.address(h.born.Socket))
		if errors.Is(err, fs.ErrNotExist) && len(h.allGuests()) == 0 {
			h.end()
			return
		}
	}
}

// leave ends what is still there, but what was let go: that is waited for.
func (h *holder) leave() int {
	h.listener.Close()
	_ = h.dir.remove(h.born.Socket)
	h.routines.Wait() // nobody comes in any more
	deadline := time.Now().Add(farewell)
	for _, g := range h.allGuests() {
		select {
		case <-g.life.Done():
		case <-time.After(time.Until(deadline)):
		}
		_ = g.conn.Close()
	}
	// What was let go is kept alive by the owner, without the memory of a session.
	// Of anything else the terminal must not go before the program.
	last := []func() error{h.owner.Close, h.session.discard}
	if h.released.Load() {
		slices.Reverse(last)
	}
	if errors.Join(last[0](), last[1]()) != nil {
		return 1
	}
	return 0
}

// start starts the session; nothing is answered before.
func (h *holder) start(ctx context.Context, c commission) (welcome, error) {
	l := &launch{}
	if err := gob.NewDecoder(bytes.NewReader(c.Launch)).Decode(l); err != nil {
		return welcome{}, tools.Errorf(tools.CodeInternal, "what to start cannot be read: %w", err)
	}
	boot, err := bootID()
	if err != nil {
		return welcome{}, err
	}
	if h.dir, err = openSocketDir(c.Sessions, false); err != nil {
		return welcome{}, err
	}
	// Before the program: what nobody could take up must not run.
	h.listener, err = listenAlone(h.dir.address(c.Socket))
	if err != nil {
		return welcome{}, tools.Errorf(tools.CodeStateUnavailable, "no socket for the session: %w", err)
	}
	h.listener.SetUnlinkOnClose(false)
	h.engine = newEngine(h.owner, newSpoolBudget(c.Kept))
	s, err := startLocal(ctx, h.engine, l, func(*local) {})
	if err != nil {
		h.listener.Close()
		_ = h.dir.remove(c.Socket)
		return welcome{}, err
	}
	h.session, h.born = s, c
	h.born.Launch = nil
	info := s.info(ctx)
	h.ref = reference{Session: l.ID, Holder: processAt(os.Getpid()), Child: processAt(info.PID), Boot: boot, Mark: c.Mark}
	h.mu.Lock()
	h.fence = c.Fence
	h.mu.Unlock()
	h.routines.Go(h.accept)
	close(h.started)
	return welcome{Reference: h.ref, Info: info}, nil
}

// listenAlone makes a socket that is its user's alone from the first moment on. The
// mask is the program's otherwise, and nothing else is made here meanwhile.
func listenAlone(address string) (*net.UnixListener, error) {
	defer unix.Umask(unix.Umask(0o177))
	return net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: address})
}

// accept lets in who may come in.
func (h *holder) accept() {
	for {
		conn, err := h.listener.AcceptUnix()
		if err != nil {
			select {
			case <-h.over:
				return
			case <-time.After(100 * time.Millisecond): // out of descriptors, or the like
				continue
			}
		}
		var untrusted error
		raw, err := conn.SyscallConn()
		if err == nil {
			err = raw.Control(func(fd uintptr) { _, untrusted = checkPeer(int(fd)) })
		}
		if err != nil || untrusted != nil {
			conn.Close()
			continue
		}
		h.welcome(conn, false)
	}
}

// admit takes the fence of who says hello, and turns out whoever has a lower one.
func (h *holder) admit(g *guest, said hello) (welcome, error) {
	h.mu.Lock()
	if said.Session != h.ref.Session {
		h.mu.Unlock()
		return welcome{}, tools.Errorf(tools.CodeRecoveryUntrusted, "this is the holder of another session than %.64q", said.Session)
	}
	if said.Fence < h.fence {
		h.mu.Unlock()
		return welcome{}, h.overtaken()
	}
	h.fence = said.Fence
	g.fence, g.in = said.Fence, true
	var out []*guest
	for other := range h.guests {
		if other.in && other.fence < said.Fence {
			out = append(out, other)
		}
	}
	h.mu.Unlock()
	for _, other := range out {
		_ = other.conn.Close()
	}
	return welcome{Reference: h.ref, Info: h.session.info(g.life)}, nil
}

func (h *holder) overtaken() error {
	return tools.Errorf(tools.CodeRecoveryFence, "session %s was taken up by another prism-ls since", h.ref.Session)
}

func (h *holder) allGuests() []*guest {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []*guest
	for g := range h.guests {
		all = append(all, g)
	}
	return all
}
