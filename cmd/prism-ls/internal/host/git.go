package host

import (
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
)

// gitTools are the tools over the repository that the root lies in.
func (h *Host) gitTools() ([]*tools.Tool, error) {
	deps := &builtin.GitDeps{
		Workspace: h.shared.files, Runner: h.shared.git, OutputDir: outputDir(h.cfg, h.log), Checks: h.checks,
	}
	if stores, err := h.shared.Stores(); err == nil { // opened when something is kept
		deps.Artifacts = stores.Artifacts()
	}
	return builtin.Git(deps)
}
