package builtin

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

type procWaitInput struct {
	ID             string `json:"id" check:"nonempty"`
	Exit           bool   `json:"exit,omitempty"`
	Match          string `json:"match,omitempty" check:"nonempty" jsonschema:"literal output"`
	Regex          string `json:"regex,omitempty" check:"nonempty"`
	QuietMS        *int64 `json:"quietMs,omitempty"`
	Port           *int64 `json:"port,omitempty" jsonschema:"the session listens"`
	Input          bool   `json:"input,omitempty" jsonschema:"the program waits for input"`
	Bytes          *int64 `json:"bytes,omitempty"`
	Cursor         *int64 `json:"cursor,omitempty" jsonschema:"where match, regex and bytes begin"`
	TimeoutSeconds *int64 `json:"timeoutSeconds,omitempty"`
}

// ProcWait is the metadata of `proc_wait`.
type ProcWait struct {
	Reason     string         `json:"reason"`
	Matched    string         `json:"matched,omitempty"`
	Cursor     int64          `json:"cursor"`
	State      string         `json:"state"`
	Input      ProcInput      `json:"input"`
	OutputOpen bool           `json:"outputOpen,omitempty"`
	Holders    []ShellProcess `json:"holders,omitempty"`
	Exit       *ProcExit      `json:"exit,omitempty"`
}

func (p *sessions) wait() (*tools.Tool, error) {
	spec := procSpec("proc_wait", "Wait for session", "Wait until one of the given holds; none given: exit.", tools.Observes)
	spec.Limits = []tools.Limit{procQuiet, procPort, procBytes, procCursor, procsess.WaitTime}
	return procTool(p, spec, nil, func(ctx context.Context, call *tools.Call, in procWaitInput) (*tools.Outcome[ProcWait], error) {
		what := procsess.Wait{
			Exit: in.Exit, Match: in.Match, Regex: in.Regex, Quiet: millis(in.QuietMS), Port: number(in.Port), Input: in.Input,
			Cursor: in.Cursor, Timeout: seconds(in.TimeoutSeconds),
		}
		if in.Bytes != nil {
			what.Bytes = *in.Bytes
		}
		defer heartbeat(call, cmp.Or(what.Timeout.Seconds(), float64(procsess.WaitTime.Default)), "the session is waited for")()
		waited, err := p.Sessions.Wait(ctx, caller(call), in.ID, what)
		if err != nil {
			return nil, err
		}
		m := ProcWait{
			Reason: string(waited.Reason), Matched: waited.Matched, Cursor: waited.Cursor, State: string(waited.State),
			Input: procInput(waited.Input), OutputOpen: waited.OutputOpen, Holders: processes(waited.Holders), Exit: procExit(waited.Exit),
		}
		return tools.Answer(m.text(), m), nil
	})
}

func (m *ProcWait) text() string {
	text := m.Reason
	if m.Matched != "" {
		text += fmt.Sprintf(" %q", clipRunes(m.Matched, 200))
	}
	text += ": " + stateWords(procsess.State(m.State), m.Exit)
	if words := m.Input.words(); words != "" {
		text += ", " + words
	}
	text += fmt.Sprintf("; cursor %d", m.Cursor)
	if m.OutputOpen {
		text += "\n[the output is still open" + strings.TrimSuffix(": "+list(m.Holders), ": ") + "]"
	}
	return text
}
