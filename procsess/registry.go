package procsess

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// Registry holds sessions. Its methods may be called by any number of goroutines,
// and none of them waits for another session's program.
type Registry struct {
	opts   Options
	engine *engine

	mu       sync.Mutex
	sessions map[string]*entry
	ended    []*entry // the first that ended first
	// starting are sessions that are being started, which take places, too. Each is
	// closed when it is known, or nothing came of it.
	starting map[*entry]chan struct{}
	closed   bool
	closing  sync.Once
	closeErr error
	// forgetting frees what is kept of sessions that are forgotten.
	forgetting sync.WaitGroup

	// open is over when the registry closes: whoever waits for a session is told.
	open context.Context
	shut context.CancelCauseFunc
}

// entry is a session as the registry knows it.
type entry struct {
	verbs
	id, name string
	durable  bool
	// placed is closed when the registry knows the session and has told of its start.
	placed chan struct{}
	// gone is done once, at the session's end or its release.
	gone sync.Once
	// keepAtEnd: released, and not killed, when its owner ends.
	keepAtEnd bool

	sharing sync.Mutex // one at a time changes whose it is

	// mu guards what is below. It is never held while a verb runs.
	mu      sync.Mutex
	owner   string
	shared  map[string]bool
	cursors map[string]int64 // where an owner's last page ended
	out     bool             // released: out of everybody's hands
}

// New returns a registry that starts programs through owner. It starts nothing by
// itself. Close ends its sessions, durable and released ones excepted.
func New(owner *child.Owner, opts *Options) (*Registry, error) {
	settled, err := opts.orDefault()
	if err != nil {
		return nil, err
	}
	r := &Registry{
		opts: settled, engine: newEngine(owner, newSpoolBudget(settled.Kept)),
		sessions: map[string]*entry{}, starting: map[*entry]chan struct{}{},
	}
	r.open, r.shut = context.WithCancelCause(context.Background())
	return r, nil
}

// Start starts a program and waits for its ready condition, if there is one; a
// program that is not ready in time is left to go on. Errors: CodeToolInput,
// CodeNotFound (no such program), CodeProcessPolicy, CodeProcessLimit with the live
// sessions in its details, CodePTYBackend, CodePTYLimit, CodeStateUnavailable (a
// durable session where no state can be kept), CodeProcessState (the registry closes),
// CodeAborted. With an ID in the answer the session was started, and goes on in spite
// of the error.
func (r *Registry) Start(ctx context.Context, caller Caller, s Start) (Started, error) {
	ready, err := s.Ready.conditions()
	if err != nil {
		return Started{}, err
	}
	id, err := r.newID()
	if err != nil {
		return Started{}, err
	}
	l, err := r.opts.prepare(id, caller, &s)
	if err != nil {
		return Started{}, err
	}
	about := Info{ID: id, Name: l.Name, Command: l.Display, State: Starting, PTY: !l.Pipe, Durable: l.Durable, Owner: l.Owner}
	if err := r.allow(ctx, caller, Request{Verb: "start", Session: about, Start: &s}); err != nil {
		return Started{}, err
	}
	e := &entry{
		id: id, name: s.Name, durable: l.Durable, keepAtEnd: s.ReleaseAtEnd, owner: caller.Owner,
		shared: map[string]bool{}, cursors: map[string]int64{}, placed: make(chan struct{}),
	}
	if err := r.takePlace(caller, e); err != nil {
		return Started{}, err
	}
	ctx, done := r.untilClosed(ctx)
	defer done()
	e.verbs, err = r.launch(ctx, l, e)
	if err != nil {
		r.givePlace(e, false)
		return Started{}, r.orClosed(err)
	}
	r.tell(id, "process_started")
	close(e.placed)
	r.givePlace(e, true)
	out := Started{Info: e.describe(ctx)}
	if ready != nil {
		waited, err := e.wait(ctx, *ready)
		if err != nil {
			return out, r.orClosed(err)
		}
		met := waited.Reason != ReasonTimeout && waited.Reason != ReasonExit
		out.Info, out.Ready = e.describe(ctx), &met
	}
	return out, nil
}

