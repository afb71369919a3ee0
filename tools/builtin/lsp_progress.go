package builtin

import (
	"sync"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

// LSPProgress passes what language servers are doing on to the calls that wait
// for them. Its Tell is a langintel client's Options.Progress.
type LSPProgress struct {
	mu    sync.Mutex
	calls map[*tools.Call]bool
}

// NewLSPProgress makes one that nobody follows yet.
func NewLSPProgress() *LSPProgress { return &LSPProgress{calls: map[*tools.Call]bool{}} }

// Tell reports to every call in flight. A percentage that is not known is no
// progress, only a message.
func (p *LSPProgress) Tell(step langintel.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	message := step.Server + ": " + step.Title
	if step.Message != "" {
		message += ": " + step.Message
	}
	for call := range p.calls {
		call.Report(float64(max(0, step.Percent)), 100, message)
	}
}

// follow reports to the call until stop is called.
func (p *LSPProgress) follow(call *tools.Call) (stop func()) {
	if p == nil || call.Progress == nil {
		return func() {}
	}
	p.mu.Lock()
	p.calls[call] = true
	p.mu.Unlock()
	return func() {
		p.mu.Lock()
		delete(p.calls, call)
		p.mu.Unlock()
	}
}
