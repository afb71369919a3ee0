package taskspace

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// ownersNamespace has, under the host's own name, whose workspace each task's is: stores
// show an owner only what is theirs, and a host's operator looks after all.
const ownersNamespace = "prism.task-workspace.owners"

// Entry says whose the workspace of a task is.
type Entry struct {
	TaskID string      `json:"taskId"`
	Owner  state.Owner `json:"owner"`
}

// list notes a workspace before it is made.
func (m *Manager) list(ctx context.Context, owner state.Owner, taskID string) error {
	data, err := json.Marshal(Entry{taskID, owner})
	if err != nil {
		return err
	}
	at := state.Key{Namespace: ownersNamespace, Name: taskID}
	kept, err := m.stores.Checkpoints().Load(ctx, at)
	switch {
	case errors.Is(err, tools.CodeNotFound):
		kept = state.Record{}
	case err != nil:
		return err
	case string(kept.Data) == string(data):
		return nil
	default:
		// What another's creation has left that never began is no claim.
		var entry Entry
		if err := json.Unmarshal(kept.Data, &entry); err == nil {
			// Whose the record is, if there is one, has been found when it was loaded.
			space, err := m.load(ctx, entry.Owner, taskID)
			if space != nil {
				err = tools.Errorf(tools.CodeWorkspaceOwnership, "the workspace of task %s belongs to another owner", taskID)
			} else if errors.Is(err, tools.CodeWorkspaceOwnership) {
				err = nil
			}
			if err != nil {
				return err
			}
		}
	}
	_, err = m.stores.Checkpoints().Save(ctx, at, state.Change{Version: kept.Version, Fence: kept.Fence, Data: data})
	return err
}

// unlist takes the note away, unless it is of a workspace that another owner has made
// meanwhile.
func (m *Manager) unlist(ctx context.Context, owner state.Owner, taskID string) error {
	at := state.Key{Namespace: ownersNamespace, Name: taskID}
	kept, err := m.stores.Checkpoints().Load(ctx, at)
	var entry Entry
	if err == nil && (json.Unmarshal(kept.Data, &entry) != nil || entry.Owner == owner) {
		err = m.stores.Checkpoints().Delete(ctx, at, kept.Version, kept.Fence)
	}
	if errors.Is(err, tools.CodeNotFound) || errors.Is(err, tools.CodeStateConflict) {
		return nil // it is taken away already, or somebody else's now
	}
	return err
}

// Owners lists whose the workspaces are, for the operator of a host: whoever may call
// it may act for all of them. At most limit (0: state.PageRecords) are returned.
func (m *Manager) Owners(ctx context.Context, cursor string, limit int64) (entries []Entry, next string, err error) {
	page, err := m.stores.Checkpoints().List(ctx, state.Key{Namespace: ownersNamespace}, cursor, limit)
	if err != nil {
		return nil, "", err
	}
	for _, record := range page.Records {
		var entry Entry
		if err := json.Unmarshal(record.Data, &entry); err != nil {
			return nil, "", tools.Errorf(tools.CodeStateUnavailable, "the list of workspaces cannot be read: %w", err)
		}
		entries = append(entries, entry)
	}
	return entries, page.Next, nil
}

// OwnerOf returns whose the workspace of a task is, for the operator of a host, or
// CodeWorkspaceUnknown.
func (m *Manager) OwnerOf(ctx context.Context, taskID string) (state.Owner, error) {
	record, err := m.stores.Checkpoints().Load(ctx, state.Key{Namespace: ownersNamespace, Name: taskID})
	if err != nil {
		return state.Owner{}, coded(taskID, err)
	}
	var entry Entry
	if err := json.Unmarshal(record.Data, &entry); err != nil {
		return state.Owner{}, tools.Errorf(tools.CodeStateUnavailable, "the list of workspaces cannot be read: %w", err)
	}
	return entry.Owner, nil
}
