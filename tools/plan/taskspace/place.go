package taskspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/prism-ls/prism-ls/tools"
)

// The places of a work tree: where it is made, where it is worked in, and where it is
// set aside. Names that begin with a dot are no repository's ID.
const (
	makingDir  = ".making"
	leavingDir = ".leaving"
	scratchDir = ".scratch"
)

func (m *Manager) home(space *Space) string { return filepath.Join(m.directory, space.ID) }

func (m *Manager) path(space *Space, repositoryID string) string {
	return filepath.Join(m.home(space), repositoryID)
}

// making has the admin name last, since git names its own directory by that.
func (m *Manager) making(space *Space, wt *Worktree) string {
	return filepath.Join(m.home(space), makingDir, wt.Admin)
}

func (m *Manager) leaving(space *Space, wt *Worktree) string {
	return filepath.Join(m.home(space), leavingDir, wt.Admin)
}

// contained reports whether the record's path is the one that this manager gives it.
func (m *Manager) contained(space *Space, wt *Worktree) error {
	if !isName(space.ID, 256) || !isName(wt.RepositoryID, 64) || !isName(wt.Admin, 400) || wt.Path != m.path(space, wt.RepositoryID) {
		return tools.Errorf(tools.CodeWorkspacePathEscape, "the recorded path %s is not in %s", wt.Path, m.directory)
	}
	return nil
}

// prepare makes the directories above a work tree.
func (m *Manager) prepare(space *Space) error {
	for _, dir := range []string{m.directory, m.home(space), filepath.Join(m.home(space), makingDir)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return tools.Errorf(tools.AsError(err).Code, "the directory for task workspaces cannot be made: %w", err)
		}
	}
	real, err := filepath.EvalSymlinks(m.home(space))
	if err != nil {
		return err
	}
	above, err := filepath.EvalSymlinks(m.directory)
	if err != nil {
		return err
	}
	if real != filepath.Join(above, space.ID) {
		return tools.Errorf(tools.CodeWorkspacePathEscape, "%s leads to %s; it must be a directory and no link", m.home(space), real)
	}
	return nil
}

// tidy removes the directories that are empty now; it removes nothing else.
func (m *Manager) tidy(space *Space) {
	home := m.home(space)
	for _, dir := range []string{filepath.Join(home, makingDir), filepath.Join(home, leavingDir), filepath.Join(home, scratchDir), home} {
		_ = os.Remove(dir) // one that is not empty stays
	}
}

// directoryAt looks for a directory, without following a link. there is false where
// nothing is.
func directoryAt(path string) (identity string, there bool, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", false, nil
	}
	if err != nil {
		return "", false, tools.Errorf(tools.AsError(err).Code, "%s cannot be looked at: %w", path, err)
	}
	if !info.IsDir() {
		return "", false, tools.Errorf(tools.CodeWorkspacePathEscape, "%s is not a directory any more", path)
	}
	identity, err = identify(path, info)
	return identity, true, err
}

// moveDirectory gives a directory a name that is not taken.
func moveDirectory(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return tools.Errorf(tools.CodeExists, "%s is there already", to)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return renameNew(from, to)
}

// replaceFile writes a small file of git's in one step.
func replaceFile(path, text string) error {
	fresh := path + ".prism"
	if err := os.WriteFile(fresh, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

// readLine returns the content of a small file of git's, "" where there is none.
func readLine(path string) (text string, there bool, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return strings.TrimSuffix(string(data), "\n"), err == nil, err
}
