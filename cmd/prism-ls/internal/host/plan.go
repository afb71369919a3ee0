package host

import (
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
)

// planTools are the tools over the plans of the workspace.
func (h *Host) planTools() ([]*tools.Tool, error) {
	return builtin.Plans(&builtin.PlanDeps{Workspace: h.shared.files})
}
