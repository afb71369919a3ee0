package builtin

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prism-ls/prism-ls/tools/child"
)

// How long a command that is to end has between TERM and KILL.
const (
	cancelGrace  = 200 * time.Millisecond
	timeoutGrace = 2 * time.Second
)

// How long output is waited for once the shell itself has ended: processes that
// it left behind may hold the pipe open for ever.
const (
	drainSilence = 100 * time.Millisecond
	drainAll     = time.Second
)

// localShell runs commands on this machine.
type localShell struct {
	owner   *child.Owner
	sandbox child.Sandbox
}

func newLocalShell(owner *child.Owner, opts *ShellOptions, root string) *localShell {
	return &localShell{owner: owner, sandbox: opts.sandbox(root)}
}

// temporary is where a command with that environment puts temporary files.
func temporary(env []string) string {
	for _, entry := range env {
		if dir, ok := strings.CutPrefix(entry, "TMPDIR="); ok && dir != "" {
			return dir
		}
	}
	return os.TempDir()
}

// runnable reports whether path is a program.
func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (info.Mode()&0o111 != 0 || os.PathSeparator == '\\')
}

func (l *localShell) Capabilities(ctx context.Context) (child.Capabilities, error) {
	if l.sandbox.Mode == "" || l.sandbox.Mode == child.Off {
		return child.Capabilities{}, nil
	}
	return l.owner.Probe(ctx)
}

func (l *localShell) Run(ctx context.Context, command ShellCommand, out io.Writer) (*ShellExit, error) {
	sandbox := l.sandbox
	if command.Contained {
		sandbox.Mode = child.Require
	}
	reader, writer, err := os.Pipe() // one for both streams, so that their order is kept
	if err != nil {
		return nil, err
	}
	process, err := l.owner.Start(ctx, child.Command{
		Path: command.Path, Args: command.Args, Dir: command.Dir, Env: command.Env, Stdout: writer, Stderr: writer, Sandbox: &sandbox,
	})
	writer.Close()
	if err != nil {
		reader.Close()
		return nil, err
	}
	defer reader.Close() // only now: a closed pipe would end what is to be named
	drain := startDrain(reader, out)
	ctx, cancel := context.WithTimeout(ctx, command.Timeout)
	defer cancel()
	exit := &ShellExit{Code: -1}
	if sandbox.Mode != "" && sandbox.Mode != child.Off {
		granted := process.Sandbox()
		exit.Sandbox = &granted
	}
	select {
	case <-process.Done():
	default:
		select {
		case <-process.Done():
		case <-ctx.Done():
			return exit, l.end(ctx, process, drain, exit)
		case <-drain.failed:
			return exit, l.end(ctx, process, drain, exit)
		}
	}
	ended, waitErr := process.Wait(context.WithoutCancel(ctx))
	exit.Code = ended.Code
	if ended.Signal != 0 {
		exit.Signal, exit.SignalNumber = signalName(ended.Signal), int(ended.Signal)
	}
	failure := drain.finish(ctx)
	report, killErr := process.Release()
	exit.Detached, exit.Survivors = report.Killed, report.Survivors
	return exit, errors.Join(waitErr, failure, killErr)
}

// end kills a command that may not go on.
func (l *localShell) end(ctx context.Context, process *child.Process, drain *drain, exit *ShellExit) error {
	why := context.Cause(ctx)
	grace := cancelGrace
	switch {
	case why == nil:
		grace = 0 // its output cannot be taken any more
	case errors.Is(why, context.DeadlineExceeded):
		grace = timeoutGrace
	}
	report, killErr := process.Kill(grace)
	exit.Survivors = report.Survivors
	failure := drain.finish(context.WithoutCancel(ctx))
	if why == nil {
		why = failure
	}
	return errors.Join(why, killErr)
}

// drain copies a command's output until its end.
type drain struct {
	reader *os.File
	out    io.Writer
	until  atomic.Int64  // UnixNano after which nothing is waited for; 0: not yet
	done   chan struct{} // the copying has ended
	failed chan struct{} // because out took no more
	err    error         // valid after failed
}

func startDrain(reader *os.File, out io.Writer) *drain {
	d := &drain{reader: reader, out: out, done: make(chan struct{}), failed: make(chan struct{})}
	go d.copy()
	return d
}

func (d *drain) copy() {
	defer close(d.done)
	buf := make([]byte, 64<<10)
	for {
		n, err := d.reader.Read(buf)
		if n > 0 {
			if _, d.err = d.out.Write(buf[:n]); d.err != nil {
				close(d.failed)
				return
			}
		}
		if err != nil {
			return // the end, or the deadline of finish
		}
		if until := d.until.Load(); until != 0 {
			d.wait(time.Unix(0, until))
		}
	}
}

// wait allows the next read a time of silence, but not beyond until. A pipe
// always has deadlines, so there is no error to look at.
func (d *drain) wait(until time.Time) {
	next := time.Now().Add(drainSilence)
	if next.After(until) {
		next = until
	}
	_ = d.reader.SetReadDeadline(next)
}

// finish takes what still comes, until it is silent, and returns what out said.
func (d *drain) finish(ctx context.Context) error {
	until := time.Now().Add(drainAll)
	d.until.Store(until.UnixNano())
	d.wait(until)
	select {
	case <-d.done:
	case <-ctx.Done():
		_ = d.reader.SetReadDeadline(time.Now())
		<-d.done
	}
	select {
	case <-d.failed:
		return d.err
	default:
		return nil
	}
}
