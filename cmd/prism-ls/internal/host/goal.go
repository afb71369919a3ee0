package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/check"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/plan"
)

// GoalOptions are who works on a task, and with what. The zero value suits who only
// looks.
type GoalOptions struct {
	// Call is in whose name checks run, and who is asked for what the profile asks.
	Call tools.CallOptions
	// Revision tells this build from another.
	Revision string
	// Progress hears which check runs; nil: nobody does.
	Progress func(check string)
}

// Goals are the tasks of the workspace, from their plans to what is handed off.
func (h *Host) Goals(opts GoalOptions) (*plan.Goals, error) {
	stores, err := h.shared.Stores()
	if err != nil {
		return nil, err
	}
	files, err := h.Plans()
	if err != nil {
		return nil, err
	}
	fingerprints, err := h.fingerprints(opts.Revision)
	if err != nil {
		return nil, err
	}
	return plan.NewGoals(&plan.GoalOptions{
		Files: files, Checks: &recordedChecks{h.checks, h, opts.Call}, Stores: stores, Repository: h.repository, Fingerprints: fingerprints,
		Redactor: h.redactor, Progress: opts.Progress, Events: h.events,
	})
}

func (h *Host) repository(ctx context.Context) (*git.Repository, error) {
	if h.shared.git == nil {
		return nil, tools.Errorf(tools.CodeGitFailed, "there is no git program outside of the workspace; install git, or configure its path")
	}
	if err := h.shared.files.Present(); err != nil {
		return nil, err
	}
	return h.shared.git.Repository(ctx, h.shared.files.Root())
}

// fingerprints are what a task is worked on with: this build, its tools, the declared
// checks, and how they are confined.
func (h *Host) fingerprints(revision string) (plan.Fingerprints, error) {
	type declared struct {
		Spec  tools.Spec
		Input json.RawMessage
	}
	var list []declared
	for _, tool := range h.all.Tools() {
		list = append(list, declared{tool.Spec(), tool.InputSchema()})
	}
	f := plan.Fingerprints{Revision: revision}
	var errs [3]error
	f.Tools, errs[0] = tools.Fingerprint(list)
	f.Definition, errs[1] = tools.Fingerprint(h.cfg.Definitions())
	f.Policy, errs[2] = tools.Fingerprint(map[string]string{"sandbox": h.cfg.SandboxMode()})
	return f, errors.Join(errs[:]...)
}

// recordedChecks run as the tool coding_check does: where the profile agrees, on the
// audit's record and on the account of effects.
type recordedChecks struct {
	*check.Runner
	host *Host
	call tools.CallOptions
}

// Run implements check.Checks.
func (c *recordedChecks) Run(ctx context.Context, name string) (*check.Result, error) {
	ran := &lastCheck{Runner: c.Runner}
	list, err := builtin.CodingCheck(&builtin.CheckDeps{Checks: ran, SpillDir: outputDir(c.host.cfg, c.host.log)})
	if err != nil {
		return nil, err
	}
	registry, err := tools.NewRegistry(list, c.host.options)
	if err != nil {
		return nil, err
	}
	input, err := json.Marshal(map[string]string{"name": name})
	if err != nil {
		return nil, err
	}
	if made := registry.Call(ctx, list[0].Spec().Name, input, c.call); made.Err != nil {
		return ran.result, made.Err
	}
	return ran.result, nil
}

// lastCheck keeps the result of the one check that it runs.
type lastCheck struct {
	*check.Runner
	result *check.Result
}

// Run implements check.Checks.
func (c *lastCheck) Run(ctx context.Context, name string) (result *check.Result, err error) {
	c.result, err = c.Runner.Run(ctx, name)
	return c.result, err
}

// goalTime bounds one step of a task, which is as many checks as are declared. It says
// how long what the step does to the plan is on the account of effects as its own.
const goalTime = 24 * time.Hour

// GoalStep is something that a person does with a task.
type GoalStep struct {
	// Name is the operation on record, such as plan_verify.
	Name, TaskID string
	// Version is the one that was judged; 0 is none. What a person judges at their
	// terminal is for no profile to agree to.
	Version int64
	Call    tools.CallOptions
}

// Step does it like a call of a tool: on the audit's record, and what it does to the
// plan on the account of effects.
func (h *Host) Step(ctx context.Context, step *GoalStep, do func(context.Context) error) error {
	files, err := h.Plans()
	if err != nil {
		return err
	}
	place, err := files.Place(step.TaskID)
	if err != nil {
		return err
	}
	type nothing struct{}
	spec := tools.Spec{
		Name: step.Name, Title: step.Name, Description: "A person's step with a task.", Toolset: "plan",
		Kind: tools.KindEdit, Effect: tools.ChangesFiles, Timeout: goalTime,
	}
	action := tools.Action{Paths: []string{place.Real}, Args: []string{step.TaskID}}
	opts := *h.options
	if step.Version != 0 {
		opts.Policy = nil
		action.Args = append(action.Args, fmt.Sprint("version ", step.Version))
	}
	var failure error
	tool, err := tools.New(spec, func(context.Context, *tools.Call, nothing) (tools.Action, error) { return action, nil },
		func(ctx context.Context, _ *tools.Call, _ nothing) (*tools.Outcome[nothing], error) {
			failure = do(ctx)
			return nil, failure
		})
	if err != nil {
		return err
	}
	registry, err := tools.NewRegistry([]*tools.Tool{tool}, &opts)
	if err != nil {
		return err
	}
	if made := registry.Call(ctx, step.Name, []byte("{}"), step.Call); failure == nil && made.Err != nil {
		return made.Err
	}
	return failure
}
