package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/plan"
	"github.com/prism-ls/prism-ls/tools/state"
)

// People is whose records those are that a person sees and decides about: the
// workspace's, whichever agent they are for.
func (h *Host) People() state.Owner { return state.Owner{Account: h.workspace()} }

// workspace names the root in records of stores that are for all workspaces.
func (h *Host) workspace() string {
	sum := sha256.Sum256([]byte(h.cfg.Root))
	return "workspace-" + hex.EncodeToString(sum[:8])
}

// planTools are the tools over the plans of the workspace.
func (h *Host) planTools() ([]*tools.Tool, error) {
	return builtin.Plans(&builtin.PlanDeps{Workspace: h.shared.files})
}

// Plans are the plans of the workspace.
func (h *Host) Plans() (*plan.Files, error) { return plan.NewFiles(h.shared.files, plan.Limits{}) }

// Decisions are the questions that wait for a person.
func (h *Host) Decisions() (*plan.Decisions, error) {
	stores, err := h.shared.Stores()
	if err != nil {
		return nil, err
	}
	return plan.NewDecisions(stores.Checkpoints(), nil)
}

// keptDecisions let questions wait that nobody can be asked, where there is a place.
func (h *Host) keptDecisions() *builtin.KeptDecisions {
	decisions, err := h.Decisions()
	if err != nil {
		return nil
	}
	return &builtin.KeptDecisions{Decisions: decisions, Owner: h.People()}
}

// keepReadPaths makes what an agent has read outlast its process, where that decides
// what it may write.
func (h *Host) keepReadPaths() {
	stores, err := h.shared.Stores()
	if err != nil || !h.cfg.ReadBeforeWrite {
		return
	}
	h.readPaths.Keep(builtin.KeptReadPaths{
		Store: func(owner string) builtin.ReadPathStore {
			return builtin.NewReadPathRecords(stores.Checkpoints(), state.Owner{User: owner})
		},
		Name:   func(owner string) string { return owner + "@" + h.workspace() },
		Logger: h.log,
	})
}

// flushTime bounds saving what was read last.
const flushTime = 5 * time.Second

func (h *Host) flushReadPaths() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	h.readPaths.Flush(ctx)
}
