package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// Handoff is what somebody else needs to go on with a task that was approved, for
// example to ask for a review of it.
type Handoff struct {
	SchemaVersion int            `json:"schemaVersion"`
	TaskID        string         `json:"taskId"`
	Title         string         `json:"title"`
	Goal          string         `json:"goal"`
	BaseBranch    string         `json:"baseBranch,omitempty"`
	Branch        string         `json:"branch,omitempty"`
	BaseID        string         `json:"baseId,omitempty"`
	HeadID        string         `json:"headId,omitempty"`
	TreeID        string         `json:"treeId"`
	Plan          Reference      `json:"plan"`
	Todos         []Todo         `json:"todos"`
	Checks        []CheckSummary `json:"checks"`
	// ApprovedVersion is the version of the record that was approved.
	ApprovedVersion int64     `json:"approvedVersion"`
	ApprovedAt      time.Time `json:"approvedAt"`
	// Truncated says that items, or the goal, were left out to keep to the bound.
	Truncated bool `json:"truncated"`
}

// handOff keeps the hand-off as an artifact and completes the task.
func (c *claim) handOff(ctx context.Context, goal *Goal) error {
	file, err := c.goals.opts.Files.Read(ctx, goal.TaskID)
	if err != nil {
		return err
	}
	text, err := c.goals.handoff(goal, file)
	if err != nil {
		return err
	}
	kept, err := c.goals.opts.Stores.Artifacts().Put(ctx, goal.Owner, bytes.NewReader(text))
	if err != nil {
		return err
	}
	c.goals.opts.at("kept")
	goal.Artifacts = []Reference{{URI: "artifact:" + kept.SHA256, SHA256: kept.SHA256, Bytes: kept.Bytes}}
	goal.Handoff = fmt.Sprintf("%d checks passed, %d items, tree %s", len(goal.Checks), len(goal.Todos), goal.TreeID)
	goal.Status = StatusCompleted
	if err := c.save(ctx, goal); err != nil {
		return err
	}
	c.goals.opts.at("completed")
	return nil
}

// handoff is the JSON, the same however often it is made.
func (g *Goals) handoff(goal *Goal, file *File) ([]byte, error) {
	h := Handoff{
		SchemaVersion: SchemaVersion, TaskID: goal.TaskID, Title: file.Title(), Goal: file.Goal(), BaseBranch: goal.BaseBranch, Branch: goal.Branch,
		BaseID: goal.BaseID, HeadID: goal.HeadID, TreeID: goal.TreeID, Plan: *goal.Plan, Todos: file.Todos(), Checks: goal.Checks,
		ApprovedVersion: goal.Version, ApprovedAt: goal.UpdatedAt,
	}
	for _, cut := range []func(){
		func() {},
		func() { h.Truncated, h.Todos = true, []Todo{} },
		func() { h.Goal = clip(h.Goal) },
	} {
		cut()
		text, err := json.Marshal(h)
		if err != nil {
			return nil, tools.Errorf(tools.CodeInternal, "the hand-off has no JSON: %w", err)
		}
		if int64(len(text)) <= g.opts.HandoffBytes {
			return text, nil
		}
	}
	return nil, tools.Errorf(tools.CodeLimit, "the hand-off has more than %d bytes", g.opts.HandoffBytes)
}

// ReadHandoff returns the hand-off of a completed task, read back and compared with its
// sum. CodeNotFound: there is none.
func (g *Goals) ReadHandoff(ctx context.Context, owner state.Owner, taskID string) ([]byte, error) {
	goal, err := g.Get(ctx, owner, taskID)
	if err != nil {
		return nil, err
	}
	if goal.Status != StatusCompleted || len(goal.Artifacts) == 0 {
		return nil, tools.Errorf(tools.CodeNotFound, "the task %s is %s, and has no hand-off", taskID, goal.Status)
	}
	content, err := g.opts.Stores.Artifacts().Open(ctx, owner, goal.Artifacts[0].SHA256)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	return io.ReadAll(io.LimitReader(content, HandoffBytes.Hard+1))
}
