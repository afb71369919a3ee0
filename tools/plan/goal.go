package plan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/check"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/state"
)

// GoalNamespace is where the metadata of tasks is kept.
const GoalNamespace = "prism.coding"

// HandoffBytes bounds a hand-off.
var HandoffBytes = tools.Limit{Name: "handoffBytes", Default: 256 << 10, Hard: 1 << 20}

// GoalOptions are what Goals stand on. They own none of it.
type GoalOptions struct {
	// Files, Checks, Stores and Repository are required. Repository opens the
	// repository that the workspace is in.
	Files      *Files
	Checks     check.Checks
	Stores     state.Stores
	Repository func(context.Context) (*git.Repository, error)
	// Fingerprints are what is worked with now. When they are others than those that
	// were recorded, nobody approves what was checked before.
	Fingerprints Fingerprints
	// Redactor takes secrets out of what is recorded of a check; nil: none.
	Redactor tools.Redactor
	// HandoffBytes is the limit HandoffBytes.
	HandoffBytes int64
	Limits       MetadataLimits
	// Clock tells the time: time.Now.
	Clock func() time.Time
	// Events hears of every change of a plan; nil: nobody does.
	Events *tools.Events
	// Progress hears which check runs; nil: nobody does.
	Progress func(check string)
	// at is called after each step that is durable, by tests that end there.
	at func(step string)
}

// Goals bring tasks from a plan to a hand-off: checks run, their items are ticked, a
// person approves, and what was done is handed off. Each step is on record before the
// next; whoever comes after a crash goes on where it was. One at a time works on a
// task, in whatever process.
type Goals struct{ opts GoalOptions }

// NewGoals checks the options.
func NewGoals(opts *GoalOptions) (*Goals, error) {
	g := &Goals{*opts}
	if g.opts.Files == nil || g.opts.Checks == nil || g.opts.Stores == nil || g.opts.Repository == nil {
		return nil, tools.Errorf(tools.CodeToolInput, "goals need Files, Checks, Stores and Repository")
	}
	var err error
	if g.opts.Limits, err = g.opts.Limits.settle(); err != nil {
		return nil, err
	}
	if g.opts.HandoffBytes, err = HandoffBytes.Option(g.opts.HandoffBytes); err != nil {
		return nil, err
	}
	if g.opts.Clock == nil {
		g.opts.Clock = time.Now
	}
	if g.opts.Progress == nil {
		g.opts.Progress = func(string) {}
	}
	if g.opts.at == nil {
		g.opts.at = func(string) {}
	}
	return g, nil
}

// Goal is a task as it is on record.
type Goal struct {
	*Metadata
	// Version is what Approve and Deny name: that which the person has seen.
	Version int64
	// Wanted are the names of the checks that have to pass.
	Wanted []string
	// Reason says why the task is not further, in words for a person; "" normally.
	Reason string
	// Approved is the version that a person has approved; 0 is none.
	Approved int64
}

// changed tells the host that a plan is another.
func (g *Goals) changed(file *File) {
	g.opts.Events.Emit(tools.Event{Kind: tools.EventPlanChanged, Paths: []string{file.Path}, Name: file.TaskID})
}

// goalState is what a goal adds to the metadata.
type goalState struct {
	Checks   []string `json:"checks"`
	Reason   string   `json:"reason,omitempty"`
	Approved int64    `json:"approved,omitempty"`
}

// key names the record of a task. The root is part of it, since a store may be that of
// several workspaces.
func (g *Goals) key(owner state.Owner, taskID string) state.Key {
	return state.Key{Owner: owner, Namespace: GoalNamespace, Name: taskID + g.suffix()}
}

func (g *Goals) suffix() string {
	sum := sha256.Sum256([]byte(g.opts.Files.ws.Root()))
	return "@" + hex.EncodeToString(sum[:8])
}

// Get returns a task as it is on record, or CodeNotFound. CodeStateOwnership: it is
// another owner's.
func (g *Goals) Get(ctx context.Context, owner state.Owner, taskID string) (*Goal, error) {
	if err := checkID("taskId", taskID); err != nil {
		return nil, err
	}
	record, err := g.opts.Stores.Checkpoints().Load(ctx, g.key(owner, taskID))
	if errors.Is(err, tools.CodeNotFound) {
		return nil, tools.Errorf(tools.CodeNotFound, "nothing is on record of the task %s; verifying it begins that", taskID)
	}
	if err != nil {
		return nil, err
	}
	return g.read(record)
}

func (g *Goals) read(record state.Record) (*Goal, error) {
	m, err := DecodeMetadata(record.Data, g.opts.Limits)
	if err != nil {
		return nil, err
	}
	if m.Owner != record.Key.Owner {
		return nil, tools.Errorf(tools.CodeStateOwnership, "the task %s was recorded for another owner", m.TaskID)
	}
	if m.TaskID+g.suffix() != record.Key.Name {
		return nil, malformed("it is that of the task %s", m.TaskID)
	}
	var more goalState
	if err := json.Unmarshal(m.Host, &more); err != nil {
		return nil, malformed("it is no goal's: %w", err)
	}
	return &Goal{Metadata: m, Version: record.Version, Wanted: more.Checks, Reason: more.Reason, Approved: more.Approved}, nil
}

// List returns the owner's tasks in this workspace, by name. What cannot be read is
// left out, and says why when it is asked for.
func (g *Goals) List(ctx context.Context, owner state.Owner) ([]*Goal, error) {
	var list []*Goal
	for cursor := ""; ; {
		page, err := g.opts.Stores.Checkpoints().List(ctx, state.Key{Owner: owner, Namespace: GoalNamespace}, cursor, 0)
		if err != nil {
			return nil, err
		}
		for _, record := range page.Records {
			if !strings.HasSuffix(record.Key.Name, g.suffix()) {
				continue
			}
			if goal, err := g.read(record); err == nil {
				list = append(list, goal)
			}
		}
		if cursor = page.Next; cursor == "" {
			slices.SortFunc(list, func(a, b *Goal) int { return strings.Compare(a.TaskID, b.TaskID) })
			return list, nil
		}
	}
}

// save records the goal as it is, if nobody else has, while the claim is held.
func (c *claim) save(ctx context.Context, goal *Goal) error {
	var err error
	goal.SchemaVersion, goal.UpdatedAt = SchemaVersion, c.goals.opts.Clock().UTC().Truncate(time.Millisecond)
	if goal.Host, err = json.Marshal(goalState{goal.Wanted, goal.Reason, goal.Approved}); err != nil {
		return tools.Errorf(tools.CodeInternal, "the goal has no JSON: %w", err)
	}
	text, err := c.goals.encode(goal.Metadata)
	if err != nil {
		return err
	}
	lease := c.current()
	change := state.Change{Version: goal.Version, Fence: lease.Token, Data: text, Lease: &lease}
	record, err := c.goals.opts.Stores.Checkpoints().Save(ctx, c.key, change)
	if err != nil {
		return err
	}
	goal.Version = record.Version
	return nil
}

// encode leaves out what does not fit: of the items first the texts, which are in the
// plan, then all.
func (g *Goals) encode(m *Metadata) ([]byte, error) {
	text, err := m.Encode(g.opts.Limits)
	if err == nil || len(m.Todos) == 0 {
		return text, err
	}
	short := *m
	short.Todos = slices.Clone(m.Todos)
	for i := range short.Todos {
		short.Todos[i].Text = ""
	}
	if text, err = short.Encode(g.opts.Limits); err == nil {
		return text, nil
	}
	short.Todos = nil
	return short.Encode(g.opts.Limits)
}
