package plan_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/plan"
)

// goalRole brings a task all the way, and is killed at the given step.
func goalRole() {
	n, err := strconv.Atoi(os.Getenv("PLAN_TEST_STEP"))
	if err == nil {
		err = wholeWay(os.Getenv("PLAN_TEST_DIR"), n)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func wholeWay(dir string, n int) error {
	b, err := openBench(dir, 0)
	if err != nil {
		return err
	}
	defer b.end()
	steps := 0
	b.opts.At(func(step string) {
		if steps++; steps == n {
			fmt.Println("killed at", step)
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			select {}
		}
	})
	goals, err := plan.NewGoals(&b.opts)
	if err != nil {
		return err
	}
	goal, err := goals.Verify(context.Background(), owner(), "t1", &plan.VerifyOptions{Draft: task(), Checks: []string{"lint", "test"}})
	if err != nil {
		return err
	}
	if goal, err = goals.Approve(context.Background(), owner(), "t1", goal.Version); err == nil && goal.Status != plan.StatusCompleted {
		err = fmt.Errorf("it is %s", goal.Status)
	}
	return err
}

// TestAGoalSurvivesBeingKilledAtEveryStep: whoever comes next ends where it would have
// ended, and no check that is on record as passed runs again.
func TestAGoalSurvivesBeingKilledAtEveryStep(t *testing.T) {
	var seen []string
	for n := 1; ; n++ {
		dir := makeBench(t)
		b := benchAt(t, dir, time.Duration(n)*time.Minute) // for which the lease of who was killed is over
		must(t, b.passes("lint", true))
		must(t, b.passes("test", true))
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), roleVariable+"=goal", "PLAN_TEST_DIR="+dir, "PLAN_TEST_STEP="+strconv.Itoa(n))
		out, err := command.CombinedOutput()
		if err == nil {
			break
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() {
			t.Fatalf("step %d: %v\n%s", n, err, out)
		}
		step := strings.TrimSpace(string(bytes.TrimPrefix(out, []byte("killed at "))))
		seen = append(seen, step)
		finish(t, b, step)
	}
	want := "planned items made checking ran lint recorded lint ran test recorded test ticked concluded approved kept completed"
	if got := strings.Join(seen, " "); got != want {
		t.Errorf("killed at %s, want %s", got, want)
	}
}

// finish does what a person or a program does after a crash.
func finish(t *testing.T, b *workbench, step string) {
	t.Helper()
	goals := b.goals(t)
	goal, err := goals.Resume(t.Context(), owner(), "t1")
	if err != nil { // nothing was on record: it is asked for again, as it was
		goal, err = goals.Verify(t.Context(), owner(), "t1", &plan.VerifyOptions{Draft: task(), Checks: []string{"lint", "test"}})
	}
	must(t, err)
	if goal.Status == plan.StatusAwaitingApproval {
		goal, err = goals.Approve(t.Context(), owner(), "t1", goal.Version)
		must(t, err)
	}
	if goal.Status != plan.StatusCompleted {
		t.Errorf("killed at %q, then it is %s: %s", step, goal.Status, goal.Reason)
	}
	text := b.text(t, "plans/t1.md")
	for _, line := range []string{"- [ ] [work] The work\n", "- [x] [test] Tests pass\n", "- [x] [lint] The check lint passes\n"} {
		if strings.Count(text, line) != 1 {
			t.Errorf("killed at %q, the plan is\n%s", step, text)
		}
	}
	handoff, err := goals.ReadHandoff(t.Context(), owner(), "t1")
	if err != nil || !bytes.Contains(handoff, []byte(goal.TreeID)) {
		t.Errorf("killed at %q: %s %v", step, handoff, err)
	}
	for _, name := range []string{"lint", "test"} {
		most := 1
		if step == "ran "+name || step == "some time" { // it had ended, and that was not on record
			most = 2
		}
		if runs := b.runs(name); runs < 1 || runs > most {
			t.Errorf("killed at %q, %s ran %d times", step, name, runs)
		}
	}
	if status := gitIn(t, b.root, "status", "--porcelain"); status != "?? plans/" {
		t.Errorf("killed at %q, git sees %q", step, status)
	}
}

// TestAGoalSurvivesBeingKilledAtAnyTime: also in the middle of a step.
func TestAGoalSurvivesBeingKilledAtAnyTime(t *testing.T) {
	rounds := 5
	if os.Getenv("PRISM_SOAK") == "1" {
		rounds = 100
	}
	random := rand.New(rand.NewPCG(3, 4))
	killed, longest := 0, time.Duration(0)
	for round := range rounds {
		dir := makeBench(t)
		b, err := openBench(dir, time.Duration(round+1)*time.Minute)
		must(t, err)
		must(t, b.passes("lint", true))
		must(t, b.passes("test", true))
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), roleVariable+"=goal", "PLAN_TEST_DIR="+dir, "PLAN_TEST_STEP=0")
		begun := time.Now()
		must(t, command.Start())
		limit := max(longest, 200*time.Millisecond)
		timer := time.AfterFunc(time.Duration(random.Int64N(int64(limit))), func() { _ = command.Process.Kill() })
		if command.Wait() != nil {
			killed++
		} else {
			longest = max(longest, time.Since(begun)) // how long it takes when nobody kills it
		}
		if !timer.Stop() && longest == 0 {
			longest = 2 * limit // none has come through yet: kill later
		}
		finish(t, b, "some time")
		must(t, b.end())
	}
	if killed == 0 {
		t.Error("nobody was killed")
	}
	t.Logf("figure: goals killed at any time = %d of %d killed, all handed off afterwards, no item ticked that had not passed", killed, rounds)
}
