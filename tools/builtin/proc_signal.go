package builtin

import (
	"context"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

type procSignalInput struct {
	ID     string `json:"id" check:"nonempty"`
	Signal string `json:"signal" check:"nonempty" jsonschema:"SIGINT, SIGTERM …"`
}

// ProcState is the metadata of the tools that change a session and tell no more.
type ProcState struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

func (p *sessions) signal() (*tools.Tool, error) {
	spec := procSpec("proc_signal", "Signal session", "Signal what runs in the foreground of a session.", steers)
	what := func(in procSignalInput) (string, []string) { return in.ID, []string{strings.ToUpper(in.Signal)} }
	return steer(p, spec, what, func(ctx context.Context, call *tools.Call, in procSignalInput) (*tools.Outcome[ProcState], error) {
		signal, err := SignalNumber(in.Signal)
		if err != nil {
			return nil, err
		}
		if err := p.Sessions.Signal(ctx, caller(call), in.ID, signal); err != nil {
			return nil, err
		}
		return p.after(ctx, call, in.ID)
	})
}

// after says how a session is, now that something was done to it.
func (p *sessions) after(ctx context.Context, call *tools.Call, id string) (*tools.Outcome[ProcState], error) {
	info, err := p.Sessions.Get(ctx, caller(call), id)
	if err != nil {
		return nil, err
	}
	return tools.Answer(id+": "+stateWords(info.State, procExit(info.Exit)), ProcState{id, string(info.State)}), nil
}
