package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/prism-ls/prism-ls/tools"
)

// The bounds of questions.
var (
	// QuestionBytes bounds a question, and an answer in a person's own words.
	QuestionBytes = tools.Limit{Name: "maxQuestionBytes", Default: 2 << 10, Hard: 8 << 10}
	// QuestionOptions bounds the choices.
	QuestionOptions = tools.Limit{Name: "maxOptions", Default: 6, Hard: 16}
	// OptionBytes bounds each text of a choice: its ID, its label, a pro and a con.
	OptionBytes = tools.Limit{Name: "maxOptionBytes", Default: 512, Hard: 2 << 10}
)

// QuestionLimits are the bounds of a question; zero is each limit's default.
type QuestionLimits struct {
	Bytes, Options, OptionBytes int64
}

func (l QuestionLimits) settle() (QuestionLimits, error) {
	var err error
	for value, limit := range map[*int64]tools.Limit{&l.Bytes: QuestionBytes, &l.Options: QuestionOptions, &l.OptionBytes: OptionBytes} {
		if *value, err = limit.Option(*value); err != nil {
			return l, err
		}
	}
	return l, nil
}

// CheckQuestion makes sure that a question can be put to a person: a text, and at
// least two options with different IDs, each with exactly three pros and three cons,
// all within the bounds.
func CheckQuestion(q tools.Question, limits QuestionLimits) error {
	limits, err := limits.settle()
	if err != nil {
		return err
	}
	switch n := len(q.Options); {
	case strings.TrimSpace(q.Text) == "":
		return tools.Errorf(tools.CodeToolInput, "question is empty, must say what is to be decided")
	case int64(len(q.Text)) > limits.Bytes:
		return tools.Errorf(tools.CodeToolInput, "question has %d bytes, at most %d are taken", len(q.Text), limits.Bytes)
	case n < 2 || int64(n) > limits.Options:
		elements := "elements"
		if n == 1 {
			elements = "element"
		}
		return tools.Errorf(tools.CodeToolInput, "options has %d %s, a decision needs 2 to %d", n, elements, limits.Options)
	}
	seen := map[string]bool{}
	for i, option := range q.Options {
		if err := checkChoice(fmt.Sprintf("options[%d]", i), option, limits.OptionBytes); err != nil {
			return err
		}
		if seen[option.ID] {
			return tools.Errorf(tools.CodeToolInput, "options[%d].id %q is there twice", i, clip(option.ID))
		}
		seen[option.ID] = true
	}
	return nil
}

// checkChoice makes sure that a choice says what speaks for and against it, and that
// its ID can be typed, alone and in a list.
func checkChoice(what string, option tools.Choice, most int64) error {
	if option.ID == "" || strings.TrimSpace(option.Label) == "" {
		return tools.Errorf(tools.CodeToolInput, "%s needs an id and a label", what)
	}
	if option.ID != strings.TrimSpace(option.ID) || strings.ContainsFunc(option.ID, func(c rune) bool { return c == ',' || !unicode.IsGraphic(c) }) {
		return tools.Errorf(tools.CodeToolInput, "%s.id is %q, must be what a person can type: without commas, control characters, and white space around it", what, clip(option.ID))
	}
	reasons := slices.Concat(option.Pros, option.Cons)
	blank := slices.ContainsFunc(reasons, func(reason string) bool { return strings.TrimSpace(reason) == "" })
	if len(option.Pros) != 3 || len(option.Cons) != 3 || blank {
		return tools.Errorf(tools.CodeToolInput, "%s needs 3 pros and 3 cons, each of which says something", what)
	}
	for _, text := range append(reasons, option.ID, option.Label) {
		if int64(len(text)) > most {
			return tools.Errorf(tools.CodeToolInput, "%s has a text of %d bytes, its id, label, pros and cons must have at most %d each", what, len(text), most)
		}
	}
	return nil
}

// CheckReply makes sure that an answer is one of those that were asked for; a default
// never takes its place.
func CheckReply(q tools.Question, reply tools.Reply, limits QuestionLimits) error {
	limits, err := limits.settle()
	if err != nil {
		return err
	}
	refuse := func(why string) error {
		return tools.Errorf(tools.CodeToolInput, "the answer does not fit the question: %s", why)
	}
	switch {
	case reply.Custom != "" && len(reply.IDs) > 0:
		return refuse("it has both a selection and own words")
	case reply.Custom != "" && !q.AllowCustom:
		return refuse("own words were not allowed")
	case int64(len(reply.Custom)) > limits.Bytes:
		return refuse("it is too long")
	case !utf8.ValidString(reply.Custom):
		return refuse("it is not UTF-8")
	case reply.Custom != "":
		return nil
	case len(reply.IDs) == 0:
		return refuse("nothing was selected")
	case len(reply.IDs) > 1 && !q.Multiple:
		return refuse("only one option may be selected")
	}
	for i, id := range reply.IDs {
		known := slices.ContainsFunc(q.Options, func(c tools.Choice) bool { return c.ID == id })
		if !known || slices.Contains(reply.IDs[:i], id) {
			return refuse("an option is unknown or selected twice")
		}
	}
	return nil
}

// question is a tools.Question as it is kept: what may be left out when it is asked is
// always there.
type question struct {
	Text          string   `json:"question"`
	Options       []choice `json:"options"`
	SelectionMode string   `json:"selectionMode"`
	AllowCustom   bool     `json:"allowCustom"`
}

type choice struct {
	ID    string   `json:"id"`
	Label string   `json:"label"`
	Pros  []string `json:"pros"`
	Cons  []string `json:"cons"`
}

const selectSingle, selectMultiple = "single", "multiple"

func keptQuestion(q tools.Question) question {
	kept := question{Text: q.Text, SelectionMode: selectSingle, AllowCustom: q.AllowCustom}
	if q.Multiple {
		kept.SelectionMode = selectMultiple
	}
	for _, option := range q.Options {
		kept.Options = append(kept.Options, choice(option))
	}
	return kept
}

func (k question) question() tools.Question {
	q := tools.Question{Text: k.Text, Multiple: k.SelectionMode == selectMultiple, AllowCustom: k.AllowCustom}
	for _, option := range k.Options {
		q.Options = append(q.Options, tools.Choice(option))
	}
	return q
}

// EncodeQuestion returns the JSON in which a host keeps a question in a state of its
// own. CodeToolInput: CheckQuestion refuses it.
func EncodeQuestion(q tools.Question, limits QuestionLimits) ([]byte, error) {
	if err := CheckQuestion(q, limits); err != nil {
		return nil, err
	}
	text, err := json.Marshal(keptQuestion(q))
	if err != nil {
		return nil, tools.Errorf(tools.CodeInternal, "the question has no JSON: %w", err)
	}
	return text, nil
}

// DecodeQuestion reads a question as a caller writes it, or as EncodeQuestion has.
// selectionMode and allowCustom may be left out: "single" and false. CodeToolInput: it
// is malformed, has another field, or CheckQuestion refuses it.
func DecodeQuestion(text []byte, limits QuestionLimits) (tools.Question, error) {
	var kept question
	if err := jsonv2.Unmarshal(text, &kept, jsonv2.RejectUnknownMembers(true)); err != nil {
		return tools.Question{}, tools.Errorf(tools.CodeToolInput, "not a question: %w", err)
	}
	switch kept.SelectionMode {
	case "", selectSingle, selectMultiple:
	default:
		return tools.Question{}, tools.Errorf(tools.CodeToolInput, "selectionMode is %q, must be single or multiple", clip(kept.SelectionMode))
	}
	q := kept.question()
	return q, CheckQuestion(q, limits)
}
