package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// keepIdle is how many idle reapers are kept after they were needed at the
	// same time, if Options.Spares is less.
	keepIdle = 4
	// mostStarting is how many reapers start at the same time. In a burst of
	// short commands a returned one is sooner there than a new one.
	mostStarting = 4
	// startLimit bounds the wait for a helper that is being started.
	startLimit = 30 * time.Second
	// closeLimit bounds the wait for a guardian's end.
	closeLimit = 2*shutdownGrace + killLimit + 2*time.Second
)

// Owner starts programs and owns what they start. Its methods may be called by
// any number of goroutines.
type Owner struct {
	options Options

	mu       sync.Mutex
	guardian *keeper
	leases   map[*lease]struct{} // every reaper, idle or not
	idle     []*lease
	waiters  []chan offer // of Starts without a reaper, the first first
	starting int          // reapers that have not said that they are ready
	closed   bool
	wait     sync.WaitGroup // goroutines of links and the guardian's wait

	closing  sync.Once
	closeErr error
	stuck    atomic.Bool // solo: some processes could not be killed

	probing sync.Mutex
	probed  *Capabilities
}

// NewOwner returns an owner. It starts nothing until the first Start.
func NewOwner(opts *Options) *Owner {
	return &Owner{options: opts.orDefault(), leases: map[*lease]struct{}{}}
}

// keeper is the owner's side of its guardian.
type keeper struct {
	*link
	process *os.Process
	// ready is closed when the guardian said that it is one.
	ready chan struct{}
	// ended is closed when the process was waited for.
	ended chan struct{}
	state *os.ProcessState
}

// offer is a reaper for a Start, or why there is none.
type offer struct {
	lease *lease
	err   error
}

// lease is the owner's side of one reaper.
type lease struct {
	*link
	owner    *Owner
	guardian *keeper

	ready bool // guarded by the owner's mu

	mu      sync.Mutex
	process *Process // nil while idle
}

// Start starts a program. ctx bounds the start alone; Process.Kill ends what
// was started. Errors: *fs.PathError when the system cannot execute Path in
// Dir, ErrSandbox, ErrClosed, ErrLost, or what is wrong with cmd.
func (o *Owner) Start(ctx context.Context, cmd Command) (*Process, error) {
	if err := cmd.check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	dir := cmd.Dir
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	s := &spec{path: cmd.Path, dir: dir, args: cmd.Args, env: cmd.Env, tty: cmd.TTY}
	granted, err := o.sandbox(ctx, cmd.Sandbox, s)
	if err != nil {
		return nil, err
	}
	return o.start(ctx, &cmd, s, granted)
}

func (o *Owner) start(ctx context.Context, cmd *Command, s *spec, granted Capabilities) (*Process, error) {
	late := errNoHelper
	if o.options.Solo {
		late = errBusy
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, late)
	defer cancel()
	for try := range 3 {
		l, err := o.lease(ctx)
		if errors.Is(err, errGone) && try < 2 {
			continue
		}
		if err != nil {
			return nil, o.explain(err)
		}
		process, err := l.start(ctx, cmd, s, granted)
		if errors.Is(err, errGone) && try < 2 {
			// An idle reaper died unnoticed; nothing was sent to it.
			l.file.Close()
			continue
		}
		if err == nil {
			o.replenish()
		}
		return process, o.explain(err)
	}
	return nil, ErrLost
}

// errBusy is a solo owner whose program, or what that left, still runs.
var errBusy = errors.New("child: a solo owner runs one program at a time")

var errNoHelper = errors.New("child: helper did not start; is child.Main the first statement of the program?")

// explain tells a lost helper from a closed owner.
func (o *Owner) explain(err error) error {
	if !errors.Is(err, errGone) && !errors.Is(err, ErrLost) {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return ErrClosed
	}
	return ErrLost
}

// lease returns an idle reaper, or the first that is ready.
func (o *Owner) lease(ctx context.Context) (*lease, error) {
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return nil, ErrClosed
	}
	if last := len(o.idle) - 1; last >= 0 {
		l := o.idle[last]
		o.idle = o.idle[:last]
		o.mu.Unlock()
		return l, nil
	}
	waiter := make(chan offer, 1)
	o.waiters = append(o.waiters, waiter)
	err := o.spawn()
	o.mu.Unlock()
	if err != nil {
		o.stopWaiting(waiter)
		return nil, err
	}
	select {
	case got := <-waiter:
		return got.lease, got.err
	case <-ctx.Done():
		o.stopWaiting(waiter)
		return nil, context.Cause(ctx)
	}
}

// stopWaiting withdraws a waiter; what it was offered meanwhile goes back.
func (o *Owner) stopWaiting(waiter chan offer) {
	o.mu.Lock()
	o.waiters = slices.DeleteFunc(o.waiters, func(w chan offer) bool { return w == waiter })
	o.mu.Unlock()
	select {
	case got := <-waiter:
		if got.lease != nil {
			o.takeBack(got.lease)
		}
	default:
	}
}

// give needs mu. It reports whether somebody was waiting.
func (o *Owner) give(what offer) bool {
	if len(o.waiters) == 0 {
		return false
	}
	o.waiters[0] <- what
	o.waiters = o.waiters[1:]
	return true
}

