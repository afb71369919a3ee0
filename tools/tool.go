package tools

import (
	"context"
	"encoding/json"
	"sync"
)

// PlanFunc says what a call with that input is about to do, so that the policy
// can decide before it happens. It observes, and changes nothing. An error
// ends the call.
type PlanFunc[In any] func(ctx context.Context, call *Call, in In) (Action, error)

// RunFunc does it. Content and metadata may come beside an error.
type RunFunc[In, Out any] func(ctx context.Context, call *Call, in In) (*Outcome[Out], error)

// Tool is a declared tool. It is immutable, and safe for concurrent use.
type Tool struct {
	spec     Spec
	input    json.RawMessage
	output   func() json.RawMessage // derived when first asked for: few hosts show it
	decoder  *decoder
	newInput func() any
	plan     func(ctx context.Context, call *Call, in any) (Action, error)
	run      func(ctx context.Context, call *Call, in any) ([]Block, any, error)
}

// New declares a tool whose input is In and whose metadata is Out, both
// structs. A nil plan means that the policy sees only the tool's name and
// kind, which suits tools that touch neither files nor processes.
func New[In, Out any](spec Spec, plan PlanFunc[In], run RunFunc[In, Out]) (*Tool, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	in, err := schemaFor[In](spec.Limits)
	if err != nil {
		return nil, err
	}
	tool := &Tool{spec: spec, newInput: func() any { return new(In) }, decoder: newDecoder(in, spec.InputBytes)}
	if tool.input, err = encode(in); err != nil {
		return nil, err
	}
	tool.output = sync.OnceValue(func() json.RawMessage {
		out, err := schemaFor[Out](nil)
		if err != nil {
			return nil
		}
		text, err := encode(out)
		if err != nil {
			return nil
		}
		return text
	})
	tool.plan = func(ctx context.Context, call *Call, in any) (Action, error) {
		action := Action{Kind: spec.Kind, Operation: spec.Name, Mutation: spec.Effect.Mutation, Risk: RiskLow}
		if plan == nil {
			return action, nil
		}
		planned, err := plan(ctx, call, *in.(*In))
		if err != nil {
			return action, err
		}
		return complete(planned, action), nil
	}
	tool.run = func(ctx context.Context, call *Call, in any) ([]Block, any, error) {
		outcome, err := run(ctx, call, *in.(*In))
		if outcome == nil {
			return nil, nil, err
		}
		return outcome.Content, outcome.Metadata, err
	}
	return tool, nil
}

// complete fills in what a plan left to the tool's declaration.
func complete(planned, declared Action) Action {
	if planned.Kind == "" {
		planned.Kind = declared.Kind
	}
	if planned.Operation == "" {
		planned.Operation = declared.Operation
	}
	if planned.Mutation == "" {
		planned.Mutation = declared.Mutation
	}
	if planned.Risk == "" {
		planned.Risk = declared.Risk
	}
	return planned
}

// Spec returns the declaration.
func (t *Tool) Spec() Spec { return t.spec }

// InputSchema returns the JSON Schema (draft 2020-12) of the input.
func (t *Tool) InputSchema() json.RawMessage { return t.input }

// OutputSchema returns the JSON Schema of the metadata, or nil where the
// metadata's type has none.
func (t *Tool) OutputSchema() json.RawMessage { return t.output() }
