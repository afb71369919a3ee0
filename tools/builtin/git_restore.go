package builtin

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

type gitRestoreInput struct {
	Paths []string `json:"paths" check:"nonempty"`
	From  string   `json:"from" check:"nonempty" jsonschema:"ref or checkpoint"`
}

// GitRestored is the metadata of `git_restore`.
type GitRestored struct {
	Files    []string `json:"files"`
	UndoID   string   `json:"undoId"`
	Degraded string   `json:"degraded,omitempty"`
}

func (g *gitTools) restore() (*tools.Tool, error) {
	spec := gitChange("git_restore", "Restore files", "Make files as they were in a commit or checkpoint, deleting tracked ones it lacks. Undoable.", tools.KindEdit)
	spec.Limits = []tools.Limit{g.pathLimit()}
	return tools.New(spec, g.planRestore, func(ctx context.Context, call *tools.Call, in gitRestoreInput) (*tools.Outcome[GitRestored], error) {
		repo, err := g.repository(ctx)
		if err != nil {
			return nil, err
		}
		opts, err := g.restoreOptions(in)
		if err != nil {
			return nil, err
		}
		defer heartbeat(call, 0, "restoring")()
		done, err := repo.Restore(ctx, g.Workspace, call.Action().Paths, opts)
		if err != nil {
			return nil, err
		}
		changed(call, done.Files)
		m := GitRestored{Files: formatPaths(done.Files), UndoID: done.UndoID, Degraded: done.Degraded}
		return tools.Answer("Restored "+counted(len(done.Files), "file")+":"+pathLines(done.Files)+undoText(done), m), nil
	})
}

func (g *gitTools) restoreOptions(in gitRestoreInput) (*git.RestoreOptions, error) {
	paths, _, err := g.gitPaths(in.Paths)
	return &git.RestoreOptions{Paths: paths, From: in.From}, err
}

// planRestore finds the files that would be written or deleted, each one of which a
// policy sees.
func (g *gitTools) planRestore(ctx context.Context, _ *tools.Call, in gitRestoreInput) (tools.Action, error) {
	action := tools.Action{Risk: tools.RiskMedium, Args: []string{in.From}}
	repo, err := g.repository(ctx)
	if err != nil {
		return action, err
	}
	opts, err := g.restoreOptions(in)
	if err != nil {
		return action, err
	}
	list, err := repo.CheckRestore(ctx, opts)
	if err != nil {
		return action, err
	}
	action.Paths, err = g.rewritten(list)
	return action, err
}
