package child

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// run is the lease's goroutine: it hears of the process's end and of its
// tree's, and of the reaper's own.
func (l *lease) run() {
	l.serve(l.hear)
	l.mu.Lock()
	process := l.process
	l.process = nil
	l.mu.Unlock()
	l.owner.forget(l)
	if process != nil {
		process.setEnd(Exit{}, ErrLost)
		close(process.lost)
	}
}

func (l *lease) hear(m *message) {
	if m.kind == kindDone {
		l.owner.markReady(l)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	process := l.process
	if process == nil {
		return
	}
	empty := m.kind == kindEmpty
	if m.kind == kindExited {
		exit := m.fields.exit()
		empty = m.fields.bool()
		if empty {
			// Before the end is known, so that Release right after it asks nobody.
			close(process.empty)
		}
		process.setEnd(exit, m.fields.err)
	} else if empty {
		close(process.empty)
		process.setEnd(Exit{}, ErrLost) // unless the end was told before
	}
	if empty {
		l.process = nil
		l.owner.takeBack(l)
	}
}

// start sends the command to the reaper. errGone means that it was not sent.
func (l *lease) start(ctx context.Context, cmd *Command, s *spec, granted Capabilities) (*Process, error) {
	var files []int
	for i, file := range []*os.File{cmd.Stdin, cmd.Stdout, cmd.Stderr} {
		if file != nil {
			// Fd makes it blocking, which is what programs expect of theirs.
			files = append(files, int(file.Fd()))
			s.given[i] = true
		}
	}
	process := &Process{lease: l, granted: granted, done: make(chan struct{}), empty: make(chan struct{}), lost: make(chan struct{})}
	l.mu.Lock()
	l.process = process
	l.mu.Unlock()
	request, answer, err := l.ask(kindStart, func(e *encoder) { e.spec(s) }, files)
	keepAlive(cmd)
	if err != nil {
		l.setIdle()
		if !errors.Is(err, errGone) {
			l.owner.takeBack(l)
		}
		return nil, err
	}
	var reply *message
	select {
	case reply = <-answer:
	case <-l.gone:
		select {
		case reply = <-answer:
		default:
			return nil, ErrLost
		}
	case <-ctx.Done():
		// Whether it ran is not known; the reaper ends it with its socket.
		l.forget(request)
		l.file.Close()
		return nil, context.Cause(ctx)
	}
	if reply.kind != kindStarted {
		l.setIdle()
		l.owner.takeBack(l)
		return nil, startError(cmd, reply)
	}
	process.pid, process.reaper = int(reply.fields.int()), int(reply.fields.int())
	return process, nil
}

func (l *lease) setIdle() {
	l.mu.Lock()
	l.process = nil
	l.mu.Unlock()
}

func startError(cmd *Command, reply *message) error {
	failed := stage(reply.fields.int())
	errno := unix.Errno(reply.fields.int())
	text := reply.fields.text()
	if failed == stageConfine {
		return fmt.Errorf("%w: %s (%w)", ErrSandbox, text, errno)
	}
	// The system does not say whether the directory or the program is wrong.
	if cmd.Dir != "" {
		if info, err := os.Stat(cmd.Dir); err != nil || !info.IsDir() {
			return &fs.PathError{Op: "chdir", Path: cmd.Dir, Err: errno}
		}
	}
	return &fs.PathError{Op: "exec", Path: cmd.Path, Err: errno}
}

// close ends the lease's process, if there is one, and the reaper.
func (l *lease) close() error {
	l.mu.Lock()
	process := l.process
	l.mu.Unlock()
	var err error
	if process != nil {
		_, err = process.Kill(shutdownGrace)
	}
	l.file.Close()
	return err
}

// takeBack makes a reaper whose tree is empty ready for the next command.
func (o *Owner) takeBack(l *lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.leases[l]; !known {
		return
	}
	usable := !o.closed && l.guardian == o.guardian
	if usable && o.give(offer{lease: l}) {
		return
	}
	if !usable || len(o.idle) >= max(o.options.Spares, keepIdle) {
		l.file.Close()
		return
	}
	o.idle = append(o.idle, l)
}

// markReady takes in a reaper that has started.
func (o *Owner) markReady(l *lease) {
	o.mu.Lock()
	l.ready = true
	o.starting--
	o.mu.Unlock()
	o.takeBack(l)
	o.replenish()
}

// forget drops a reaper that is gone. If it never was ready, somebody waited
// for it and is told; the others get another one.
func (o *Owner) forget(l *lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.leases, l)
	o.idle = slices.DeleteFunc(o.idle, func(idle *lease) bool { return idle == l })
	if l.ready {
		return
	}
	o.starting--
	if l.guardian != nil && !isClosed(l.guardian.ready) {
		o.failWaiters(errNoHelper)
		return
	}
	o.give(offer{err: errGone})
	if err := o.spawn(); err != nil {
		o.failWaiters(err)
	}
}
