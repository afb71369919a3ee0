package host

import (
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/check"
	"github.com/prism-ls/prism-ls/tools/child"
)

// openChecks makes what runs the checks of the configuration, as the shell runs
// commands. A workspace that nobody trusts gives them no programs by mere names.
func (h *Host) openChecks() (*check.Runner, error) {
	shell := h.shellOptions()
	opts := &check.Options{
		Owner: h.owner, Root: h.cfg.Root, Environment: h.cfg.System.Environ, ExtraEnv: shell.ExtraEnv,
		Sandbox: child.Sandbox{Mode: shell.Sandbox, WriteRoots: shell.WriteRoots, AllowNetwork: shell.AllowNetwork},
		Content: builtin.SourceOf(h.shared.files), Concurrency: h.cfg.CheckSlots,
		Names: check.CheckNames.Hard, // whoever declares them knows how many are wanted
	}
	if opts.Sandbox.WriteRoots == nil {
		opts.Sandbox.WriteRoots = []string{h.cfg.Root, h.cfg.System.TempDir}
	}
	if !h.cfg.Trusted {
		opts.Exclude = []string{h.cfg.Root}
	}
	return check.New(h.cfg.Definitions(), opts)
}

// checkTools are the tool that runs checks.
func (h *Host) checkTools() ([]*tools.Tool, error) {
	return builtin.CodingCheck(&builtin.CheckDeps{
		Checks: h.checks, Content: builtin.SourceOf(h.shared.files), SpillDir: outputDir(h.cfg, h.log),
	})
}
