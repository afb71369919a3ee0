package procsess

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

const (
	// answerLimit is when a holder that does not answer counts as stuck.
	answerLimit = 5 * time.Second
	// infoLimit is the same where many are asked, and what was known is an answer.
	infoLimit = time.Second
)

// remote is a durable session: its verbs are its holder's.
type remote struct {
	line   *line
	dir    string // of the sockets
	logger *slog.Logger
	onEnd  func()

	stop     context.CancelFunc // ends watch
	watching sync.WaitGroup
	ended    chan struct{} // the program has ended, or nothing certain is known

	dialing sync.Mutex // one at a time connects anew

	mu   sync.Mutex
	link *link
	last Info
	// lost is why nothing can be known of the session any more.
	lost error
}

// newRemote takes a connection that has been welcomed.
func newRemote(l *line, dir string, logger *slog.Logger, first *link, info Info) *remote {
	return &remote{line: l, dir: dir, logger: logger, link: first, last: info, ended: make(chan struct{})}
}

// newTombstone is a session of which nothing more can be had; lost says why.
func newTombstone(l *line, logger *slog.Logger, info Info, lost error) *remote {
	s := &remote{line: l, logger: logger, last: info, lost: lost, ended: make(chan struct{})}
	close(s.ended)
	return s
}

// watch hears of the session's end, and calls onEnd once after it.
func (s *remote) watch(onEnd func()) {
	ctx, stop := context.WithCancel(context.Background())
	s.onEnd, s.stop = onEnd, stop
	s.watching.Go(func() {
		for ctx.Err() == nil {
			info, err := request[Info](ctx, s, callOver, nothing{})
			switch {
			case err == nil:
				s.finish(info, nil)
				return
			case ctx.Err() != nil:
				return
			case s.isLost() != nil:
				s.finish(Info{}, s.isLost())
				return
			}
			// A connection that ended for its own reasons: the next one goes on.
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	})
}

// finish settles what is known at the end, and writes it down.
func (s *remote) finish(info Info, lost error) {
	s.mu.Lock()
	if lost == nil {
		s.last = info
	} else {
		s.last.State, s.last.Exit, s.last.Ended = Unknown, nil, time.Now()
		s.last.Input, s.last.Ports = Input{State: UnknownInput}, nil
		s.last.Degraded = tools.AsError(lost).Message
	}
	s.mu.Unlock()
	if !errors.Is(lost, tools.CodeRecoveryFence) { // else it is another's to write
		ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
		defer cancel()
		known := s.known()
		err := s.line.change(ctx, func(r *record) { r.State, r.Exit, r.Ended = known.State, known.Exit, known.Ended })
		if err != nil {
			s.logger.Warn("a durable session's end could not be recorded", "id", known.ID, "error", err)
		}
	}
	close(s.ended)
	if s.onEnd != nil {
		s.onEnd()
	}
}

func (s *remote) known() Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

func (s *remote) isLost() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// connected returns the connection, a new one if it has ended.
func (s *remote) connected(ctx context.Context) (*link, error) {
	s.mu.Lock()
	l, lost := s.link, s.lost
	s.mu.Unlock()
	if lost != nil {
		return nil, lost
	}
	if !l.isOver() {
		return l, nil
	}
	s.dialing.Lock()
	defer s.dialing.Unlock()
	s.mu.Lock()
	l, lost = s.link, s.lost
	s.mu.Unlock()
	if lost != nil || !l.isOver() {
		return l, lost
	}
	l.close()
	record, fence := s.line.now()
	fresh, said, err := greet(ctx, s.dir, &record, fence)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.link, s.last = fresh, said.Info
		return fresh, nil
	case errors.Is(err, tools.CodeRecoveryUnknown), errors.Is(err, tools.CodeRecoveryUntrusted), errors.Is(err, tools.CodeRecoveryFence):
		s.lost = err
	}
	return nil, err // of anything else it may come to itself
}

// greet connects to the holder of a record, and makes sure that it is that.
func greet(ctx context.Context, dir string, r *record, fence int64) (*link, welcome, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerLimit, errNoAnswer(r.Session))
	defer cancel()
	conn, pid, err := dial(ctx, dir, r)
	if err != nil {
		return nil, welcome{}, err
	}
	l := newLink(conn, nil)
	said, err := exchange[welcome](ctx, l, callHello, hello{Session: r.Session, Fence: fence})
	if err == nil {
		err = r.attest(said.Reference, pid)
	}
	if err != nil {
		l.close()
		switch {
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case errors.Is(err, tools.CodeRecoveryUnknown):
			// Somebody was there, and went. The next one who looks will know.
			err = tools.Errorf(tools.CodeRecoveryTimeout, "session %s: %w; try again", r.Session, err)
		}
		return nil, welcome{}, err
	}
	return l, said, nil
}

func errNoAnswer(session string) error {
	return tools.Errorf(tools.CodeRecoveryTimeout, "the holder of session %s does not answer", session)
}

