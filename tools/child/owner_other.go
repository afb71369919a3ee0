//go:build !linux

package child

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"
)

// shutdownGrace is the time between TERM and KILL in Close.
const shutdownGrace = 500 * time.Millisecond

// Main does nothing on this system: there are no helper roles.
func Main() {}

// Owner starts programs and ends them. See the package comment for what this
// system does not promise.
type Owner struct {
	options Options
	mu      sync.Mutex
	closed  bool
	live    map[*Process]struct{}
}

// NewOwner returns an owner that has started nothing yet.
func NewOwner(opts *Options) *Owner {
	return &Owner{options: opts.orDefault(), live: map[*Process]struct{}{}}
}

// Start starts a program.
func (o *Owner) Start(ctx context.Context, cmd Command) (*Process, error) {
	if err := cmd.check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if cmd.Sandbox.mode() == Require {
		return nil, errors.Join(ErrSandbox, ErrUnsupported)
	}
	if cmd.TTY {
		return nil, errors.Join(errors.New("child: no terminal sessions"), ErrUnsupported)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil, ErrClosed
	}
	process, err := startProcess(&cmd)
	if err != nil {
		return nil, err
	}
	process.owner = o
	o.live[process] = struct{}{}
	go func() {
		process.reap()
		o.forget(process)
		close(process.reaped)
	}()
	return process, nil
}

func (o *Owner) forget(process *Process) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.live, process)
}

// Probe reports that nothing is isolated on this system.
func (o *Owner) Probe(context.Context) (Capabilities, error) { return Capabilities{}, nil }

// Close ends every program that has not ended and waits for it.
func (o *Owner) Close() error {
	o.mu.Lock()
	o.closed = true
	var processes []*Process
	for process := range o.live {
		processes = append(processes, process)
	}
	o.mu.Unlock()
	var failures []error
	for _, process := range processes {
		_, err := process.Kill(shutdownGrace)
		failures = append(failures, err)
	}
	for _, process := range processes {
		<-process.reaped
	}
	return errors.Join(failures...)
}

// Process is a program that was started.
type Process struct {
	afters  afters
	owner   *Owner
	process *os.Process
	command string
	done    chan struct{}
	reaped  chan struct{}
	exit    Exit
	err     error
}

func startProcess(cmd *Command) (*Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	files := []*os.File{cmd.Stdin, cmd.Stdout, cmd.Stderr}
	for i, file := range files {
		if file == nil {
			files[i] = null
		}
	}
	env := cmd.Env
	if env == nil {
		env = []string{} // nil would mean this process's own
	}
	process, err := os.StartProcess(cmd.Path, append([]string{cmd.Path}, cmd.Args...), &os.ProcAttr{
		Dir: cmd.Dir, Env: env, Files: files, Sys: ownGroup(),
	})
	if err != nil {
		return nil, err
	}
	return &Process{
		process: process,
		command: commandLine(cmd.Path, cmd.Args),
		done:    make(chan struct{}),
		reaped:  make(chan struct{}),
	}, nil
}

func (p *Process) reap() {
	state, err := p.process.Wait()
	if err != nil {
		p.err = err
	} else {
		p.exit = exitOf(state)
	}
	close(p.done)
	p.afters.run()
}

// PID is the process's number; it may be used again once the process has ended.
func (p *Process) PID() int { return p.process.Pid }

// Done is closed when the program itself has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for the program itself to end.
func (p *Process) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-p.done:
		return p.exit, p.err
	case <-ctx.Done():
		return Exit{}, context.Cause(ctx)
	}
}

// Sandbox is what the program runs under: nothing, on this system.
func (p *Process) Sandbox() Capabilities { return Capabilities{} }

// SignalGroup signals the program's process group; of others nothing is known
// here, and they are ErrUnsupported.
func (p *Process) SignalGroup(group int, sig syscall.Signal) error {
	if group != 0 && group != p.PID() {
		return ErrUnsupported
	}
	return p.Signal(sig)
}

// Signal signals the program's process group.
func (p *Process) Signal(sig syscall.Signal) error {
	if _, ended := p.ended(); ended {
		return ErrFinished
	}
	return signalGroup(p.process, sig)
}

// Tree names the program while it runs; its descendants are not known.
func (p *Process) Tree() ([]Info, error) {
	if _, ended := p.ended(); ended {
		return nil, nil
	}
	return []Info{{PID: p.PID(), Command: p.command}}, nil
}

// Kill ends the program's process group: TERM, grace, KILL.
func (p *Process) Kill(grace time.Duration) (KillReport, error) {
	self := []Info{{PID: p.PID(), Command: p.command}}
	if _, ended := p.ended(); ended {
		return KillReport{}, killGroup(p.process)
	}
	if grace > 0 && signalGroup(p.process, syscall.SIGTERM) == nil {
		select {
		case <-p.done:
		case <-time.After(grace):
		}
	}
	if err := killGroup(p.process); err != nil {
		return KillReport{Survivors: self}, err
	}
	select {
	case <-p.done:
		return KillReport{Killed: self}, nil
	case <-time.After(requestLimit):
		return KillReport{Survivors: self}, nil
	}
}

// Release ends what is left of the program's process group.
func (p *Process) Release() (KillReport, error) { return p.Kill(0) }

// LetGo leaves the program to itself: Close does not end it. Nobody can keep its
// files open here, so that only one without any in keep can be let go.
func (p *Process) LetGo(keep ...*os.File) error {
	if _, ended := p.ended(); ended {
		return ErrFinished
	}
	if len(keep) > 0 {
		return errors.Join(errors.New("child: nobody can keep its files open"), ErrUnsupported)
	}
	p.owner.forget(p)
	return nil
}

func (p *Process) ended() (Exit, bool) {
	select {
	case <-p.done:
		return p.exit, true
	default:
		return Exit{}, false
	}
}

const requestLimit = 5 * time.Second

func commandLine(path string, args []string) string {
	line := path
	for _, arg := range args {
		line += " " + arg
	}
	return line[:min(len(line), 256)]
}
