package plan

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// DecisionNamespace is where questions that wait are kept.
const DecisionNamespace = "prism.decision"

// Decision is a question that was kept, and the answer when there is one.
type Decision struct {
	// ID is a digest of the question: the same question is the same decision.
	ID       string
	Question tools.Question
	Asked    time.Time
	// Reply is nil until a person has answered.
	Reply    *tools.Reply
	Answered time.Time
	// Version is the record's: who answers names what they have seen.
	Version int64
}

// DecisionsKept bounds how many questions of an owner are kept. Answered ones make
// room, the oldest first.
var DecisionsKept = tools.Limit{Name: "decisions", Default: 100, Hard: 1000}

// decisionTime is how long a question is kept since it was asked or answered.
const decisionTime = 30 * 24 * time.Hour

// DecisionsOptions are the settings of Decisions; nil and zero are the defaults.
type DecisionsOptions struct {
	Question QuestionLimits
	// Kept is the limit DecisionsKept.
	Kept int64
	// Clock tells the time: time.Now.
	Clock func() time.Time
}

// Decisions keep questions until a person answers them, which may be in another
// process, days later. It is safe for concurrent use.
type Decisions struct {
	store state.CheckpointStore
	opts  DecisionsOptions
}

// NewDecisions keeps questions in store, which stays the caller's.
func NewDecisions(store state.CheckpointStore, opts *DecisionsOptions) (*Decisions, error) {
	d := &Decisions{store: store}
	if opts != nil {
		d.opts = *opts
	}
	var err error
	if d.opts.Question, err = d.opts.Question.settle(); err != nil {
		return nil, err
	}
	if d.opts.Kept, err = DecisionsKept.Option(d.opts.Kept); err != nil {
		return nil, err
	}
	if d.opts.Clock == nil {
		d.opts.Clock = time.Now
	}
	return d, nil
}

// decisionRecord is the JSON of a record.
type decisionRecord struct {
	SchemaVersion int       `json:"schemaVersion"`
	Question      question  `json:"question"`
	Asked         time.Time `json:"asked"`
	Reply         *reply    `json:"reply,omitempty"`
	Answered      time.Time `json:"answered,omitzero"`
}

type reply struct {
	SelectedIDs []string `json:"selectedIds,omitempty"`
	CustomText  string   `json:"customText,omitempty"`
}

func decisionKey(owner state.Owner, id string) state.Key {
	return state.Key{Owner: owner, Namespace: DecisionNamespace, Name: id}
}

// decisionID names a question; 48 bits tell a thousand apart.
func decisionID(q tools.Question) (string, error) {
	sum, err := tools.Fingerprint(keptQuestion(q))
	if err != nil {
		return "", err
	}
	return sum[:12], nil
}

// Suspend keeps a question, or finds it: asked again it is the same decision, with the
// answer when there is one. CodeToolInput: CheckQuestion refuses it. CodeLimit: as many
// wait as may.
func (d *Decisions) Suspend(ctx context.Context, owner state.Owner, q tools.Question) (*Decision, error) {
	if err := CheckQuestion(q, d.opts.Question); err != nil {
		return nil, err
	}
	id, err := decisionID(q)
	if err != nil {
		return nil, err
	}
	known, err := d.Get(ctx, owner, id)
	if err == nil || !errors.Is(err, tools.CodeNotFound) {
		return known, err
	}
	if err := d.makeRoom(ctx, owner); err != nil {
		return nil, err
	}
	record := decisionRecord{SchemaVersion: 1, Question: keptQuestion(q), Asked: d.opts.Clock().UTC()}
	made, err := d.save(ctx, decisionKey(owner, id), 0, &record)
	if errors.Is(err, tools.CodeStateConflict) { // somebody has asked the same just now
		return d.Get(ctx, owner, id)
	}
	return made, err
}

// Find returns the decision of a question that was kept, or CodeNotFound.
func (d *Decisions) Find(ctx context.Context, owner state.Owner, q tools.Question) (*Decision, error) {
	id, err := decisionID(q)
	if err != nil {
		return nil, err
	}
	return d.Get(ctx, owner, id)
}

// Get returns a decision, or CodeNotFound.
func (d *Decisions) Get(ctx context.Context, owner state.Owner, id string) (*Decision, error) {
	kept, err := d.store.Load(ctx, decisionKey(owner, id))
	if errors.Is(err, tools.CodeNotFound) {
		return nil, noQuestion(id)
	}
	if err != nil {
		return nil, err
	}
	decision, err := d.read(kept)
	if err != nil {
		return nil, err
	}
	if d.over(decision) {
		if err := d.drop(ctx, owner, decision); err != nil {
			return nil, err
		}
		return nil, noQuestion(id)
	}
	return decision, nil
}

