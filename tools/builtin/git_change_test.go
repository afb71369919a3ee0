package builtin_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/git"
)

// changingHost is a gitHost with an identity, which remembers what was announced.
type changingHost struct {
	*host
	mu       sync.Mutex
	told     []string
	decide   func(tools.Action) tools.Decision
	actions  []tools.Action
	events   *tools.Events
	identity git.Identity
}

func (h *changingHost) Decide(_ context.Context, action tools.Action) tools.Decision {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.actions = append(h.actions, action)
	if h.decide != nil {
		return h.decide(action)
	}
	return tools.Decision{Verdict: tools.Allow}
}

// announced returns the files that were said to have changed, and forgets them.
func (h *changingHost) announced() []string {
	h.events.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.told
}

func openChanging(t testing.TB, root string, adjust func(*builtin.GitDeps)) *changingHost {
	t.Helper()
	h := &changingHost{identity: git.Identity{Name: "A Person", Email: "person@example.com"}}
	h.host = gitHost(t, root, func(d *builtin.GitDeps) {
		path, err := git.Find(os.Getenv("PATH"))
		if err != nil {
			t.Fatal(err)
		}
		d.Runner = git.New(child.NewOwner(nil), &git.Options{Path: path, Env: child.Environment(os.Environ(), nil), Identity: h.identity})
		if adjust != nil {
			adjust(d)
		}
	})
	h.events = tools.NewEvents(func(e tools.Event) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.told = append(h.told, e.Paths...)
	}, 0)
	t.Cleanup(h.events.Close)
	registry, err := tools.NewRegistry(h.registry.Tools(), &tools.RegistryOptions{Policy: h, Events: h.events})
	if err != nil {
		t.Fatal(err)
	}
	h.registry = registry
	return h
}

func TestGitCommitTool(t *testing.T) {
	root := gitRepository(t)
	h := openChanging(t, root, nil)
	h.write("a.txt", "changed\n")
	h.write("other", "x\n")
	h.fails("git_commit", args{"message": "m", "paths": []string{"a.txt"}}, tools.CodeGitDirty)
	h.fails("git_commit", args{"message": "m", "paths": []string{}}, tools.CodeToolInput)
	h.fails("git_commit", args{"message": "m", "paths": []string{"../x"}}, tools.CodePathEscape)
	h.fails("git_commit", args{"message": strings.Repeat("x", 64<<10+1), "paths": []string{"."}}, tools.CodeToolInput)
	var m builtin.GitCommit
	text := h.ok("git_commit", args{"message": "subject\n\nbody", "paths": []string{"a.txt"}, "createCheckpoint": true}, &m)
	if plainGit(t, root, "log", "-1", "--format=%H %T %an|%B") != m.OID+" "+m.Tree+" A Person|subject\n\nbody\n" || !slices.Equal(m.Files, []string{"a.txt"}) || m.Ref != "refs/heads/main" {
		t.Errorf("%s, %+v", text, m)
	}
	if !strings.Contains(text, m.Checkpoint) || plainGit(t, root, "show", "refs/prism/checkpoints/"+m.Checkpoint+":other") != "x" {
		t.Errorf("the checkpoint %q of %q", m.Checkpoint, text)
	}
	// A file that holds credentials is asked about, also when its directory was named.
	h.write("sub/.env", "TOKEN=x\n")
	h.decide = func(a tools.Action) tools.Decision {
		if slices.Contains(a.Paths, "sub/.env") {
			return tools.Decision{Verdict: tools.Forbid, Reason: "secret"}
		}
		return tools.Decision{Verdict: tools.Allow}
	}
	h.fails("git_commit", args{"message": "m", "paths": []string{"sub", "other"}}, tools.CodeExecutionDenied)
	if log := plainGit(t, root, "log", "--format=%s"); log != "subject\nfirst" {
		t.Errorf("the log is %q", log)
	}
	// Paths of any bytes, in the form in which they are listed.
	if err := os.Remove(filepath.Join(root, "sub/.env")); err != nil {
		t.Fatal(err)
	}
	odd := "odd \"name\xff\n"
	h.write(odd, "x\n")
	var status builtin.GitStatus
	h.ok("git_status", args{}, &status)
	var paths []string
	for _, e := range status.Entries {
		paths = append(paths, e.Path)
	}
	h.ok("git_commit", args{"message": "odd", "paths": paths}, &m)
	if plainGit(t, root, "status", "--porcelain") != "" || !slices.Equal(m.Files, paths) {
		t.Errorf("committed %q, want %q", m.Files, paths)
	}
	nobody := gitHost(t, root, nil)
	nobody.write("a.txt", "again\n")
	nobody.fails("git_commit", args{"message": "m", "paths": []string{"a.txt"}}, tools.CodeGitIdentity)
}

