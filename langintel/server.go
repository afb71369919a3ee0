package langintel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

func compare[T cmp.Ordered](a, b T) int { return cmp.Compare(a, b) }

// The states of a server, as status reports them.
const (
	stateStopped  = "stopped"  // not needed yet, or stopped because idle
	stateStarting = "starting" // being started
	stateReady    = "ready"
	stateBackoff  = "backoff" // ended unexpectedly; starts again when needed
	stateDown     = "down"    // ended too often; only a restart helps
)

const (
	firstBackoff = 100 * time.Millisecond // then four times as long each time
	stableAfter  = 5 * time.Minute        // a server that lived this long starts with a clean slate
	stopGrace    = 500 * time.Millisecond
)

// server is one entry of the catalogue at one root: it outlives its processes.
type server struct {
	client *Client
	spec   *Spec
	root   string // relative to the workspace

	mu        sync.Mutex
	state     string
	live      *session
	starting  *starting // one start at a time; everybody waits for it
	admitted  bool      // it may start
	restarts  int64     // starts after an unexpected end, since the last stable time
	total     int64     // the same, since the beginning
	diedAt    time.Time
	lastError string
	missing   bool // lastError is of a start that was not tried
	lastUsed  time.Time
	using     int // questions that are being answered
	degraded  string
	closed    bool
	folders   []string // roots of projects that were asked about, of a spec with MultiRoot
}

// want has the server know a project root.
func (s *server) want(root string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.folders, root) {
		s.folders = append(s.folders, root)
	}
}

func (s *server) wanted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.folders)
}

// load says whether the server is up, whether somebody waits for it, and when it
// was used last.
func (s *server) load() (up, busy bool, used time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live != nil || s.admitted, s.using > 0, s.lastUsed
}

// admit counts a starting server among those that are up.
func (s *server) admit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admitted = true
}

// retire stops the session unless somebody waits for it; degraded is what status
// says of that.
func (s *server) retire(degraded string) {
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	s.release(live, 0, degraded)
}

// release stops a session unless more than some wait for it, or it is not the
// current one.
func (s *server) release(live *session, some int, degraded string) {
	s.mu.Lock()
	if live == nil || s.live != live || s.using > some {
		s.mu.Unlock()
		return
	}
	s.live, s.state, s.degraded = nil, stateStopped, degraded
	s.mu.Unlock()
	live.shutdown()
}

// starting is a start that several callers may wait for.
type starting struct {
	done    chan struct{}
	cancel  context.CancelFunc
	session *session
	err     error
}

// acquire returns a live session, started if need be. release must be called
// when the question is answered.
func (s *server) acquire(ctx context.Context) (live *session, release func(), err error) {
	s.mu.Lock()
	s.using++
	s.mu.Unlock()
	release = sync.OnceFunc(func() {
		s.mu.Lock()
		s.using--
		s.lastUsed = time.Now()
		s.mu.Unlock()
	})
	live, err = s.wait(ctx)
	if err == nil && s.spec.MultiRoot {
		live, err = s.knowing(ctx, live)
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return live, release, nil
}

// knowing returns a session that knows all roots that were asked about. A server
// that takes roots at its start only is started anew, unless somebody else waits
// for it: what it says of a root that it does not know is what it says of files
// outside of a project.
func (s *server) knowing(ctx context.Context, live *session) (*session, error) {
	known, err := live.folders.ensure(s.wanted())
	if known || err != nil {
		return live, err
	}
	s.release(live, 1, "")
	return s.wait(ctx)
}

func (s *server) wait(ctx context.Context) (*session, error) {
	if err := s.bury(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.live != nil {
		defer s.mu.Unlock()
		return s.live, nil
	}
	if err := s.refusal(); err != nil {
		defer s.mu.Unlock()
		return nil, err
	}
	if s.starting == nil {
		ctx, cancel := context.WithCancel(s.client.ctx)
		s.starting = &starting{done: make(chan struct{}), cancel: cancel}
		s.state = stateStarting
		delay := s.backoff()
		current := s.starting
		s.client.running.Go(func() {
			defer cancel()
			s.start(ctx, current, delay)
		})
	}
	current := s.starting
	s.mu.Unlock()
	select {
	case <-current.done:
		return current.session, current.err
	case <-ctx.Done():
		return nil, tools.AsError(ctx.Err())
	}
}

// bury waits for the end of a session that has failed already, so that it is not
// asked anything more.
func (s *server) bury(ctx context.Context) error {
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	if live == nil || live.rpc.stream.failed() == nil {
		return nil
	}
	select {
	case <-live.dead:
		s.ended(live)
		return nil
	case <-ctx.Done():
		return tools.AsError(ctx.Err())
	}
}

// running reports whether there is a live session.
func (s *server) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live != nil
}

// refusal says why no start may be tried; s.mu is held.
func (s *server) refusal() error {
	switch {
	case s.closed:
		return tools.Errorf(tools.CodeLSPServer, "the language client is closed")
	case s.state == stateDown:
		return tools.Errorf(tools.CodeLSPServer, "%s is down after %d restarts; restart it to try again. Last: %s", s.spec.Name, s.restarts, s.lastError)
	}
	return nil
}

// backoff is how long to wait before the next start; s.mu is held.
func (s *server) backoff() time.Duration {
	if s.restarts == 0 {
		return 0
	}
	wait := firstBackoff << (2 * (s.restarts - 1))
	return max(0, time.Until(s.diedAt.Add(wait)))
}

// start runs one start to its end; it is not bound to the caller that asked
// first, since others wait too.
func (s *server) start(ctx context.Context, current *starting, delay time.Duration) {
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
		}
	}
	live, err := s.launch(ctx)
	var never *notStarted
	s.mu.Lock()
	s.starting, s.admitted = nil, false
	switch {
	case err == nil && s.closed:
		err = tools.Errorf(tools.CodeLSPServer, "the language client is closed")
		s.failed(err)
	case err == nil:
		s.live, s.state, s.lastUsed, s.degraded = live, stateReady, time.Now(), ""
		if s.missing {
			s.missing, s.lastError = false, "" // what was missing is there now
		}
	case errors.As(err, &never):
		err = never.reason
		s.lastError, s.state, s.missing = err.Error(), stateStopped, true
	default:
		s.failed(err)
	}
	s.mu.Unlock()
	if err != nil && live != nil {
		live.shutdown()
		live = nil
	}
	current.session, current.err = live, err
	close(current.done)
	if live != nil {
		s.client.running.Go(func() { s.watch(live) })
	}
}

