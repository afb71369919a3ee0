package procsess

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
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
	starting int      // places taken by sessions that are being started
	closed   bool
	closing  sync.Once
	closeErr error
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
	return &Registry{
		opts: settled, engine: newEngine(owner, newSpoolBudget(settled.Kept)),
		sessions: map[string]*entry{},
	}, nil
}

// Start starts a program and waits for its ready condition, if there is one; a
// program that is not ready in time is left to go on. Errors: CodeToolInput,
// CodeNotFound (no such program), CodeProcessPolicy, CodeProcessLimit with the live
// sessions in its details, CodePTYBackend, CodePTYLimit, CodeStateUnavailable (a
// durable session where no state can be kept).
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
	if err := r.takePlace(ctx, caller); err != nil {
		return Started{}, err
	}
	e := &entry{
		id: id, name: s.Name, durable: s.Durable, keepAtEnd: s.ReleaseAtEnd, owner: caller.Owner,
		shared: map[string]bool{}, cursors: map[string]int64{}, placed: make(chan struct{}),
	}
	e.verbs, err = r.launch(ctx, l, e)
	if err != nil {
		r.givePlace(nil)
		return Started{}, err
	}
	r.givePlace(e)
	r.tell(id, "process_started")
	close(e.placed)
	out := Started{Info: e.describe(ctx)}
	if ready != nil {
		waited, err := e.wait(ctx, *ready)
		if err != nil {
			return out, err
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
func (r *Registry) takePlace(ctx context.Context, caller Caller) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errClosed()
	}
	live := r.starting
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
	r.starting++
	return nil
}

// givePlace ends what takePlace began; e is nil where nothing was started.
func (r *Registry) givePlace(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.starting--
	if e != nil {
		r.sessions[e.id] = e
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
		r.letGo(old)
	}
}

func (r *Registry) letGo(e *entry) {
	if err := e.discard(); err != nil {
		r.opts.Logger.Debug("an ended session's output was not freed", "id", e.id, "error", err)
	}
}

// find returns a session that the caller may use.
func (r *Registry) find(caller Caller, id string) (*entry, error) {
	r.mu.Lock()
	e := r.sessions[id]
	r.mu.Unlock()
	if e == nil {
		return nil, tools.Errorf(tools.CodeProcessState, "there is no session %.64q; proc_list names those there are", id)
	}
	if !e.mayUse(caller) {
		return nil, tools.Errorf(tools.CodeProcessOwnership, "session %s belongs to another owner, who has not shared it", id)
	}
	return e, nil
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
// and frees what is kept. It is idempotent.
func (r *Registry) Close() error {
	r.closing.Do(func() { r.closeErr = r.close() })
	return r.closeErr
}

func (r *Registry) close() error {
	r.mu.Lock()
	r.closed = true
	var all []*entry
	for _, e := range r.sessions {
		all = append(all, e)
	}
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 4*killGrace+2*time.Second)
	defer cancel()
	var wait sync.WaitGroup
	failures := make([]error, len(all))
	for i, e := range all {
		wait.Go(func() { failures[i] = e.end(ctx) })
	}
	wait.Wait()
	return errors.Join(failures...)
}

// end is what becomes of a session with its registry.
func (e *entry) end(ctx context.Context) error {
	if e.durable { // what it has written outlasts us, too
		return e.detach()
	}
	var killErr error
	if !e.released() {
		_, killErr = e.kill(ctx, ByRelease)
	}
	return errors.Join(killErr, e.discard())
}
