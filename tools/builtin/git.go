package builtin

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/check"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// GitDeps is what the tools of git stand on. They own none of it.
type GitDeps struct {
	// Workspace is the directory that is looked at, and contains all paths. It may be
	// any directory of a work tree. It is required.
	Workspace *workspace.Workspace
	// Runner runs git; where it is nil, every call is CodeGitFailed.
	Runner *git.Runner
	// Artifacts keep the patches of hand-offs, under the call's owner, and where there is
	// no OutputDir all that are too large for a result. Nil keeps them in files only.
	Artifacts state.ArtifactStore
	// OutputDir is where such patches become files that `read` can show; it should be
	// one of the workspace's read-only roots. "" makes temporary files.
	OutputDir string
	// Checks are the named checks that a hand-off may run; nil is none.
	Checks check.Checks
	// Worktrees is a directory outside of the workspace, as an absolute path, in which
	// linked worktrees may be made; it need not exist. "": only in the workspace.
	Worktrees string
	// Limits bound what is taken and shown.
	Limits GitLimits
}

// GitLimits bound the tools of git. Zero is the default; beyond the hard caps the
// tools are not made.
type GitLimits struct {
	// Paths bounds how many paths a call names: git.PathLimit.
	Paths int64
	// Files bounds how many changed files are listed: git.ChangedFiles.
	Files int64
	// DiffLines and PatchBytes bound a patch: git.DiffLines, git.PatchBytes.
	DiffLines, PatchBytes int64
	// OutputBytes bounds what a git command may print else: GitOutput.
	OutputBytes int64
	// Commits and HandoffBytes bound a hand-off: git.HandoffCommits, git.HandoffBytes.
	Commits, HandoffBytes int64
	// MessageBytes bounds a commit's message: git.MessageLimit.
	MessageBytes int64
}

// GitOutput bounds what one git command may print, in bytes.
var GitOutput = tools.Limit{Name: "maxOutputBytes", Default: 4 << 20, Hard: 64 << 20}

func (l *GitLimits) settle() error {
	return settle(bound{&l.Paths, git.PathLimit}, bound{&l.Files, git.ChangedFiles}, bound{&l.DiffLines, git.DiffLines},
		bound{&l.PatchBytes, git.PatchBytes}, bound{&l.OutputBytes, GitOutput}, bound{&l.Commits, git.HandoffCommits},
		bound{&l.HandoffBytes, git.HandoffBytes}, bound{&l.MessageBytes, git.MessageLimit})
}

// Git returns the tools of the toolset "git" over one repository.
func Git(deps *GitDeps) ([]*tools.Tool, error) {
	if deps == nil || deps.Workspace == nil {
		return nil, tools.Errorf(tools.CodeToolInput, "the git tools need a workspace")
	}
	g := &gitTools{GitDeps: *deps}
	if err := g.Limits.settle(); err != nil {
		return nil, err
	}
	var list []*tools.Tool
	for _, make := range []func() (*tools.Tool, error){
		g.status, g.diff, g.log, g.show, g.blame, g.handoff,
		g.branch, g.worktree, g.apply, g.commit, g.restore,
	} {
		tool, err := make()
		if err != nil {
			return nil, err
		}
		list = append(list, tool)
	}
	return list, nil
}

// gitTools is what the tools of this group have in common.
type gitTools struct {
	GitDeps
	anchor anchor
}

func gitSpec(name, title, description string) tools.Spec {
	return tools.Spec{Name: name, Title: title, Description: description, Toolset: "git", Kind: tools.KindRead, Effect: tools.Observes}
}

// repository opens the work tree that the workspace lies in.
func (g *gitTools) repository(ctx context.Context) (*git.Repository, error) {
	if g.Runner == nil {
		return nil, tools.Errorf(tools.CodeGitFailed, "there is no git program outside of the workspace; install git, or configure its path")
	}
	if err := g.Workspace.Present(); err != nil {
		return nil, err
	}
	repository, err := g.Runner.Repository(ctx, g.Workspace.Root())
	if err != nil {
		return nil, err
	}
	return repository, g.anchor.keep(repository.Top())
}

// anchor is the work tree that the first call found. One that lay in another loses its
// .git when it is removed: calls would then be about the other.
type anchor struct {
	mu  sync.Mutex
	top string
}

func (a *anchor) keep(top string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if rel, err := filepath.Rel(top, a.top); a.top != "" && top != a.top && err == nil && filepath.IsLocal(rel) {
		return tools.Errorf(tools.CodeGitNotRepository, "%s is no work tree any more; it lies in that of %s, which was not meant", a.top, top)
	}
	a.top = top
	return nil
}

// gitPath reads a path as git's tools take and give it, and returns it relative to the
// root. No link is followed: what git keeps is named, and need not exist.
func (g *gitTools) gitPath(given string) (string, error) {
	text, literal, err := git.ParsePath(given)
	if err != nil {
		return "", err
	}
	if literal {
		text = "./" + text // nothing in it has a meaning
	}
	p, err := g.Workspace.Parse(text)
	if err != nil {
		return "", err
	}
	if p.ReadOnly() {
		return "", tools.Errorf(tools.CodePathEscape, "%s lies outside of the workspace, and so outside of what git is asked about", p.Rel)
	}
	return p.Rel, nil
}

// gitPaths reads a list of paths, and is what a policy sees of them: the root where
// there are none.
func (g *gitTools) gitPaths(given []string) (list []string, action tools.Action, err error) {
	for _, one := range given {
		p, err := g.gitPath(one)
		if err != nil {
			return nil, action, err
		}
		list = append(list, p)
	}
	action.Paths = list
	if len(list) == 0 {
		action.Paths = []string{"."}
	}
	return list, action, nil
}

// pathLimit bounds the paths of a call as its schema shows it.
func (g *gitTools) pathLimit() tools.Limit {
	return tools.Limit{Name: "paths", Hard: g.Limits.Paths}
}

// shortID is an object ID as a text shows it.
func shortID(id string) string { return id[:min(len(id), 12)] }

// counted is "1 file", "2 files".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
