package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/plan"
	"github.com/prism-ls/prism-ls/tools/state"
)

// person answers every question in the same way.
type person struct {
	reply tools.Reply
	asked tools.Question
}

func (p *person) Ask(_ context.Context, question tools.Question) (tools.Reply, error) {
	p.asked = question
	return p.reply, nil
}

func choices(n int) []args {
	var list []args
	for i := range n {
		list = append(list, args{"id": fmt.Sprint("o", i), "label": "Option", "pros": []string{"a", "b", "c"}, "cons": []string{"d", "e", "f"}})
	}
	return list
}

func TestDecision(t *testing.T) {
	h := newHost(t, nil)
	ask := func(in args, reply tools.Reply) *tools.Result {
		return h.callAs(t.Context(), "ask_user_decision", in, tools.CallOptions{Asker: &person{reply: reply}})
	}
	single := args{"question": "Which?", "options": choices(2)}
	multiple := args{"question": "Which?", "options": choices(6), "selectionMode": "multiple"}
	custom := args{"question": "Which?", "options": choices(2), "allowCustom": true}
	for _, c := range []struct {
		name     string
		in       args
		reply    tools.Reply
		metadata string
	}{
		{"one", single, tools.Reply{IDs: []string{"o1"}}, `{"selectedIds":["o1"]}`},
		{"several", multiple, tools.Reply{IDs: []string{"o1", "o5"}}, `{"selectedIds":["o1","o5"]}`},
		{"own words", custom, tools.Reply{Custom: "neither"}, `{"customText":"neither"}`},
		{"two for one", single, tools.Reply{IDs: []string{"o0", "o1"}}, ""},
		{"none", multiple, tools.Reply{}, ""},
		{"unknown", single, tools.Reply{IDs: []string{"o9"}}, ""},
		{"twice", multiple, tools.Reply{IDs: []string{"o1", "o1"}}, ""},
		{"words not allowed", single, tools.Reply{Custom: "neither"}, ""},
		{"words and a choice", custom, tools.Reply{Custom: "neither", IDs: []string{"o1"}}, ""},
		{"too many words", custom, tools.Reply{Custom: strings.Repeat("x", 2049)}, ""},
	} {
		result := ask(c.in, c.reply)
		switch {
		case c.metadata == "" && (result.Err == nil || result.Err.Code != tools.CodeToolInput):
			t.Errorf("%s: %v", c.name, result.Err)
		case c.metadata != "" && (result.Err != nil || string(result.Metadata) != c.metadata):
			t.Errorf("%s: %v %s", c.name, result.Err, result.Metadata)
		}
	}
}

func TestDecisionInput(t *testing.T) {
	h := newHost(t, nil)
	bad := func(change func(in args)) args {
		in := args{"question": "Which?", "options": choices(2)}
		change(in)
		return in
	}
	for name, in := range map[string]args{
		"no question":       bad(func(in args) { in["question"] = "" }),
		"long question":     bad(func(in args) { in["question"] = strings.Repeat("x", 2049) }),
		"one option":        bad(func(in args) { in["options"] = choices(1) }),
		"seven options":     bad(func(in args) { in["options"] = choices(7) }),
		"two pros":          bad(func(in args) { in["options"].([]args)[0]["pros"] = []string{"a", "b"} }),
		"four cons":         bad(func(in args) { in["options"].([]args)[1]["cons"] = []string{"a", "b", "c", "d"} }),
		"empty con":         bad(func(in args) { in["options"].([]args)[1]["cons"] = []string{"a", " ", "c"} }),
		"same id":           bad(func(in args) { in["options"].([]args)[1]["id"] = "o0" }),
		"mode":              bad(func(in args) { in["selectionMode"] = "some" }),
		"custom not a bool": bad(func(in args) { in["allowCustom"] = "yes" }),
	} {
		result := h.callAs(t.Context(), "ask_user_decision", in, tools.CallOptions{Asker: &person{reply: tools.Reply{IDs: []string{"o0"}}}})
		if result.Err == nil || result.Err.Code != tools.CodeToolInput {
			t.Errorf("%s: %v", name, result.Err)
		}
	}
	h.fails("ask_user_decision", args{"question": "Which?", "options": choices(2)}, tools.CodeDecisionUnsupported)
}

// TestAQuestionThatNobodyIsThereForWaits: somebody answers it elsewhere, and who asks
// again has the answer.
func TestAQuestionThatNobodyIsThereForWaits(t *testing.T) {
	decisions, err := plan.NewDecisions(state.NewMemory(nil).Checkpoints(), nil)
	if err != nil {
		t.Fatal(err)
	}
	people := state.Owner{Account: "people"}
	h := newHost(t, func(d *builtin.Deps, _ *tools.RegistryOptions) {
		d.Decision.Kept = &builtin.KeptDecisions{Decisions: decisions, Owner: people}
	})
	in := args{"question": "Which?", "options": choices(2)}
	first := h.fails("ask_user_decision", in, tools.CodeDecisionUnsupported)
	kept, ok := first.Err.Details.(builtin.KeptQuestion)
	if !ok || !strings.Contains(first.Err.Message, "`prism-ls decide "+kept.ID+"`") {
		t.Fatalf("%v %+v", first.Err, first.Err.Details)
	}
	if again := h.fails("ask_user_decision", in, tools.CodeDecisionUnsupported); again.Err.Details != first.Err.Details {
		t.Errorf("%+v", again.Err.Details)
	}
	waits, err := decisions.Get(t.Context(), people, kept.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decisions.Answer(t.Context(), people, kept.ID, waits.Version, tools.Reply{IDs: []string{"o1"}}); err != nil {
		t.Fatal(err)
	}
	if got := h.ok("ask_user_decision", in, nil); got != "The user chose: o1" {
		t.Errorf("%q", got)
	}
	// Where a person can be asked, they are, and the question waits no longer.
	in["question"] = "And which?"
	other := h.fails("ask_user_decision", in, tools.CodeDecisionUnsupported)
	result := h.callAs(t.Context(), "ask_user_decision", in, tools.CallOptions{Asker: &person{reply: tools.Reply{IDs: []string{"o0"}}}})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	if _, err := decisions.Get(t.Context(), people, other.Err.Details.(builtin.KeptQuestion).ID); !errors.Is(err, tools.CodeNotFound) {
		t.Error(err)
	}
}

// TestAQuestionIsAskedWithoutItsStore: state that is not there takes no tool down.
func TestAQuestionIsAskedWithoutItsStore(t *testing.T) {
	store, err := state.NewFiles("", nil)
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := plan.NewDecisions(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(t, func(d *builtin.Deps, _ *tools.RegistryOptions) {
		d.Decision.Kept = &builtin.KeptDecisions{Decisions: decisions}
	})
	in := args{"question": "Which?", "options": choices(2)}
	h.fails("ask_user_decision", in, tools.CodeDecisionUnsupported)
	if result := h.callAs(t.Context(), "ask_user_decision", in, tools.CallOptions{Asker: &person{reply: tools.Reply{IDs: []string{"o0"}}}}); result.Err != nil {
		t.Error(result.Err)
	}
}
