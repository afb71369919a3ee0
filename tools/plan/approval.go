package plan

import (
	"context"
	"slices"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// Approve lets a task that waits for it be handed off. version is the one that the
// person has seen: at another it is CodeStateConflict, with a state.Current. What was
// checked has to be what is there: where the tree or the plan is another by now, the
// checks run again, and the task is at a version that nobody has approved yet; the
// Goal then says so in its Status. What else is not as recorded is
// CodeCodingCheckpoint.
func (g *Goals) Approve(ctx context.Context, owner state.Owner, taskID string, version int64) (goal *Goal, err error) {
	c, ctx, err := g.claim(ctx, owner, taskID)
	if err != nil {
		return nil, err
	}
	defer c.release(ctx, &err)
	if goal, err = g.waiting(ctx, owner, taskID, version); err != nil {
		return nil, err
	}
	again, err := g.moved(ctx, goal)
	if err != nil {
		return nil, err
	}
	if again {
		return c.verify(ctx, owner, taskID, &VerifyOptions{})
	}
	goal.Status, goal.Approved = StatusReadyForHandoff, goal.Version
	if err := c.save(ctx, goal); err != nil {
		return nil, err
	}
	g.opts.at("approved")
	return goal, c.handOff(ctx, goal)
}

// Deny ends a task that waits for approval: StatusCancelled, for that reason. Verify
// begins it anew.
func (g *Goals) Deny(ctx context.Context, owner state.Owner, taskID string, version int64, reason string) (goal *Goal, err error) {
	c, ctx, err := g.claim(ctx, owner, taskID)
	if err != nil {
		return nil, err
	}
	defer c.release(ctx, &err)
	if goal, err = g.waiting(ctx, owner, taskID, version); err != nil {
		return nil, err
	}
	goal.Status, goal.Reason = StatusCancelled, g.short(reason)
	if goal.Reason == "" {
		goal.Reason = "denied"
	}
	return goal, c.save(ctx, goal)
}

// Resume goes on with a task that a crash has cut short: checks are run to their end,
// and what was approved is handed off. A task that waits, or is over, stays as it is.
func (g *Goals) Resume(ctx context.Context, owner state.Owner, taskID string) (goal *Goal, err error) {
	c, ctx, err := g.claim(ctx, owner, taskID)
	if err != nil {
		return nil, err
	}
	defer c.release(ctx, &err)
	if goal, err = g.Get(ctx, owner, taskID); err != nil {
		return nil, err
	}
	switch goal.Status {
	case StatusPlanned, StatusChecking:
		return c.verify(ctx, owner, taskID, &VerifyOptions{})
	case StatusReadyForHandoff:
		again, err := g.moved(ctx, goal)
		if err != nil {
			return nil, err
		}
		if again {
			return c.verify(ctx, owner, taskID, &VerifyOptions{})
		}
		return goal, c.handOff(ctx, goal)
	}
	return goal, nil
}

// waiting loads a task that waits for approval at that version.
func (g *Goals) waiting(ctx context.Context, owner state.Owner, taskID string, version int64) (*Goal, error) {
	goal, err := g.Get(ctx, owner, taskID)
	if err != nil {
		return nil, err
	}
	switch {
	case goal.Status != StatusAwaitingApproval:
		err = tools.Errorf(tools.CodeStateConflict, "the task %s is %s, and waits for no approval", taskID, goal.Status).WithDetails(state.Current{Version: goal.Version})
	case goal.Version != version:
		err = tools.Errorf(tools.CodeStateConflict, "the task %s is at version %d, not %d; look at it again", taskID, goal.Version, version).WithDetails(state.Current{Version: goal.Version})
	}
	return goal, err
}

// moved compares what was recorded with what is. True: only the work itself is
// another, and can be checked again.
func (g *Goals) moved(ctx context.Context, goal *Goal) (bool, error) {
	present, err := g.present(ctx, goal)
	if err != nil {
		return false, err
	}
	failure := ResumeAllowed(goal.Metadata, present)
	if failure == nil {
		return false, nil
	}
	work := []string{"baseId", "headId", "treeId", "plan"}
	details, ok := tools.AsError(failure).Details.(Differences)
	if !ok || slices.ContainsFunc(details.Differences, func(d Difference) bool { return !slices.Contains(work, d.Field) }) {
		return false, failure
	}
	return true, nil
}

// present finds out what there is.
func (g *Goals) present(ctx context.Context, goal *Goal) (*Presented, error) {
	repository, err := g.opts.Repository(ctx)
	if err != nil {
		return nil, err
	}
	p := &Presented{
		Owner: goal.Owner, SchemaVersion: SchemaVersion, TaskID: goal.TaskID, WorkspaceRoot: g.opts.Files.ws.Root(),
		Worktree: repository.Top(), BaseBranch: goal.BaseBranch, Fingerprints: g.opts.Fingerprints,
	}
	place, err := g.opts.Files.Place(goal.TaskID)
	if err != nil {
		return nil, err
	}
	at, err := repository.Snapshot(ctx, []string{repository.FromTop(place.Real)})
	if err != nil {
		return nil, err
	}
	p.Branch, p.HeadID, p.TreeID = at.Head.Branch(), at.Head.ID, at.Tree
	if goal.BaseID != "" {
		if p.BaseID, err = repository.Resolve(ctx, goal.BaseBranch); err != nil {
			return nil, err
		}
	}
	file, err := g.opts.Files.Read(ctx, goal.TaskID)
	if err != nil {
		return nil, err
	}
	p.Plan, p.PlanURI = file.data, file.Path
	p.Artifacts, err = ReadArtifacts(ctx, g.opts.Stores.Artifacts(), goal.Owner, goal.Artifacts)
	return p, err
}
