package tools

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ApprovalScope is how long an approval stands for the same exact action.
type ApprovalScope string

// The scopes.
const (
	ApproveOnce    ApprovalScope = "none"
	ApproveRun     ApprovalScope = "run"
	ApproveSession ApprovalScope = "session"
)

// ApprovalTime is how long a person is waited for, in milliseconds.
var ApprovalTime = Limit{Name: "approvalTimeout", Default: 30_000, Hard: 600_000}

// maxApprovals is how many remembered approvals there are; the oldest goes.
const maxApprovals = 1000

// gate is the one place where a policy's word is carried out.
type gate struct {
	policy   Policy
	consents Consents
	scope    ApprovalScope
	root     string
	wait     time.Duration

	mu       sync.Mutex
	approved []string // oldest first
}

// pass returns nil when the action may happen.
func (g *gate) pass(ctx context.Context, call *Call, action Action) error {
	action.Root, action.Owner, action.Session = g.root, call.Owner, call.Session
	if g.policy == nil {
		return nil
	}
	decision := g.policy.Decide(ctx, action)
	switch decision.Verdict {
	case Allow:
		return nil
	case Ask:
		return g.ask(ctx, call, action, decision.Reason)
	}
	return Errorf(CodeExecutionDenied, "%s is not allowed: %s", action.Operation, decision.Reason)
}

func (g *gate) ask(ctx context.Context, call *Call, action Action, reason string) error {
	key := g.key(call, action)
	if g.remembered(key) {
		return nil
	}
	if g.consents != nil {
		if taken, err := g.consents.Take(ctx, action.Digest()); err == nil && taken {
			return nil
		}
	}
	if call.Approver == nil {
		return g.offer(ctx, action, reason)
	}
	asking, cancel := context.WithTimeout(ctx, g.wait)
	defer cancel()
	yes, err := call.Approver.Approve(asking, action, reason)
	switch {
	case errors.Is(err, CodeDecisionUnsupported):
		return g.offer(ctx, action, reason)
	case ctx.Err() != nil:
		return AsError(ctx.Err())
	case err != nil:
		return Errorf(CodeExecutionDenied, "%s needs approval (%s), and asking for it failed: %w", action.Operation, reason, err)
	case !yes:
		return Errorf(CodeExecutionDenied, "%s was declined: %s", action.Operation, reason)
	}
	g.remember(key)
	return nil
}

// offer refuses, naming the way to consent outside of the call.
func (g *gate) offer(ctx context.Context, action Action, reason string) error {
	if g.consents != nil {
		if id, err := g.consents.Offer(ctx, action, reason); err == nil {
			denial := Errorf(CodeExecutionDenied, "%s needs approval: %s. Nobody can be asked here; a person can run `prism-ls approve %s` and the same call then goes through once", action.Operation, reason, id)
			return denial.WithDetails(map[string]string{"approvalId": id})
		}
	}
	return Errorf(CodeExecutionDenied, "%s needs approval: %s. Nobody can be asked here", action.Operation, reason)
}

// key names the action within the scope that an approval stands for.
func (g *gate) key(call *Call, action Action) string {
	switch g.scope {
	case ApproveRun:
		return action.Digest()
	case ApproveSession:
		return call.Session + "\x00" + action.Digest()
	}
	return ""
}

func (g *gate) remembered(key string) bool {
	if key == "" {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.approved, key)
}

func (g *gate) remember(key string) {
	if key == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.approved) >= maxApprovals {
		g.approved = slices.Delete(g.approved, 0, 1)
	}
	g.approved = append(g.approved, key)
}
