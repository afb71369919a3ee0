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
	// and to it; nil is never.
	lastOutput, lastInput func() time.Time
}

// inputSettles is how long the kernel and the program may take to notice what was
// typed: a read that blocks meanwhile may still be the one that it ends.
const inputSettles = 20 * time.Millisecond

// recently reports whether something happened within the time that input takes to
// settle.
func recently(when func() time.Time) bool {
	return when != nil && time.Since(when()) < inputSettles
}