// conditions are those of a wait; nil where there are none.
func (r *Ready) conditions() (*Wait, error) {
	if r == nil {
		return nil, nil
	}
	from := int64(0)
	w := Wait{Match: r.Match, Regex: r.Regex, Port: r.Port, Quiet: r.Quiet, Timeout: r.Timeout, Cursor: &from}
	if w.Match == "" && w.Regex == "" && w.Port == 0 && w.Quiet == 0 {
		return nil, tools.Errorf(tools.CodeToolInput, "readyWhen names no condition, must have match, regex, port or quietMs")
	}
	return &w, w.check(ReadyTime)
}

// newID makes an ID that no session of any registry has or had.
func (r *Registry) newID() (string, error) {
	var random [6]byte
	for {
		if _, err := rand.Read(random[:]); err != nil {
			return "", tools.AsError(err)
		}
		id := "p" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random[:]))
		r.mu.Lock()
		used := r.sessions[id] != nil
		r.mu.Unlock()
		if !used {
			return id, nil
		}
	}
}

func (r *Registry) allow(ctx context.Context, caller Caller, what Request) error {
	if r.opts.Guard == nil {
		return nil
	}
	err := r.opts.Guard(ctx, caller, what)
	var coded *tools.Error
	if err == nil || errors.As(err, &coded) {
		return err
	}
	return tools.Errorf(tools.CodeProcessPolicy, "%s of session %s was refused: %w", what.Verb, what.Session.ID, err)
}

// takePlace keeps a place for one more live session.
func (r *Registry) takePlace(caller Caller, starting *entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errClosed()
	}
	live := len(r.starting)
	var list []Info
	for _, e := range r.sessions {
		if e.isOver() || e.released() {
			continue
		}
		live++
		if e.mayUse(caller) {
			list = append(list, Info{ID: e.id, Name: e.name})
		}
	}
	if int64(live) >= r.opts.Sessions {
		slices.SortFunc(list, func(a, b Info) int { return strings.Compare(a.ID, b.ID) })
		ids := make([]string, len(list))
		for i, info := range list {
			ids[i] = strings.TrimSpace(info.ID + " " + info.Name)
		}
		return tools.Errorf(tools.CodeProcessLimit, "%d sessions are running, which is the most; yours are: %s. End one first", live, strings.Join(ids, ", ")).WithDetails(list)
	}
	r.starting[starting] = make(chan struct{})
	return nil
}

// givePlace ends what takePlace began.
func (r *Registry) givePlace(e *entry, started bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.starting[e])
	delete(r.starting, e)
	if started {
		r.sessions[e.id] = e
	}
}

// orClosed is why a verb has failed: where the registry closed meanwhile that is all
// there is to say, whatever was in the way first.
func (r *Registry) orClosed(err error) error {
	if err != nil && r.open.Err() != nil {
		return context.Cause(r.open)
	}
	return err
}

// untilClosed is ctx, which the registry's end ends, too.
func (r *Registry) untilClosed(ctx context.Context) (bounded context.Context, done func()) {
	bounded, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.open, func() { cancel(context.Cause(r.open)) })
	return bounded, func() {
		stop()
		cancel(nil)
	}
}

func errClosed() error {
	return tools.Errorf(tools.CodeProcessState, "the registry of sessions is closed")
}

// tell emits an event.
func (r *Registry) tell(id, detail string) {
	r.opts.Events.Emit(tools.Event{Kind: tools.EventProcess, Name: id, Detail: detail})
}

// wasEnded takes note of a session's end, and lets go what is kept of too many.
func (r *Registry) wasEnded(e *entry) {
	<-e.placed
	e.gone.Do(func() { r.remember(e) })
}

func (r *Registry) remember(e *entry) {
	info := e.describe(context.Background())
	r.tell(e.id, "process_"+string(info.State))
	r.mu.Lock()
	r.ended = append(r.ended, e)
	var gone []*entry
	for len(r.ended) > tombstones {
		gone = append(gone, r.ended[0])
		delete(r.sessions, r.ended[0].id)
		r.ended = r.ended[1:]
	}
	r.mu.Unlock()
	for _, old := range gone {
		r.forgetting.Go(func() { r.letGo(old) })
	}
}

