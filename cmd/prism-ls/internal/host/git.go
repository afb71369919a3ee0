package host

import (
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
)

// gitTools are the tools over the repository that the root lies in.
func (h *Host) gitTools() ([]*tools.Tool, error) {
	return builtin.Git(&builtin.GitDeps{
		Workspace: h.shared.files, Runner: h.shared.git, OutputDir: outputDir(h.cfg, h.log), Checks: h.checks,
	})
}
