package builtin

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

// GitWorktreeOp is what `git_worktree` is to do.
type GitWorktreeOp string

// The operations of `git_worktree`.
const (
	WorktreeList   GitWorktreeOp = "list"
	WorktreeAdd    GitWorktreeOp = "add"
	WorktreeLock   GitWorktreeOp = "lock"
	WorktreeUnlock GitWorktreeOp = "unlock"
	WorktreeRemove GitWorktreeOp = "remove"
)

// Values lists the operations.
func (GitWorktreeOp) Values() []string {
	return []string{string(WorktreeList), string(WorktreeAdd), string(WorktreeLock), string(WorktreeUnlock), string(WorktreeRemove)}
}

type gitWorktreeInput struct {
	Op     GitWorktreeOp `json:"op"`
	Path   string        `json:"path,omitempty"`
	Branch string        `json:"branch,omitempty" jsonschema:"for add; made if new"`
	Reason string        `json:"reason,omitempty" jsonschema:"lock reason"`
	Force  bool          `json:"force,omitempty" jsonschema:"remove with its uncommitted changes"`
}

// GitWorktree is a work tree of `git_worktree`. Missing says why git thinks that it is
// gone.
type GitWorktree struct {
	Path       string `json:"path"`
	Branch     string `json:"branch,omitempty"`
	OID        string `json:"oid"`
	Main       bool   `json:"main,omitempty"`
	Locked     bool   `json:"locked"`
	LockReason string `json:"lockReason,omitempty"`
	Missing    string `json:"missing,omitempty"`
}

// GitWorktrees is the metadata of `git_worktree`: all work trees as they are afterwards.
type GitWorktrees struct {
	Worktrees []GitWorktree `json:"worktrees"`
}

func (g *gitTools) worktree() (*tools.Tool, error) {
	spec := gitChange("git_worktree", "Git worktrees", "List, add, lock, unlock or remove linked worktrees. A removed one's branch stays.", tools.KindOther)
	return tools.New(spec, g.planWorktree, func(ctx context.Context, call *tools.Call, in gitWorktreeInput) (*tools.Outcome[GitWorktrees], error) {
		repo, err := g.repository(ctx)
		if err != nil {
			return nil, err
		}
		said := ""
		if in.Op != WorktreeList {
			if said, err = g.changeWorktree(ctx, call, repo, in); err != nil {
				return nil, err
			}
		}
		list, err := repo.LinkedWorktrees(ctx)
		if err != nil {
			return nil, err
		}
		m := GitWorktrees{Worktrees: []GitWorktree{}}
		lines := said
		for i := range list {
			one := gitWorktree(&list[i])
			m.Worktrees = append(m.Worktrees, one)
			lines += "\n" + one.line(list[i].Path)
		}
		return tools.Answer(strings.TrimPrefix(lines, "\n"), m), nil
	})
}

func gitWorktree(w *git.LinkedWorktree) GitWorktree {
	return GitWorktree{
		Path: git.FormatPath(w.Path), Branch: showName(strings.TrimPrefix(w.Branch, "refs/heads/")), OID: w.ID, Main: w.Main,
		Locked: w.Locked, LockReason: showName(w.LockReason), Missing: showName(w.Missing),
	}
}

func (w *GitWorktree) line(path string) string {
	text := git.DisplayPath(path) + " " + shortID(w.OID)
	if w.Branch != "" {
		text += " " + plainText(w.Branch)
	}
	if w.Main {
		text += " [main]"
	}
	if w.Locked {
		text += " [locked"
		if w.LockReason != "" {
			text += ": " + clipRunes(plainText(w.LockReason), 100)
		}
		text += "]"
	}
	if w.Missing != "" {
		text += " [gone]"
	}
	return text
}

func (g *gitTools) planWorktree(_ context.Context, _ *tools.Call, in gitWorktreeInput) (tools.Action, error) {
	action := tools.Action{Risk: tools.RiskMedium, Args: []string{string(in.Op), in.Branch}}
	if in.Op == WorktreeList {
		action.Mutation, action.Risk, action.Paths = tools.MutatesNothing, tools.RiskLow, []string{"."}
		return action, nil
	}
	switch {
	case in.Path == "":
		return action, tools.Errorf(tools.CodeToolInput, "path is missing: the worktree to %s", in.Op)
	case in.Branch != "" && in.Op != WorktreeAdd:
		return action, tools.Errorf(tools.CodeToolInput, "branch is for add; %s takes none", in.Op)
	case in.Reason != "" && in.Op != WorktreeAdd && in.Op != WorktreeLock:
		return action, tools.Errorf(tools.CodeToolInput, "reason is for add and lock; %s takes none", in.Op)
	case in.Force && in.Op != WorktreeRemove:
		return action, tools.Errorf(tools.CodeToolInput, "force is for remove; %s takes none", in.Op)
	case in.Op == WorktreeAdd && in.Branch == "":
		return action, tools.Errorf(tools.CodeToolInput, "branch is missing: what the new worktree has checked out")
	case strings.HasPrefix(in.Reason, git.WorkspaceLock):
		return action, tools.Errorf(tools.CodeToolInput, "reasons that begin with %q are those of task workspaces", git.WorkspaceLock)
	}
	if in.Force {
		action.Risk, action.Options = tools.RiskHigh, []string{"force"}
	}
	_, seen, err := g.worktreePath(in.Path)
	action.Paths = []string{seen}
	return action, err
}

