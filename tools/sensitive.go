package tools

import (
	"path"
	"slices"
	"strings"
)

// controlDirs are directories whose files steer tools that people and agents
// run: hooks, workflows, editor tasks, agent settings.
var controlDirs = []string{".git", ".vscode", ".idea", ".claude", ".codex", ".cursor", ".husky"}

// controlFiles are single files that do the same, among them what a shell
// reads at start (bash(1), zsh(1), ksh(1), tcsh(1) "FILES").
var controlFiles = []string{
	".gitmodules", ".gitattributes", ".gitconfig", ".mcp.json", ".envrc", ".npmrc", "prism-ls.toml",
	".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases",
	".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
	".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc", "config.fish",
}

var secretDirs = []string{".ssh", ".aws"}

// ControlNames are the names, of files and directories, that [IsControlPath]
// goes by.
func ControlNames() []string {
	return slices.Concat(controlDirs, []string{".git/hooks", ".github", ".github/workflows"}, controlFiles)
}

// IsControlPath reports whether the slash-separated path, relative to a
// workspace root, names a file that makes other programs run something or
// widens what an agent may do. Letter case is ignored, because some file
// systems ignore it.
func IsControlPath(rel string) bool {
	parts := strings.Split(strings.ToLower(path.Clean(rel)), "/")
	for i, part := range parts {
		if slices.Contains(controlDirs, part) {
			return true
		}
		// The directory as a whole counts, too: what is moved there brings its workflows.
		if part == ".github" && (i+1 == len(parts) || parts[i+1] == "workflows") {
			return true
		}
	}
	return slices.Contains(controlFiles, parts[len(parts)-1])
}

// IsGitInternalPath reports whether the path lies in a .git directory, or is
// the .git file of a linked work tree.
func IsGitInternalPath(rel string) bool {
	return slices.Contains(strings.Split(strings.ToLower(path.Clean(rel)), "/"), ".git")
}

// IsSecretPath reports whether the slash-separated path names a file that
// usually holds credentials: .env and .env.* (not .env.example), and whatever
// lies in .ssh or .aws. Letter case is ignored.
func IsSecretPath(rel string) bool {
	parts := strings.Split(strings.ToLower(path.Clean(rel)), "/")
	for _, part := range parts {
		if slices.Contains(secretDirs, part) {
			return true
		}
	}
	name := parts[len(parts)-1]
	return name == ".env" || strings.HasPrefix(name, ".env.") && name != ".env.example"
}