// failWaiters needs mu.
func (o *Owner) failWaiters(err error) {
	for o.give(offer{err: err}) {
	}
}

// spawn needs mu. It has reapers started for those that wait, and spare ones.
func (o *Owner) spawn() error {
	most := min(mostStarting, len(o.waiters)+o.options.Spares-len(o.idle))
	if o.options.Solo {
		most = 1 - len(o.leases)
	}
	for !o.closed && o.starting < most {
		if err := o.newLease(); err != nil {
			return err
		}
	}
	return nil
}

// replenish has spare reapers started. Nobody waits for them.
func (o *Owner) replenish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.spawn(); err != nil {
		o.options.Logger.Warn("no spare reaper", "error", err)
	}
}

// newLease needs mu.
func (o *Owner) newLease() error {
	l, other, err := newLink()
	if err != nil {
		return err
	}
	defer unix.Close(other)
	fresh := &lease{link: l, owner: o}
	if o.options.Solo {
		return o.newSolo(fresh, other)
	}
	for {
		known := o.guardian != nil
		if !known {
			if err := o.startGuardian(); err != nil {
				l.file.Close()
				return err
			}
		}
		fresh.guardian = o.guardian
		err := o.guardian.send(newPacket(kindSpawn, 0), []int{other})
		if err == nil {
			break
		}
		if !known || !errors.Is(err, errGone) {
			l.file.Close()
			return fmt.Errorf("child: asking for a reaper: %w", err)
		}
		o.guardian = nil // it was killed, and its goroutine has not noticed yet
	}
	o.add(fresh)
	return nil
}

// add needs mu.
func (o *Owner) add(fresh *lease) {
	o.leases[fresh] = struct{}{}
	o.starting++
	o.wait.Go(fresh.run)
}

// startGuardian needs mu.
func (o *Owner) startGuardian() error {
	if isHelper() {
		return errNoHelper // without this check it would go on without end
	}
	l, other, err := newLink()
	if err != nil {
		return err
	}
	socket := os.NewFile(uintptr(other), "guardian-link")
	defer socket.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		l.file.Close()
		return err
	}
	defer null.Close()
	path, argv := "/proc/self/exe", []string{os.Args[0]}
	if len(o.options.Helper) > 0 {
		path, argv = o.options.Helper[0], o.options.Helper
	}
	process, err := os.StartProcess(path, helperArgs(argv, roleGuardian), &os.ProcAttr{
		Env:   helperEnv(),
		Files: []*os.File{null, null, null, socket},
		// A session of its own: no terminal, and no signal meant for ours.
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		l.file.Close()
		return fmt.Errorf("child: starting the guardian: %w", err)
	}
	g := &keeper{link: l, process: process, ready: make(chan struct{}), ended: make(chan struct{})}
	o.guardian = g
	o.wait.Go(func() { o.serveGuardian(g) })
	o.wait.Go(func() {
		defer close(g.ended)
		g.state, _ = process.Wait()
	})
	return nil
}

func (o *Owner) serveGuardian(g *keeper) {
	said := false
	g.serve(func(*message) {
		if !said {
			said = true
			close(g.ready)
		}
	})
	o.mu.Lock()
	if o.guardian == g {
		o.guardian = nil
	}
	o.idle = slices.DeleteFunc(o.idle, func(l *lease) bool {
		if l.guardian == g {
			l.file.Close() // it is ending, too
		}
		return l.guardian == g
	})
	unexpected := !o.closed
	o.mu.Unlock()
	if unexpected {
		o.options.Logger.Warn("guardian ended; its processes end with it", "pid", g.process.Pid)
	}
}

// Close ends every process that the owner started and all that those started,
// with 500 ms between TERM and KILL, waits for it, and then for every helper.
// It is idempotent; afterwards Start returns ErrClosed.
func (o *Owner) Close() error {
	o.closing.Do(func() { o.closeErr = o.close() })
	return o.closeErr
}

func (o *Owner) close() error {
	o.mu.Lock()
	o.closed = true
	o.failWaiters(ErrClosed)
	guardian := o.guardian
	var leases []*lease
	for l := range o.leases {
		leases = append(leases, l)
	}
	o.mu.Unlock()

	var kills sync.WaitGroup
	failures := make([]error, len(leases)+1)
	for i, l := range leases {
		kills.Go(func() { failures[i] = l.close() })
	}
	kills.Wait()
	if guardian != nil {
		guardian.file.Close()
		failures[len(leases)] = guardian.waitEnd()
	}
	o.wait.Wait()
	if o.stuck.Load() {
		failures = append(failures, errSurvivors)
	}
	return errors.Join(failures...)
}

// waitEnd waits for a guardian whose link is closed.
func (g *keeper) waitEnd() error {
	timer := time.NewTimer(closeLimit)
	defer timer.Stop()
	select {
	case <-g.ended:
	case <-timer.C:
		// Its reapers see its end and act on their own.
		_ = g.process.Kill()
		<-g.ended
		return errors.New("child: the guardian did not end and was killed")
	}
	if g.state != nil && g.state.ExitCode() == exitSurvivors {
		return errSurvivors
	}
	return nil
}

var errSurvivors = errors.New("child: some processes could not be killed")
