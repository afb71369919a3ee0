package builtin

import (
	"context"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// DecisionOptions adjusts `ask_user_decision`. Who is asked comes with each
// call (tools.CallOptions.Asker).
type DecisionOptions struct {
	// MaxQuestionBytes also bounds an answer in a person's own words: see QuestionBytes.
	MaxQuestionBytes int64
	// MaxOptions bounds the choices: see QuestionOptions.
	MaxOptions int64
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
	if err := settle(bound{&t.MaxQuestionBytes, QuestionBytes}, bound{&t.MaxOptions, QuestionOptions}); err != nil {
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
	return tools.Action{}, t.check(in)
}

func (t *decisionTool) check(in decisionInput) error {
	if int64(len(in.Question)) > t.MaxQuestionBytes {
		return tools.Errorf(tools.CodeToolInput, "question has %d bytes, at most %d are taken", len(in.Question), t.MaxQuestionBytes)
	}
	if len(in.Options) < 2 {
		return tools.Errorf(tools.CodeToolInput, "options has %d element, a decision needs 2 to %d", len(in.Options), t.MaxOptions)
	}
	seen := map[string]bool{}
	for i, option := range in.Options {
		if seen[option.ID] {
			return tools.Errorf(tools.CodeToolInput, "options[%d].id %q is there twice", i, option.ID)
		}
		seen[option.ID] = true
		for _, reason := range slices.Concat(option.Pros[:], option.Cons[:]) {
			if strings.TrimSpace(reason) == "" {
				return tools.Errorf(tools.CodeToolInput, "options[%d] has an empty pro or con; each of the 3 and 3 must say something", i)
			}
		}
	}
	return nil
}

func (t *decisionTool) run(ctx context.Context, call *tools.Call, in decisionInput) (*tools.Outcome[DecisionMetadata], error) {
	if call.Asker == nil {
		return nil, tools.Errorf(tools.CodeDecisionUnsupported, "nobody can be asked on this connection; decide by the instructions at hand, or stop and say what is open")
	}
	question := tools.Question{Text: in.Question, Multiple: in.SelectionMode == selectMultiple, AllowCustom: in.AllowCustom}
	for _, option := range in.Options {
		question.Options = append(question.Options, tools.Choice{ID: option.ID, Label: option.Label, Pros: option.Pros[:], Cons: option.Cons[:]})
	}
	reply, err := call.Asker.Ask(ctx, question)
	if err != nil {
		return nil, err
	}
	if err := t.checkReply(question, reply); err != nil {
		return nil, err
	}
	if reply.Custom != "" {
		return tools.Answer("The user answered: "+reply.Custom, DecisionMetadata{CustomText: reply.Custom}), nil
	}
	return tools.Answer("The user chose: "+strings.Join(reply.IDs, ", "), DecisionMetadata{SelectedIDs: reply.IDs}), nil
}

// checkReply makes sure that an answer is one of those that were asked for; a
// default never takes its place.
func (t *decisionTool) checkReply(question tools.Question, reply tools.Reply) error {
	refuse := func(why string) error {
		return tools.Errorf(tools.CodeToolInput, "the answer does not fit the question: %s", why)
	}
	switch {
	case reply.Custom != "" && len(reply.IDs) > 0:
		return refuse("it has both a selection and own words")
	case reply.Custom != "" && !question.AllowCustom:
		return refuse("own words were not allowed")
	case int64(len(reply.Custom)) > t.MaxQuestionBytes:
		return refuse("it is too long")
	case reply.Custom != "":
		return nil
	case len(reply.IDs) == 0:
		return refuse("nothing was selected")
	case len(reply.IDs) > 1 && !question.Multiple:
		return refuse("only one option may be selected")
	}
	for i, id := range reply.IDs {
		known := slices.ContainsFunc(question.Options, func(c tools.Choice) bool { return c.ID == id })
		if !known || slices.Contains(reply.IDs[:i], id) {
			return refuse("an option is unknown or selected twice")
		}
	}
	return nil
}
