package git

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

func TestBranches(t *testing.T) {
	root := repository(t)
	g, ctx := opened(t, root), t.Context()
	head := strings.TrimSpace(plain(t, root, "rev-parse", "HEAD"))
	config, err := os.ReadFile(filepath.Join(root, ".git", "config"))
	must(t, err)
	var planned []tools.Witness
	watched := tools.WithPlanned(ctx, func(_ context.Context, w []tools.Witness) error {
		planned = w
		return nil
	})
	id, err := g.CreateBranch(watched, "task/\u00fc", "")
	must(t, err)
	if id != head || len(planned) != 1 || planned[0].Ref != "refs/heads/task/\u00fc" || planned[0].Before.Exists || planned[0].After.ID != head {
		t.Errorf("created at %s, planned %+v", id, planned)
	}
	list, truncated, err := g.Branches(ctx, 0)
	must(t, err)
	if truncated || !slices.Equal(list, []LocalBranch{{Name: "main", ID: head, Subject: "first", Current: true}, {Name: "task/\u00fc", ID: head, Subject: "first"}}) {
		t.Errorf("listed %+v, %v", list, truncated)
	}
	if list, truncated, err = g.Branches(ctx, 1); err != nil || len(list) != 1 || !truncated {
		t.Errorf("one of two: %+v, %v, %v", list, truncated, err)
	}
	for name, code := range map[string]tools.Code{"main": tools.CodeGitRef, "a..b": tools.CodeGitRef, "-x": tools.CodeGitRef, "@{-1}": tools.CodeGitRef, "": tools.CodeGitRef, "x.lock": tools.CodeGitRef, strings.Repeat("x", 2000): tools.CodeGitRef} {
		if _, err := g.CreateBranch(ctx, name, ""); !errors.Is(err, code) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := g.CreateBranch(ctx, "new", "nothing"); !errors.Is(err, tools.CodeGitRef) {
		t.Errorf("at what is not there: %v", err)
	}
	if after, err := os.ReadFile(filepath.Join(root, ".git", "config")); err != nil || string(after) != string(config) {
		t.Errorf("the configuration has become %q, %v", after, err)
	}
}

// branched is a repository with a second branch that changes, adds and deletes files.
func branched(t testing.TB) string {
	t.Helper()
	root := repository(t)
	write(t, root, ".gitignore", "*.ignored\n")
	write(t, root, "gone", "gone\n")
	write(t, root, "same", "same\n")
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "more")
	plain(t, root, "switch", "-q", "-c", "other")
	write(t, root, "a.txt", "other\n")
	write(t, root, "made/new", "new\n")
	write(t, root, "x.ignored", "known here\n")
	plain(t, root, "rm", "-q", "gone")
	plain(t, root, "add", "-A", "-f")
	plain(t, root, "commit", "-q", "-m", "other")
	plain(t, root, "switch", "-q", "main")
	return root
}

func TestSwitch(t *testing.T) {
	root := branched(t)
	g := opened(t, root)
	var planned []tools.Witness
	ctx := tools.WithPlanned(t.Context(), func(_ context.Context, w []tools.Witness) error {
		planned = w
		return nil
	})
	done, err := g.Switch(ctx, "other", nil)
	must(t, err)
	if !slices.Equal(done.Files, []string{"a.txt", "gone", "made/new", "x.ignored"}) || done.Branch != "other" || plain(t, root, "status", "--porcelain", "-b") != "## other\n" {
		t.Errorf("switched: %+v, %s", done, plain(t, root, "status", "--porcelain", "-b"))
	}
	if len(planned) != 1 || planned[0].Ref != "HEAD" || planned[0].Before.ID != "refs/heads/main" || planned[0].After.ID != "refs/heads/other" {
		t.Errorf("planned %+v", planned)
	}
	if done, err = g.Switch(ctx, "other", nil); err != nil || len(done.Files) != 0 {
		t.Errorf("to where it is: %+v, %v", done, err)
	}
	write(t, root, "same", "changed\n")
	write(t, root, "untracked", "x\n")
	before := state(t, root)
	if _, err := g.Switch(ctx, "main", nil); !errors.Is(err, tools.CodeGitDirty) || state(t, root) != before {
		t.Errorf("with changes: %v", err)
	}
	done, err = g.Switch(ctx, "main", &SwitchOptions{Checkpoint: true})
	must(t, err)
	if plain(t, root, "status", "--porcelain", "-b") != "## main\n M same\n?? untracked\n" || plain(t, root, "show", done.Checkpoint.Ref+":same") != "changed\n" {
		t.Errorf("with a checkpoint: %s", plain(t, root, "status", "--porcelain", "-b"))
	}
	if len(planned) != 2 || planned[0].Ref != done.Checkpoint.Ref {
		t.Errorf("planned %+v", planned)
	}
	entries, _ := filepath.Glob(filepath.Join(root, ".git", "prism-ls*"))
	if len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}

