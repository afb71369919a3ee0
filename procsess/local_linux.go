package procsess

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// openWait is how long after a program's end, without a byte, its output counts as
// complete though somebody still holds it open. Whoever waits is promised 50 ms, of
// which a little is for waking up.
const openWait = 47 * time.Millisecond

// local is a session whose program this process started. One goroutine drains the
// output; an idle session has no other.
type local struct {
	engine  *engine
	launch  *launch
	process *child.Process
	log     *outputLog
	master  *os.File // the terminal, or nil
	slave   *os.File // its other side, until the program ends: one that nobody has open reads as the end, though it may be opened again
	stdin   *os.File // the pipe to the program, or nil
	out     *os.File // what is drained: the master, or the pipe from the program
	writer  writer
	bell    bell // rings at output, at the program's end and at the output's
	knell   bell // rings at the two ends only: waking somebody for every read costs a fast program half of its speed
	resizes *rate.Limiter
	onEnd   func(*local)

	// lastOutput and lastInput are times in nanoseconds since 1970.
	lastOutput, lastInput atomic.Int64

	started  time.Time
	ended    chan struct{} // closed with the program's end
	routines sync.WaitGroup
	expiry   *time.Timer

	mu      sync.Mutex
	modes   escapes // of the output so far
	state   State
	intent  By     // what is about to end the program, if it is us
	sent    uint64 // a bit for each signal on request
	exit    *Exit
	endedAt time.Time
	eof     bool
	columns int
	rows    int
	screens screenPair
	typing  sync.Mutex // keeps what two type apart
	line    typedLine  // guarded by typing
}

// startLocal starts a program. onEnd is called once, after its end is known.
func startLocal(ctx context.Context, e *engine, l *launch, onEnd func(*local)) (*local, error) {
	s := &local{
		engine: e, launch: l, state: Running, columns: l.Columns, rows: l.Rows, onEnd: onEnd,
		log:     newOutputLog(logOptions{dir: l.SpoolDir, budget: e.budget, spool: l.Spool}),
		ended:   make(chan struct{}),
		resizes: rate.NewLimiter(rate.Every(time.Minute/time.Duration(l.Resizes)), int(l.Resizes)),
	}
	cmd := child.Command{Path: l.Path, Args: l.Args, Dir: l.Dir, Env: l.Env, Sandbox: l.Sandbox, TTY: !l.Pipe}
	open := s.openPipes
	if !l.Pipe {
		open = s.openTerminal
	}
	ends, err := open(&cmd)
	if err != nil {
		return nil, err
	}
	s.started = time.Now()
	s.process, err = e.owner.Start(ctx, cmd)
	for _, end := range ends {
		end.Close() // else the output would never end
	}
	if err != nil {
		s.closeFiles()
		return nil, startError(l, err)
	}
	s.screens.columns, s.screens.rows = l.Columns, l.Rows
	s.modes.position = func(at int64) (column, row int) { return s.screens.position(s.log, at) }
	s.lastOutput.Store(s.started.UnixNano())
	s.writer.file = s.typedInto()
	s.expiry = time.AfterFunc(l.Lifetime, s.expire)
	s.routines.Go(s.drain)
	s.routines.Add(1)
	s.process.AfterEnd(s.await)
	return s, nil
}

func (s *local) openTerminal(cmd *child.Command) (ends []*os.File, err error) {
	master, slave, err := openTerminal(s.launch)
	if err != nil {
		return nil, err
	}
	s.master, s.slave, s.out = master, slave, master
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	return nil, nil
}

// openPipes makes one pipe for both of the program's outputs, which keeps their
// order, and one for its input.
func (s *local) openPipes(cmd *child.Command) (ends []*os.File, err error) {
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return nil, tools.AsError(err)
	}
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		outRead.Close()
		outWrite.Close()
		return nil, tools.AsError(err)
	}
	s.out, s.stdin = outRead, inWrite
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inRead, outWrite, outWrite
	return []*os.File{inRead, outWrite}, nil
}

func (s *local) typedInto() *os.File {
	if s.master != nil {
		return s.master
	}
	return s.stdin
}

func startError(l *launch, err error) error {
	if _, coded := err.(*tools.Error); coded {
		return err
	}
	return tools.Errorf(tools.AsError(err).Code, "%s could not be started: %w", l.Path, err)
}

func (s *local) closeFiles() {
	s.out.Close()
	for _, file := range []*os.File{s.stdin, s.slave} {
		if file != nil {
			file.Close()
		}
	}
}

// completed closes what is of no use once the program and its output have ended,
// whichever comes last. The log stays.
func (s *local) completed() {
	if !s.isComplete() {
		return
	}
	s.out.Close()
	if s.stdin != nil {
		s.writer.end() // what it left behind may still read
	}
}

// await takes note of the program's end.
func (s *local) await() {
	defer s.routines.Done()
	exit, err := s.process.Wait(context.Background())
	s.mu.Lock()
	s.endedAt = time.Now()
	s.exit = s.describe(exit, err)
	switch {
	case errors.Is(err, child.ErrLetGo):
		s.state, s.exit = Released, &Exit{By: ByRelease}
	case err != nil:
		s.state = Unknown
	case s.intent == ByKill, s.intent == ByRelease:
		s.state = Killed
	case s.intent == ByTimeout:
		s.state = Expired
	default:
		s.state = Exited
	}
	close(s.ended)
	s.mu.Unlock()
	if s.master != nil {
		s.slave.Close() // from now on the output ends when nobody else holds it
		s.writer.drop()
	}
	s.completed()
	s.bell.ring()
	s.knell.ring()
	s.onEnd(s)
}

// describe needs mu.
func (s *local) describe(exit child.Exit, err error) *Exit {
	if err != nil {
		return &Exit{By: ByOther} // its reaper was killed, and it with it
	}
	out := &Exit{CoreDumped: exit.CoreDumped, By: ByItself, User: &exit.User, System: &exit.System}
	if exit.MaxRSS > 0 {
		out.MaxRSS = &exit.MaxRSS
	}
	if exit.Signal == 0 {
		out.Code = &exit.Code
	} else {
		out.Signal = signalName(exit.Signal)
		if s.sent&(1<<exit.Signal) != 0 {
			out.By = ByKill
		} else if !ownFault(exit.Signal) {
			out.By = ByOther
		}
	}
	if s.intent != "" {
		out.By = s.intent
	}
	return out
}

// expire ends a session whose lifetime is over.
func (s *local) expire() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*killGrace+2*time.Second)
	defer cancel()
	_, _ = s.kill(ctx, ByTimeout) // survivors are seen in the next kill
}

func (s *local) over() <-chan struct{} { return s.ended }

// detach has nothing to do: without a holder nobody is left who could go on.
func (s *local) detach() error { return nil }

// discard frees what an ended session keeps.
func (s *local) discard() error {
	s.expiry.Stop()
	s.closeFiles()
	s.routines.Wait()
	return s.log.close()
}
