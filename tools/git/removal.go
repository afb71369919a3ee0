package git

import (
	"context"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// RemoveOptions adjust RemoveWorktree; nil means the defaults.
type RemoveOptions struct {
	// Force removes a worktree that holds changes and files that are in no commit,
	// which are lost. It never removes a locked one.
	Force bool
}

// RemoveWorktree removes a linked worktree with its directory; its branch stays. A
// worktree whose directory is gone is forgotten. Codes: CodeExecutionDenied (it is
// locked, or the one that was opened), and without force CodeGitDirty (it holds what is
// in no commit, ignored files included), CodeGitConflict (a rebase or the like is not
// finished) and CodeGitRef (it is at a commit that nothing else keeps, or has refs of its
// own).
func (g *Repository) RemoveWorktree(ctx context.Context, path string, opts *RemoveOptions) error {
	if opts == nil {
		opts = &RemoveOptions{}
	}
	w, err := g.linked(ctx, path)
	if err != nil {
		return err
	}
	if sameDir(w.Path, g.top) {
		return tools.Errorf(tools.CodeExecutionDenied, "%s is the worktree that this call works in; remove it from another one", w.Path)
	}
	if w.Locked {
		return tools.Errorf(tools.CodeExecutionDenied, "%s is locked%s; unlock it first", w.Path, because(w))
	}
	if sameDir(w.Path, g.top) {
		return tools.Errorf(tools.CodeExecutionDenied, "%s is the worktree that is being worked in; remove it from another one", w.Path)
	}
	args := []string{"worktree", "remove"}
	if !opts.Force {
		if err := g.removable(ctx, w); err != nil {
			return err
		}
	}
	if opts.Force {
		args = append(args, "--force")
	}
	if err := tools.Planned(ctx, []tools.Witness{{Ref: "HEAD", Repository: w.Path, Before: seen(w.ID)}}); err != nil {
		return err
	}
	_, err = g.run(ctx, append(args, "--", w.Path), &RunOptions{Timeout: longTime})
	return err
}

// removable refuses a worktree with which something would be lost. git itself looks
// at neither ignored files, nor those that it was told not to look at, nor commits.
func (g *Repository) removable(ctx context.Context, w *LinkedWorktree) error {
	if w.Missing == "" {
		if err := g.vacant(ctx, w); err != nil {
			return err
		}
	}
	if w.Branch != "" || w.ID == "" {
		return nil
	}
	kept, err := g.run(ctx, []string{"for-each-ref", "--count=1", "--contains=" + w.ID, "--format=%(refname)"}, nil)
	if err != nil {
		return err
	}
	if len(kept.Stdout) == 0 {
		return tools.Errorf(tools.CodeGitRef, "%s is at %s, which no branch or tag keeps; make a branch of it, or force loses it", w.Path, w.ID)
	}
	return nil
}

// vacant refuses a worktree whose directory holds something that is nowhere else.
func (g *Repository) vacant(ctx context.Context, w *LinkedWorktree) error {
	there := &Repository{runner: g.runner, top: w.Path}
	if err := there.nothingUnfinished(ctx); err != nil { // it may keep what it has put aside
		return err
	}
	entries, err := there.uncommitted(ctx)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return tools.Errorf(tools.CodeGitDirty, "%s holds %d changes or files that are in no commit, the first is %q; save them, or force loses them", w.Path, len(entries), entries[0][min(3, len(entries[0])):])
	}
	own, err := there.run(ctx, []string{"for-each-ref", "--count=1", "--format=%(refname)", "refs/worktree/"}, nil)
	if err != nil {
		return err
	}
	if ref := strings.TrimSpace(string(own.Stdout)); ref != "" {
		return tools.Errorf(tools.CodeGitRef, "%s has refs of its own, which go with it, the first is %s; keep them in a branch, or force loses them", w.Path, ref)
	}
	return nil
}

// uncommitted lists, as git status does, all that is in no commit, ignored files
// included.
func (g *Repository) uncommitted(ctx context.Context) ([]string, error) {
	x, err := g.copyIndex(ctx)
	if err != nil {
		return nil, err
	}
	defer x.close()
	if err := x.uncover(ctx); err != nil {
		return nil, err
	}
	args := []string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching"}
	out, err := x.with(ctx, args, &RunOptions{Config: []string{"core.untrackedCache=false"}})
	if err != nil {
		return nil, err
	}
	return fields(out.Stdout), nil
}