// TestSwitchRefuses: nothing of a person's is written over, whatever a checkpoint has.
func TestSwitchRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(root string)
		to    string
		code  tools.Code
	}{
		"no such branch":         {func(string) {}, "nothing", tools.CodeGitRef},
		"a commit":               {func(string) {}, "HEAD", tools.CodeGitRef},
		"a remote's branch":      {func(root string) { plain(t, root, "update-ref", "refs/remotes/origin/far", "HEAD") }, "far", tools.CodeGitRef},
		"an option":              {func(string) {}, "--orphan=x", tools.CodeGitRef},
		"checked out elsewhere":  {func(root string) { plain(t, root, "worktree", "add", "-q", filepath.Join(t.TempDir(), "w"), "other") }, "other", tools.CodeGitRef},
		"a change there":         {func(root string) { write(t, root, "a.txt", "mine\n") }, "other", tools.CodeGitDirty},
		"a staged change there":  {func(root string) { write(t, root, "a.txt", "mine\n"); plain(t, root, "add", "a.txt") }, "other", tools.CodeGitDirty},
		"an unknown file there":  {func(root string) { write(t, root, "made/new", "mine\n") }, "other", tools.CodeGitDirty},
		"an ignored file there":  {func(root string) { write(t, root, "x.ignored", "known") }, "other", tools.CodeGitDirty},
		"a file for a directory": {func(root string) { write(t, root, "made", "mine\n") }, "other", tools.CodeGitFailed},
		"a merge":                {func(root string) { write(t, root, ".git/MERGE_HEAD", "x\n") }, "other", tools.CodeGitConflict},
		"a filter": {func(root string) {
			plain(t, root, "switch", "-q", "other")
			write(t, root, ".gitattributes", "a.txt filter=lfs\n")
			plain(t, root, "add", "-A")
			plain(t, root, "commit", "-q", "-m", "lfs")
			plain(t, root, "switch", "-q", "main")
		}, "other", tools.CodeGitLFS},
	} {
		root := branched(t)
		c.spoil(root)
		before, tree := state(t, root), snapshot(t, root)
		if _, err := opened(t, root).Switch(t.Context(), c.to, &SwitchOptions{Checkpoint: true}); !errors.Is(err, c.code) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
		if state(t, root) != before || snapshot(t, root) != tree {
			t.Errorf("%s: the repository has changed", name)
		}
		if refs := plain(t, root, "for-each-ref", "refs/prism"); refs != "" {
			t.Errorf("%s: checkpoints of what was refused: %s", name, refs)
		}
	}
}

// TestSwitchKilled: wherever a switch is killed, what comes next finds the work tree on
// one of the two branches, whole, and a file that a person made meanwhile as it is.
func TestSwitchKilled(t *testing.T) {
	kills, files := 6, 1500
	if os.Getenv("PRISM_SOAK") == "1" {
		kills = 60
	}
	root := branched(t)
	write(t, root, "many/0/file here, directory there", "x\n")
	write(t, root, "many/0/directory here, file there/x", "x\n")
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "kinds")
	plain(t, root, "switch", "-q", "other")
	write(t, root, "many/0/file here, directory there/x", "x\n")
	write(t, root, "many/0/directory here, file there", "x\n")
	for i := range files {
		write(t, root, fmt.Sprintf("many/%d/%d", i%20, i), strings.Repeat(fmt.Sprint(i, "\n"), 2000))
	}
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "many")
	other := snapshot(t, root)
	plain(t, root, "switch", "-q", "main")
	main := snapshot(t, root)
	torn, done := 0, 0
	for kill := 0; kill < kills || torn == 0 && kill < 4*kills; kill++ {
		killWhile(t, root, time.Duration(kill%kills)*60*time.Millisecond/time.Duration(kills))
		done++
		if plain(t, root, "status", "--porcelain") != "" {
			torn++
		}
		mine := "many/0/40"
		_, there := os.Lstat(filepath.Join(root, mine))
		must(t, opened(t, root).Settle(t.Context()))
		branch := strings.TrimSpace(plain(t, root, "branch", "--show-current"))
		want := map[string]string{"main": main, "other": other}[branch]
		if status := plain(t, root, "status", "--porcelain"); status != "" || snapshot(t, root) != want {
			t.Fatalf("kill %d: on %s (a file was there: %v), git says\n%.300s", kill, branch, there == nil, status)
		}
		if left, _ := filepath.Glob(filepath.Join(root, ".git", "*.lock")); len(left) > 0 {
			t.Fatalf("kill %d has left %v", kill, left)
		}
		if branch == "other" {
			must(t, errorOf3(opened(t, root).Switch(t.Context(), "main", nil)))
		}
	}
	if torn == 0 {
		t.Error("no switch was killed in the middle")
	}
	t.Logf("figure: kill -9 during a switch of 1 500 files, %d times = on one of the two branches, whole, each time; %d were in the middle", done, torn)
	// In the middle of a switch, somebody writes a file of their own.
	for range 20 {
		killWhile(t, root, 10*time.Millisecond)
		if status := plain(t, root, "status", "--porcelain"); status == "" {
			must(t, errorOf3(opened(t, root).Switch(t.Context(), "main", nil)))
			continue
		}
		write(t, root, "many/0/40", "mine\n")
		must(t, opened(t, root).Settle(t.Context()))
		if status := plain(t, root, "status", "--porcelain", "-uall"); status != "?? many/0/40\n" {
			t.Errorf("git says %.300q", status)
		}
		return
	}
}

