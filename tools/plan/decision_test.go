package plan_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/plan"
	"github.com/prism-ls/prism-ls/tools/state"
)

func ask(text string, multiple, custom bool, ids ...string) tools.Question {
	q := tools.Question{Text: text, Multiple: multiple, AllowCustom: custom}
	for _, id := range ids {
		q.Options = append(q.Options, tools.Choice{ID: id, Label: "Label " + id, Pros: []string{"a", "b", "c"}, Cons: []string{"d", "e", "f"}})
	}
	return q
}

func ann() state.Owner { return state.Owner{User: "ann"} }

// TestADecisionOutlastsWhoAsked has another process answer, and another ask again.
func TestADecisionOutlastsWhoAsked(t *testing.T) {
	dir := t.TempDir()
	open := func() *plan.Decisions {
		store, err := state.NewFiles(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		d, err := plan.NewDecisions(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	q := ask("SQLite or PostgreSQL?", false, true, "sqlite", "postgres")
	waits, err := open().Suspend(t.Context(), ann(), q)
	if err != nil || waits.Reply != nil || !reflect.DeepEqual(waits.Question, q) {
		t.Fatalf("%+v, %v", waits, err)
	}
	again, err := open().Suspend(t.Context(), ann(), q)
	if err != nil || again.ID != waits.ID || again.Version != waits.Version {
		t.Fatalf("%+v, %v", again, err)
	}
	list, err := open().List(t.Context(), ann())
	if err != nil || len(list) != 1 || list[0].ID != waits.ID {
		t.Fatalf("%+v, %v", list, err)
	}
	for name, reply := range map[string]tools.Reply{
		"nothing": {}, "unknown": {IDs: []string{"mysql"}}, "two": {IDs: []string{"sqlite", "postgres"}}, "twice": {IDs: []string{"sqlite", "sqlite"}},
		"both": {IDs: []string{"sqlite"}, Custom: "and more"}, "too long": {Custom: strings.Repeat("x", 2049)}, "not UTF-8": {Custom: "\xff"},
	} {
		if _, err := open().Answer(t.Context(), ann(), waits.ID, waits.Version, reply); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := open().Answer(t.Context(), ann(), waits.ID, waits.Version+1, tools.Reply{IDs: []string{"sqlite"}}); !errors.Is(err, tools.CodeStateConflict) {
		t.Errorf("another version: %v", err)
	}
	if _, err := open().Answer(t.Context(), state.Owner{User: "bob"}, waits.ID, waits.Version, tools.Reply{IDs: []string{"sqlite"}}); !errors.Is(err, tools.CodeStateOwnership) {
		t.Errorf("another owner: %v", err)
	}
	if _, err := open().Answer(t.Context(), ann(), waits.ID, waits.Version, tools.Reply{IDs: []string{"sqlite"}}); err != nil {
		t.Fatal(err)
	}
	answered, err := open().Suspend(t.Context(), ann(), q)
	if err != nil || answered.Reply == nil || !reflect.DeepEqual(answered.Reply.IDs, []string{"sqlite"}) {
		t.Fatalf("%+v, %v", answered, err)
	}
	if _, err := open().Answer(t.Context(), ann(), waits.ID, answered.Version, tools.Reply{IDs: []string{"sqlite"}}); err != nil {
		t.Errorf("the same answer again: %v", err)
	}
	if _, err := open().Answer(t.Context(), ann(), waits.ID, answered.Version, tools.Reply{IDs: []string{"postgres"}}); !errors.Is(err, tools.CodeStateConflict) {
		t.Errorf("another answer: %v", err)
	}
	other, err := open().Suspend(t.Context(), ann(), ask("SQLite or PostgreSQL?", true, true, "sqlite", "postgres"))
	if err != nil || other.ID == waits.ID || other.Reply != nil {
		t.Errorf("another question: %+v, %v", other, err)
	}
	if err := open().Forget(t.Context(), ann(), waits.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := open().Get(t.Context(), ann(), waits.ID); !errors.Is(err, tools.CodeNotFound) {
		t.Errorf("forgotten: %v", err)
	}
}

func TestDecisionsAreBoundedAndEnd(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := plan.NewDecisions(state.NewMemory(nil).Checkpoints(), &plan.DecisionsOptions{Kept: 3, Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	suspend := func(n int) (*plan.Decision, error) {
		now = now.Add(time.Second)
		return d.Suspend(t.Context(), ann(), ask(fmt.Sprint("question ", n), false, false, "a", "b"))
	}
	var kept []*plan.Decision
	for n := range 3 {
		decision, err := suspend(n)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, decision)
	}
	if _, err := suspend(3); !errors.Is(err, tools.CodeLimit) {
		t.Errorf("one too many: %v", err)
	}
	if _, err := d.Answer(t.Context(), ann(), kept[1].ID, kept[1].Version, tools.Reply{IDs: []string{"b"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := suspend(3); err != nil {
		t.Errorf("an answered one makes room: %v", err)
	}
	if _, err := d.Get(t.Context(), ann(), kept[1].ID); !errors.Is(err, tools.CodeNotFound) {
		t.Errorf("%v", err)
	}
	now = now.Add(31 * 24 * time.Hour)
	if list, err := d.List(t.Context(), ann()); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	if again, err := suspend(0); err != nil || !again.Asked.Equal(now) {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestOfTwoAnswersOneCounts has two people answer at once.
func TestOfTwoAnswersOneCounts(t *testing.T) {
	d, err := plan.NewDecisions(state.NewMemory(nil).Checkpoints(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 50 {
		waits, err := d.Suspend(t.Context(), ann(), ask(fmt.Sprint("question ", round), false, false, "a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		errs := make([]error, 2)
		for i, id := range []string{"a", "b"} {
			wait.Go(func() {
				_, errs[i] = d.Answer(t.Context(), ann(), waits.ID, waits.Version, tools.Reply{IDs: []string{id}})
			})
		}
		wait.Wait()
		now, err := d.Get(t.Context(), ann(), waits.ID)
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range []string{"a", "b"} {
			if won := now.Reply.IDs[0] == id; won != (errs[i] == nil) || !won && !errors.Is(errs[i], tools.CodeStateConflict) {
				t.Errorf("the answer is %v, and %s was told %v", now.Reply, id, errs[i])
			}
		}
		if err := d.Forget(t.Context(), ann(), waits.ID); err != nil {
			t.Fatal(err)
		}
	}
}

func TestQuestionsInAHostsOwnState(t *testing.T) {
	const option = `{"id":%q,"label":"L","pros":["a","b","c"],"cons":["d","e","f"]}`
	options := fmt.Sprintf(`"options":[`+option+","+option+"]", "a", "b")
	q, err := plan.DecodeQuestion([]byte(`{"question":"Which?",`+options+`}`), plan.QuestionLimits{})
	if err != nil || q.AllowCustom || q.Multiple {
		t.Fatalf("%+v, %v", q, err)
	}
	text, err := plan.EncodeQuestion(q, plan.QuestionLimits{})
	if err != nil || !strings.Contains(string(text), `"selectionMode":"single","allowCustom":false`) {
		t.Fatalf("%s, %v", text, err)
	}
	back, err := plan.DecodeQuestion(text, plan.QuestionLimits{})
	if err != nil || !reflect.DeepEqual(back, q) {
		t.Errorf("%+v, %v", back, err)
	}
	for _, text := range []string{
		``, `{}`, `{"question":"Which?",` + options + `,"allowCustom":"yes"}`, `{"question":"Which?",` + options + `,"allowCustom":1}`,
		`{"question":"Which?",` + options + `,"selectionMode":"all"}`, `{"question":"Which?",` + options + `,"more":1}`, `{"question":"",` + options + `}`,
		`{"question":"Which?","options":[` + fmt.Sprintf(option, "a") + `]}`, `{"question":"Which?","options":[` + fmt.Sprintf(option+","+option, "a", "a") + `]}`,
		`{"question":"Which?","options":[` + fmt.Sprintf(option, "a") + `,{"id":"b","label":"L","pros":["a","b"],"cons":["d","e","f"]}]}`,
		`{"question":"Which?","options":[` + fmt.Sprintf(option, "a") + `,{"id":"b","label":"L","pros":["a","b"," "],"cons":["d","e","f"]}]}`,
	} {
		if _, err := plan.DecodeQuestion([]byte(text), plan.QuestionLimits{}); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestADecisionThatCannotBeReadIsNoAnswer(t *testing.T) {
	store := state.NewMemory(nil).Checkpoints()
	d, err := plan.NewDecisions(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	waits, err := d.Suspend(t.Context(), ann(), ask("Which?", false, false, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	key := state.Key{Owner: ann(), Namespace: plan.DecisionNamespace, Name: waits.ID}
	record, err := store.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"", `{"schemaVersion":2}`, strings.TrimSuffix(string(record.Data), "}") + `,"reply":{"selectedIds":["c"]}}`} {
		if _, err := store.Save(t.Context(), key, state.Change{Version: record.Version + int64(i), Data: []byte(text)}); err != nil {
			t.Fatal(err)
		}
		if got, err := d.Suspend(t.Context(), ann(), waits.Question); !errors.Is(err, tools.CodeStateUnavailable) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// TestEachTextOfAQuestionIsBounded, and an option can be chosen by who types its ID.
func TestEachTextOfAQuestionIsBounded(t *testing.T) {
	long := strings.Repeat("x", 513)
	for name, spoil := range map[string]func(*tools.Choice){
		"id": func(c *tools.Choice) { c.ID = long }, "label": func(c *tools.Choice) { c.Label = long },
		"pro": func(c *tools.Choice) { c.Pros[2] = long }, "con": func(c *tools.Choice) { c.Cons[0] = long },
		"a comma": func(c *tools.Choice) { c.ID = "a,b" }, "a space": func(c *tools.Choice) { c.ID = "a " },
		"a line": func(c *tools.Choice) { c.ID = "a\nb" }, "a sign nobody sees": func(c *tools.Choice) { c.ID = "a\u200b" },
		"a blank label": func(c *tools.Choice) { c.Label = " " },
	} {
		q := ask("Which?", true, false, "a", "b")
		spoil(&q.Options[1])
		if err := plan.CheckQuestion(q, plan.QuestionLimits{}); !errors.Is(err, tools.CodeToolInput) || len(err.Error()) > 400 {
			t.Errorf("%s: %v", name, err)
		}
	}
	q := ask("Which?", true, false, "a", "b")
	q.Options[1].ID = "größer als 3.5"
	q.Options[1].Label = long
	if err := plan.CheckQuestion(q, plan.QuestionLimits{OptionBytes: 513}); err != nil {
		t.Error(err)
	}
	if err := plan.CheckQuestion(q, plan.QuestionLimits{OptionBytes: plan.OptionBytes.Hard + 1}); !errors.Is(err, tools.CodeToolInput) {
		t.Errorf("beyond the hard limit: %v", err)
	}
}
