package daemon

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// endTime is how long a cancelled call may take to say how it ended.
const endTime = 5 * time.Second

// CallOptions are the person behind a call of the command line.
type CallOptions struct {
	Approver tools.Approver
	Asker    tools.Asker
	// Progress is nil where nobody wants to know.
	Progress func(tools.Progress)
}

// Interrupted is a call whose daemon ended before the result was there.
type Interrupted struct {
	// Harmless: the call had not begun, or changes nothing, and can be made again.
	Harmless bool
}

func (i *Interrupted) Error() string {
	if i.Harmless {
		return "the daemon ended during the call"
	}
	return "the daemon ended during the call; whether it took effect is unknown"
}

// Call makes a call through the daemon. An error is an [Unavailable] or
// [Interrupted], or the same that keeps a call from being made without a daemon.
func (d *Dialer) Call(ctx context.Context, settings *Settings, call *Call, opts CallOptions) (*tools.Result, error) {
	asked := *call
	asked.Progress = opts.Progress != nil
	found, err := d.connect(ctx, hello{Kind: kindCall, Client: settings, Call: &asked})
	if err != nil {
		return nil, err
	}
	defer found.conn.Close()
	ctx, cancel := context.WithCancel(ctx)
	c := &callClient{link: found, opts: opts, out: &lines{w: found.conn}}
	defer c.asking.Wait()
	defer cancel()
	given := context.AfterFunc(ctx, func() {
		_ = found.conn.SetReadDeadline(time.Now().Add(endTime))
		_ = found.conn.CloseWrite() // cancels; the result says what became of it
	})
	defer given()
	return c.follow(ctx)
}

type callClient struct {
	*link
	opts    CallOptions
	out     *lines
	begun   bool
	mutates bool
	asking  sync.WaitGroup
}

func (c *callClient) follow(ctx context.Context) (*tools.Result, error) {
	for {
		var got told
		if err := readLine(c.in, &got); err != nil {
			if ctx.Err() != nil && !errors.Is(err, io.EOF) {
				return nil, ctx.Err()
			}
			return nil, &Interrupted{Harmless: !c.begun || !c.mutates}
		}
		switch {
		case got.Begun != nil:
			c.begun, c.mutates = true, got.Begun.Mutates
		case got.Progress != nil && c.opts.Progress != nil:
			c.opts.Progress(*got.Progress)
		case got.Approve != nil:
			c.asking.Go(func() { c.approve(ctx, got.Approve) })
		case got.Ask != nil:
			c.asking.Go(func() { c.ask(ctx, got.Ask) })
		case got.Result != nil:
			return got.Result.result(), nil
		}
	}
}

func (c *callClient) approve(ctx context.Context, asked *approveRequest) {
	yes, err := c.opts.Approver.Approve(ctx, asked.Action, asked.Reason)
	_ = c.out.send(answer{ID: asked.ID, Approved: yes, Error: failOf(tools.AsError(err))}) // it may have ended
}

func (c *callClient) ask(ctx context.Context, asked *askRequest) {
	reply, err := c.opts.Asker.Ask(ctx, asked.Question)
	_ = c.out.send(answer{ID: asked.ID, Reply: reply, Error: failOf(tools.AsError(err))}) // it may have ended
}
