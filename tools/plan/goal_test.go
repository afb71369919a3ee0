package plan_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/check"
	"github.com/prism-ls/prism-ls/tools/plan"
	"github.com/prism-ls/prism-ls/tools/state"
)

func task() *plan.Draft {
	return &plan.Draft{Title: "Mend it", Goal: "It works.", Todos: []plan.Todo{{ID: "work", Text: "The work"}, {ID: "test", Text: "Tests pass"}}}
}

// TestFromGoalToHandoff is the whole way, with a check that fails at first.
func TestFromGoalToHandoff(t *testing.T) {
	b := bench(t)
	goals := b.goals(t)
	must(t, b.passes("lint", true))
	goal, err := goals.Verify(t.Context(), owner(), "t1", &plan.VerifyOptions{Draft: task(), Checks: []string{"lint", "test"}, Base: "main"})
	must(t, err)
	if goal.Status != plan.StatusFailed || goal.Reason != "not passed: test" {
		t.Fatalf("%s %q", goal.Status, goal.Reason)
	}
	text := b.text(t, "plans/t1.md")
	if !strings.Contains(text, "- [ ] [test] Tests pass\n") || !strings.Contains(text, "- [x] [lint] The check lint passes\n") || !strings.Contains(text, "- [ ] [work] The work\n") {
		t.Errorf("%s", text)
	}
	if _, err := goals.Approve(t.Context(), owner(), "t1", goal.Version); !errors.Is(err, tools.CodeStateConflict) {
		t.Errorf("approved what did not pass: %v", err)
	}
	must(t, b.passes("test", true))
	gitIn(t, b.root, "switch", "-q", "-c", "fix/it")
	must(t, os.WriteFile(filepath.Join(b.root, "a.txt"), []byte("mended\n"), 0o644))
	gitIn(t, b.root, "commit", "-q", "-a", "-m", "Mend it")
	goal, err = goals.Verify(t.Context(), owner(), "t1", nil)
	must(t, err)
	if goal.Status != plan.StatusAwaitingApproval || goal.Branch != "fix/it" || goal.Reason != "" || len(goal.Checks) != 2 || goal.BaseBranch != "main" || goal.BaseID == "" {
		t.Fatalf("%+v", goal.Metadata)
	}
	if b.runs("lint") != 2 || b.runs("test") != 2 {
		t.Errorf("lint ran %d times, test %d", b.runs("lint"), b.runs("test"))
	}
	for what, version := range map[string]int64{"an old version": goal.Version - 1, "one to come": goal.Version + 1, "none": 0} {
		_, err := goals.Approve(t.Context(), owner(), "t1", version)
		if !errors.Is(err, tools.CodeStateConflict) || tools.AsError(err).Details.(state.Current).Version != goal.Version {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := goals.Approve(t.Context(), state.Owner{User: "bob"}, "t1", goal.Version); !errors.Is(err, tools.CodeStateOwnership) {
		t.Errorf("another owner: %v", err)
	}
	done, err := goals.Approve(t.Context(), owner(), "t1", goal.Version)
	must(t, err)
	if done.Status != plan.StatusCompleted || len(done.Artifacts) != 1 {
		t.Fatalf("%+v", done.Metadata)
	}
	handoff, err := goals.ReadHandoff(t.Context(), owner(), "t1")
	must(t, err)
	var h plan.Handoff
	must(t, json.Unmarshal(handoff, &h))
	if h.Title != "Mend it" || h.Goal != "It works." || h.TreeID != goal.TreeID || len(h.Todos) != 3 || len(h.Checks) != 2 || !h.Checks[1].Passed() || h.Plan.SHA256 != goal.Plan.SHA256 || h.ApprovedVersion != goal.Version {
		t.Errorf("%s", handoff)
	}
	if h.Changes == nil || h.Changes.TotalCommits != 1 || h.Changes.Commits[0].Subject != "Mend it" || len(h.Changes.ChangedPaths) != 1 || h.Changes.ChangedPaths[0].Path != "a.txt" {
		t.Errorf("%s", handoff)
	}
	if _, err := goals.Approve(t.Context(), owner(), "t1", done.Version); !errors.Is(err, tools.CodeStateConflict) {
		t.Errorf("approved twice: %v", err)
	}
	if status := gitIn(t, b.root, "status", "--porcelain"); status != "?? plans/" {
		t.Errorf("git sees %q", status)
	}
	list, err := goals.List(t.Context(), owner())
	if err != nil || len(list) != 1 || list[0].TaskID != "t1" {
		t.Errorf("%v %v", list, err)
	}
}

func (b *workbench) verified(t testing.TB, goals *plan.Goals) *plan.Goal {
	t.Helper()
	must(t, b.passes("lint", true))
	must(t, b.passes("test", true))
	goal, err := goals.Verify(t.Context(), owner(), "t1", &plan.VerifyOptions{Draft: task()})
	must(t, err)
	if goal.Status != plan.StatusAwaitingApproval || !slices.Equal(goal.Wanted, []string{"test"}) {
		t.Fatalf("%s %v", goal.Status, goal.Wanted)
	}
	return goal
}

// TestAnApprovalIsOfTheTreeThatWasChecked: of another one the checks run again, and
// nothing is approved.
func TestAnApprovalIsOfTheTreeThatWasChecked(t *testing.T) {
	b := bench(t)
	goals := b.goals(t)
	goal := b.verified(t, goals)
	for what, change := range map[string]func(){
		"a changed file": func() { must(t, os.WriteFile(filepath.Join(b.root, "a.txt"), []byte("b\n"), 0o644)) },
		"a new file":     func() { must(t, os.WriteFile(filepath.Join(b.root, "new.txt"), nil, 0o644)) },
		"a mode":         func() { must(t, os.Chmod(filepath.Join(b.root, "a.txt"), 0o755)) },
		"a commit":       func() { gitIn(t, b.root, "commit", "-q", "--allow-empty", "-m", "more") },
		"the plan": func() {
			_, err := b.opts.Files.Edit(t.Context(), "t1", plan.Edit{ID: "work", Text: new(time.Now().String())}, "")
			must(t, err)
		},
	} {
		change()
		before := b.runs("test")
		again, err := goals.Approve(t.Context(), owner(), "t1", goal.Version)
		must(t, err)
		if again.Status != plan.StatusAwaitingApproval || again.Version <= goal.Version || b.runs("test") != before+1 {
			t.Errorf("%s: %s at version %d after %d, the check ran %d times", what, again.Status, again.Version, goal.Version, b.runs("test")-before)
		}
		goal = again
	}
	must(t, b.passes("test", false))
	must(t, os.WriteFile(filepath.Join(b.root, "a.txt"), []byte("c\n"), 0o644))
	failed, err := goals.Approve(t.Context(), owner(), "t1", goal.Version)
	must(t, err)
	if failed.Status != plan.StatusFailed || !strings.Contains(b.text(t, "plans/t1.md"), "- [ ] [test] Tests pass\n") {
		t.Errorf("%s", failed.Status)
	}
	// An ignored file is no part of it.
	must(t, b.passes("test", true))
	must(t, os.WriteFile(filepath.Join(b.root, ".git", "info", "exclude"), []byte("*.o\n"), 0o644))
	goal, err = goals.Verify(t.Context(), owner(), "t1", nil)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(b.root, "x.o"), nil, 0o644))
	if done, err := goals.Approve(t.Context(), owner(), "t1", goal.Version); err != nil || done.Status != plan.StatusCompleted {
		t.Errorf("%+v, %v", done, err)
	}
}

