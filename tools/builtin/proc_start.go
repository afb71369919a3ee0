package builtin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

type procReady struct {
	Match          string `json:"match,omitempty" check:"nonempty"`
	Regex          string `json:"regex,omitempty" check:"nonempty"`
	Port           *int64 `json:"port,omitempty"`
	QuietMS        *int64 `json:"quietMs,omitempty"`
	TimeoutSeconds *int64 `json:"timeoutSeconds,omitempty"`
}

type procStartInput struct {
	Command         string            `json:"command" check:"nonempty"`
	Args            []string          `json:"args,omitempty"`
	CWD             string            `json:"cwd,omitempty" check:"nonempty"`
	Env             map[string]string `json:"env,omitempty"`
	PTY             *bool             `json:"pty,omitempty" jsonschema:"default true; false: pipes"`
	Columns         *int64            `json:"columns,omitempty"`
	Rows            *int64            `json:"rows,omitempty"`
	LifetimeSeconds *int64            `json:"lifetimeSeconds,omitempty"`
	Name            string            `json:"name,omitempty"`
	Durable         bool              `json:"durable,omitempty" jsonschema:"outlives prism-ls"`
	ReadyWhen       *procReady        `json:"readyWhen,omitempty" jsonschema:"return once one of these holds"`
}

// ProcStart is the metadata of `proc_start`.
type ProcStart struct {
	ID     string    `json:"id"`
	State  string    `json:"state"`
	PID    int       `json:"pid"`
	Ready  *bool     `json:"ready,omitempty"`
	Cursor int64     `json:"cursor"`
	Input  ProcInput `json:"input"`
	Exit   *ProcExit `json:"exit,omitempty"`
}

func (p *sessions) start() (*tools.Tool, error) {
	spec := procSpec("proc_start", "Start session", "Start a program that keeps running, in a terminal. Without args, command is a shell line.", tools.RunsAnything)
	spec.Limits = []tools.Limit{procsess.Columns, procsess.Rows, procsess.Lifetime, procsess.ReadyTime, procPort, procQuiet}
	return procTool(p, spec, p.planStart, p.runStart)
}

func (p *sessions) planStart(ctx context.Context, _ *tools.Call, in procStartInput) (tools.Action, error) {
	if refused := child.Refused(in.Env); len(refused) > 0 {
		return tools.Action{}, tools.Errorf(tools.CodeToolInput, "env: %s cannot be passed: LD_* and BASH_ENV make programs run other code, and no name is empty or holds =, no value NUL", strings.Join(refused, ", "))
	}
	at, err := directory(p.Workspace, in.CWD)
	if err != nil {
		return tools.Action{}, err
	}
	contained, err := p.contained(ctx)
	if err != nil {
		return tools.Action{}, err
	}
	action := tools.Action{Paths: paths(at), Command: in.Command, Args: in.Args, Contained: contained, Risk: tools.RiskHigh}
	if contained {
		action.Risk = tools.RiskMedium
	}
	for _, name := range slices.Sorted(maps.Keys(in.Env)) {
		action.Env = append(action.Env, name+"="+in.Env[name])
	}
	if in.Args != nil {
		action.Options = append(action.Options, "without a shell")
	}
	if in.Durable {
		action.Options = append(action.Options, "durable")
	}
	return action, nil
}

// contained reports whether sessions run where they can write only to the
// workspace and reach no network.
func (p *sessions) contained(ctx context.Context) (bool, error) {
	if p.Shell.Sandbox == "" || p.Shell.Sandbox == child.Off {
		return false, nil
	}
	capabilities, err := p.Owner.Probe(ctx)
	return err == nil && p.Shell.contains(capabilities), err
}

func (p *sessions) runStart(ctx context.Context, call *tools.Call, in procStartInput) (*tools.Outcome[ProcStart], error) {
	at, err := directory(p.Workspace, in.CWD)
	if err != nil {
		return nil, err
	}
	if err := unmoved(call, 0, at); err != nil {
		return nil, err
	}
	start := procsess.Start{
		Command: in.Command, Args: in.Args, Shell: in.Args == nil, Dir: p.Workspace.Abs(at.at), Env: p.environment(in.Env),
		Pipe: in.PTY != nil && !*in.PTY, Columns: number(in.Columns), Rows: number(in.Rows), Lifetime: seconds(in.LifetimeSeconds),
		Name: in.Name, Durable: in.Durable,
	}
	if sandbox := p.Shell.sandbox(p.Workspace.Root()); sandbox.Mode != "" && sandbox.Mode != child.Off {
		if call.Action().Contained {
			sandbox.Mode = child.Require // it was approved because a sandbox holds it
		}
		start.Sandbox = &sandbox
	}
	if r := in.ReadyWhen; r != nil {
		start.Ready = &procsess.Ready{Match: r.Match, Regex: r.Regex, Port: number(r.Port), Quiet: millis(r.QuietMS), Timeout: seconds(r.TimeoutSeconds)}
		defer heartbeat(call, cmp.Or(start.Ready.Timeout.Seconds(), float64(procsess.ReadyTime.Default)), "the program is not ready yet")()
	}
	started, err := p.Sessions.Start(ctx, caller(call), start)
	if err != nil {
		return nil, errors.Join(err, p.abandon(ctx, call, started.ID))
	}
	m := ProcStart{
		ID: started.ID, State: string(started.State), PID: started.PID, Ready: started.Ready, Cursor: started.Cursor,
		Input: procInput(started.Input), Exit: procExit(started.Exit),
	}
	text := fmt.Sprintf("%s: %s, pid %d", m.ID, stateWords(started.State, m.Exit), m.PID)
	switch {
	case m.Ready == nil:
	case *m.Ready:
		text += ", ready"
	default:
		text += ", not ready"
	}
	if words := m.Input.words(); words != "" {
		text += ", " + words
	}
	return tools.Answer(text+fmt.Sprintf("; output ends at cursor %d", m.Cursor), m), nil
}

// environment is what a program gets beyond what all sessions do: what may be
// inherited from this client's own environment, since clients share sessions,
// what its configuration adds, and what the call does.
func (p *sessions) environment(given map[string]string) map[string]string {
	env := map[string]string{}
	for _, entry := range child.Environment(p.Shell.Environment, nil) {
		name, value, _ := strings.Cut(entry, "=")
		if name != "TERM" && !strings.HasPrefix(name, "GIT_CONFIG_") { // which the session sets
			env[name] = value
		}
	}
	maps.Copy(env, p.Shell.ExtraEnv)
	maps.Copy(env, given)
	return env
}

// abandon ends a session that was started by a call which then failed: nobody has
// its ID.
func (p *sessions) abandon(ctx context.Context, call *tools.Call, id string) error {
	if id == "" {
		return nil
	}
	_, err := p.Sessions.Kill(context.WithoutCancel(ctx), caller(call), id)
	return err
}
