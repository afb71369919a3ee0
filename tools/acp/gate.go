package acp

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
)

// Gate decides before anything happens. The zero value allows everything.
type Gate struct {
	// Policy is asked about every action; nil allows.
	Policy tools.Policy
	// Approver asks a person where the policy says so; nil means that nobody can be
	// asked, and then the action is refused.
	Approver tools.Approver
	// Root is the workspace that the actions are in, as approvals name it.
	Root string
}

func (g *Gate) pass(ctx context.Context, action tools.Action) error {
	if g.Policy == nil {
		return nil
	}
	action.Root = g.Root
	decision := g.Policy.Decide(ctx, action)
	switch {
	case decision.Verdict == tools.Allow:
		return nil
	case decision.Verdict == tools.Ask && g.Approver != nil:
		yes, err := g.Approver.Approve(ctx, action, decision.Reason)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return tools.Errorf(tools.CodeExecutionDenied, "%s needs approval (%s), and asking for it failed: %w", action.Operation, decision.Reason, err)
		case !yes:
			return tools.Errorf(tools.CodeExecutionDenied, "%s was declined: %s", action.Operation, decision.Reason)
		}
		return nil
	case decision.Verdict == tools.Ask:
		return tools.Errorf(tools.CodeExecutionDenied, "%s needs approval, and nobody can be asked: %s", action.Operation, decision.Reason)
	}
	return tools.Errorf(tools.CodeExecutionDenied, "%s is not allowed: %s", action.Operation, decision.Reason)
}
