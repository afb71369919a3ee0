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
	out.State, out.Input = w.situation()
	w.mu.Lock()
	out.Exit = w.exit
	out.OutputOpen = w.exit != nil && !w.eof
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
	exited, settled, left := w.ending()
	if exited && !settled && w.asksForExit() {
		sooner(left)
	}
	if out := w.lookForText(ctx); out != nil {
		return out, 0
	}
	// Taken before the end of output is looked at, so that with it this is all.
	total := w.log.total()
	if w.what.Bytes > 0 && total-*w.what.Cursor >= w.what.Bytes {
		return &Waited{Reason: ReasonBytes, Cursor: total}, 0
	}
	if settled && (w.asksForExit() || w.isComplete()) { // nothing else can come true any more
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
	if w.what.Input && !exited {
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

// ending tells whether the program has ended, and whether its output counts as
// complete: it has ended, too, or there was none for a while since.
func (s *local) ending() (exited, settled bool, left time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exit == nil {
		return false, false, 0
	}
	if s.eof {
		return true, true, 0
	}
	last := time.Unix(0, s.lastOutput.Load())
	if s.endedAt.After(last) {
		last = s.endedAt
	}
	left = openWait - time.Since(last)
	return true, left <= 0, left
}

// lookForText looks through what is new.
func (w *waiter) lookForText(ctx context.Context) *Waited {
	for w.match != nil && ctx.Err() == nil {
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
