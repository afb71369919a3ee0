package host

import (
	"context"
	"errors"
	"log/slog"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/plan/taskspace"
	"github.com/prism-ls/prism-ls/tools/state"
)

// workspaceTools are the tools of tasks' workspaces.
func (h *Host) workspaceTools() ([]*tools.Tool, error) {
	spaces, err := h.shared.taskSpaces(h.cfg, h.log)
	if err != nil {
		return nil, err
	}
	policy := taskspace.Policy{Dirty: h.cfg.Workspaces.Dirty, Ignored: h.cfg.Workspaces.Ignored}
	return builtin.Workspaces(&builtin.TaskSpaceDeps{Spaces: spaces, Policy: policy})
}

// taskSpaces opens nothing: what is not there is an error when it is needed.
func (s *Shared) taskSpaces(cfg *config.Config, logger *slog.Logger) (*taskspace.Manager, error) {
	opts := &taskspace.Options{Git: s.git, Repositories: cfg.TaskRepositories(), Directory: cfg.TaskDir(), Logger: logger}
	if opts.Git == nil {
		opts.Git = git.New(s.owner, nil) // which says that there is none
	}
	if opts.Directory == "" {
		opts.Directory = cfg.Root // never used: there are no stores either
	}
	if opts.Stores = s.stores; s.stores == nil || cfg.TaskDir() == "" {
		opts.Stores = state.NewLazy(func(context.Context) (state.Stores, error) {
			return nil, tools.Errorf(tools.CodeStateUnavailable, "there is no state directory for the workspaces of tasks")
		})
	}
	return taskspace.New(opts)
}

// TaskSpaces are the workspaces of tasks, for the person whose they are.
type TaskSpaces struct {
	*taskspace.Manager
	// Artifacts are those of the same stores.
	Artifacts state.ArtifactStore
	shared    *Shared
}

// OpenTaskSpaces opens them alone, without anything else of a host.
func OpenTaskSpaces(cfg *config.Config, logger *slog.Logger) (*TaskSpaces, error) {
	s := &Shared{cfg: cfg, log: logger, owner: child.NewOwner(&child.Options{Logger: logger}), stores: newStores(cfg, logger)}
	err := s.openGit()
	stores, missing := s.Stores()
	if err = errors.Join(err, missing); err != nil {
		return nil, errors.Join(err, s.owner.Close())
	}
	manager, err := s.taskSpaces(cfg, logger)
	if err != nil {
		return nil, errors.Join(err, s.owner.Close())
	}
	return &TaskSpaces{Manager: manager, Artifacts: stores.Artifacts(), shared: s}, nil
}

// Close ends what was begun, and closes the stores.
func (t *TaskSpaces) Close() error {
	return errors.Join(t.shared.owner.Close(), t.shared.stores.Close())
}
