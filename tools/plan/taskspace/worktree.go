package taskspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/filelock"
	"github.com/prism-ls/prism-ls/tools/git"
)

// longest is how long one git command may take that reads or writes a whole work tree.
const longest = 600 * time.Second

// adminDir is git's own directory for a work tree.
func adminDir(common, name string) string { return filepath.Join(common, "worktrees", name) }

// add makes the work tree where nobody looks for it, locked from its first moment.
func (h *held) add(ctx context.Context, wt *Worktree) error {
	opts, err := h.start(ctx, wt)
	if err != nil {
		return err
	}
	repository, err := h.m.git.Repository(ctx, wt.Repository)
	if err != nil {
		return err
	}
	if err := h.step(ctx, "add"); err != nil {
		return err
	}
	done, err := h.alone(ctx)
	if err != nil {
		return err
	}
	defer done()
	// Whoever keeps account knows of it by the path that it gets, not by this one.
	quiet := tools.WithPlanned(ctx, func(context.Context, []tools.Witness) error { return nil })
	_, err = repository.AddWorktree(quiet, h.m.making(h.space, wt), opts)
	if errors.Is(err, tools.CodeLimit) {
		return tools.Errorf(tools.CodeWorkspaceLimit, "repository %s: %w", wt.RepositoryID, err)
	}
	return err
}

