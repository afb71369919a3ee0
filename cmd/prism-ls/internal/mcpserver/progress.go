package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/prism-ls/prism-ls/tools"
)

const (
	// beat is after how long without a report a call is shown to be alive.
	beat = time.Second
	// beatStep is by how much that moves the progress: less than any step that
	// a tool reports, so that the tool's own reports still rise.
	beatStep = 1e-6
)

// progress sends notifications/progress on the client's token: rising, and
// never after end. Without a token it sends nothing.
type progress struct {
	ctx     context.Context
	session *mcp.ServerSession
	token   any

	mu    sync.Mutex
	last  float64
	ended bool
	timer *time.Timer
}

func newProgress(ctx context.Context, request *mcp.CallToolRequest) *progress {
	p := &progress{ctx: ctx, session: request.Session, token: request.Params.GetProgressToken()}
	if p.token != nil {
		p.mu.Lock()
		p.timer = time.AfterFunc(beat, p.alive)
		p.mu.Unlock()
	}
	return p
}

// sink is what the call reports to; nil where nobody wants to know.
func (p *progress) sink() func(tools.Progress) {
	if p.token == nil {
		return nil
	}
	return func(report tools.Progress) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.ended {
			p.timer.Reset(beat)
		}
		p.send(report)
	}
}

func (p *progress) alive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.send(tools.Progress{Done: p.last + beatStep, Message: "working"})
	p.timer.Reset(beat)
}

// send is called with mu held, so that nothing is under way when end returns.
func (p *progress) send(report tools.Progress) {
	if p.ended || p.ctx.Err() != nil || report.Done <= p.last {
		return
	}
	p.last = report.Done
	_ = p.session.NotifyProgress(p.ctx, &mcp.ProgressNotificationParams{ // a lost client is noticed by the answer
		ProgressToken: p.token, Progress: report.Done, Total: report.Total, Message: report.Message,
	})
}

// end stops the reports; none is sent after it returns.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.timer != nil {
		p.timer.Stop()
	}
}
