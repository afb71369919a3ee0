package plan_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/check"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/plan"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/sqlite"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// workbench is a repository, a store and checks that pass while a file says so.
type workbench struct {
	dir   string // root and all else are in it
	root  string
	ws    *workspace.Workspace
	owner *child.Owner
	opts  plan.GoalOptions
	ahead time.Duration // how far the store's clock is
	close []func() error
}

// passes makes the check of that name pass or fail: what it looks at is no part of the
// tree.
func (b *workbench) passes(name string, yes bool) error {
	if yes {
		return os.WriteFile(filepath.Join(b.dir, name+".passes"), nil, 0o600)
	}
	return os.Remove(filepath.Join(b.dir, name+".passes"))
}

// runs is how often the check of that name ran.
func (b *workbench) runs(name string) int {
	text, err := os.ReadFile(filepath.Join(b.dir, name+".runs"))
	if err != nil {
		return 0
	}
	return strings.Count(string(text), "\n")
}

// definition is a check that counts its runs, and passes while its file is there.
func definition(dir, name string) check.Definition {
	script := `echo run >>"$0/` + name + `.runs"; test -e "$0/` + name + `.passes"`
	return check.Definition{Name: name, File: "/bin/sh", Args: []string{"-c", script, dir}}
}

// openBench opens what is in dir, in this process.
func openBench(dir string, ahead time.Duration, further ...check.Definition) (b *workbench, err error) {
	b = &workbench{dir: dir, root: filepath.Join(dir, "root"), owner: child.NewOwner(nil), ahead: ahead}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.end())
		}
	}()
	b.close = append(b.close, b.owner.Close)
	if b.ws, err = workspace.Open(b.root, &workspace.Options{StateDir: filepath.Join(dir, "state")}); err != nil {
		return b, err
	}
	b.close = append(b.close, b.ws.Close)
	stores, err := sqlite.Open(filepath.Join(dir, "stores", "state.db"), &sqlite.Options{Clock: func() time.Time { return time.Now().Add(b.ahead) }})
	if err != nil {
		return b, err
	}
	b.close = append(b.close, stores.Close)
	files, err := plan.NewFiles(b.ws, plan.Limits{})
	if err != nil {
		return b, err
	}
	definitions := append([]check.Definition{definition(dir, "lint"), definition(dir, "test")}, further...)
	checks, err := check.New(definitions, &check.Options{Owner: b.owner, Root: b.ws.Root(), Environment: os.Environ()})
	if err != nil {
		return b, err
	}
	path, err := git.Find(os.Getenv("PATH"))
	if err != nil {
		return b, err
	}
	runner := git.New(b.owner, &git.Options{Path: path, Env: child.Environment(os.Environ(), nil)})
	b.opts = plan.GoalOptions{
		Files: files, Checks: checks, Stores: stores,
		Repository: func(ctx context.Context) (*git.Repository, error) { return runner.Repository(ctx, b.root) },
	}
	return b, nil
}

func (b *workbench) end() error {
	var errs []error
	for i := len(b.close) - 1; i >= 0; i-- {
		errs = append(errs, b.close[i]())
	}
	return errors.Join(errs...)
}

// makeBench makes a directory for openBench, with a commit on main.
func makeBench(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	must(t, os.Mkdir(root, 0o755))
	must(t, os.WriteFile(filepath.Join(root, "a.txt"), []byte("a\n"), 0o644))
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "first"}} {
		gitIn(t, root, args...)
	}
	return dir
}

func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	command := exec.Command("git", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// bench is a workbench of a test's own.
func bench(t testing.TB, further ...check.Definition) *workbench {
	t.Helper()
	return benchAt(t, makeBench(t), 0, further...)
}

func benchAt(t testing.TB, dir string, ahead time.Duration, further ...check.Definition) *workbench {
	t.Helper()
	b, err := openBench(dir, ahead, further...)
	must(t, err)
	t.Cleanup(func() { must(t, b.end()) })
	return b
}

func (b *workbench) goals(t testing.TB) *plan.Goals {
	t.Helper()
	goals, err := plan.NewGoals(&b.opts)
	must(t, err)
	return goals
}

func (b *workbench) text(t testing.TB, name string) string {
	t.Helper()
	return content(t, b.root, name)
}

func owner() state.Owner { return state.Owner{Account: "bench"} }