func errorOf3(_ *Switched, err error) error { return err }

// killWhile lets another process switch to the branch other, and kills it some time
// after it has begun.
func killWhile(t *testing.T, root string, after time.Duration) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	command := exec.CommandContext(t.Context(), self)
	command.Env = append(os.Environ(), roleVariable+"=switch", rootVariable+"="+root, stepVariable+"=-1")
	must(t, command.Start())
	for range 2000 {
		if _, err := os.Lstat(filepath.Join(root, ".git", switchName)); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	time.Sleep(after)
	_ = command.Process.Kill()
	_ = command.Wait()
}

// TestSwitchFails: when git gives up in the middle, of a file that it cannot read, the
// work tree is as it was.
func TestSwitchFails(t *testing.T) {
	root := branched(t)
	plain(t, root, "switch", "-q", "other")
	for i := range 20 {
		write(t, root, fmt.Sprint("new/", i), fmt.Sprint("content ", i, "\n"))
	}
	write(t, root, "a.txt", "unreadable\n")
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "many")
	blob := strings.TrimSpace(plain(t, root, "rev-parse", "HEAD:a.txt"))
	plain(t, root, "switch", "-q", "main")
	must(t, os.Remove(filepath.Join(root, ".git", "objects", blob[:2], blob[2:])))
	before, g := snapshot(t, root), opened(t, root)
	if _, err := g.Switch(t.Context(), "other", nil); !errors.Is(err, tools.CodeGitFailed) {
		t.Errorf("switched: %v", err)
	}
	if status := plain(t, root, "status", "--porcelain", "-uall"); status != "" || snapshot(t, root) != before {
		t.Errorf("git says %q", status)
	}
	for _, name := range []string{"index.lock", switchName} {
		if _, err := os.Lstat(filepath.Join(root, ".git", name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
}

// TestSwitchKilledLock: the lock that another git has taken after a switch was killed
// is that git's, however long it holds it: a person may be writing a message.
func TestSwitchKilledLock(t *testing.T) {
	root := branched(t)
	killWhile(t, root, 0)
	must(t, opened(t, root).Settle(t.Context()))
	if branch := strings.TrimSpace(plain(t, root, "branch", "--show-current")); branch != "main" {
		plain(t, root, "switch", "-q", "main")
	}
	record, err := json.Marshal(switchRecord{From: Head{Ref: "refs/heads/main", ID: strings.TrimSpace(plain(t, root, "rev-parse", "main"))}, To: Head{Ref: "refs/heads/other", ID: strings.TrimSpace(plain(t, root, "rev-parse", "other"))}})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(root, ".git", switchName), record, 0o600))
	lock := filepath.Join(root, ".git", "index.lock")
	must(t, os.WriteFile(lock, nil, 0o644))
	must(t, opened(t, root).Settle(t.Context()))
	if _, err := os.Lstat(lock); err != nil {
		t.Errorf("the lock is gone: %v", err)
	}
}

// TestCreateBranchBeside: a name that a branch keeps from being one is said to be.
func TestCreateBranchBeside(t *testing.T) {
	root := repository(t)
	plain(t, root, "branch", "a/b")
	for _, name := range []string{"a", "a/b/c", "a/b/c/d"} {
		if _, err := opened(t, root).CreateBranch(t.Context(), name, ""); !errors.Is(err, tools.CodeGitRef) || !strings.Contains(err.Error(), "a/b") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
