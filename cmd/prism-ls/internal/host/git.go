package host

import (
	"maps"
	"slices"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/git"
)

// gitTools are the tools over the repository that the root lies in.
func (h *Host) gitTools() ([]*tools.Tool, error) {
	deps := &builtin.GitDeps{
		Workspace: h.shared.files, Runner: h.shared.git, OutputDir: outputDir(h.cfg, h.log), Checks: h.checks,
		Worktrees: h.cfg.Git.Worktrees,
	}
	if stores, err := h.shared.Stores(); err == nil { // opened when something is kept
		deps.Artifacts = stores.Artifacts()
	}
	return builtin.Git(deps)
}

// gitOptions are whose commits are made, and what git may run beside itself.
func (s *Shared) gitOptions(path string) *git.Options {
	opts := &git.Options{Path: path, Env: environment(s.cfg), PersonalConfig: s.cfg.PersonalGit()}
	if s.cfg.Git.Name != "" {
		opts.Identity = git.Identity{Name: s.cfg.Git.Name, Email: s.cfg.Git.Email}
	}
	for _, name := range slices.Sorted(maps.Keys(s.cfg.Git.Filters)) {
		f := s.cfg.Git.Filters[name]
		opts.Filters = append(opts.Filters, git.Filter{Name: name, Clean: f.Clean, Smudge: f.Smudge, Process: f.Process})
	}
	return opts
}
