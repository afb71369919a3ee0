package builtin

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
)

func (p *sessions) release() (*tools.Tool, error) {
	spec := procSpec("proc_release", "Release session", "Let a session go on by itself, out of reach for ever.", steers)
	return steer(p, spec, procID, func(ctx context.Context, call *tools.Call, in procIDInput) (*tools.Outcome[ProcState], error) {
		if err := p.Sessions.Release(ctx, caller(call), in.ID); err != nil {
			return nil, err
		}
		return p.after(ctx, call, in.ID)
	})
}