// TestWhatElseIsAnotherIsNotGoneOnWith: no check would find that out.
func TestWhatElseIsAnotherIsNotGoneOnWith(t *testing.T) {
	b := bench(t)
	goal := b.verified(t, b.goals(t))
	b.opts.Fingerprints.Tools = strings.Repeat("ab", 32)
	if _, err := b.goals(t).Approve(t.Context(), owner(), "t1", goal.Version); !errors.Is(err, tools.CodeCodingCheckpoint) || !strings.Contains(err.Error(), "fingerprints.tools") {
		t.Errorf("%v", err)
	}
	b.opts.Fingerprints.Tools = ""
	gitIn(t, b.root, "switch", "-q", "-c", "other")
	if _, err := b.goals(t).Approve(t.Context(), owner(), "t1", goal.Version); !errors.Is(err, tools.CodeCodingCheckpoint) || !strings.Contains(err.Error(), "branch") {
		t.Errorf("%v", err)
	}
	gitIn(t, b.root, "switch", "-q", "main")
	if done, err := b.goals(t).Approve(t.Context(), owner(), "t1", goal.Version); err != nil || done.Status != plan.StatusCompleted {
		t.Errorf("%v", err)
	}
}

func TestDeny(t *testing.T) {
	b := bench(t)
	goals := b.goals(t)
	goal := b.verified(t, goals)
	if _, err := goals.Deny(t.Context(), owner(), "t1", goal.Version-1, "no"); !errors.Is(err, tools.CodeStateConflict) {
		t.Error(err)
	}
	denied, err := goals.Deny(t.Context(), owner(), "t1", goal.Version, "Too\n slow. "+strings.Repeat("x", 9000))
	must(t, err)
	if denied.Status != plan.StatusCancelled || !strings.HasPrefix(denied.Reason, "Too slow. x") || len(denied.Reason) > 1024 {
		t.Errorf("%s %q", denied.Status, denied.Reason)
	}
	if _, err := goals.Approve(t.Context(), owner(), "t1", denied.Version); !errors.Is(err, tools.CodeStateConflict) {
		t.Error(err)
	}
	if same, err := goals.Resume(t.Context(), owner(), "t1"); err != nil || same.Version != denied.Version {
		t.Errorf("%+v %v", same, err)
	}
	if anew, err := goals.Verify(t.Context(), owner(), "t1", nil); err != nil || anew.Status != plan.StatusAwaitingApproval {
		t.Errorf("%+v %v", anew, err)
	}
}

