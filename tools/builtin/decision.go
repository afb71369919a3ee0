package builtin

import (
	"context"
	"errors"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/plan"
	"github.com/prism-ls/prism-ls/tools/state"
)

// DecisionOptions adjusts `ask_user_decision`. Who is asked comes with each
// call (tools.CallOptions.Asker).
type DecisionOptions struct {
	// MaxQuestionBytes also bounds an answer in a person's own words: see QuestionBytes.
	MaxQuestionBytes int64
	// MaxOptions bounds the choices: see QuestionOptions.
	MaxOptions int64
	// MaxOptionBytes bounds each text of a choice: see OptionBytes.
	MaxOptionBytes int64
	// Kept lets questions wait that nobody can be asked; nil lets them fail.
	Kept *KeptDecisions
}

// KeptDecisions say where questions wait, and whose they are: whoever answers looks
// there.
type KeptDecisions struct {
	Decisions *plan.Decisions
	Owner     state.Owner
}

// KeptQuestion is the Details of CodeDecisionUnsupported for a question that waits.
type KeptQuestion struct {
	ID string `json:"id"`
}

// selectionMode says how many options a person may choose.
type selectionMode string

const (
	selectSingle   selectionMode = "single"
	selectMultiple selectionMode = "multiple"
)

// Values lists the modes.
func (selectionMode) Values() []string {
	return []string{string(selectSingle), string(selectMultiple)}
}

type decisionOption struct {
	ID    string    `json:"id" check:"nonempty"`
	Label string    `json:"label" check:"nonempty"`
	Pros  [3]string `json:"pros"`
	Cons  [3]string `json:"cons"`
}

type decisionInput struct {
	Question      string           `json:"question" check:"nonempty"`
	Options       []decisionOption `json:"options" check:"nonempty"`
	SelectionMode selectionMode    `json:"selectionMode,omitempty"`
	AllowCustom   bool             `json:"allowCustom,omitempty" jsonschema:"an answer in own words is fine"`
}

// DecisionMetadata is what was decided: options, or a person's own words.
type DecisionMetadata struct {
	SelectedIDs []string `json:"selectedIds,omitempty"`
	CustomText  string   `json:"customText,omitempty"`
}

type decisionTool struct{ DecisionOptions }

func newDecision(d *Deps) (*tools.Tool, error) {
	t := &decisionTool{d.Decision}
	if err := settle(bound{&t.MaxQuestionBytes, QuestionBytes}, bound{&t.MaxOptions, QuestionOptions}, bound{&t.MaxOptionBytes, OptionBytes}); err != nil {
		return nil, err
	}
	spec := tools.Spec{
		Name: "ask_user_decision", Title: "Ask the user", Toolset: "core", Kind: tools.KindOther, Effect: tools.Observes,
		Description: "Put an ambiguous choice of direction with large consequences to the user: at least 2 options, each with exactly 3 pros and 3 cons.",
		Limits:      []tools.Limit{{Name: "options", Hard: t.MaxOptions}},
	}
	return tools.New(spec, t.plan, t.run)
}

func (t *decisionTool) plan(_ context.Context, _ *tools.Call, in decisionInput) (tools.Action, error) {
	return tools.Action{}, plan.CheckQuestion(in.question(), t.limits())
}

func (t *decisionTool) limits() plan.QuestionLimits {
	return plan.QuestionLimits{Bytes: t.MaxQuestionBytes, Options: t.MaxOptions, OptionBytes: t.MaxOptionBytes}
}

func (in decisionInput) question() tools.Question {
	question := tools.Question{Text: in.Question, Multiple: in.SelectionMode == selectMultiple, AllowCustom: in.AllowCustom}
	for _, option := range in.Options {
		question.Options = append(question.Options, tools.Choice{ID: option.ID, Label: option.Label, Pros: option.Pros[:], Cons: option.Cons[:]})
	}
	return question
}

func (t *decisionTool) run(ctx context.Context, call *tools.Call, in decisionInput) (*tools.Outcome[DecisionMetadata], error) {
	question := in.question()
	reply, err := t.reply(ctx, call, question)
	if err != nil {
		return nil, err
	}
	if err := plan.CheckReply(question, reply, t.limits()); err != nil {
		return nil, err
	}
	if reply.Custom != "" {
		return tools.Answer("The user answered: "+reply.Custom, DecisionMetadata{CustomText: reply.Custom}), nil
	}
	return tools.Answer("The user chose: "+strings.Join(reply.IDs, ", "), DecisionMetadata{SelectedIDs: reply.IDs}), nil
}

// reply is what a person has said already, or says when they are asked.
func (t *decisionTool) reply(ctx context.Context, call *tools.Call, question tools.Question) (tools.Reply, error) {
	var waits *plan.Decision
	if t.Kept != nil {
		// Without its store the question can still be asked.
		waits, _ = t.Kept.Decisions.Find(ctx, t.Kept.Owner, question)
	}
	if waits != nil && waits.Reply != nil {
		return *waits.Reply, nil
	}
	reply, err := ask(ctx, call, question)
	if errors.Is(err, tools.CodeDecisionUnsupported) && t.Kept != nil {
		return reply, t.keep(ctx, question, err)
	}
	if err == nil && waits != nil && plan.CheckReply(question, reply, t.limits()) == nil {
		_ = t.Kept.Decisions.Forget(ctx, t.Kept.Owner, waits.ID) // nobody has to answer it any more; it would only be listed
	}
	return reply, err
}

func ask(ctx context.Context, call *tools.Call, question tools.Question) (tools.Reply, error) {
	if call.Asker == nil {
		return tools.Reply{}, tools.Errorf(tools.CodeDecisionUnsupported, "nobody can be asked on this connection; decide by the instructions at hand, or stop and say what is open")
	}
	return call.Asker.Ask(ctx, question)
}

// keep lets a question wait for a person elsewhere.
func (t *decisionTool) keep(ctx context.Context, question tools.Question, why error) error {
	kept, err := t.Kept.Decisions.Suspend(ctx, t.Kept.Owner, question)
	if err != nil {
		return tools.Errorf(tools.CodeDecisionUnsupported, "%s; nor could the question be kept for later: %w", tools.AsError(why).Message, err)
	}
	return tools.Errorf(tools.CodeDecisionUnsupported, "nobody can be asked here, so the question waits: a person answers it with `prism-ls decide %s`, and the same question asked again then has the answer", kept.ID).
		WithDetails(KeptQuestion{kept.ID})
}
