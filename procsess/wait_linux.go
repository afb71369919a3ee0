package procsess

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

const (
	// portPause is between two looks for a port: the kernel has no event for one.
	portPause = 40 * time.Millisecond
	// inputPause is between two looks for a program that waits for input, inputQuiet
	// how long it must have written nothing for the first of them.
	inputPause = 30 * time.Millisecond
	inputQuiet = 15 * time.Millisecond
	// openMost is how long after a program's end somebody who goes on writing can keep
	// its output from counting as complete.
	openMost = time.Second
	// matchPause is between two looks for text while output flows.
	matchPause = time.Millisecond
	// feedBytes is how much output is looked through at a time.
	feedBytes = 64 << 10
)

// waiter is one wait under way.
type waiter struct {
	*local
	what Wait
	at   int64 // how far match has come

	searching sync.Mutex // guards the pointer against abandon
	match     *matcher   // nil where nothing is looked for
}

// wait implements verbs.
func (s *local) wait(ctx context.Context, what Wait) (Waited, error) {
	w := &waiter{local: s, what: what, at: *what.Cursor}
	if total := s.log.total(); w.at > total {
		return Waited{}, tools.Errorf(tools.CodeOutOfRange, "cursor is %d, the output has %d bytes so far", w.at, total)
	}
	if what.Match != "" || what.Regex != "" {
		w.at = s.log.border(w.at) // else the rest of an escape sequence would be text
		var err error
		if w.match, err = newMatcher(what.Match, what.Regex, w.at); err != nil {
			return Waited{}, err
		}
	}
	limit, cancel := context.WithTimeout(ctx, what.Timeout)
	defer cancel()
	defer context.AfterFunc(limit, w.abandon)()
	bell := &s.knell
	if w.match != nil || what.Bytes > 0 {
		bell = &s.bell
	}
	for {
		heard := bell.heard()
		out, next := w.look(limit)
		if out != nil {
			return w.answer(*out), nil
		}
		looked := time.Now()
		if !sleep(limit, heard, next) {
			if err := ctx.Err(); err != nil {
				return Waited{}, tools.AsError(context.Cause(ctx))
			}
			return w.answer(Waited{Reason: ReasonTimeout, Cursor: s.log.total()}), nil
		}
		if w.match != nil && time.Since(looked) < matchPause {
			time.Sleep(matchPause) // output flows: it is looked through in larger pieces
		}
	}
}

// restart begins a search anew behind what is lost.
func (w *waiter) restart(at int64) {
	w.searching.Lock()
	defer w.searching.Unlock()
	if again, err := newMatcher(w.what.Match, w.what.Regex, at); err == nil { // it was right before
		w.match = again
	}
}

// abandon gives up a search that takes longer than the wait may.
func (w *waiter) abandon() {
	w.searching.Lock()
	defer w.searching.Unlock()
	if w.match != nil {
		w.match.abandon()
	}
}

// answer adds what every answer says.
func (w *waiter) answer(out Waited) Waited {
	out.State, out.Input, out.Exit = w.situation()
	w.mu.Lock()
	out.OutputOpen = out.Exit != nil && !w.eof
	w.mu.Unlock()
	if out.OutputOpen {
		out.Holders = w.holders()
	}
	return out
}

// holders names who still holds the output of a program that has ended.
func (s *local) holders() []child.Info {
	file, err := pipeFile(s.out)
	if s.master != nil {
		file, err = terminalFile(s.master)
	}
	tree, treeErr := s.process.Tree()
	if err != nil || treeErr != nil {
		return nil
	}
	return openersOf(tree, file)
}

// asksForExit: whoever names no condition waits for the end.
func (w *waiter) asksForExit() bool {
	c := &w.what
	return c.Exit || c.Match == "" && c.Regex == "" && c.Quiet == 0 && c.Port == 0 && !c.Input && c.Bytes == 0
}

// look returns the answer, or when to look again at the latest; negative is when
// the bell rings.
func (w *waiter) look(ctx context.Context) (out *Waited, next time.Duration) {
	next = -1
	sooner := func(d time.Duration) {
		if next < 0 || d < next {
			next = d
		}
	}
	// What happens after these looks rings the bell.
	end := w.ending()
	if end.exited && !end.settled && w.asksForExit() {
		sooner(end.left)
	}
	total := w.log.total() // with the end of output this is all
	if out := w.lookForText(ctx, total); out != nil {
		return out, 0
	}
	if w.what.Bytes > 0 && total-*w.what.Cursor >= w.what.Bytes {
		return &Waited{Reason: ReasonBytes, Cursor: total}, 0
	}
	if w.asksForExit() && (end.settled || end.exited && end.since >= openMost) || end.complete && !w.mayListen() {
		return &Waited{Reason: ReasonExit, Cursor: total}, 0
	}
	if w.what.Quiet > 0 {
		left := w.what.Quiet - w.idle()
		if left <= 0 {
			return &Waited{Reason: ReasonQuiet, Cursor: total}, 0
		}
		sooner(left)
	}
	if w.what.Port > 0 {
		if slices.Contains(w.ports(), w.what.Port) {
			return &Waited{Reason: ReasonPort, Cursor: total}, 0
		}
		sooner(portPause)
	}
	if w.what.Input && !end.exited {
		if quiet := inputQuiet - w.idle(); quiet > 0 {
			sooner(quiet)
		} else if state := w.waitsForInput().State; state == BlockedRead || state == AcceptsInput {
			return &Waited{Reason: ReasonInput, Cursor: w.log.total()}, 0
		} else {
			sooner(inputPause)
		}
	}
	return nil, next
}

// idle is how long there was neither output nor input.
func (s *local) idle() time.Duration {
	return time.Since(time.Unix(0, max(s.lastOutput.Load(), s.lastInput.Load())))
}

// mayListen: a port may be opened by what a program left behind. Nothing else can
// come true when it has ended, and its output.
func (w *waiter) mayListen() bool {
	if w.what.Port == 0 {
		return false
	}
	tree, err := w.process.Tree()
	return err == nil && len(tree) > 0
}

// ending is how far a session is in its end.
type ending struct {
	exited   bool          // the program has ended
	since    time.Duration // and how long ago
	complete bool          // and its output has, too
	settled  bool          // or there was none for a while
	left     time.Duration // else of that while; negative where nothing is to come by time alone
}

func (s *local) ending() ending {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exit == nil {
		return ending{left: -1}
	}
	since := time.Since(s.endedAt)
	if s.eof {
		return ending{exited: true, since: since, complete: true, settled: true, left: -1}
	}
	left := openWait - min(since, time.Since(time.Unix(0, s.lastOutput.Load())))
	return ending{exited: true, since: since, settled: left <= 0, left: left}
}

// lookForText looks through what is new up to a cursor: more may come for ever.
func (w *waiter) lookForText(ctx context.Context, until int64) *Waited {
	for w.match != nil && w.at < until && ctx.Err() == nil {
		data, start := w.log.read(w.at, feedBytes)
		if len(data) == 0 {
			return nil
		}
		if start != w.at { // what lay between is not kept any more
			w.restart(start)
		}
		w.at = start + int64(len(data))
		if text, end, ok := w.match.feed(data); ok {
			return &Waited{Reason: ReasonMatch, Matched: text, Cursor: end}
		}
	}
	return nil
}
