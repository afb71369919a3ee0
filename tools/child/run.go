package child

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

const (
	// defaultRunOutput is what Run keeps of each stream.
	defaultRunOutput = 64 << 20
	// defaultRunGrace is what a program gets between TERM and KILL.
	defaultRunGrace = 2 * time.Second
	// drainLimit bounds reading on after the whole tree is gone: only a process
	// outside of it that was handed the pipe can still hold it open.
	drainLimit = time.Second
)

// RunOptions bound one Run; zero fields mean the defaults.
type RunOptions struct {
	// Stdin is written to the program's standard input; nil is the null device.
	// It takes the place of Command.Stdin.
	Stdin []byte
	// MaxOutput is how many bytes of each stream are kept, the first ones; the
	// rest is read and dropped. 0 is 64 MiB.
	MaxOutput int64
	// Grace is the time between TERM and KILL when the context ends; 0 is 2 s.
	Grace time.Duration
}

// RunResult is what a program left.
type RunResult struct {
	Exit           Exit
	Stdout, Stderr []byte
	// StdoutBytes and StderrBytes count everything, kept or not.
	StdoutBytes, StderrBytes int64
	// Tree is what was still running when the program itself had ended (or the
	// context had), and was killed.
	Tree KillReport
	// Sandbox is what the program really ran under.
	Sandbox Capabilities
}

// Run starts a program, collects its output and waits for its end; then what
// is left of its tree is killed. A Stdout or Stderr given in cmd is used as it
// is and not collected. A program that fails is not an error of Run: look at
// Exit. When ctx ends the tree gets TERM, grace, KILL, and Run returns what
// there is with the context's error.
func (o *Owner) Run(ctx context.Context, cmd Command, opts RunOptions) (*RunResult, error) {
	if opts.MaxOutput <= 0 {
		opts.MaxOutput = defaultRunOutput
	}
	if opts.Grace <= 0 {
		opts.Grace = defaultRunGrace
	}
	streams, err := openStreams(&cmd, opts)
	if err != nil {
		return nil, err
	}
	process, err := o.Start(ctx, cmd)
	streams.closeChildEnds()
	if err != nil {
		streams.abandon()
		return nil, err
	}
	streams.pump()

	result := &RunResult{Sandbox: process.Sandbox()}
	exit, waitErr := process.Wait(ctx)
	var killErr error
	if waitErr != nil && ctx.Err() != nil {
		result.Tree, killErr = process.Kill(opts.Grace)
		exit, _ = process.ended()
		waitErr = context.Cause(ctx)
	} else {
		result.Tree, killErr = process.Release()
	}
	streams.finish(result)
	result.Exit = exit
	return result, errors.Join(waitErr, killErr)
}

// streams are the pipes of one Run and the goroutines that serve them.
type streams struct {
	stdin          []byte
	stdinEnd       *os.File
	stdout, stderr *collector
	childEnds      []*os.File
	wait           sync.WaitGroup
}

// collector keeps the beginning of a stream and counts all of it.
type collector struct {
	file  *os.File
	kept  bytes.Buffer
	limit int64
	total int64
}

func openStreams(cmd *Command, opts RunOptions) (*streams, error) {
	s := &streams{stdin: opts.Stdin}
	if opts.Stdin != nil {
		reader, writer, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		s.childEnds = append(s.childEnds, reader)
		s.stdinEnd, cmd.Stdin = writer, reader
	}
	for _, stream := range []struct {
		file **os.File
		to   **collector
	}{{&cmd.Stdout, &s.stdout}, {&cmd.Stderr, &s.stderr}} {
		if *stream.file != nil {
			continue
		}
		reader, writer, err := os.Pipe()
		if err != nil {
			s.closeChildEnds()
			s.abandon()
			return nil, err
		}
		s.childEnds = append(s.childEnds, writer)
		*stream.file = writer
		*stream.to = &collector{file: reader, limit: opts.MaxOutput}
	}
	return s, nil
}

func (s *streams) closeChildEnds() {
	for _, file := range s.childEnds {
		file.Close()
	}
	s.childEnds = nil
}

func (s *streams) abandon() {
	if s.stdinEnd != nil {
		s.stdinEnd.Close()
	}
	for _, c := range []*collector{s.stdout, s.stderr} {
		if c != nil {
			c.file.Close()
		}
	}
}

// pump starts the goroutines; finish waits for them.
func (s *streams) pump() {
	if s.stdinEnd != nil {
		s.wait.Go(func() {
			// A program need not read its input: an error here says no more
			// than that it did not.
			_, _ = s.stdinEnd.Write(s.stdin)
			s.stdinEnd.Close()
		})
	}
	for _, c := range []*collector{s.stdout, s.stderr} {
		if c != nil {
			s.wait.Go(c.drain)
		}
	}
}

func (s *streams) finish(result *RunResult) {
	deadline := time.Now().Add(drainLimit)
	if s.stdinEnd != nil {
		_ = s.stdinEnd.SetWriteDeadline(time.Now())
	}
	for _, c := range []*collector{s.stdout, s.stderr} {
		if c != nil {
			_ = c.file.SetReadDeadline(deadline)
		}
	}
	s.wait.Wait()
	if s.stdout != nil {
		result.Stdout, result.StdoutBytes = s.stdout.kept.Bytes(), s.stdout.total
	}
	if s.stderr != nil {
		result.Stderr, result.StderrBytes = s.stderr.kept.Bytes(), s.stderr.total
	}
}

func (c *collector) drain() {
	defer c.file.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := c.file.Read(buffer)
		c.total += int64(n)
		if room := c.limit - int64(c.kept.Len()); room > 0 {
			c.kept.Write(buffer[:min(int64(n), room)])
		}
		if err != nil {
			return // the end, or the deadline of finish: nothing more to be had
		}
	}
}
