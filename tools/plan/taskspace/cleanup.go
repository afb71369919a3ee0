package taskspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/state"
)

// Cleanup takes the work trees of a workspace away and closes it; branches stay. All
// work trees are looked at before anything happens, and one refusal that the policy does
// not lift leaves everything as it was: the error's Details are the Problems. Asked for
// again, also after a crash, it goes on, under what both calls were allowed; a closed
// workspace stays as it is.
func (m *Manager) Cleanup(ctx context.Context, owner state.Owner, taskID string, policy Policy) (*Space, error) {
	return m.with(ctx, owner, taskID, func(ctx context.Context, h *held) error { return h.cleanup(ctx, policy) })
}

// with does something with a workspace that is there, under its lease.
func (m *Manager) with(ctx context.Context, owner state.Owner, taskID string, do func(context.Context, *held) error) (*Space, error) {
	if err := checkTask(taskID); err != nil {
		return nil, err
	}
	if space, err := m.load(ctx, owner, taskID); err != nil {
		return nil, err
	} else if space == nil {
		return nil, tools.Errorf(tools.CodeWorkspaceUnknown, "there is no workspace of task %s", taskID)
	}
	h, working, err := m.hold(ctx, owner, taskID)
	if err != nil {
		return nil, err
	}
	defer h.release(ctx)
	if h.space == nil {
		return nil, tools.Errorf(tools.CodeWorkspaceUnknown, "the workspace of task %s was removed", taskID)
	}
	if err := do(working, h); err != nil {
		return nil, ended(working, err)
	}
	return h.space, nil
}

func (h *held) cleanup(ctx context.Context, policy Policy) error {
	if h.space.State == Closed {
		return nil
	}
	if h.space.State == Cleaning && h.space.Policy != nil {
		policy = h.space.Policy.and(policy)
	}
	leaving, err := h.admit(ctx, &policy)
	if err != nil {
		return err
	}
	if err := tools.Planned(ctx, leaving); err != nil {
		return err
	}
	stale := h.enter(&policy)
	if err := h.save(ctx); err != nil {
		return err
	}
	h.m.dropArtifacts(ctx, h.key.Owner, stale)
	for i := range h.space.Repositories {
		if err := h.clear(ctx, &h.space.Repositories[i]); err != nil {
			return err
		}
	}
	h.space.State, h.space.Policy = Closed, nil
	if err := h.save(ctx); err != nil {
		return err
	}
	h.m.tidy(h.space)
	return nil
}

// enter has the record say that the cleanup is under way. It returns artifacts of an
// earlier one that was undone: all that they hold is in the work trees again.
func (h *held) enter(policy *Policy) (stale []Artifact) {
	if h.space.State != Cleaning {
		for i := range h.space.Repositories {
			if wt := &h.space.Repositories[i]; wt.Step == Made {
				stale = append(stale, wt.artifacts()...)
				wt.Saved = nil
			}
		}
	}
	h.space.State, h.space.Policy = Cleaning, policy
	return stale
}

// and lifts what either lifts.
func (p Policy) and(other Policy) Policy {
	return Policy{
		Dirty: p.Dirty || other.Dirty, Locked: p.Locked || other.Locked, Missing: p.Missing || other.Missing,
		Unowned: p.Unowned || other.Unowned, MovedHead: p.MovedHead || other.MovedHead,
		Ignored: append(append([]string(nil), p.Ignored...), other.Ignored...),
	}
}

// admit looks at all work trees, changes nothing, and refuses what the policy does not
// lift. It returns the work trees that are there to go.
func (h *held) admit(ctx context.Context, policy *Policy) ([]tools.Witness, error) {
	var leaving []tools.Witness
	var problems []Problem
	lost := false
	for i := range h.space.Repositories {
		wt := &h.space.Repositories[i]
		if wt.Step == Gone || wt.Step == Leaving || wt.Step == Planned {
			continue // it has been looked at, or nobody was told of it
		}
		f, err := h.m.inspect(ctx, h.space, wt)
		if err != nil {
			return nil, err
		}
		lost = lost || f.at == ""
		problems = append(problems, f.problems...)
		if !f.registered || f.at == "" {
			continue
		}
		leaving = append(leaving, unmade(wt, f))
		c, err := h.scan(ctx, f, policy)
		if err != nil {
			return nil, err
		}
		problems = append(problems, c.problems(wt.RepositoryID)...)
	}
	left := policy.standing(problems)
	if len(left) > 0 && lost && h.space.State == Active {
		h.space.State = Unknown
		if err := h.save(ctx); err != nil {
			return nil, err
		}
	}
	return leaving, refusal(h.space.TaskID, left)
}

// clear takes one work tree away, from wherever a crash has left it.
func (h *held) clear(ctx context.Context, wt *Worktree) error {
	switch wt.Step {
	case Gone:
		return nil
	case Planned:
		return h.clearPlanned(ctx, wt)
	}
	f, err := h.m.inspect(ctx, h.space, wt)
	if err != nil {
		return err
	}
	if left := h.space.Policy.standing(f.problems); len(left) > 0 && (wt.Step != Leaving || f.at != "") {
		return h.refuse(ctx, wt, refusal(h.space.TaskID, left))
	}
	if f.at == "" {
		return h.clearMissing(ctx, wt, f)
	}
	wt.Admin = f.admin
	aside := h.m.leaving(h.space, wt)
	if err := h.relocate(ctx, wt, wt.Path, aside); err != nil {
		return err
	}
	// Only now, where no path leads to it any more, is it looked at for good.
	if f, err = h.m.inspect(ctx, h.space, wt); err != nil {
		return h.refuse(ctx, wt, err)
	}
	if left := h.space.Policy.standing(f.problems); len(left) > 0 {
		return h.refuse(ctx, wt, refusal(h.space.TaskID, left))
	}
	dirty, err := h.preserve(ctx, wt, f)
	if err != nil {
		return h.refuse(ctx, wt, err)
	}
	if err := h.remove(ctx, wt, aside, dirty); err != nil {
		return err
	}
	return h.cleared(ctx, wt)
}