// failed counts an unexpected end; s.mu is held.
func (s *server) failed(err error) {
	s.lastError, s.missing = err.Error(), false
	s.diedAt = time.Now()
	s.state = stateBackoff
	if s.restarts >= s.client.opts.MaxRestarts {
		s.state = stateDown
		return
	}
	s.restarts++
	s.total++
}

// watch waits for a session's end and takes it out of use.
func (s *server) watch(live *session) {
	<-live.dead
	s.ended(live)
}

// ended takes a dead session out of use, once.
func (s *server) ended(live *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live != live {
		return // stopped on purpose, or known already
	}
	s.live = nil
	if time.Since(live.started) > stableAfter {
		s.restarts = 0
	}
	s.failed(live.reason())
}

// notStarted is why no process was started. It is not an end to count: as soon
// as what is missing is there, the next question starts it.
type notStarted struct{ reason error }

func (e *notStarted) Error() string { return e.reason.Error() }

// launch detects the program and brings a session up. Looking for the program
// has bounds of its own, since it may mean to install it.
func (s *server) launch(ctx context.Context) (*session, error) {
	run, err := s.client.detect(ctx, s.spec, s.root)
	if err != nil {
		return nil, &notStarted{err}
	}
	ctx, cancel := context.WithTimeout(ctx, s.client.opts.StartTimeout)
	defer cancel()
	if err := s.client.makeRoom(s); err != nil {
		return nil, &notStarted{err}
	}
	s.client.progress(Progress{Server: s.spec.Name, Title: "start", Message: fmt.Sprintf("starting %s", s.spec.Name), Percent: -1})
	live, err := openSession(ctx, s, run)
	s.client.progress(Progress{Server: s.spec.Name, Title: "start", Percent: -1, Done: true})
	return live, err
}

// detach takes the session out of use, so that its end counts as wanted.
func (s *server) detach(state string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	live := s.live
	s.live = nil
	if live != nil || state == stateStopped {
		s.state = state
	}
	return live
}

func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	pending := s.starting
	s.mu.Unlock()
	if pending != nil {
		s.client.stop() // ends the start
		<-pending.done
	}
	if live := s.detach(stateStopped); live != nil {
		live.shutdown()
	}
}

func (s *server) restart(ctx context.Context) error {
	s.mu.Lock()
	pending := s.starting
	s.mu.Unlock()
	if pending != nil {
		pending.cancel() // it may be the start that hangs
		select {
		case <-pending.done:
		case <-ctx.Done():
			return tools.AsError(ctx.Err())
		}
	}
	live := s.detach(stateStopped)
	s.mu.Lock()
	s.restarts, s.lastError = 0, ""
	s.mu.Unlock()
	if live != nil {
		live.shutdown()
	}
	return nil
}

// keepHouse stops the session when it is idle or over its budget, and nobody
// waits for it.
func (s *server) keepHouse() {
	s.mu.Lock()
	live, busy := s.live, s.using > 0
	idle := time.Since(s.lastUsed) > s.client.opts.IdleTimeout
	s.mu.Unlock()
	switch {
	case live == nil || busy:
	case live.memory() > s.client.opts.MemoryBudget:
		s.retire("stopped over its memory budget; starts again when needed")
	case idle:
		s.retire("")
	}
}

// lastLines returns the last n lines of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
