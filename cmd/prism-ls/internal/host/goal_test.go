package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/plan"
)

// TestATaskIsApprovedByTheBuildThatCheckedIt: what another build, or one with other
// tools, has checked nobody approves.
func TestATaskIsApprovedByTheBuildThatCheckedIt(t *testing.T) {
	y := newYard(t)
	goals := func(revision string) *plan.Goals {
		goals, err := y.host.Goals(host.GoalOptions{Revision: revision, Call: tools.CallOptions{Owner: "me"}})
		y.must(err)
		return goals
	}
	draft := &plan.Draft{Title: "T", Goal: "G.", Todos: []plan.Todo{{ID: "fine", Text: "It is fine"}}}
	goal, err := goals("one").Verify(context.Background(), y.host.People(), "t1", &plan.VerifyOptions{Draft: draft})
	y.must(err)
	f := goal.Fingerprints
	if goal.Status != plan.StatusAwaitingApproval || f.Revision != "one" || len(f.Tools) != 64 || len(f.Definition) != 64 || len(f.Policy) != 64 {
		t.Fatalf("%s %+v", goal.Status, f)
	}
	if _, err := goals("two").Approve(context.Background(), y.host.People(), "t1", goal.Version); !errors.Is(err, tools.CodeCodingCheckpoint) || !strings.Contains(err.Error(), "fingerprints.revision") {
		t.Errorf("another build: %v", err)
	}
	done, err := goals("one").Approve(context.Background(), y.host.People(), "t1", goal.Version)
	y.must(err)
	if done.Status != plan.StatusCompleted {
		t.Errorf("%s", done.Status)
	}
}