func TestGitApplyTool(t *testing.T) {
	root := gitRepository(t)
	h := openChanging(t, root, nil)
	h.write("a.txt", "one\nTWO\nthree\n")
	if err := os.Remove(h.path("sub/b.txt")); err != nil {
		t.Fatal(err)
	}
	h.write(".github/workflows/ci.yml", "on: push\n")
	plainGit(t, root, "add", "-N", ".github")
	patch := plainGit(t, root, "diff") + "\n"
	plainGit(t, root, "reset", "-q")
	plainGit(t, root, "stash", "-q", "-u")
	var m builtin.GitApplied
	text := h.ok("git_apply", args{"op": "check", "patch": patch}, &m)
	want := []string{".github/workflows/ci.yml", "a.txt", "sub/b.txt"}
	if !slices.Equal(m.Files, want) || plainGit(t, root, "status", "--porcelain") != "" {
		t.Errorf("check: %s, %+v", text, m)
	}
	// The policy sees every file before anything is written.
	if last := h.actions[len(h.actions)-1]; last.Mutation != tools.MutatesNothing {
		t.Errorf("a check is %+v", last)
	}
	h.decide = func(a tools.Action) tools.Decision {
		if slices.ContainsFunc(a.Paths, tools.IsControlPath) {
			return tools.Decision{Verdict: tools.Forbid, Reason: "control"}
		}
		return tools.Decision{Verdict: tools.Allow}
	}
	h.fails("git_apply", args{"op": "apply", "patch": patch}, tools.CodeExecutionDenied)
	h.decide = nil
	h.ok("git_apply", args{"op": "apply", "patch": patch}, &m)
	if got := plainGit(t, root, "status", "--porcelain", "-uall"); got != " M a.txt\n D sub/b.txt\n?? .github/workflows/ci.yml" || m.UndoID == "" {
		t.Errorf("applied: %s, %+v", got, m)
	}
	h.fails("git_apply", args{"op": "reverse", "patch": patch}, tools.CodeGitDirty)
	h.fails("git_apply", args{"op": "apply", "patch": patch, "createCheckpoint": true}, tools.CodeGitConflict)
	h.ok("git_apply", args{"op": "reverse", "patch": patch, "createCheckpoint": true}, &m)
	if got := plainGit(t, root, "status", "--porcelain", "-uall"); got != "" || m.Checkpoint == "" {
		t.Errorf("taken back: %s, %+v", got, m)
	}
	h.ok("undo", args{"undoId": m.UndoID}, nil)
	if h.content("a.txt") != "one\nTWO\nthree\n" {
		t.Errorf("undone: %q", h.content("a.txt"))
	}
	if told := h.announced(); !slices.Contains(told, "a.txt") || !slices.Contains(told, "sub/b.txt") {
		t.Errorf("announced: %q", told)
	}
}

func TestGitRestoreTool(t *testing.T) {
	root := gitRepository(t)
	h := openChanging(t, root, nil)
	h.write("a.txt", "changed\n")
	h.write("new.txt", "new\n")
	h.write("x y", "x\n")
	var commit builtin.GitCommit
	h.ok("git_commit", args{"message": "m", "paths": []string{"x y"}, "createCheckpoint": true}, &commit)
	var m builtin.GitRestored
	h.ok("git_restore", args{"paths": []string{"a.txt"}, "from": "HEAD"}, &m)
	if h.content("a.txt") != "one\ntwo\nthree\n" || m.UndoID == "" {
		t.Errorf("from HEAD: %q, %+v", h.content("a.txt"), m)
	}
	if err := os.Remove(h.path("new.txt")); err != nil {
		t.Fatal(err)
	}
	h.ok("git_restore", args{"paths": []string{"."}, "from": commit.Checkpoint}, &m)
	if h.content("a.txt") != "changed\n" || h.content("new.txt") != "new\n" || !slices.Equal(m.Files, []string{"a.txt", "new.txt"}) {
		t.Errorf("from the checkpoint: %+v", m)
	}
	if last := h.actions[len(h.actions)-1]; !slices.Equal(last.Paths, []string{"a.txt", "new.txt"}) {
		t.Errorf("the policy saw %q", last.Paths)
	}
	h.ok("undo", args{"undoId": m.UndoID}, nil)
	if h.content("a.txt") != "one\ntwo\nthree\n" {
		t.Errorf("undone: %q", h.content("a.txt"))
	}
	h.fails("git_restore", args{"paths": []string{"a.txt"}, "from": "nothing"}, tools.CodeGitRef)
	h.fails("git_restore", args{"paths": []string{"missing"}, "from": "HEAD"}, tools.CodeNotFound)
	if told := h.announced(); !slices.Contains(told, "new.txt") {
		t.Errorf("announced: %q", told)
	}
}

