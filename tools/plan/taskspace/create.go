package taskspace

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// Create makes the workspace of a task. Asked for again, also after a crash, it makes
// what is missing and returns the workspace that is there, if the request is the same.
//
// Beside the codes of stores and of git: CodeGitRef, a branch is there already or a base
// is not; CodeWorkspaceFingerprint, the task has another workspace; CodeExists, it has
// one that is closed or being cleaned up; CodeWorkspaceLimit and CodeWorkspaceOwnership.
// The codes of Verify are for a workspace that is not as it was left.
func (m *Manager) Create(ctx context.Context, owner state.Owner, request *Request) (*Space, error) {
	if err := m.check(ctx, request); err != nil {
		return nil, err
	}
	h, working, err := m.hold(ctx, owner, request.TaskID)
	if err != nil {
		return nil, err
	}
	defer h.release(ctx)
	if err := h.create(working, request); err != nil {
		return nil, ended(working, err)
	}
	return h.space, nil
}

func (h *held) create(ctx context.Context, request *Request) error {
	if h.space == nil {
		return h.begin(ctx, request)
	}
	switch h.space.State {
	case Closed:
		return tools.Errorf(tools.CodeExists, "task %s had a workspace, which is closed; undo its cleanup to go on with it, remove it, or choose another task ID", h.space.TaskID)
	case Cleaning:
		return tools.Errorf(tools.CodeExists, "the workspace of task %s is being cleaned up", h.space.TaskID)
	}
	if err := h.m.sameRequest(ctx, h.space, request); err != nil {
		return err
	}
	if err := tools.Planned(ctx, missing(h.space)); err != nil {
		return err
	}
	if err := h.finish(ctx); err != nil {
		return err
	}
	return h.verify(ctx, false)
}

// begin makes a workspace that was never there.
func (h *held) begin(ctx context.Context, request *Request) error {
	space, err := h.m.plan(ctx, request)
	if err != nil {
		return err
	}
	if err := tools.Planned(ctx, made(space)); err != nil {
		return err
	}
	h.space = space
	if err := h.m.list(ctx, h.key.Owner, space.TaskID); err != nil {
		return err
	}
	if err := h.save(ctx); err != nil {
		return err
	}
	// Of two owners that begin at once the later one was noted, and the earlier one, who
	// has the record, may be this.
	if err := h.m.list(ctx, h.key.Owner, space.TaskID); err != nil {
		return err
	}
	if err := h.finish(ctx); err != nil {
		return errors.Join(err, h.rollBack(ctx))
	}
	return nil
}

// rollBack takes back a creation that failed, and of which nobody was told. Where that
// fails too, the record stays, and the creation can be gone on with.
func (h *held) rollBack(ctx context.Context) error {
	if context.Cause(ctx) != nil { // stopped, or not ours any more
		return nil
	}
	if err := h.cleanup(ctx, Policy{}); err != nil {
		return err
	}
	for _, wt := range h.space.Repositories {
		now, err := h.m.branchID(ctx, wt.Repository, wt.Branch)
		if err != nil {
			return err
		}
		if now == wt.Base {
			if err := h.step(ctx, "unbranch"); err != nil {
				return err
			}
			if err := h.m.updateRef(ctx, wt.Repository, "refs/heads/"+wt.Branch, "", wt.Base); err != nil {
				return err
			}
		}
	}
	return h.forget(ctx)
}

// made are the branches that are about to be made, and the work trees on them.
func made(space *Space) []tools.Witness {
	var list []tools.Witness
	for _, wt := range space.Repositories {
		ref := "refs/heads/" + wt.Branch
		list = append(list, tools.Witness{Ref: ref, Repository: wt.Repository, After: tools.Seen{Exists: true, ID: wt.Base}},
			tools.Witness{Ref: "HEAD", Repository: wt.Path, After: tools.Seen{Exists: true, ID: ref}})
	}
	return list
}

// missing are the work trees that a crash has kept from being made.
func missing(space *Space) []tools.Witness {
	var list []tools.Witness
	for _, wt := range space.Repositories {
		if wt.Step == Planned {
			list = append(list, tools.Witness{Ref: "HEAD", Repository: wt.Path, After: tools.Seen{Exists: true, ID: "refs/heads/" + wt.Branch}})
		}
	}
	return list
}

// unmade are the work trees that are about to go. What HEAD is in each is known.
func unmade(wt *Worktree, f *facts) tools.Witness {
	id := f.ref
	if id == "" {
		id = f.head
	}
	return tools.Witness{Ref: "HEAD", Repository: wt.Path, Before: tools.Seen{Exists: true, ID: id}}
}

// finish makes the work trees that are planned and not made.
func (h *held) finish(ctx context.Context) error {
	for i := range h.space.Repositories {
		if wt := &h.space.Repositories[i]; wt.Step == Planned {
			if err := h.make(ctx, wt); err != nil {
				return err
			}
		}
	}
	h.m.tidy(h.space)
	return nil
}

// make makes one work tree, from wherever a crash has left it.
func (h *held) make(ctx context.Context, wt *Worktree) error {
	if err := h.m.prepare(h.space); err != nil {
		return err
	}
	_, there, err := directoryAt(wt.Path)
	if err != nil {
		return err
	}
	if there {
		if err := h.adopt(ctx, wt); err != nil {
			return err
		}
	} else if err := h.build(ctx, wt); err != nil {
		return err
	}
	if err := h.relocate(ctx, wt, h.m.making(h.space, wt), wt.Path); err != nil {
		return err
	}
	identity, _, err := directoryAt(wt.Path)
	if err != nil {
		return err
	}
	wt.Step, wt.Directory = Made, identity
	return h.save(ctx)
}

// build makes a work tree in the place for that.
func (h *held) build(ctx context.Context, wt *Worktree) error {
	if err := h.discard(ctx, wt); err != nil {
		return err
	}
	if err := h.add(ctx, wt); err != nil {
		return err
	}
	return h.restore(ctx, wt)
}

// adopt makes sure that what is at the path is what was moved there before a crash.
func (h *held) adopt(ctx context.Context, wt *Worktree) error {
	common, err := h.commonDir(ctx, wt)
	if err != nil {
		return err
	}
	text, _, err := readLine(filepath.Join(wt.Path, ".git"))
	if err == nil && text == "gitdir: "+adminDir(common, wt.Admin) {
		return nil
	}
	return tools.Errorf(tools.CodeExists, "%s is there already, and was not made for task %s", wt.Path, h.space.TaskID)
}
