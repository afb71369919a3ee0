package child

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a program that was started, and the tree below it.
type Process struct {
	lease   *lease
	pid     int
	reaper  int
	granted Capabilities

	fate  sync.Mutex // held while it is let go, which a kill waits for
	dying bool       // guarded by fate: from now on it cannot be let go

	ending sync.Once
	done   chan struct{} // the program itself has ended
	exit   Exit          // valid after done
	err    error         // valid after done
	afters afters
	empty  chan struct{} // nothing is left of the tree
	lost   chan struct{} // the reaper was gone before that
}

// PID is the program's number. It is free for other use once the program has
// ended, so nothing should be signalled by it: use Signal.
func (p *Process) PID() int { return p.pid }

// Done is closed when the program itself has ended; others of its tree may
// still run.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for the program itself to end. The error is that of ctx, or
// ErrLost.
func (p *Process) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-p.done:
		return p.exit, p.err
	default:
	}
	select {
	case <-p.done:
		return p.exit, p.err
	case <-ctx.Done():
		return Exit{}, context.Cause(ctx)
	}
}

// Sandbox says what the program really runs under; without one all is false.
func (p *Process) Sandbox() Capabilities { return p.granted }

// Signal signals the program's process group, or what is left of it when the
// program itself has ended. ErrFinished: nothing is.
func (p *Process) Signal(sig syscall.Signal) error { return p.SignalGroup(0, sig) }

// SignalGroup signals another process group of the tree, such as a terminal's
// foreground group; processes of that group outside of the tree are left alone.
// ErrFinished: the tree has no such group.
func (p *Process) SignalGroup(group int, sig syscall.Signal) error {
	if p.over() {
		return ErrFinished
	}
	reply, err := p.lease.requestSoon(kindSignal, func(e *encoder) { e.int(int64(sig)); e.int(int64(group)) })
	if err != nil {
		return p.gone(err)
	}
	switch errno := unix.Errno(reply.fields.int()); errno {
	case 0:
		return nil
	case unix.ESRCH:
		return ErrFinished
	default:
		return errno
	}
}

// Tree names every live process of the tree, parents before children.
func (p *Process) Tree() ([]Info, error) {
	if p.over() {
		return nil, nil
	}
	reply, err := p.lease.requestSoon(kindTree, nil)
	if err != nil {
		return nil, p.gone(err)
	}
	return reply.fields.infos(), reply.fields.err
}

// Kill ends the tree: TERM (and CONT; HUP first on a terminal) to the program's
// group and to what left it, up to grace for all of it to end, then KILL until
// nothing is left. No grace means KILL at once. It returns within grace plus
// about two seconds, with the survivors if there are any. A tree that has ended
// gives an empty report.
func (p *Process) Kill(grace time.Duration) (KillReport, error) {
	p.doom()
	var asked []Info
	if grace > 0 && !p.over() {
		reply, err := p.lease.requestSoon(kindTerminate, nil)
		if errors.Is(err, context.DeadlineExceeded) {
			return p.killLost() // a stopped reaper: once waiting is enough
		}
		if err == nil {
			asked = reply.fields.infos()
			timer := time.NewTimer(grace)
			defer timer.Stop()
			select {
			case <-p.empty:
			case <-p.lost:
			case <-timer.C:
			}
		}
	}
	report, err := p.killNow()
	for _, info := range asked {
		same := func(other Info) bool { return other.PID == info.PID }
		if !slices.ContainsFunc(report.Killed, same) && !slices.ContainsFunc(report.Survivors, same) {
			report.Killed = append(report.Killed, info)
		}
	}
	slices.SortFunc(report.Killed, func(a, b Info) int { return a.PID - b.PID })
	return report, err
}

// Release says that the program itself has ended and that what it left behind
// is not wanted: that is killed at once, and reported. On a program that still
// runs it is Kill without grace. Releasing again gives an empty report.
func (p *Process) Release() (KillReport, error) {
	p.doom()
	return p.killNow()
}

// doom settles that the tree ends, unless it was let go.
func (p *Process) doom() {
	p.fate.Lock()
	defer p.fate.Unlock()
	p.dying = true
}

func (p *Process) killNow() (KillReport, error) {
	if p.cleared() {
		return KillReport{}, nil
	}
	reply, err := p.lease.requestSoon(kindKill, nil)
	if err != nil {
		if p.cleared() {
			return KillReport{}, nil
		}
		return p.killLost()
	}
	report := KillReport{Killed: reply.fields.infos(), Survivors: reply.fields.infos()}
	if reply.fields.err != nil {
		return KillReport{}, reply.fields.err
	}
	if len(report.Survivors) == 0 {
		// The reaper has said so already, or does within the moment.
		select {
		case <-p.empty:
		case <-p.lost:
		case <-time.After(requestLimit):
		}
	}
	return report, nil
}

// killLost has the guardian end a tree whose reaper is gone or does not answer.
func (p *Process) killLost() (KillReport, error) {
	if p.lease.guardian == nil {
		return KillReport{}, ErrLost
	}
	reply, err := p.lease.guardian.requestSoon(kindDrop, func(e *encoder) { e.int(int64(p.reaper)) })
	if err != nil {
		if p.cleared() {
			return KillReport{}, nil
		}
		// Without guardian, a reaper ends its tree before itself.
		return KillReport{}, errors.Join(ErrLost, err)
	}
	return KillReport{Killed: reply.fields.infos(), Survivors: reply.fields.infos()}, reply.fields.err
}

// cleared reports whether the reaper said that nothing is left.
func (p *Process) cleared() bool { return isClosed(p.empty) }

// over reports whether there is nobody to talk to any more.
func (p *Process) over() bool { return p.cleared() || isClosed(p.lost) }

func (p *Process) gone(err error) error {
	if p.cleared() {
		return ErrFinished
	}
	if errors.Is(err, errGone) {
		return ErrLost
	}
	return err
}

func (p *Process) setEnd(exit Exit, err error) {
	p.ending.Do(func() {
		p.exit, p.err = exit, err
		close(p.done)
		p.afters.run()
	})
}

func (p *Process) ended() (Exit, bool) {
	if isClosed(p.done) {
		return p.exit, true
	}
	return Exit{}, false
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// keepAlive keeps a command's files open until their numbers were used.
func keepAlive(cmd *Command) {
	runtime.KeepAlive(cmd.Stdin)
	runtime.KeepAlive(cmd.Stdout)
	runtime.KeepAlive(cmd.Stderr)
}