func dial(ctx context.Context, dir string, r *record) (conn net.Conn, pid int, err error) {
	nobody := func(err error) error {
		return tools.Errorf(tools.CodeRecoveryUnknown, "nobody holds session %s any more: %w", r.Session, err)
	}
	sockets, err := openSocketDir(dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nobody(err)
	}
	if err != nil {
		return nil, 0, err
	}
	defer sockets.close()
	var dialer net.Dialer
	conn, err = dialer.DialContext(ctx, "unix", sockets.address(r.Socket))
	if ctx.Err() != nil {
		return nil, 0, context.Cause(ctx)
	}
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ECONNREFUSED):
		return nil, 0, nobody(err)
	case err != nil: // out of descriptors, or the like: it says nothing of the session
		return nil, 0, tools.Errorf(tools.CodeRecoveryTimeout, "session %s cannot be reached: %w; try again", r.Session, err)
	}
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err == nil {
		var peer error
		err = raw.Control(func(fd uintptr) { pid, peer = checkPeer(int(fd)) })
		err = errors.Join(err, peer)
	}
	if err != nil {
		conn.Close()
		return nil, 0, tools.AsError(err)
	}
	return conn, pid, nil
}

// attest compares what the holder says with the record, and with what the kernel
// says of the socket's other end. A record of a start that nobody saw the end of
// does not know the numbers yet; the secret says that it is the one.
func (r *record) attest(said reference, peer int) error {
	boot, err := bootID()
	if err != nil {
		return err
	}
	begun := r.State != Starting
	for _, part := range []struct {
		what string
		same bool
	}{
		{"session", said.Session == r.Session},
		{"secret", hashOf(said.Mark) == r.Mark},
		{"run of the machine", said.Boot == boot && (!begun || said.Boot == r.Boot)},
		{"holder", said.Holder.PID == peer && said.Holder == processAt(peer) && (!begun || said.Holder == r.Holder)},
		{"program", !begun || said.Child == r.Child},
	} {
		if !part.same {
			return tools.Errorf(tools.CodeRecoveryUntrusted, "what answers for session %s has another %s than was recorded", r.Session, part.what)
		}
	}
	return nil
}

// request asks the holder. The answer of a connection that ends meanwhile is not
// known: CodeRecoveryUnknown.
func request[Out any](ctx context.Context, s *remote, method string, in any) (out Out, err error) {
	l, err := s.connected(ctx)
	if err != nil {
		return out, err
	}
	return exchange[Out](ctx, l, method, in)
}

// soon is request with a bound: more is what the verb itself may take.
func soon[Out any](ctx context.Context, s *remote, more time.Duration, method string, in any) (Out, error) {
	record, _ := s.line.now()
	bounded, cancel := context.WithTimeoutCause(ctx, answerLimit+more, errNoAnswer(record.Session))
	defer cancel()
	out, err := request[Out](bounded, s, method, in)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		err = context.Cause(bounded)
	}
	return out, err
}

func (s *remote) info(ctx context.Context) Info {
	ctx, cancel := context.WithTimeout(ctx, infoLimit)
	defer cancel()
	info, err := request[Info](ctx, s, callInfo, nothing{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.last = info
		return info
	}
	known := s.last
	if known.Degraded == "" {
		known.Degraded = tools.AsError(err).Message
	}
	return known
}

func (s *remote) output(ctx context.Context, what Output) (Page, error) {
	return soon[Page](ctx, s, 0, callOutput, what)
}

func (s *remote) input(ctx context.Context, what Type) (Typed, error) {
	return soon[Typed](ctx, s, what.Wait, callInput, what.onWire())
}

func (s *remote) wait(ctx context.Context, what Wait) (Waited, error) {
	wire, err := soon[waitedOnWire](ctx, s, what.Timeout, callWait, what)
	out := wire.Rest
	out.Matched = string(wire.Matched)
	return out, err
}

func (s *remote) signal(ctx context.Context, sig syscall.Signal) error {
	_, err := soon[nothing](ctx, s, 0, callSignal, signalling{sig})
	return err
}

func (s *remote) kill(ctx context.Context, by By) (child.KillReport, error) {
	out, err := soon[killed](ctx, s, 3*killGrace, callKill, killing{by})
	return out.Report, err
}

func (s *remote) release(ctx context.Context) error {
	_, err := soon[nothing](ctx, s, 0, callRelease, nothing{})
	if err != nil {
		return err
	}
	// The holder goes on as the program's reaper only: nothing to take up again.
	return s.line.strike(ctx)
}

func (s *remote) resize(ctx context.Context, columns, rows int) error {
	_, err := soon[nothing](ctx, s, 0, callResize, sizing{Columns: columns, Rows: rows})
	return err
}

// belongs records whose the session is.
func (s *remote) belongs(owner string, shared []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	return s.line.change(ctx, func(r *record) { r.Owner, r.Shared = owner, shared })
}

func (s *remote) over() <-chan struct{} { return s.ended }

// detach leaves the session to its holder, for whoever takes it up next.
func (s *remote) detach() error {
	if s.stop != nil {
		s.stop()
	}
	s.mu.Lock()
	l := s.link
	s.mu.Unlock()
	if l != nil {
		l.close()
	}
	s.watching.Wait()
	return nil
}

func (s *remote) discard() error {
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	_, err := request[nothing](ctx, s, callDiscard, nothing{})
	if errors.Is(err, tools.CodeRecoveryUnknown) {
		err = nil // there is nobody who keeps anything
	}
	if errors.Is(err, tools.CodeRecoveryFence) {
		err = nil // it is another's to discard
	} else {
		err = errors.Join(err, s.line.strike(ctx))
	}
	return errors.Join(err, s.detach())
}
