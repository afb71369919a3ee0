package builtin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// ProcessDeps is what the tools of process sessions stand on. They own none of it.
type ProcessDeps struct {
	// Workspace contains the directories that programs start in.
	Workspace *workspace.Workspace
	// Sessions run the programs; lines for a shell run with its shell, which should
	// be the one that `shell` uses (FindShell).
	Sessions *procsess.Registry
	// Owner says what a sandbox truly isolates here.
	Owner *child.Owner
	// Shell has the sandbox and the variables that commands get (Sandbox, WriteRoots,
	// Overreaching, AllowNetwork, ExtraEnv, Environment); the rest is not used.
	Shell ShellOptions
	// TakeUp is called at the beginning of every call, to take up the durable
	// sessions that an earlier process has left, and again when another process has
	// taken up one since; nil takes up none.
	TakeUp func(ctx context.Context, caller procsess.Caller, again bool)
}

// Processes returns the tools of the toolset "proc".
func Processes(deps *ProcessDeps) ([]*tools.Tool, error) {
	if deps == nil || deps.Workspace == nil || deps.Sessions == nil || deps.Owner == nil {
		return nil, tools.Errorf(tools.CodeToolInput, "the process tools need a workspace, sessions and an owner")
	}
	p := &sessions{ProcessDeps: *deps}
	if err := p.newSeal(); err != nil {
		return nil, err
	}
	var list []*tools.Tool
	for _, make := range []func() (*tools.Tool, error){
		p.start, p.output, p.input, p.wait, p.signal, p.kill, p.release, p.resize, p.list,
	} {
		tool, err := make()
		if err != nil {
			return nil, err
		}
		list = append(list, tool)
	}
	return list, nil
}

// sessions is what the tools of this group have in common.
type sessions struct {
	ProcessDeps
	seal []byte // key of the digests of input
}

// The effects of the tools that change a session which was allowed before.
var steers = tools.Effect{Mutation: tools.MutatesLocally, Idempotency: tools.IdempotencyUnsupported}

func procSpec(name, title, description string, effect tools.Effect) tools.Spec {
	kind := tools.KindRead
	if effect.Mutates() {
		kind = tools.KindExecute
	}
	return tools.Spec{Name: name, Title: title, Description: description, Toolset: "proc", Kind: kind, Effect: effect}
}

// The bounds of inputs that no session option has.
var (
	procPort   = tools.Limit{Name: "port", Hard: 65535}
	procQuiet  = tools.Limit{Name: "quietMs", Hard: procsess.WaitTime.Hard * 1000}
	procFollow = tools.Limit{Name: "waitMs", Hard: 30_000}
	procBytes  = tools.Limit{Name: "bytes", Hard: 1 << 40}
	procCursor = tools.Limit{Name: "cursor", Hard: 1 << 50, ZeroOK: true}
)

func caller(call *tools.Call) procsess.Caller { return procsess.Caller{Owner: call.Owner} }

// steering is what a policy sees of an act upon a session. Whoever was allowed to
// start it may use it, so it counts as a change of what is prism-ls's own, and
// not as a program that is started.
func (p *sessions) steering(ctx context.Context, call *tools.Call, id string) (procsess.Info, tools.Action, error) {
	info, err := p.Sessions.Get(ctx, caller(call), id)
	action := tools.Action{Kind: tools.KindOther, Mutation: tools.MutatesLocally, Command: info.Command, Options: []string{"session " + id}}
	return info, action, err
}

// steer declares a tool that acts upon a session; see steering.
func steer[In, Out any](p *sessions, spec tools.Spec, id func(In) (session string, args []string), run tools.RunFunc[In, Out]) (*tools.Tool, error) {
	plan := func(ctx context.Context, call *tools.Call, in In) (tools.Action, error) {
		session, args := id(in)
		_, action, err := p.steering(ctx, call, session)
		action.Options = append(action.Options, args...)
		return action, err
	}
	return procTool(p, spec, plan, run)
}

// procTool declares a tool of this group.
func procTool[In, Out any](p *sessions, spec tools.Spec, plan tools.PlanFunc[In], run tools.RunFunc[In, Out]) (*tools.Tool, error) {
	return tools.New(spec, func(ctx context.Context, call *tools.Call, in In) (tools.Action, error) {
		if p.TakeUp != nil {
			p.TakeUp(ctx, caller(call), false)
		}
		if plan == nil {
			return tools.Action{}, nil
		}
		return plan(ctx, call, in)
	}, func(ctx context.Context, call *tools.Call, in In) (*tools.Outcome[Out], error) {
		outcome, err := run(ctx, call, in)
		if p.TakeUp != nil && errors.Is(err, tools.CodeRecoveryFence) { // refused, so nothing was done
			p.TakeUp(ctx, caller(call), true)
			return run(ctx, call, in)
		}
		return outcome, err
	})
}

// ProcInput says whether a program waits for input.
type ProcInput struct {
	State string `json:"state"`
	Mode  string `json:"mode,omitempty"`
}

func procInput(in procsess.Input) ProcInput { return ProcInput{string(in.State), string(in.Mode)} }

// words says it for a model; "" where there is nothing to say.
func (in ProcInput) words() string {
	mode := ""
	if in.Mode != "" {
		mode = " (" + in.Mode + ")"
	}
	switch procsess.InputState(in.State) {
	case procsess.BlockedRead:
		return "waits for input" + mode
	case procsess.AcceptsInput:
		return "accepts input" + mode
	}
	return ""
}

// ProcExit is how a program ended; what is null is not known, or does not apply.
type ProcExit struct {
	Code        *int    `json:"code"`
	Signal      *string `json:"signal"`
	CoreDumped  bool    `json:"coreDumped"`
	By          string  `json:"by"`
	UserMS      *int64  `json:"userMs"`
	SystemMS    *int64  `json:"systemMs"`
	MaxRSSBytes *int64  `json:"maxRssBytes"`
}

func procExit(exit *procsess.Exit) *ProcExit {
	if exit == nil {
		return nil
	}
	e := &ProcExit{Code: exit.Code, CoreDumped: exit.CoreDumped, By: string(exit.By), UserMS: milliseconds(exit.User), SystemMS: milliseconds(exit.System), MaxRSSBytes: exit.MaxRSS}
	if exit.Signal != "" {
		e.Signal = &exit.Signal
	}
	return e
}

func milliseconds(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	ms := d.Milliseconds()
	return &ms
}

// stateWords says how a session is, and how it ended.
func stateWords(state procsess.State, exit *ProcExit) string {
	text := string(state)
	switch {
	case exit == nil:
	case exit.Signal != nil:
		text += ", by " + *exit.Signal
	case exit.Code != nil:
		text += fmt.Sprintf(", code %d", *exit.Code)
	}
	if exit != nil && exit.By != string(procsess.ByItself) && exit.By != "" {
		text += " (" + exit.By + ")"
	}
	return text
}

// seconds and millis make durations of optional inputs; nil is 0.
func seconds(n *int64) time.Duration { return times(n, time.Second) }
func millis(n *int64) time.Duration  { return times(n, time.Millisecond) }

func times(n *int64, unit time.Duration) time.Duration {
	if n == nil {
		return 0
	}
	return time.Duration(*n) * unit
}

// number is an optional input that fits an int.
func number(n *int64) int {
	if n == nil {
		return 0
	}
	return int(*n)
}