func TestGitBranchTool(t *testing.T) {
	root := gitRepository(t)
	h := openChanging(t, root, nil)
	var m builtin.GitBranches
	h.ok("git_branch", args{"op": "create", "name": "task"}, &m)
	if m.Branch.Name != "task" || m.Branch.OID != plainGit(t, root, "rev-parse", "task") {
		t.Errorf("created %+v", m)
	}
	h.ok("git_branch", args{"op": "switch", "name": "task"}, &m)
	h.write("new", "x\n")
	var c builtin.GitCommit
	h.ok("git_commit", args{"message": "on the task", "paths": []string{"new"}}, &c)
	text := h.ok("git_branch", args{"op": "list"}, &m)
	if len(m.Branches) != 2 || !m.Branches[1].Current || m.Branches[1].Subject != "on the task" || !strings.Contains(text, "* task "+c.OID[:12]+" on the task") {
		t.Errorf("listed %q, %+v", text, m)
	}
	h.ok("git_branch", args{"op": "validate", "name": "a/b"}, &m)
	h.fails("git_branch", args{"op": "validate", "name": "a..b"}, tools.CodeGitRef)
	h.fails("git_branch", args{"op": "switch"}, tools.CodeToolInput)
	h.fails("git_branch", args{"op": "switch", "name": "main", "startPoint": "HEAD"}, tools.CodeToolInput)
	h.fails("git_branch", args{"op": "list", "createCheckpoint": true}, tools.CodeToolInput)
	h.write("a.txt", "dirty\n")
	h.fails("git_branch", args{"op": "switch", "name": "main"}, tools.CodeGitDirty)
	h.ok("git_branch", args{"op": "switch", "name": "main", "createCheckpoint": true}, &m)
	if m.Checkpoint == "" || !slices.Equal(m.Files, []string{"new"}) || h.content("a.txt") != "dirty\n" {
		t.Errorf("switched: %+v", m)
	}
	if told := h.announced(); !slices.Equal(told, []string{"new"}) {
		t.Errorf("announced: %q", told)
	}
}

func TestGitWorktreeTool(t *testing.T) {
	root := gitRepository(t)
	outside := filepath.Join(t.TempDir(), "worktrees")
	h := openChanging(t, root, func(d *builtin.GitDeps) { d.Worktrees = outside })
	var m builtin.GitWorktrees
	h.ok("git_worktree", args{"op": "add", "path": "wt", "branch": "one", "reason": "for a test"}, &m)
	if len(m.Worktrees) != 2 || !m.Worktrees[0].Main || m.Worktrees[1].Path != h.path("wt") || m.Worktrees[1].Branch != "one" || m.Worktrees[1].LockReason != "for a test" {
		t.Errorf("%+v", m)
	}
	h.fails("git_worktree", args{"op": "remove", "path": "wt"}, tools.CodeExecutionDenied)
	h.ok("git_worktree", args{"op": "unlock", "path": "wt"}, &m)
	h.write("wt/new", "x\n")
	h.fails("git_worktree", args{"op": "remove", "path": "wt"}, tools.CodeGitDirty)
	h.ok("git_worktree", args{"op": "remove", "path": "wt", "force": true}, &m)
	if last := h.actions[len(h.actions)-1]; !slices.Equal(last.Options, []string{"force"}) || !slices.Equal(last.Paths, []string{"wt"}) {
		t.Errorf("the policy saw %+v", last)
	}
	h.ok("git_worktree", args{"op": "add", "path": filepath.Join(outside, "two"), "branch": "two"}, &m)
	if len(m.Worktrees) != 2 || m.Worktrees[1].Path != filepath.Join(outside, "two") {
		t.Errorf("outside: %+v", m)
	}
	if err := os.Symlink(t.TempDir(), h.path("away")); err != nil {
		t.Fatal(err)
	}
	for path, code := range map[string]tools.Code{
		"../x": tools.CodePathEscape, "away/x": tools.CodePathEscape, ".git/x": tools.CodePathEscape, filepath.Join(filepath.Dir(outside), "x"): tools.CodePathEscape,
		outside: tools.CodePathEscape, filepath.Join(outside, "..", "x"): tools.CodePathEscape, "sub": tools.CodeExists, ".": tools.CodePathEscape,
	} {
		h.fails("git_worktree", args{"op": "add", "path": path, "branch": "three"}, code)
	}
	h.fails("git_worktree", args{"op": "add", "path": "x"}, tools.CodeToolInput)
	h.fails("git_worktree", args{"op": "lock", "path": "x", "reason": git.WorkspaceLock + "x"}, tools.CodeToolInput)
	plainGit(t, root, "worktree", "add", "-q", "--lock", "--reason", git.WorkspaceLock+"x", "held", "-b", "held")
	h.fails("git_worktree", args{"op": "unlock", "path": "held"}, tools.CodeWorkspaceLocked)
	if plainGit(t, root, "branch", "--list", "three") != "" {
		t.Error("a refused worktree has left a branch")
	}
}