// worktreePath finds where a worktree is to be, or is: in the workspace or in the host's
// own directory for worktrees. It returns the absolute path, and the path as a policy
// sees it.
func (g *gitTools) worktreePath(given string) (abs, seen string, err error) {
	text, literal, err := git.ParsePath(given)
	if err != nil {
		return "", "", err
	}
	if !literal && filepath.IsAbs(text) && g.Worktrees != "" {
		if abs, ok := within(g.Worktrees, text); ok {
			return abs, abs, nil
		}
	}
	if literal {
		text = "./" + text
	}
	at, err := entry(g.Workspace, text)
	if err != nil {
		return "", "", err
	}
	if tools.IsGitInternalPath(at.policy) {
		return "", "", tools.Errorf(tools.CodePathEscape, "%s lies in git's own directory, where no worktree can be", at.policy)
	}
	return g.Workspace.Abs(at.at), at.policy, nil
}

// within resolves a path as far as its directory exists, and reports whether it is in dir.
func within(dir, path string) (string, bool) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = filepath.Clean(dir) // not made yet
	}
	parent := filepath.Dir(filepath.Clean(path))
	if resolved, err := filepath.EvalSymlinks(parent); err == nil {
		parent = resolved
	}
	path = filepath.Join(parent, filepath.Base(path))
	rel, err := filepath.Rel(real, path)
	return path, err == nil && rel != "." && filepath.IsLocal(rel)
}

func (g *gitTools) changeWorktree(ctx context.Context, call *tools.Call, repo *git.Repository, in gitWorktreeInput) (string, error) {
	abs, seen, err := g.worktreePath(in.Path)
	if err != nil {
		return "", err
	}
	if agreed := call.Action().Paths; len(agreed) != 1 || agreed[0] != seen {
		return "", tools.Errorf(tools.CodeFileChanged, "%s leads elsewhere now than when the call was checked; nothing was done", in.Path)
	}
	shown := git.DisplayPath(abs)
	switch in.Op {
	case WorktreeLock:
		return "Locked " + shown, repo.LockWorktree(ctx, abs, in.Reason)
	case WorktreeUnlock:
		return "Unlocked " + shown, unlockWorktree(ctx, repo, abs)
	case WorktreeRemove:
		defer heartbeat(call, 0, "removing")()
		err := repo.RemoveWorktree(ctx, abs, &git.RemoveOptions{Force: in.Force})
		return "Removed " + shown, g.told(call, seen, err)
	}
	if g.Worktrees != "" && filepath.Dir(abs) == filepath.Clean(g.Worktrees) {
		if err := os.MkdirAll(g.Worktrees, 0o700); err != nil {
			return "", tools.AsError(err)
		}
	}
	defer heartbeat(call, 0, "checking out")()
	_, err = repo.AddWorktree(ctx, abs, &git.AddOptions{Branch: in.Branch, LockReason: in.Reason})
	return "Added " + shown, g.told(call, seen, err)
}

// unlockWorktree unlocks a worktree, unless a task workspace holds it, which has to be
// sure that nobody else takes it away.
func unlockWorktree(ctx context.Context, repo *git.Repository, abs string) error {
	w, err := repo.FindWorktree(ctx, abs)
	if err != nil {
		return err
	}
	if strings.HasPrefix(w.LockReason, git.WorkspaceLock) {
		return tools.Errorf(tools.CodeWorkspaceLocked, "%s belongs to a task workspace; workspace_cleanup lets go of it", git.DisplayPath(abs))
	}
	return repo.UnlockWorktree(ctx, abs)
}

// told tells the host of a directory that is new or gone, if it is in the workspace.
func (g *gitTools) told(call *tools.Call, seen string, err error) error {
	if err == nil && !filepath.IsAbs(seen) {
		changed(call, []string{seen})
	}
	return err
}
