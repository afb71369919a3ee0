package procsess

import (
	"os"
	"time"

	"github.com/prism-ls/prism-ls/tools/child"
)

// evidence is where to look for whether a session's program waits for input. What
// is written on the terminal is no evidence: a prompt may look like anything, and
// anything may look like a prompt.
type evidence struct {
	// master is the terminal's; nil on pipes.
	master *os.File
	// stdin is our end of the pipe that is the program's input; nil on a terminal,
	// and once that was closed.
	stdin *os.File
	// leader is the program itself.
	leader int
	// tree lists the session's processes.
	tree func() ([]child.Info, error)
	// lastOutput and lastInput are when something was last written by the program,
	// and to it (when that write returned, or now while it lasts); nil is never.
	lastOutput, lastInput func() time.Time
}

// How long the kernel may take to hand what was typed to the program, on a busy
// machine: a read that blocks meanwhile may still be the one that it ends. Once
// something has come back, an echo mostly, that is over soon.
const (
	inputSettles  = 100 * time.Millisecond
	answerSettles = 20 * time.Millisecond
)

// settled reports whether everything that was typed is with the program.
func (ev *evidence) settled() bool {
	if ev.lastInput == nil {
		return true
	}
	typed := ev.lastInput()
	answered := ev.lastOutput != nil && ev.lastOutput().After(typed)
	since := time.Since(typed)
	return since > inputSettles || answered && since > answerSettles
}

// wroteLately reports whether the program is writing.
func (ev *evidence) wroteLately() bool {
	return ev.lastOutput != nil && time.Since(ev.lastOutput()) < answerSettles
}
