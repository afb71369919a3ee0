package git

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

const (
	roleVariable = "PRISM_GIT_TEST_ROLE"
	rootVariable = "PRISM_GIT_TEST_ROOT"
	stepVariable = "PRISM_GIT_TEST_STEP"
	// stateVariable is a directory for the state of a workspace.
	stateVariable = "PRISM_GIT_TEST_STATE"
)

// roles are the changes that a test lets another process make, and die over.
func roles() map[string]func(context.Context, *Repository) error {
	all := workers()
	maps.Copy(all, map[string]func(context.Context, *Repository) error{
		"commit": func(ctx context.Context, g *Repository) error {
			_, err := g.Commit(ctx, &CommitOptions{Message: "message", Paths: []string{"a.txt", "new"}, Checkpoint: true})
			return err
		},
		"switch": func(ctx context.Context, g *Repository) error {
			_, err := g.Switch(ctx, "other", nil)
			return err
		},
		"checkpoint": func(ctx context.Context, g *Repository) error {
			_, err := g.Checkpoint(ctx, nil)
			return err
		},
	})
	return all
}

// playRole makes a change and kills this process, with SIGKILL, when the nth git of
// the change has ended; before 0 it is killed when everything is planned.
func playRole(role string) {
	step, err := strconv.Atoi(os.Getenv(stepVariable))
	if err != nil {
		panic(err)
	}
	die := func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }
	path, err := Find(os.Getenv("PATH"))
	if err != nil {
		panic(err)
	}
	count, counting := 0, false
	runner := New(child.NewOwner(nil), &Options{
		Path: path, Env: child.Environment(os.Environ(), nil), Identity: nobody,
		Observe: func([]string, child.Exit) {
			if count++; counting && count == step {
				die()
			}
		},
	})
	ctx := tools.WithPlanned(context.Background(), func(context.Context, []tools.Witness) error {
		if step == 0 {
			die()
		}
		return nil
	})
	g, err := runner.Repository(ctx, os.Getenv(rootVariable))
	if err != nil {
		panic(err)
	}
	count, counting = 0, true
	if err := roles()[role](ctx, g); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// killedAt lets another process make a change and die at a step. It reports whether
// the change was made before that step came.
func killedAt(t *testing.T, role, root string, step int) (finished bool) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	command := exec.CommandContext(t.Context(), self)
	command.Env = append(os.Environ(), roleVariable+"="+role, rootVariable+"="+root, stepVariable+"="+strconv.Itoa(step))
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err = command.Run()
	if err == nil {
		return true
	}
	if status, ok := command.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Fatalf("%s at step %d: %v\n%s", role, step, err, output.String())
	}
	return false
}

// stepsOf are those at which to kill a change of count gits: some of them, among them
// the last ones, and all with PRISM_SOAK=1. 0 is when everything is planned.
func stepsOf(count int) []int {
	var steps []int
	for step := range count + 1 {
		if os.Getenv("PRISM_SOAK") == "1" || step%6 == 0 || step > count-4 {
			steps = append(steps, step)
		}
	}
	return steps
}

// counted returns how many gits a change takes.
func counted(t *testing.T, role, root string) int {
	t.Helper()
	count := 0
	g, err := newRunner(t, &Options{Identity: nobody, Observe: func([]string, child.Exit) { count++ }}).Repository(t.Context(), root)
	must(t, err)
	count = 0
	must(t, roles()[role](t.Context(), g))
	return count
}

// TestCommitKilledAtEveryStep: a commit has happened or has not, with the index that
// goes with it, and the next one is not kept from anything.
func TestCommitKilledAtEveryStep(t *testing.T) {
	prepare := func() string {
		root := repository(t)
		write(t, root, "other", "other\n")
		plain(t, root, "add", "other")
		plain(t, root, "commit", "-q", "-m", "other")
		write(t, root, "a.txt", "two\n")
		write(t, root, "new", "new\n")
		write(t, root, "other", "staged\n")
		plain(t, root, "add", "other")
		return root
	}
	happened, steps := 0, stepsOf(counted(t, "commit", prepare()))
	for _, step := range steps {
		root := prepare()
		before, tree := strings.TrimSpace(plain(t, root, "rev-parse", "HEAD")), snapshot(t, root)
		if killedAt(t, "commit", root, step) {
			t.Fatalf("step %d did not come", step)
		}
		after := strings.TrimSpace(plain(t, root, "rev-parse", "HEAD"))
		if after != before {
			happened++
			if got := plain(t, root, "show", "--no-renames", "--format=%P %s", "--name-status", "HEAD"); got != before+" message\n\nM\ta.txt\nA\tnew\n" {
				t.Errorf("step %d: the commit is %q", step, got)
			}
		}
		if snapshot(t, root) != tree {
			t.Errorf("step %d: the work tree has changed", step)
		}
		// Whatever comes next finds the index in order.
		write(t, root, "next", "next\n")
		c, err := opened(t, root).Commit(t.Context(), &CommitOptions{Message: "next", Paths: []string{"next"}, Checkpoint: true})
		if err != nil {
			t.Fatalf("step %d: the next commit: %v", step, err)
		}
		want := "M  other\n"
		if after == before {
			want = " M a.txt\nM  other\n?? new\n"
		}
		if got := plain(t, root, "status", "--porcelain"); got != want || len(c.Files) != 1 {
			t.Errorf("step %d: afterwards git says %q, want %q", step, got, want)
		}
	}
	if happened == 0 || happened == len(steps) {
		t.Errorf("of %d kills, %d were after the commit; some must be before, and some after", len(steps), happened)
	}
	t.Logf("figure: kill -9 during a commit with a checkpoint, at %d steps = all or nothing each time, %d after the commit; the next commit went on", len(steps), happened)
}
