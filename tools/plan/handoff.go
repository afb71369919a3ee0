package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
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
	// Changes are the commits that the base does not have; nil where no base is on
	// record, nothing is committed, or they do not fit.
	Changes *git.Handoff `json:"changes,omitempty"`
	// ApprovedVersion is the version of the record that a person has seen.
	ApprovedVersion int64     `json:"approvedVersion"`
	ApprovedAt      time.Time `json:"approvedAt"`
	// Truncated says that items, the goal or changes were left out to keep to the bound.
	Truncated bool `json:"truncated"`
}

// handOff keeps the hand-off as an artifact and completes the task.
func (c *claim) handOff(ctx context.Context, goal *Goal) error {
	file, err := c.goals.opts.Files.Read(ctx, goal.TaskID)
	if err != nil {
		return err
	}
	changes, err := c.goals.changes(ctx, goal)
	if err != nil {
		return err
	}
	text, err := c.goals.handoff(goal, file, changes)
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

// changes describes what the task's branch has that its base has not, in at most half
// of the hand-off.
func (g *Goals) changes(ctx context.Context, goal *Goal) (*git.Handoff, error) {
	if goal.BaseID == "" || goal.HeadID == "" {
		return nil, nil
	}
	repository, err := g.opts.Repository(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := repository.Handoff(ctx, &git.HandoffOptions{
		Base: goal.BaseID, Head: goal.HeadID, MaxBytes: max(g.opts.HandoffBytes/2, 1), Withhold: tools.IsSecretPath,
	})
	if errors.Is(err, tools.CodeGitRef) || errors.Is(err, tools.CodeLimit) {
		return nil, nil // no common ancestor, or more than fits: the IDs say what there is
	}
	return changes, err
}

// handoff is the JSON, the same however often it is made.
func (g *Goals) handoff(goal *Goal, file *File, changes *git.Handoff) ([]byte, error) {
	h := Handoff{
		SchemaVersion: SchemaVersion, TaskID: goal.TaskID, Title: file.Title(), Goal: file.Goal(), BaseBranch: goal.BaseBranch, Branch: goal.Branch,
		BaseID: goal.BaseID, HeadID: goal.HeadID, TreeID: goal.TreeID, Plan: *goal.Plan, Todos: file.Todos(), Checks: goal.Checks,
		Changes: changes, ApprovedVersion: goal.Approved, ApprovedAt: goal.UpdatedAt,
	}
	for _, cut := range []func(){
		func() {},
		func() { h.Truncated, h.Todos = true, []Todo{} },
		func() { h.Goal = clip(h.Goal) },
		func() { h.Changes = nil },
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
