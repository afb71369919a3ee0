package builtin

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
)

type procIDInput struct {
	ID string `json:"id" check:"nonempty"`
}

func procID(in procIDInput) (string, []string) { return in.ID, nil }

// ProcKill is the metadata of `proc_kill`.
type ProcKill struct {
	Survivors []ShellProcess `json:"survivors"`
	State     string         `json:"state"`
}

func (p *sessions) kill() (*tools.Tool, error) {
	spec := procSpec("proc_kill", "Kill session", "End a session and all that it started; its output stays.", tools.RemembersLocally)
	return steer(p, spec, procID, func(ctx context.Context, call *tools.Call, in procIDInput) (*tools.Outcome[ProcKill], error) {
		report, err := p.Sessions.Kill(ctx, caller(call), in.ID)
		if err != nil {
			return nil, err
		}
		info, err := p.Sessions.Get(ctx, caller(call), in.ID)
		if err != nil {
			return nil, err
		}
		m := ProcKill{Survivors: orEmpty(processes(report.Survivors)), State: string(info.State)}
		text := in.ID + ": " + stateWords(info.State, procExit(info.Exit))
		if len(m.Survivors) > 0 {
			text += "\n[could not be ended: " + list(m.Survivors) + "]"
		}
		return tools.Answer(text, m), nil
	})
}
