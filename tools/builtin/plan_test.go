package builtin_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/plan"
)

// planHost is a host with the tools of plans besides; what it emits goes to events.
func planHost(t *testing.T, events *tools.Events) *host {
	t.Helper()
	h := newHost(t, nil)
	list, err := builtin.Plans(&builtin.PlanDeps{Workspace: h.ws})
	if err != nil {
		t.Fatal(err)
	}
	if h.registry, err = tools.NewRegistry(append(h.registry.Tools(), list...), &tools.RegistryOptions{Events: events}); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestPlanTools(t *testing.T) {
	var mu sync.Mutex
	var heard []tools.Event
	events := tools.NewEvents(func(e tools.Event) { mu.Lock(); defer mu.Unlock(); heard = append(heard, e) }, 0)
	h := planHost(t, events)
	var m builtin.PlanMetadata
	text := h.ok("plan_write", args{"taskId": "t1", "title": "Mend it", "goal": "It works.", "todos": []args{{"id": "find", "text": "Find it"}, {"id": "test", "text": "Tests pass", "done": true}}}, &m)
	if m.Path != "plans/t1.md" || m.Total != 2 || m.Done != 1 || m.UndoID == "" || !slices.Equal(m.Todos, []plan.Todo{{ID: "find", Text: "Find it"}, {ID: "test", Text: "Tests pass", Done: true}}) {
		t.Errorf("%+v", m)
	}
	if text != "Wrote plans/t1.md: 1 of 2 items done.\nNext: [find] Find it" {
		t.Errorf("%q", text)
	}
	first := m
	h.ok("plan_update", args{"taskId": "t1", "id": "find", "done": true, "expectSha256": m.SHA256}, &m)
	h.ok("plan_update", args{"taskId": "t1", "id": "more", "text": "Tell them", "add": true}, &m)
	if m.Done != 2 || m.Total != 3 || m.SHA256 == first.SHA256 {
		t.Errorf("%+v", m)
	}
	h.fails("plan_update", args{"taskId": "t1", "id": "find", "done": false, "expectSha256": first.SHA256}, tools.CodePlanChanged)
	h.fails("plan_write", args{"taskId": "t1", "title": "x", "goal": "y", "todos": []args{}}, tools.CodePlanChanged)
	h.fails("plan_write", args{"taskId": "../t1", "title": "x", "goal": "y", "todos": []args{}}, tools.CodeToolInput)
	h.fails("plan_write", args{"taskId": "t2", "title": "x", "goal": "y", "todos": []args{{"id": "a", "text": "x"}, {"id": "a", "text": "y"}}}, tools.CodePlanInvalid)
	h.fails("plan_update", args{"taskId": "none", "id": "find", "done": true}, tools.CodeNotFound)
	h.fails("plan_update", args{"taskId": "t1", "id": "fnd", "done": true}, tools.CodeNotFound)
	h.ok("undo", args{"undoId": m.UndoID}, nil)
	got, err := os.ReadFile(filepath.Join(h.root, "plans/t1.md"))
	if err != nil || strings.Contains(string(got), "[more]") || !strings.Contains(string(got), "- [x] [find] Find it\n") {
		t.Errorf("%q, %v", got, err)
	}
	events.Close()
	told := 0
	for _, e := range heard {
		if e.Kind == tools.EventPlanChanged && e.Name == "t1" && slices.Equal(e.Paths, []string{"plans/t1.md"}) {
			told++
		}
	}
	if told != 3 {
		t.Errorf("plan_changed was told %d times, want 3: %+v", told, heard)
	}
}

func TestAPlanThroughALinkIsShownToThePolicyWhereItIs(t *testing.T) {
	h := planHost(t, nil)
	if err := os.Symlink(".github", filepath.Join(h.root, "plans")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(h.root, ".github"), 0o755); err != nil {
		t.Fatal(err)
	}
	var m builtin.PlanMetadata
	h.ok("plan_write", args{"taskId": "t", "title": "x", "goal": "y", "todos": []args{}}, &m)
	if m.Path != ".github/t.md" {
		t.Errorf("%+v", m)
	}
}