func TestGoalsThatAreRefused(t *testing.T) {
	b := bench(t)
	goals := b.goals(t)
	for name, c := range map[string]struct {
		task string
		opts *plan.VerifyOptions
		want tools.Code
	}{
		"no plan":        {"t1", nil, tools.CodeNotFound},
		"bad name":       {"../t1", &plan.VerifyOptions{Draft: task()}, tools.CodeToolInput},
		"unknown check":  {"t1", &plan.VerifyOptions{Draft: task(), Checks: []string{"tset"}}, tools.CodeCheckUnknown},
		"check twice":    {"t1", &plan.VerifyOptions{Draft: task(), Checks: []string{"test", "test"}}, tools.CodeToolInput},
		"no check":       {"t1", &plan.VerifyOptions{Draft: task(), Checks: []string{}}, tools.CodeCheckUnknown},
		"unknown base":   {"t1", &plan.VerifyOptions{Draft: task(), Base: "nowhere"}, tools.CodeGitRef},
		"another plan":   {"t1", &plan.VerifyOptions{Draft: &plan.Draft{Title: "Another", Goal: "x"}}, tools.CodePlanChanged},
		"malformed plan": {"t2", &plan.VerifyOptions{Draft: &plan.Draft{Title: "A\nB", Goal: "x"}}, tools.CodeToolInput},
	} {
		if name == "another plan" {
			if _, err := b.opts.Files.Read(t.Context(), "t1"); err != nil {
				_, err := b.opts.Files.Write(t.Context(), "t1", *task(), "")
				must(t, err)
			}
		}
		if name == "no plan" {
			c.task = "t0"
		}
		if goal, err := goals.Verify(t.Context(), owner(), c.task, c.opts); !errors.Is(err, c.want) {
			t.Errorf("%s: %+v %v", name, goal, err)
		}
	}
	if list, err := goals.List(t.Context(), owner()); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
	if b.runs("test")+b.runs("lint") != 0 {
		t.Error("a check ran")
	}
}

// TestATreeThatNeverStandsStillIsNotVerified: here a check itself changes it.
func TestATreeThatNeverStandsStillIsNotVerified(t *testing.T) {
	b := bench(t, check.Definition{Name: "restless", File: "/bin/sh", Args: []string{"-c", "echo x >>grows.txt"}})
	goal, err := b.goals(t).Verify(t.Context(), owner(), "t1", &plan.VerifyOptions{Draft: task(), Checks: []string{"restless"}})
	must(t, err)
	if goal.Status != plan.StatusEditing || !strings.Contains(goal.Reason, "changed while the checks ran") || strings.Contains(b.text(t, "plans/t1.md"), "[x]") {
		t.Errorf("%s %q", goal.Status, goal.Reason)
	}
}

// TestTwoAtOnce: one works on a task, the other is told.
func TestTwoAtOnce(t *testing.T) {
	b := bench(t, check.Definition{Name: "slow", File: "/bin/sh", Args: []string{"-c", "sleep 2"}})
	goals := b.goals(t)
	begun := make(chan string, 4)
	b.opts.Progress = func(name string) { begun <- name }
	working := b.goals(t)
	done := make(chan error, 1)
	go func() {
		_, err := working.Verify(t.Context(), owner(), "t1", &plan.VerifyOptions{Draft: task(), Checks: []string{"slow"}})
		done <- err
	}()
	<-begun
	if _, err := goals.Verify(t.Context(), owner(), "t1", nil); !errors.Is(err, tools.CodeStateConflict) {
		t.Errorf("%v", err)
	}
	must(t, <-done)
	if goal, err := goals.Get(t.Context(), owner(), "t1"); err != nil || goal.Status != plan.StatusAwaitingApproval {
		t.Errorf("%+v %v", goal, err)
	}
}

