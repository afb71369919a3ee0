//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/check"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/plan"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// TestPlans has goals and decisions on a real server: what is built on the stores needs
// no other.
func TestPlans(t *testing.T) {
	stores := open(t, theServer(t).fresh(t), nil)
	ann, bob := state.Owner{User: "ann"}, state.Owner{User: "bob"}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	decisions, err := plan.NewDecisions(stores.Checkpoints(), nil)
	must(err)
	three := []string{"1", "2", "3"}
	question := tools.Question{Text: "Which?", Options: []tools.Choice{{ID: "a", Label: "A", Pros: three, Cons: three}, {ID: "b", Label: "B", Pros: three, Cons: three}}}
	waits, err := decisions.Suspend(t.Context(), ann, question)
	must(err)
	if _, err := decisions.Answer(t.Context(), bob, waits.ID, waits.Version, tools.Reply{IDs: []string{"a"}}); !errors.Is(err, tools.CodeStateOwnership) {
		t.Errorf("another owner: %v", err)
	}
	_, err = decisions.Answer(t.Context(), ann, waits.ID, waits.Version, tools.Reply{IDs: []string{"b"}})
	must(err)
	if again, err := decisions.Suspend(t.Context(), ann, question); err != nil || again.Reply == nil || again.Reply.IDs[0] != "b" {
		t.Errorf("%+v, %v", again, err)
	}

	root := t.TempDir()
	init := exec.Command("git", "init", "-q", root)
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ws, err := workspace.Open(root, &workspace.Options{StateDir: t.TempDir()})
	must(err)
	t.Cleanup(func() { must(ws.Close()) })
	files, err := plan.NewFiles(ws, plan.Limits{})
	must(err)
	processes := child.NewOwner(nil)
	t.Cleanup(func() { must(processes.Close()) })
	checks, err := check.New([]check.Definition{{Name: "fine", File: "true"}}, &check.Options{Owner: processes, Root: ws.Root(), Environment: os.Environ()})
	must(err)
	program, err := git.Find(os.Getenv("PATH"))
	must(err)
	runner := git.New(processes, &git.Options{Path: program, Env: child.Environment(os.Environ(), nil)})
	goals, err := plan.NewGoals(&plan.GoalOptions{
		Files: files, Checks: checks, Stores: stores,
		Repository: func(ctx context.Context) (*git.Repository, error) { return runner.Repository(ctx, ws.Root()) },
	})
	must(err)
	goal, err := goals.Verify(t.Context(), ann, "t1", &plan.VerifyOptions{Draft: &plan.Draft{Title: "T", Goal: "G."}})
	must(err)
	if goal.Status != plan.StatusAwaitingApproval {
		t.Fatalf("%s: %s", goal.Status, goal.Reason)
	}
	if _, err := goals.Approve(t.Context(), bob, "t1", goal.Version); !errors.Is(err, tools.CodeStateOwnership) {
		t.Errorf("another owner: %v", err)
	}
	done, err := goals.Approve(t.Context(), ann, "t1", goal.Version)
	must(err)
	if done.Status != plan.StatusCompleted {
		t.Fatalf("%s", done.Status)
	}
	if _, err := goals.Approve(t.Context(), ann, "t1", goal.Version); !errors.Is(err, tools.CodeStateConflict) {
		t.Errorf("the same approval again: %v", err)
	}
	handoff, err := goals.ReadHandoff(t.Context(), ann, "t1")
	if err != nil || len(handoff) == 0 {
		t.Errorf("%s, %v", handoff, err)
	}
}
