package procsess

import (
	"cmp"
	"context"
	"slices"
	"syscall"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// Output returns a page of a session's output. Reading changes nothing but where
// this caller goes on without a cursor. Errors: CodeProcessState (no such session),
// CodeProcessOwnership, CodeOutOfRange, CodeToolInput, CodeProcessUnsupported (a
// screen without a terminal).
func (r *Registry) Output(ctx context.Context, caller Caller, id string, what Output) (Page, error) {
	switch what.View {
	case "", TextView, RawView, ScreenView:
	default:
		return Page{}, tools.Errorf(tools.CodeToolInput, "view %.40q is not known; text, raw and screen are", string(what.View))
	}
	most, err := ChunkBytes.Option(int64(what.MaxBytes))
	if err != nil {
		return Page{}, err
	}
	what.MaxBytes = int(most)
	e, err := r.find(caller, id)
	if err != nil {
		return Page{}, err
	}
	if what.Cursor, err = e.from(caller, what.Cursor); err != nil {
		return Page{}, err
	}
	page, err := e.output(ctx, what)
	if err == nil {
		e.read(caller, page.Cursor)
	}
	return page, r.orClosed(err)
}

// from is the cursor to use: the one given, or where the caller's last page ended.
func (e *entry) from(caller Caller, given *int64) (*int64, error) {
	if given != nil {
		if *given < 0 {
			return nil, tools.Errorf(tools.CodeToolInput, "cursor is %d, must be 0 or more", *given)
		}
		return given, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	at := e.cursors[caller.Owner]
	return &at, nil
}

func (e *entry) read(caller Caller, cursor int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cursors[caller.Owner] = cursor
}

// readOn is read for a page that nobody asked for by cursor: output before it that
// the owner has not seen is still to come.
func (e *entry) readOn(caller Caller, page *Page) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cursors[caller.Owner] >= page.Start {
		e.cursors[caller.Owner] = page.Cursor
	}
}

// Input types into a session. Errors: those of Output, CodeToolInput (an unknown
// key), CodeProcessState (it has ended, or its input is closed), CodeProcessLimit (too
// much, or a line that the terminal would cut), CodeProcessPolicy.
func (r *Registry) Input(ctx context.Context, caller Caller, id string, what Type) (Typed, error) {
	if what.Wait < 0 || what.Wait > time.Duration(WaitTime.Hard)*time.Second {
		return Typed{}, tools.Errorf(tools.CodeToolInput, "waitMs is %d, must be 0 to %d", what.Wait.Milliseconds(), WaitTime.Hard*1000)
	}
	e, err := r.permitted(ctx, caller, id, "input")
	if err != nil {
		return Typed{}, err
	}
	if what.Wait > 0 {
		bounded, done := r.untilClosed(ctx)
		defer done()
		ctx = bounded
	}
	typed, err := e.input(ctx, what)
	if err == nil && typed.Output != nil {
		err = e.stillUsedBy(caller)
	}
	if err == nil && typed.Output != nil {
		e.readOn(caller, typed.Output)
	}
	return typed, r.orClosed(err)
}

// Wait waits until one of its conditions holds, the session has ended, or the time
// is up, which is no error. Errors: those of Output, CodeAborted.
func (r *Registry) Wait(ctx context.Context, caller Caller, id string, what Wait) (Waited, error) {
	if err := what.check(WaitTime); err != nil {
		return Waited{}, err
	}
	e, err := r.find(caller, id)
	if err != nil {
		return Waited{}, err
	}
	if what.Cursor, err = e.from(caller, what.Cursor); err != nil {
		return Waited{}, err
	}
	ctx, done := r.untilClosed(ctx)
	defer done()
	waited, err := e.wait(ctx, what)
	if err == nil {
		err = e.stillUsedBy(caller)
	}
	if err != nil {
		return Waited{}, r.orClosed(err)
	}
	return waited, nil
}

// stillUsedBy refuses what came of a wait to who has lost the session meanwhile.
func (e *entry) stillUsedBy(caller Caller) error {
	if e.mayUse(caller) {
		return nil
	}
	return notYours(e.id)
}

// check finds fault with a wait, and settles its time.
func (w *Wait) check(limit tools.Limit) error {
	switch {
	case w.Timeout < 0:
		return tools.Errorf(tools.CodeToolInput, "%s is negative, must be 1 to %d", limit.Name, limit.Hard)
	case w.Port < 0 || w.Port > 65535:
		return tools.Errorf(tools.CodeToolInput, "port is %d, must be 1 to 65535", w.Port)
	case w.Quiet < 0 || w.Quiet > time.Duration(WaitTime.Hard)*time.Second:
		return tools.Errorf(tools.CodeToolInput, "quietMs is %d, must be 1 to %d", w.Quiet.Milliseconds(), WaitTime.Hard*1000)
	case w.Bytes < 0:
		return tools.Errorf(tools.CodeToolInput, "bytes is %d, must be 1 or more", w.Bytes)
	}
	if w.Match != "" || w.Regex != "" {
		// Before anything starts, and where a holder would be asked in vain.
		if _, err := newMatcher(w.Match, w.Regex, 0); err != nil {
			return err
		}
	}
	seconds, err := limit.Option(int64((w.Timeout + time.Second - 1) / time.Second))
	if err != nil {
		return err
	}
	w.Timeout = cmp.Or(w.Timeout, time.Duration(seconds)*time.Second)
	return nil
}

// lastSignal is the largest number of a signal (signal(7)).
const lastSignal syscall.Signal = 64

// Signal signals what is in the foreground of a session's terminal, or the
// program's group. Errors: those of Input.
func (r *Registry) Signal(ctx context.Context, caller Caller, id string, sig syscall.Signal) error {
	if sig < 1 || sig > lastSignal {
		return tools.Errorf(tools.CodeToolInput, "signal %d is none, must be 1 to %d", int(sig), int(lastSignal))
	}
	e, err := r.permitted(ctx, caller, id, "signal")
	if err != nil {
		return err
	}
	return r.orClosed(e.signal(ctx, sig))
}

// Kill ends a session with everything that it started, and what it left behind if
// it has ended already: HUP, TERM and CONT, two seconds, then KILL until nothing is
// left. It names what could not be ended. Errors: those of Input.
func (r *Registry) Kill(ctx context.Context, caller Caller, id string) (child.KillReport, error) {
	e, err := r.permitted(ctx, caller, id, "kill")
	if err != nil {
		return child.KillReport{}, err
	}
	report, err := e.kill(ctx, ByKill)
	return report, r.orClosed(err)
}

// Release lets a session go on by itself, beyond the end of the registry: nobody
// reads, feeds or ends it any more. Of a durable one that has ended it frees what is
// kept, and the ID is not known any more. Errors: those of Input.
func (r *Registry) Release(ctx context.Context, caller Caller, id string) error {
	e, err := r.live(caller, id)
	if err != nil {
		return err
	}
	if e.isOver() && e.durable {
		return r.forget(e)
	}
	if e.isOver() {
		return tools.Errorf(tools.CodeProcessState, "session %s has ended, there is nothing to release", id)
	}
	if err := e.release(ctx); err != nil {
		return r.orClosed(err)
	}
	e.mu.Lock()
	e.out = true
	e.mu.Unlock()
	r.wasEnded(e)
	return nil
}

// Resize sets the size of a session's terminal. Errors: those of Input, CodePTYLimit,
// CodeProcessUnsupported (it has no terminal).
func (r *Registry) Resize(ctx context.Context, caller Caller, id string, columns, rows int) error {
	if err := checkSize(columns, rows); err != nil {
		return err
	}
	e, err := r.live(caller, id)
	if err != nil {
		return err
	}
	if e.isOver() {
		return tools.Errorf(tools.CodeProcessState, "session %s has ended", id)
	}
	return r.orClosed(e.resize(ctx, columns, rows))
}

// checkSize finds fault with a terminal's size.
func checkSize(columns, rows int) error {
	for _, size := range []struct {
		value int
		limit tools.Limit
	}{{columns, Columns}, {rows, Rows}} {
		if size.value < 1 || int64(size.value) > size.limit.Hard {
			return tools.Errorf(tools.CodePTYLimit, "%s is %d, must be 1 to %d", size.limit.Name, size.value, size.limit.Hard)
		}
	}
	return nil
}

// Get returns what is known of a session.
func (r *Registry) Get(ctx context.Context, caller Caller, id string) (Info, error) {
	e, err := r.find(caller, id)
	if err != nil {
		return Info{}, err
	}
	return e.describe(ctx), nil
}

// List returns the sessions that the caller may use, the oldest first.
func (r *Registry) List(ctx context.Context, caller Caller) []Info {
	r.mu.Lock()
	var entries []*entry
	for _, e := range r.sessions {
		if e.mayUse(caller) {
			entries = append(entries, e)
		}
	}
	r.mu.Unlock()
	list := make([]Info, len(entries))
	for i, e := range entries {
		list[i] = e.describe(ctx)
	}
	slices.SortFunc(list, func(a, b Info) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID))
	})
	return list
}
