package procsess

import (
	"sync"

	"github.com/prism-ls/prism-ls/tools/child"
)

// drainBytes is the largest read; a terminal gives at most 4095 bytes at a time, a
// pipe 64 KiB.
const drainBytes = 64 << 10

// engine is what the sessions of one process share.
type engine struct {
	owner  *child.Owner
	budget *spoolBudget
	// buffers are for reading: only a session that has something to read holds one.
	buffers sync.Pool
}

func newEngine(owner *child.Owner, budget *spoolBudget) *engine {
	return &engine{owner: owner, budget: budget, buffers: sync.Pool{New: func() any { return new([drainBytes]byte) }}}
}
