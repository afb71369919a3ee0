package taskspace

import (
	"context"
	"errors"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// Verify is the gate before work on a workspace goes on: each work tree is where it was
// made, the one that was made, locked as ours, on its branch, at or behind what was
// recorded, and its repository's remotes are the same. What differs is the error, whose
// Details are the Problems. A workspace of which something is missing becomes Unknown,
// and Active again when it is back. With record, the commits that HEADs are at become
// the recorded ones.
func (m *Manager) Verify(ctx context.Context, owner state.Owner, taskID string, record bool) (*Space, error) {
	return m.with(ctx, owner, taskID, func(ctx context.Context, h *held) error { return h.verify(ctx, record) })
}

func (h *held) verify(ctx context.Context, record bool) error {
	switch h.space.State {
	case Closed:
		return tools.Errorf(tools.CodeWorkspaceUnknown, "the workspace of task %s is closed; undo its cleanup to go on with it", h.space.TaskID)
	case Cleaning:
		return tools.Errorf(tools.CodeWorkspaceUnknown, "the workspace of task %s is being cleaned up", h.space.TaskID)
	}
	var problems []Problem
	heads := map[string]string{}
	missing := false
	for i := range h.space.Repositories {
		wt := &h.space.Repositories[i]
		if wt.Step == Planned {
			problems = append(problems, Problem{RepositoryID: wt.RepositoryID, Code: tools.CodeWorkspaceUnknown, Message: "it was not made to its end; create the workspace again"})
			continue
		}
		f, err := h.m.inspect(ctx, h.space, wt)
		if err != nil {
			return err
		}
		missing = missing || f.at == "" || !f.registered
		problems = append(problems, f.problems...)
		if f.common != "" {
			remotes, err := h.m.remotes(ctx, wt.Repository)
			if err != nil {
				return err
			}
			if remotes != wt.Remotes {
				problems = append(problems, Problem{RepositoryID: wt.RepositoryID, Code: tools.CodeWorkspaceFingerprint, Message: "the repository's remotes are not those that it had"})
			}
		}
		heads[wt.RepositoryID] = f.head
	}
	return errors.Join(h.settle(ctx, missing, record && len(problems) == 0, heads), refusal(h.space.TaskID, problems))
}

// settle records what a look at the work trees has found.
func (h *held) settle(ctx context.Context, missing, record bool, heads map[string]string) error {
	changed := false
	want := Active
	if missing {
		want = Unknown
	}
	if h.space.State != want {
		h.space.State, changed = want, true
	}
	for i := range h.space.Repositories {
		wt := &h.space.Repositories[i]
		if head := heads[wt.RepositoryID]; record && head != "" && head != wt.Head {
			wt.Head, changed = head, true
		}
	}
	if !changed {
		return nil
	}
	return h.save(ctx)
}

// Get returns the record of a task's workspace.
func (m *Manager) Get(ctx context.Context, owner state.Owner, taskID string) (*Space, error) {
	if err := checkTask(taskID); err != nil {
		return nil, err
	}
	space, err := m.load(ctx, owner, taskID)
	if err == nil && space == nil {
		err = tools.Errorf(tools.CodeWorkspaceUnknown, "there is no workspace of task %s", taskID)
	}
	return space, err
}

// Page is a part of a list of workspaces.
type Page struct {
	Spaces []*Space
	// Next is the cursor to go on with; "" is the end.
	Next string
	// Broken says which records could not be read.
	Broken []error
}

// List returns workspaces of the owner, at most limit (0: state.PageRecords).
func (m *Manager) List(ctx context.Context, owner state.Owner, cursor string, limit int64) (*Page, error) {
	found, err := m.stores.Checkpoints().List(ctx, state.Key{Owner: owner, Namespace: namespace}, cursor, limit)
	if err != nil {
		return nil, err
	}
	page := &Page{Next: found.Next, Broken: found.Broken}
	for _, record := range found.Records {
		space, err := decode(record.Data, record.Version)
		if err != nil {
			page.Broken = append(page.Broken, err)
			continue
		}
		page.Spaces = append(page.Spaces, space)
	}
	return page, nil
}

// Attach adds an artifact, which has to be in the store, to the workspace. The same one
// again changes nothing, but for its name.
func (m *Manager) Attach(ctx context.Context, owner state.Owner, taskID string, artifact Artifact) (*Space, error) {
	return m.with(ctx, owner, taskID, func(ctx context.Context, h *held) error {
		if artifact.Name == "" || len(artifact.Name) > 200 {
			return tools.Errorf(tools.CodeToolInput, "an artifact's name has %d bytes, must have 1 to 200", len(artifact.Name))
		}
		kept, err := m.stores.Artifacts().Stat(ctx, owner, artifact.SHA256)
		if err != nil {
			return err
		}
		artifact.Bytes = kept.Bytes
		for i := range h.space.Artifacts {
			if h.space.Artifacts[i].SHA256 == artifact.SHA256 {
				if h.space.Artifacts[i] == artifact {
					return nil
				}
				h.space.Artifacts[i] = artifact
				return h.save(ctx)
			}
		}
		if n := int64(len(h.space.named())) + 1; n > m.limits.ArtifactReferences {
			return over("artifacts of one workspace", n, m.limits.ArtifactReferences)
		}
		h.space.Artifacts = append(h.space.Artifacts, artifact)
		return h.save(ctx)
	})
}
