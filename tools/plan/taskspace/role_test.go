package taskspace

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	ossignal "os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/state/sqlite"
)

// The variables that tell this program, executed again, what to do.
const (
	roleVariable = "PRISM_TASKSPACE_TEST_ROLE"
	baseVariable = "PRISM_TASKSPACE_TEST_BASE"
	stepVariable = "PRISM_TASKSPACE_TEST_STEP"
)

// role does to the fixture of a parent test what the environment says. At the step
// it kills or stops itself.
func role() {
	name := os.Getenv(roleVariable)
	if name == "" {
		return
	}
	base := os.Getenv(baseVariable)
	stores, err := sqlite.Open(filepath.Join(base, "state", "state.db"), nil)
	if err != nil {
		panic(err)
	}
	path, err := git.Find(os.Getenv("PATH"))
	if err != nil {
		panic(err)
	}
	owner := child.NewOwner(nil)
	opts := hostOptions(base, stores, git.New(owner, &git.Options{Path: path, Env: child.Environment(os.Environ(), nil)}))
	verb, signal, _ := strings.Cut(name, " ")
	if opts.LeaseSeconds = 1; signal == "stop" {
		opts.LeaseSeconds = 3
	}
	m, err := New(&opts)
	if err != nil {
		panic(err)
	}
	if at, err := strconv.Atoi(os.Getenv(stepVariable)); err == nil {
		m.seam = endAt(at, signal)
	}
	err = act(m, verb)
	fmt.Println(resultOf(err))
	if err := errors.Join(owner.Close(), stores.Close()); err != nil {
		panic(err)
	}
	os.Exit(0)
}

// endAt has the process end, or stop, at the nth step.
func endAt(at int, signal string) *seam {
	count := 0
	return &seam{at: func(step string) error {
		if step == renewStep {
			if signal == "stop" { // it could be stopped in the middle of a transaction, which holds everybody up
				return errInjected
			}
			return nil
		}
		if count++; count != at {
			return nil
		}
		if signal == "stop" {
			// The signal may reach another thread first: nothing more is done until after it.
			goesOn := make(chan os.Signal, 1)
			ossignal.Notify(goesOn, syscall.SIGCONT)
			fmt.Println("stopping")
			err := syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			<-goesOn
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}}
}

func act(m *Manager, verb string) error {
	ctx := context.Background()
	var err error
	switch verb {
	case "create":
		_, err = m.Create(ctx, ada, request("t", "shop", "lib"))
	case "cleanup":
		_, err = m.Cleanup(ctx, ada, "t", Policy{Dirty: true})
	case "undo":
		_, err = m.Undo(ctx, ada, "t")
	case "all":
		for err == nil {
			if err = act(m, "create"); err == nil {
				err = act(m, "cleanup")
			}
			if err == nil {
				err = act(m, "undo")
			}
		}
	default:
		panic(verb)
	}
	return err
}

func resultOf(err error) string {
	if err == nil {
		return "done"
	}
	return string(tools.AsError(err).Code)
}

// durable is a fixture over a store that processes share.
func durable(t testing.TB) *fixture {
	f := newFixture(t)
	stores, err := sqlite.Open(f.at("state", "state.db"), nil)
	must(t, err)
	t.Cleanup(func() { must(t, stores.Close()) })
	f.stores, f.opts.Stores, f.opts.LeaseSeconds = stores, stores, 1
	f.open()
	return f
}

// again is this program in a role.
func (f *fixture) again(role string, step int) *exec.Cmd {
	f.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role, baseVariable+"="+f.base)
	if step > 0 {
		cmd.Env = append(cmd.Env, stepVariable+"="+strconv.Itoa(step))
	}
	cmd.Stderr = os.Stderr
	return cmd
}

// killedAt lets another process do something, which is killed at the nth step, and
// reports whether there were that many.
func (f *fixture) killedAt(role string, step int) bool {
	f.t.Helper()
	out, err := f.again(role, step).Output()
	var exit *exec.ExitError
	switch {
	case err == nil && strings.TrimSpace(string(out)) == "done":
		return false
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
		return true
	}
	f.t.Fatalf("%s, killed at step %d: %v, %s", role, step, err, out)
	return false
}

func TestKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"create", "cleanup", "undo"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			killed := 0
			for step := 1; ; step += 2*stride() - 1 {
				f := durable(t)
				var want map[string]string
				path := ""
				if verb != "create" {
					space, err := f.m.Create(t.Context(), ada, request("t", "shop", "lib"))
					must(t, err)
					path = space.Repositories[0].Path
					soil(t, path)
					want = tree(t, path)
				}
				if verb == "undo" {
					must(t, act(f.m, "cleanup"))
				}
				more := f.killedAt(verb, step)
				must(t, act(f.m, verb))
				if verb == "cleanup" {
					f.expectNothingLeft()
					must(t, act(f.m, "undo"))
				}
				if verb != "create" {
					expectTree(t, fmt.Sprintf("step %d", step), tree(t, path), want)
				}
				if _, err := f.m.Verify(t.Context(), ada, "t", false); err != nil {
					t.Errorf("step %d: %v", step, err)
				}
				must(t, act(f.m, "cleanup"))
				f.expectNothingLeft()
				if t.Failed() || !more {
					t.Logf("figure: kill -9 at steps of a workspace's %s = %d steps, the same again comes to its end, nothing lost or left over", verb, killed)
					return
				}
				killed++
			}
		})
	}
}

// TestKilledAtAnyTime: also in the middle of what git does.
func TestKilledAtAnyTime(t *testing.T) {
	t.Parallel()
	f := durable(t)
	rounds := 12
	if stride() == 1 {
		rounds = 200
	}
	_, err := f.m.Create(t.Context(), ada, request("t", "shop", "lib"))
	must(t, err)
	space, err := f.m.Get(t.Context(), ada, "t")
	must(t, err)
	path := space.Repositories[0].Path
	soil(t, path)
	want := tree(t, path)
	for round := range rounds {
		// Each is as an "all" would find it: undone, to be cleaned up and undone again.
		verb := []string{"cleanup", "undo"}[round%2]
		cmd := f.again(verb, 0)
		must(t, cmd.Start())
		time.Sleep(time.Duration(rand.IntN(600)) * time.Millisecond)
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		must(t, act(f.m, verb))
		if verb == "cleanup" {
			f.expectNothingLeft()
		} else {
			expectTree(t, fmt.Sprintf("round %d", round), tree(t, path), want)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("figure: kill -9 at any time while a workspace is cleaned up or comes back = %d, every file as it was", rounds)
}

// TestManyAtOnce: processes that do the same at once all see it done, and it is done
// once.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	f := durable(t)
	for _, verb := range []string{"create", "cleanup", "undo", "cleanup"} {
		var running []*exec.Cmd
		var outputs []*strings.Builder
		for range 4 {
			cmd, out := f.again(verb, 0), &strings.Builder{}
			cmd.Stdout = out
			must(t, cmd.Start())
			running, outputs = append(running, cmd), append(outputs, out)
		}
		for i, cmd := range running {
			if err := cmd.Wait(); err != nil || strings.TrimSpace(outputs[i].String()) != "done" {
				t.Errorf("%s: %v, %s", verb, err, outputs[i])
			}
		}
		if verb == "cleanup" {
			f.expectNothingLeft()
			continue
		}
		if list := plain(t, f.at("shop"), "worktree", "list"); strings.Count(list, "\n") != 1 {
			t.Errorf("after %s git has\n%s", verb, list)
		}
	}
}

// TestStoppedBeyondItsLease: who was stopped for longer than the lease lasts changes
// nothing any more.
func TestStoppedBeyondItsLease(t *testing.T) {
	t.Parallel()
	for step := 1; step < 60; step += 9 {
		t.Run(fmt.Sprintf("step %d", step), func(t *testing.T) { t.Parallel(); stoppedAt(t, step) })
	}
}

func stoppedAt(t *testing.T, step int) {
	f := durable(t)
	space, err := f.m.Create(t.Context(), ada, request("t", "shop", "lib"))
	must(t, err)
	path := space.Repositories[0].Path
	soil(t, path)
	want := tree(t, path)
	cmd := f.again("cleanup stop", step)
	out := &lines{got: make(chan string, 10)}
	cmd.Stdout = out
	must(t, cmd.Start())
	if first := <-out.got; first == "done" {
		must(t, cmd.Wait())
		if step < 10 {
			t.Errorf("it has no step %d", step)
		}
		return
	}
	// Somebody else cleans up and undoes it, which waits for the lease to end.
	must(t, act(f.m, "cleanup"))
	must(t, act(f.m, "undo"))
	must(t, cmd.Process.Signal(syscall.SIGCONT))
	must(t, cmd.Wait())
	if result := <-out.got; result != string(tools.CodeWorkspaceFence) {
		t.Errorf("it ended with %s", result)
	}
	expectTree(t, "after that", tree(t, path), want)
	if _, err := f.m.Verify(t.Context(), ada, "t", false); err != nil {
		t.Error(err)
	}
}

// lines hands on what is printed, line by line.
type lines struct {
	rest string
	got  chan string
}

func (l *lines) Write(data []byte) (int, error) {
	l.rest += string(data)
	for {
		line, rest, ok := strings.Cut(l.rest, "\n")
		if !ok {
			return len(data), nil
		}
		l.rest = rest
		l.got <- line
	}
}