// alone waits until no other workspace's work trees are made: they are counted, and git
// fails where it sees another's that is not whole. Who keeps everybody waiting for
// longer than a lease lasts was stopped, and is not waited for. done has to be called.
func (h *held) alone(ctx context.Context) (done func(), err error) {
	var file *os.File
	if err = os.MkdirAll(filepath.Dir(h.m.directory), 0o700); err == nil { // somebody may have removed it all
		file, err = os.OpenFile(h.m.directory+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	}
	if err != nil {
		return nil, tools.Errorf(tools.AsError(err).Code, "the lock of the directory for task workspaces cannot be opened: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, h.m.ttl)
	defer cancel()
	if err = filelock.Wait(limited, file); err == nil || ctx.Err() == nil && limited.Err() != nil {
		err = h.renew(ctx) // it may have been long
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { _ = file.Close() }, nil // which ends the lock
}

// start says where HEAD of a new work tree is: on its own branch, or for one that comes
// back where it was.
func (h *held) start(ctx context.Context, wt *Worktree) (*git.AddOptions, error) {
	opts := &git.AddOptions{LockReason: wt.LockReason, Limit: h.m.limits.Worktrees}
	ref, id := "refs/heads/"+wt.Branch, wt.Base
	n := len(wt.Saved)
	if n > 0 {
		ref, id = wt.Saved[n-1].Ref, wt.Saved[n-1].Head
		if id == "" { // it had no commit
			ref, id = "", wt.Head
		}
	}
	branch, ok := cutBranch(ref)
	if !ok {
		opts.Start = id
		return opts, nil
	}
	now, err := h.m.branchID(ctx, wt.Repository, branch)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		// The branch may have gone on without it, and be somebody else's now.
		if free, err := h.free(ctx, wt, branch, now); err != nil || !free || now != "" && now != id {
			opts.Start = id
			return opts, err
		}
	}
	switch now {
	case "":
		opts.Branch, opts.Start = branch, id
	case id: // left by a crash, or never gone
		opts.Branch = branch
	default:
		return nil, tools.Errorf(tools.CodeGitRef, "repository %s has a branch %s at %s already; a workspace makes its own", wt.RepositoryID, branch, now)
	}
	return opts, nil
}

// free reports whether a branch can be checked out: one that is there, if nobody has it
// so, and one that is not, if it can be made.
func (h *held) free(ctx context.Context, wt *Worktree, branch, now string) (bool, error) {
	if now == "" {
		taken, err := h.m.inTheWay(ctx, wt.Repository, branch)
		return err == nil && taken == "", err
	}
	repository, err := h.m.git.Repository(ctx, wt.Repository)
	if err != nil {
		return false, err
	}
	all, err := repository.LinkedWorktrees(ctx)
	return err == nil && !slices.ContainsFunc(all, func(w git.LinkedWorktree) bool { return w.Branch == "refs/heads/"+branch }), err
}

// relocate gives the work tree another place, and tells git. Either half may have
// happened before.
func (h *held) relocate(ctx context.Context, wt *Worktree, from, to string) error {
	if _, there, err := directoryAt(from); err != nil {
		return err
	} else if there {
		if err := h.step(ctx, "move"); err != nil {
			return err
		}
		if err := moveDirectory(from, to); err != nil {
			return tools.Errorf(tools.AsError(err).Code, "the work tree of repository %s cannot be moved: %w", wt.RepositoryID, err)
		}
	}
	return h.point(ctx, wt, to)
}

// point writes both ends of the link between a work tree and git's directory for it
// (gitrepository-layout(5), worktrees/<id>/gitdir), where they are not right.
func (h *held) point(ctx context.Context, wt *Worktree, at string) error {
	common, err := h.commonDir(ctx, wt)
	if err != nil {
		return err
	}
	admin := adminDir(common, wt.Admin)
	for _, end := range []struct{ file, text string }{
		{filepath.Join(admin, "gitdir"), filepath.Join(at, ".git")},
		{filepath.Join(at, ".git"), "gitdir: " + admin},
	} {
		text, _, err := readLine(end.file)
		if err != nil {
			return tools.Errorf(tools.AsError(err).Code, "the link between a work tree and its repository cannot be read: %w", err)
		}
		if text == end.text {
			continue
		}
		if err := h.m.before("point"); err != nil {
			return err
		}
		if err := replaceFile(end.file, end.text+"\n"); err != nil {
			return tools.Errorf(tools.AsError(err).Code, "the link between a work tree and its repository cannot be written: %w", err)
		}
	}
	return nil
}

// discard takes away what a crash has left where work trees are made: nobody was told
// of it, so that all it holds is what git put there.
func (h *held) discard(ctx context.Context, wt *Worktree) error {
	at := h.m.making(h.space, wt)
	common, err := h.commonDir(ctx, wt)
	if err != nil {
		return err
	}
	admin := adminDir(common, wt.Admin)
	_, known, err := directoryAt(admin)
	if err != nil {
		return err
	}
	_, there, err := directoryAt(at)
	if err != nil {
		return err
	}
	if !known {
		if there && os.Remove(at) != nil {
			return tools.Errorf(tools.CodeWorkspaceUnknown, "%s is left over and no work tree of git's; look at it and remove it", at)
		}
		return nil
	}
	if err := h.step(ctx, "discard"); err != nil {
		return err
	}
	if err := mend(admin, at, wt.Base); err != nil {
		return err
	}
	if there {
		if err := h.point(ctx, wt, at); err != nil {
			return err
		}
	}
	return h.remove(ctx, wt, at, true)
}

// mend writes the files of git's directory for a work tree that are not there: git may
// have been ended between any two of its own steps, and removes only what is whole.
func mend(admin, at, head string) error {
	for name, text := range map[string]string{"commondir": "../..", "HEAD": head, "gitdir": filepath.Join(at, ".git")} {
		if held, _, err := readLine(filepath.Join(admin, name)); err != nil {
			return err
		} else if held == "" {
			if err := replaceFile(filepath.Join(admin, name), text+"\n"); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove unlocks a work tree and lets git remove it. Force is for one whose content is
// saved, or git's own.
func (h *held) remove(ctx context.Context, wt *Worktree, at string, force bool) error {
	if !filepath.IsAbs(at) || sameDirectory(at, wt.Repository) {
		return tools.Errorf(tools.CodeWorkspaceMain, "%q is not the work tree that was made, and is not removed", at)
	}
	common, err := h.commonDir(ctx, wt)
	if err != nil {
		return err
	}
	if _, locked, err := readLine(filepath.Join(adminDir(common, wt.Admin), "locked")); err != nil {
		return err
	} else if locked {
		if err := h.step(ctx, "unlock"); err != nil {
			return err
		}
		if _, err := h.m.git.Run(ctx, wt.Repository, []string{"worktree", "unlock", at}, nil); err != nil {
			return err
		}
	}
	if err := h.step(ctx, "remove"); err != nil {
		return err
	}
	args := []string{"worktree", "remove", at}
	if force {
		args = []string{"worktree", "remove", "--force", at}
	}
	_, err = h.m.git.Run(ctx, wt.Repository, args, &git.RunOptions{Timeout: longest})
	return err
}