func (h *held) cleared(ctx context.Context, wt *Worktree) error {
	wt.Step, wt.Directory = Gone, ""
	return h.save(ctx)
}

// refuse puts a work tree back where it was, and ends the cleanup for now. The workspace
// is in use again if all of it is still there.
func (h *held) refuse(ctx context.Context, wt *Worktree, cause error) error {
	if context.Cause(ctx) != nil || errors.Is(cause, tools.CodeWorkspaceFence) {
		return cause // stopped, or not ours any more: the next cleanup goes on from here
	}
	if _, there, err := directoryAt(h.m.leaving(h.space, wt)); err == nil && there && wt.Step == Made {
		if err := h.relocate(ctx, wt, h.m.leaving(h.space, wt), wt.Path); err != nil {
			return errors.Join(cause, err)
		}
	}
	for _, wt := range h.space.Repositories {
		if wt.Step != Made && wt.Step != Planned {
			return cause
		}
	}
	h.space.State, h.space.Policy = Active, nil
	return errors.Join(cause, h.save(ctx))
}

// clearPlanned takes away what was never whole.
func (h *held) clearPlanned(ctx context.Context, wt *Worktree) error {
	if _, there, err := directoryAt(wt.Path); err != nil {
		return err
	} else if there { // it was whole, and the crash came before that was recorded
		if err := h.adopt(ctx, wt); err != nil {
			return err
		}
		if err := h.make(ctx, wt); err != nil {
			return err
		}
		return h.clear(ctx, wt)
	}
	if err := h.discard(ctx, wt); err != nil {
		return err
	}
	return h.cleared(ctx, wt)
}

// clearMissing is for a work tree that is not there any more: git had removed it before
// a crash, or somebody has, which the policy then takes for that.
func (h *held) clearMissing(ctx context.Context, wt *Worktree, f *facts) error {
	if wt.Step != Leaving {
		if err := h.preserveMissing(ctx, wt, f); err != nil {
			return h.refuse(ctx, wt, err)
		}
	}
	if f.registered {
		admin := adminDir(f.common, wt.Admin)
		if err := mend(admin, h.m.leaving(h.space, wt), wt.Base); err != nil {
			return err
		}
		text, _, err := readLine(filepath.Join(admin, "gitdir"))
		if err != nil {
			return err
		}
		if err := h.remove(ctx, wt, filepath.Dir(text), true); err != nil {
			return err
		}
	}
	return h.cleared(ctx, wt)
}

// preserveMissing saves what git still has of a work tree that is gone: where HEAD was,
// staged content, and commits that nothing else leads to.
func (h *held) preserveMissing(ctx context.Context, wt *Worktree, f *facts) (err error) {
	saved := Saved{Head: wt.Head, Ref: "refs/heads/" + wt.Branch}
	if f.registered {
		if err := h.saveMissing(ctx, wt, f, &saved); err != nil {
			return err
		}
	} else if f.common != "" {
		now, err := h.m.branchID(ctx, wt.Repository, wt.Branch)
		if err != nil {
			return err
		}
		if now != "" {
			saved.Head = now
		}
	}
	wt.Saved, wt.Step = append(wt.Saved, saved), Leaving
	return h.save(ctx)
}

func (h *held) saveMissing(ctx context.Context, wt *Worktree, f *facts, saved *Saved) (err error) {
	head := "worktrees/" + f.admin + "/HEAD" // gitrevisions(7): another work tree's
	if saved.Head, err = h.m.refID(ctx, wt.Repository, head); err != nil {
		return err
	}
	text, _, err := readLine(filepath.Join(adminDir(f.common, f.admin), "HEAD"))
	if err != nil {
		return err
	}
	saved.Ref, _ = strings.CutPrefix(text, "ref: ")
	if saved.Ref == text {
		saved.Ref = ""
	}
	tips, err := h.lost(ctx, wt, f)
	if err != nil {
		return err
	}
	a := &archive{top: h.m.home(h.space)}
	blobs, err := h.stagedMissing(ctx, wt, f, saved.Head, a)
	if err != nil {
		return err
	}
	if len(tips) > 0 || len(blobs) > 0 {
		if saved.Pin, saved.Commits, err = h.bundle(ctx, wt, tips, blobs); err != nil {
			return err
		}
	}
	saved.Files, err = h.archive(ctx, wt, a)
	return err
}

// stagedMissing takes the index of a work tree that is gone into the archive, if it
// differs from HEAD, and returns the blobs that only it has.
func (h *held) stagedMissing(ctx context.Context, wt *Worktree, f *facts, head string, a *archive) ([]string, error) {
	index := filepath.Join(adminDir(f.common, f.admin), "index")
	if _, err := os.Stat(index); head == "" || os.IsNotExist(err) {
		return nil, nil
	}
	env := []string{"GIT_INDEX_FILE=" + index}
	out, err := h.m.git.Run(ctx, wt.Repository, []string{"diff-index", "--cached", "--quiet", head}, &git.RunOptions{Env: env, OKCodes: []int{1}, Timeout: longest})
	if err != nil || out.ExitCode == 0 {
		return nil, err
	}
	return h.index(ctx, &indexed{wt.Repository, head, env}, a)
}
