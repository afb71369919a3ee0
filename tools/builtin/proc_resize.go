package builtin

import (
	"context"
	"fmt"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

type procResizeInput struct {
	ID      string `json:"id" check:"nonempty"`
	Columns int64  `json:"columns"`
	Rows    int64  `json:"rows"`
}

func (p *sessions) resize() (*tools.Tool, error) {
	spec := procSpec("proc_resize", "Resize terminal", "Change the size of a session's terminal.", tools.RemembersLocally)
	columns, rows := procsess.Columns, procsess.Rows
	columns.Default, rows.Default = 0, 0 // both have to be given
	spec.Limits = []tools.Limit{columns, rows}
	what := func(in procResizeInput) (string, []string) {
		return in.ID, []string{fmt.Sprintf("%d×%d", in.Columns, in.Rows)}
	}
	return steer(p, spec, what, func(ctx context.Context, call *tools.Call, in procResizeInput) (*tools.Outcome[ProcState], error) {
		if err := p.Sessions.Resize(ctx, caller(call), in.ID, int(in.Columns), int(in.Rows)); err != nil {
			return nil, err
		}
		return p.after(ctx, call, in.ID)
	})
}
