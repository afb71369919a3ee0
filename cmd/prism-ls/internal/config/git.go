package config

import (
	"path/filepath"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// Git is the git program, and how it is used.
type Git struct {
	Path      string               `toml:"path" who:"user" doc:"The git program, as an absolute path; empty means the first on PATH outside of the workspace."`
	Name      string               `toml:"name" who:"user" doc:"Whose commits the git tools make; with email. Without both, user.name and user.email of your own git configuration, never the repository's."`
	Email     string               `toml:"email" who:"user" doc:"The address that goes with name."`
	Worktrees string               `toml:"worktrees" who:"user" doc:"A directory outside of the workspace, as an absolute path, in which git_worktree may make worktrees."`
	Filters   map[string]GitFilter `toml:"filters" who:"user" doc:"Filters that may run, by the name that .gitattributes give them, as [git.filters.lfs]. All others are off, and files that need one are not committed or checked out."`
}

// GitFilter is a filter of git that the user allows.
type GitFilter struct {
	Clean   string `toml:"clean" who:"user" doc:"The command line on the way into the repository, for example git-lfs clean -- %f."`
	Smudge  string `toml:"smudge" who:"user" doc:"The command line on the way out of it, for example git-lfs smudge -- %f."`
	Process string `toml:"process" who:"user" doc:"One that does both for many files, for example git-lfs filter-process; empty means none."`
}

func (g *Git) check() error {
	if (g.Name == "") != (g.Email == "") {
		return tools.Errorf(tools.CodeToolInput, "git.name and git.email go together; one of them is missing")
	}
	if g.Worktrees != "" && !filepath.IsAbs(g.Worktrees) {
		return tools.Errorf(tools.CodeToolInput, "git.worktrees is %q, must be an absolute path", g.Worktrees)
	}
	for name, filter := range g.Filters {
		if name == "" || strings.ContainsAny(name, "=\n\x00") {
			return tools.Errorf(tools.CodeToolInput, "git.filters has %q, which cannot be the name of a filter", name)
		}
		if filter.Process == "" && (filter.Clean == "" || filter.Smudge == "") {
			return tools.Errorf(tools.CodeToolInput, "git.filters.%s needs clean and smudge, or process", name)
		}
	}
	return nil
}

// PersonalGit are the files in which a person's own git keeps its settings, the last
// one counting most (git-config(1), "FILES").
func (c *Config) PersonalGit() []string {
	var files []string
	if c.System.ConfigHome != "" {
		files = append(files, filepath.Join(c.System.ConfigHome, "git", "config"))
	}
	if c.System.Home != "" {
		files = append(files, filepath.Join(c.System.Home, ".gitconfig"))
	}
	return files
}