// TestWhoLosesTheClaimWritesNothingMore: another takes the task over while a check
// runs, as after a machine that slept.
func TestWhoLosesTheClaimWritesNothingMore(t *testing.T) {
	dir := makeBench(t)
	b := benchAt(t, dir, 0)
	must(t, b.passes("test", true))
	other := benchAt(t, dir, time.Hour) // for whom the lease is over
	b.opts.Progress = func(string) {
		goal, err := other.goals(t).Resume(t.Context(), owner(), "t1")
		if err != nil || goal.Status != plan.StatusAwaitingApproval {
			t.Errorf("%+v %v", goal, err)
		}
	}
	if goal, err := b.goals(t).Verify(t.Context(), owner(), "t1", &plan.VerifyOptions{Draft: task()}); !errors.Is(err, tools.CodeStateFence) {
		t.Errorf("%+v %v", goal, err)
	}
	if goal, err := other.goals(t).Get(t.Context(), owner(), "t1"); err != nil || goal.Status != plan.StatusAwaitingApproval {
		t.Errorf("%+v %v", goal, err)
	}
}

// secrets takes one word out.
type secrets string

func (s secrets) Redact(text []byte) []byte {
	return []byte(strings.ReplaceAll(string(text), string(s), "***"))
}

// TestWhatIsRecordedOfACheck is how it ended, and neither its output nor a secret.
func TestWhatIsRecordedOfACheck(t *testing.T) {
	b := bench(t,
		check.Definition{Name: "words", File: "/bin/sh", Args: []string{"-c", "echo first; echo why it failed, hunter2; exit 3"}},
		check.Definition{Name: "places", File: "/bin/sh", Args: []string{"-c", "echo a.txt:1:1: error: hunter2 is wrong; exit 1"}, Parser: "gcc"},
		check.Definition{Name: "slow", File: "/bin/sh", Args: []string{"-c", "sleep 60"}, Timeout: time.Second},
	)
	b.opts.Redactor = secrets("hunter2")
	goal, err := b.goals(t).Verify(t.Context(), owner(), "t1", &plan.VerifyOptions{Draft: task(), Checks: []string{"words", "places", "slow"}})
	must(t, err)
	want := []string{"ended with status 3; why it failed, ***", "ended with status 1; problems: 1; a.txt:1: *** is wrong", "ERR_PRISM_TIMEOUT: "}
	for i, done := range goal.Checks {
		if done.Passed() || !strings.HasPrefix(done.Summary, want[i]) {
			t.Errorf("%+v, want %s", done, want[i])
		}
	}
	if goal.Status != plan.StatusFailed || strings.Contains(b.text(t, "plans/t1.md"), "[x]") {
		t.Errorf("%s", goal.Status)
	}
}

func TestHandoffIsBounded(t *testing.T) {
	b := bench(t)
	b.opts.HandoffBytes = 2000
	draft := task()
	draft.Goal = strings.Repeat("long ", 1000)
	must(t, b.passes("test", true))
	goal, err := b.goals(t).Verify(t.Context(), owner(), "t1", &plan.VerifyOptions{Draft: draft})
	must(t, err)
	done, err := b.goals(t).Approve(t.Context(), owner(), "t1", goal.Version)
	must(t, err)
	handoff, err := b.goals(t).ReadHandoff(t.Context(), owner(), "t1")
	if err != nil || len(handoff) > 2000 || !strings.Contains(string(handoff), `"truncated":true`) || done.Artifacts[0].Bytes != int64(len(handoff)) {
		t.Errorf("%s %v", handoff, err)
	}
	b.opts.HandoffBytes = plan.HandoffBytes.Hard + 1
	if _, err := plan.NewGoals(&b.opts); !errors.Is(err, tools.CodeToolInput) {
		t.Error(err)
	}
}

// TestManyItems: what does not fit into the record is in the plan.
func TestManyItems(t *testing.T) {
	b := bench(t)
	draft := task()
	for i := range 900 {
		draft.Todos = append(draft.Todos, plan.Todo{ID: "i" + time.Duration(i).String(), Text: strings.Repeat("x", 200)})
	}
	must(t, b.passes("test", true))
	goal, err := b.goals(t).Verify(t.Context(), owner(), "t1", &plan.VerifyOptions{Draft: draft})
	must(t, err)
	if kept, err := b.goals(t).Get(t.Context(), owner(), "t1"); err != nil || len(kept.Todos) != 902 || kept.Todos[0].Text != "" || kept.Version != goal.Version {
		t.Errorf("%v", err)
	}
	if _, err := b.goals(t).Approve(t.Context(), owner(), "t1", goal.Version); err != nil {
		t.Error(err)
	}
}
