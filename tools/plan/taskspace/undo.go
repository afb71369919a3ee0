package taskspace

import (
	"context"
	"errors"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// Undo takes a cleanup back: the work trees are made anew, and what was saved of them is
// put there. One whose branch went on meanwhile comes back with HEAD detached at the
// commit that it was at. A crash in between is gone on from by Undo or Create. A
// workspace that is not closed, but was left in the middle of a cleanup, keeps what is
// there and gets back the rest.
func (m *Manager) Undo(ctx context.Context, owner state.Owner, taskID string) (*Space, error) {
	return m.with(ctx, owner, taskID, func(ctx context.Context, h *held) error { return h.undo(ctx) })
}

func (h *held) undo(ctx context.Context) error {
	if h.space.State == Closed || h.space.State == Cleaning {
		if err := h.reopen(ctx); err != nil {
			return err
		}
	}
	return h.finish(ctx)
}

// reopen plans the work trees that are gone.
func (h *held) reopen(ctx context.Context) error {
	for i := range h.space.Repositories {
		wt := &h.space.Repositories[i]
		switch wt.Step {
		case Gone:
			wt.Step = Planned
		case Leaving:
			// It may be half removed: what is left goes, and all of it comes back.
			if err := h.clear(ctx, wt); err != nil {
				return err
			}
			wt.Step = Planned
		case Made:
			// It may be set aside, and nothing else.
			if err := h.relocate(ctx, wt, h.m.leaving(h.space, wt), wt.Path); err != nil {
				return err
			}
		}
		if wt.Step == Planned {
			if err := h.bring(ctx, wt); err != nil {
				return err
			}
		}
	}
	h.space.State, h.space.Policy = Active, nil
	return h.save(ctx)
}

// Remove forgets a closed workspace, and with it what its cleanup saved: it cannot be
// undone any more. What was attached stays in the artifact store. Removing what is not
// there is CodeWorkspaceUnknown.
func (m *Manager) Remove(ctx context.Context, owner state.Owner, taskID string) error {
	_, err := m.with(ctx, owner, taskID, func(ctx context.Context, h *held) error { return h.forget(ctx) })
	return err
}

func (h *held) forget(ctx context.Context) error {
	if h.space.State != Closed {
		return tools.Errorf(tools.CodeWorkspaceDirty, "the workspace of task %s is %s; clean it up first", h.space.TaskID, h.space.State)
	}
	for i := range h.space.Repositories {
		if err := h.unpin(ctx, &h.space.Repositories[i]); err != nil {
			return err
		}
	}
	if err := h.step(ctx, "forget"); err != nil {
		return err
	}
	var saved []Artifact
	for _, wt := range h.space.Repositories {
		saved = append(saved, wt.artifacts()...)
	}
	if err := h.m.stores.Checkpoints().Delete(ctx, h.key, h.space.Version, h.token()); err != nil {
		return coded(h.space.TaskID, err)
	}
	h.m.dropArtifacts(ctx, h.key.Owner, saved)
	h.m.tidy(h.space)
	return h.m.unlist(ctx, h.key.Owner, h.space.TaskID)
}

// unpin removes the ref to what a cleanup saved, unless its repository is gone.
func (h *held) unpin(ctx context.Context, wt *Worktree) error {
	if _, err := h.m.commonDir(ctx, wt.Repository); err != nil {
		return nil
	}
	id, err := h.m.refID(ctx, wt.Repository, pinRef(h.space, wt))
	if err != nil || id == "" {
		return err
	}
	if err := h.step(ctx, "unpin"); err != nil {
		return err
	}
	return h.m.updateRef(ctx, wt.Repository, pinRef(h.space, wt), "", id)
}

// dropArtifacts deletes artifacts that no workspace of the owner names. Failing at that
// costs room, and nothing else.
func (m *Manager) dropArtifacts(ctx context.Context, owner state.Owner, artifacts []Artifact) {
	hashes := map[string]bool{}
	for _, artifact := range artifacts {
		hashes[artifact.SHA256] = true
	}
	for cursor := ""; len(hashes) > 0; {
		page, err := m.List(ctx, owner, cursor, 0)
		if err != nil || len(page.Broken) > 0 {
			return
		}
		for _, space := range page.Spaces {
			for _, artifact := range space.named() {
				delete(hashes, artifact.SHA256)
			}
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	for hash := range hashes {
		if err := m.stores.Artifacts().Delete(ctx, owner, hash); err != nil && !errors.Is(err, tools.CodeNotFound) {
			m.log.Warn("a saved artifact could not be deleted", "sha256", hash, "error", err)
		}
	}
}