func noQuestion(id string) error {
	return tools.Errorf(tools.CodeNotFound, "no question waits as %q; one is kept for %d days", clip(id), decisionTime/(24*time.Hour))
}

// Answer records a person's answer. version is the decision's that they have seen.
// CodeToolInput: it does not fit the question. CodeStateConflict: there is another
// answer already, or the decision is not at that version.
func (d *Decisions) Answer(ctx context.Context, owner state.Owner, id string, version int64, answer tools.Reply) (*Decision, error) {
	decision, err := d.Get(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	if err := CheckReply(decision.Question, answer, d.opts.Question); err != nil {
		return nil, err
	}
	if decision.Reply != nil {
		if slices.Equal(decision.Reply.IDs, answer.IDs) && decision.Reply.Custom == answer.Custom {
			return decision, nil
		}
		return nil, tools.Errorf(tools.CodeStateConflict, "the question %s was answered in another way already", id)
	}
	record := decisionRecord{
		SchemaVersion: 1, Question: keptQuestion(decision.Question), Asked: decision.Asked,
		Reply: &reply{answer.IDs, answer.Custom}, Answered: d.opts.Clock().UTC(),
	}
	return d.save(ctx, decisionKey(owner, id), version, &record)
}

// List returns the owner's decisions, the oldest first.
func (d *Decisions) List(ctx context.Context, owner state.Owner) ([]*Decision, error) {
	var list []*Decision
	for cursor := ""; ; {
		page, err := d.store.List(ctx, state.Key{Owner: owner, Namespace: DecisionNamespace}, cursor, 0)
		if err != nil {
			return nil, err
		}
		for _, kept := range page.Records {
			if decision, err := d.read(kept); err == nil && !d.over(decision) { // one that cannot be read says so when it is asked for
				list = append(list, decision)
			}
		}
		if cursor = page.Next; cursor == "" {
			slices.SortFunc(list, func(a, b *Decision) int { return a.Asked.Compare(b.Asked) })
			return list, nil
		}
	}
}

// Forget drops a decision, answered or not, or is CodeNotFound.
func (d *Decisions) Forget(ctx context.Context, owner state.Owner, id string) error {
	decision, err := d.Get(ctx, owner, id)
	if err != nil {
		return err
	}
	return d.drop(ctx, owner, decision)
}

// makeRoom drops what is over, and the oldest answered one where there is no room.
func (d *Decisions) makeRoom(ctx context.Context, owner state.Owner) error {
	list, err := d.List(ctx, owner)
	if err != nil || int64(len(list)) < d.opts.Kept {
		return err
	}
	for _, decision := range list {
		if decision.Reply != nil {
			return d.drop(ctx, owner, decision)
		}
	}
	return tools.Errorf(tools.CodeLimit, "%d questions wait for a person already, and no more than %d are kept", len(list), d.opts.Kept)
}

// drop removes a decision that nobody has changed since.
func (d *Decisions) drop(ctx context.Context, owner state.Owner, decision *Decision) error {
	err := d.store.Delete(ctx, decisionKey(owner, decision.ID), decision.Version, 0)
	if errors.Is(err, tools.CodeNotFound) {
		return nil
	}
	return err
}

func (d *Decisions) over(decision *Decision) bool {
	last := decision.Asked
	if decision.Reply != nil {
		last = decision.Answered
	}
	return d.opts.Clock().Sub(last) > decisionTime
}

func (d *Decisions) save(ctx context.Context, key state.Key, version int64, record *decisionRecord) (*Decision, error) {
	text, err := json.Marshal(record)
	if err != nil {
		return nil, tools.Errorf(tools.CodeInternal, "the question has no JSON: %w", err)
	}
	kept, err := d.store.Save(ctx, key, state.Change{Version: version, Data: text})
	if err != nil {
		return nil, err
	}
	return d.read(kept)
}

// read makes sure that what was kept is a question, and its answer one of it.
func (d *Decisions) read(kept state.Record) (*Decision, error) {
	var record decisionRecord
	if err := json.Unmarshal(kept.Data, &record); err != nil || record.SchemaVersion != 1 {
		return nil, tools.Errorf(tools.CodeStateUnavailable, "the question %s cannot be read (%v)", kept.Key.Name, err)
	}
	decision := &Decision{ID: kept.Key.Name, Question: record.Question.question(), Asked: record.Asked, Version: kept.Version, Answered: record.Answered}
	if record.Reply != nil {
		decision.Reply = &tools.Reply{IDs: record.Reply.SelectedIDs, Custom: record.Reply.CustomText}
		if err := CheckReply(decision.Question, *decision.Reply, d.opts.Question); err != nil {
			return nil, tools.Errorf(tools.CodeStateUnavailable, "the question %s cannot be used: %w", kept.Key.Name, err)
		}
	}
	return decision, nil
}
