package config

import (
	"path/filepath"

	"github.com/prism-ls/prism-ls/tools"
)

// Workspaces are the work trees that tasks get.
type Workspaces struct {
	Directory string   `toml:"directory" who:"user" doc:"Where the work trees of tasks are made, as an absolute path; empty means workspaces in the state directory."`
	Ignored   []string `toml:"ignored" who:"user" doc:"Ignored files and directories that are nobody's work, such as node_modules: they go with a work tree and are not saved. One without a slash is a name at any depth."`
	Dirty     bool     `toml:"dirty" who:"user" doc:"Whether workspace_cleanup may take away a work tree with files that are not committed; they are saved, and prism-ls workspace undo brings them back."`
}

// RootRepository is the ID of the repository that the workspace root lies in.
const RootRepository = "root"

// TaskRepositories are the repositories that tasks may have work trees of.
func (c *Config) TaskRepositories() map[string]string {
	all := map[string]string{RootRepository: c.Root}
	for id, path := range c.Repositories {
		all[id] = path
	}
	return all
}

// TaskDir is where the work trees of tasks are made; "" is nowhere.
func (c *Config) TaskDir() string {
	switch {
	case c.Workspaces.Directory != "":
		return c.Workspaces.Directory
	case c.StateDir == "":
		return ""
	}
	return filepath.Join(c.StateDir, "workspaces")
}

func (s *Settings) checkWorkspaces() error {
	if dir := s.Workspaces.Directory; dir != "" && !filepath.IsAbs(dir) {
		return tools.Errorf(tools.CodeToolInput, "workspaces.directory is %q, must be an absolute path", dir)
	}
	for id, path := range s.Repositories {
		if !filepath.IsAbs(path) {
			return tools.Errorf(tools.CodeToolInput, "repositories.%s is %q, must be an absolute path", id, path)
		}
	}
	return nil
}