// forget frees what is kept of a session that has ended.
func (r *Registry) forget(e *entry) error {
	r.mu.Lock()
	delete(r.sessions, e.id)
	r.ended = slices.DeleteFunc(r.ended, func(other *entry) bool { return other == e })
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return e.end(ctx, true)
}

// letGo frees what is kept of a session that nobody can name any more, and ends what
// its program has left behind.
func (r *Registry) letGo(e *entry) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := e.end(ctx, true); err != nil {
		r.opts.Logger.Debug("an ended session's output was not freed", "id", e.id, "error", err)
	}
}

// find returns a session that the caller may use.
func (r *Registry) find(caller Caller, id string) (*entry, error) {
	r.mu.Lock()
	e, closed := r.sessions[id], r.closed
	r.mu.Unlock()
	if closed {
		return nil, errClosed()
	}
	if e == nil {
		return nil, tools.Errorf(tools.CodeProcessState, "there is no session %.64q; proc_list names those there are", id)
	}
	if !e.mayUse(caller) {
		return nil, notYours(id)
	}
	return e, nil
}

func notYours(id string) error {
	return tools.Errorf(tools.CodeProcessOwnership, "session %s belongs to another owner, who has not shared it", id)
}

// live is find for what needs a running program.
func (r *Registry) live(caller Caller, id string) (*entry, error) {
	e, err := r.find(caller, id)
	if err != nil {
		return nil, err
	}
	if e.released() {
		return nil, tools.Errorf(tools.CodeProcessState, "session %s was released and is not in our hands any more", id)
	}
	return e, nil
}

// permitted is live for what the guard is asked about. That may take its time, and
// the session may be another's by then.
func (r *Registry) permitted(ctx context.Context, caller Caller, id, verb string) (*entry, error) {
	e, err := r.live(caller, id)
	if err != nil || r.opts.Guard == nil {
		return e, err
	}
	if err := r.allow(ctx, caller, Request{Verb: verb, Session: e.describe(ctx)}); err != nil {
		return nil, err
	}
	return r.live(caller, id)
}

func (e *entry) isOver() bool {
	select {
	case <-e.over():
		return true
	default:
		return false
	}
}

func (e *entry) released() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.out
}

// describe is what is known, with what only the registry knows.
func (e *entry) describe(ctx context.Context) Info {
	info := e.info(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	info.Owner, info.Name = e.owner, e.name
	for who := range e.shared {
		info.Shared = append(info.Shared, who)
	}
	slices.Sort(info.Shared)
	if e.out {
		info.State, info.Ports, info.Input = Released, nil, Input{State: UnknownInput}
	}
	return info
}

// Close ends every session that is not durable and was not released, waits for it,
// and frees what is kept. Whoever waits for a session is told at once: verbs answer
// CodeProcessState from then on. It is idempotent.
func (r *Registry) Close() error {
	r.closing.Do(func() { r.closeErr = r.close() })
	return r.closeErr
}

func (r *Registry) close() error {
	r.mu.Lock()
	r.closed = true
	starting := slices.Collect(maps.Values(r.starting))
	r.mu.Unlock()
	r.shut(errClosed())
	for _, done := range starting {
		<-done // they have heard of it
	}
	r.mu.Lock()
	all := slices.Collect(maps.Values(r.sessions))
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	var wait sync.WaitGroup
	failures := make([]error, len(all))
	for i, e := range all {
		wait.Go(func() { failures[i] = e.end(ctx, false) })
	}
	wait.Wait()
	r.forgetting.Wait()
	return errors.Join(failures...)
}

// closeTime is more than the end of a session takes.
const closeTime = 4*killGrace + 2*time.Second

// end is what becomes of a session with its registry, or once it is forgotten.
func (e *entry) end(ctx context.Context, forgotten bool) error {
	if e.durable && forgotten {
		return e.discard()
	}
	if e.durable { // what it has written outlasts us, too
		return e.detach()
	}
	var killErr error
	if !e.released() {
		_, killErr = e.kill(ctx, ByRelease)
	}
	return errors.Join(killErr, e.discard())
}
