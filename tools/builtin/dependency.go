package builtin

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// dependencyPrefix stands before the path of a file outside of the workspace that
// a language server's answer named.
const dependencyPrefix = "dep:"

// dependency resolves such a path; ok is false when given is none that was named,
// and then it is a path like any other. A policy sees where it leads.
func (t *readTool) dependency(given string) (at target, ok bool, err error) {
	if t.Dependencies == nil || !strings.HasPrefix(given, dependencyPrefix) {
		return target{}, false, nil
	}
	absolute, ok := t.Dependencies(given)
	if !ok {
		return target{}, false, nil
	}
	real, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return target{}, true, tools.Errorf(tools.AsError(err).Code, "%s cannot be read: %w", given, err)
	}
	return target{name: given, policy: filepath.ToSlash(real), outside: real}, true, nil
}

// openDependency opens a regular file outside of the workspace.
func openDependency(at target) (File, error) {
	before, err := os.Lstat(at.outside)
	if err == nil && !before.Mode().IsRegular() {
		return nil, tools.Errorf(tools.CodeNotFile, "%s is no regular file", at.name)
	}
	if err != nil {
		return nil, tools.Errorf(tools.AsError(err).Code, "%s cannot be read: %w", at.name, err)
	}
	file, err := os.Open(at.outside)
	if err != nil {
		return nil, tools.Errorf(tools.AsError(err).Code, "%s cannot be read: %w", at.name, err)
	}
	info, err := file.Stat()
	if err != nil || !os.SameFile(before, info) {
		file.Close()
		return nil, tools.Errorf(tools.CodeFileChanged, "%s was replaced while it was opened; try again", at.name)
	}
	return localFile{file, info.Size()}, nil
}
