package taskspace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

// Request is what a task asks for.
type Request struct {
	// TaskID names the task: up to 64 letters, digits, dots, dashes and underscores.
	TaskID       string
	Repositories []Branch
}

// Branch asks for a work tree of one repository.
type Branch struct {
	RepositoryID string
	// Branch is made; it must not be there yet.
	Branch string
	// Base is the revision that it begins at; empty is the repository's HEAD.
	Base string
}

func checkTask(taskID string) error {
	if !isName(taskID, 64) {
		return tools.Errorf(tools.CodeToolInput, "the task ID %q must be up to 64 letters, digits, dots, dashes and underscores, and begin with a letter or digit", taskID)
	}
	return nil
}

// check looks at the request alone.
func (m *Manager) check(ctx context.Context, request *Request) error {
	if err := checkTask(request.TaskID); err != nil {
		return err
	}
	switch n := int64(len(request.Repositories)); {
	case n == 0:
		return tools.Errorf(tools.CodeToolInput, "a workspace needs at least one repository; %s", m.known())
	case n > m.limits.Repositories:
		return over("repositories of one workspace", n, m.limits.Repositories)
	}
	seen := map[string]bool{}
	for _, branch := range request.Repositories {
		if m.repositories[branch.RepositoryID] == "" {
			return tools.Errorf(tools.CodeToolInput, "there is no repository %q; %s", branch.RepositoryID, m.known())
		}
		if seen[branch.RepositoryID] {
			return tools.Errorf(tools.CodeToolInput, "repository %s is named twice", branch.RepositoryID)
		}
		seen[branch.RepositoryID] = true
		if err := m.checkBranch(ctx, branch); err != nil {
			return err
		}
	}
	return nil
}

func (m *Manager) checkBranch(ctx context.Context, branch Branch) error {
	if err := git.CheckRef(branch.Branch); err != nil {
		return tools.Errorf(tools.CodeGitRef, "repository %s: the branch name %q is none: %w", branch.RepositoryID, branch.Branch, err)
	}
	if branch.Base != "" {
		if err := git.CheckRevision(branch.Base); err != nil {
			return err
		}
	}
	args := []string{"check-ref-format", "refs/heads/" + branch.Branch}
	out, err := m.git.Run(ctx, m.repositories[branch.RepositoryID], args, &git.RunOptions{OKCodes: []int{1}})
	if err != nil {
		return err
	}
	if out.ExitCode != 0 || branch.Branch == "HEAD" || int64(len(branch.Branch)) > git.RefLimit.Default {
		return tools.Errorf(tools.CodeGitRef, "repository %s: %q cannot be a branch's name", branch.RepositoryID, branch.Branch)
	}
	return nil
}

// plan works out a new workspace, and changes nothing.
func (m *Manager) plan(ctx context.Context, request *Request) (*Space, error) {
	random := make([]byte, 5)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	space := &Space{
		Schema: schema, ID: request.TaskID + "-" + hex.EncodeToString(random), TaskID: request.TaskID, State: Active, Artifacts: []Artifact{},
	}
	for _, branch := range request.Repositories {
		wt, err := m.planWorktree(ctx, space, branch)
		if err != nil {
			return nil, err
		}
		space.Repositories = append(space.Repositories, *wt)
	}
	return space, nil
}

func (m *Manager) planWorktree(ctx context.Context, space *Space, branch Branch) (*Worktree, error) {
	repository, err := m.git.Repository(ctx, m.repositories[branch.RepositoryID])
	if err != nil {
		return nil, err
	}
	base, err := repository.Resolve(ctx, orHead(branch.Base))
	if err != nil {
		return nil, err
	}
	if taken, err := m.inTheWay(ctx, repository.Top(), branch.Branch); err != nil {
		return nil, err
	} else if taken != "" {
		return nil, tools.Errorf(tools.CodeGitRef, "repository %s has a branch %s already; a workspace makes its own, and none can be made of the name %s", branch.RepositoryID, taken, branch.Branch)
	}
	if err := m.countWorktrees(ctx, branch.RepositoryID, repository); err != nil {
		return nil, err
	}
	remotes, err := m.remotes(ctx, repository.Top())
	if err != nil {
		return nil, err
	}
	return &Worktree{
		RepositoryID: branch.RepositoryID, Repository: repository.Top(), Branch: branch.Branch, Step: Planned, Base: base, Head: base,
		Path: m.path(space, branch.RepositoryID), Remotes: remotes, LockReason: git.WorkspaceLock + space.ID, Admin: branch.RepositoryID + "-" + space.ID,
	}, nil
}

func orHead(base string) string {
	if base == "" {
		return "HEAD"
	}
	return base
}

// countWorktrees refuses one more than a repository may have.
func (m *Manager) countWorktrees(ctx context.Context, repositoryID string, repository *git.Repository) error {
	linked, err := repository.LinkedWorktrees(ctx)
	if err != nil {
		return err
	}
	count := int64(1)
	for _, w := range linked {
		if strings.HasPrefix(w.LockReason, git.WorkspaceLock) {
			count++
		}
	}
	if count > m.limits.Worktrees {
		return over("work trees that task workspaces have of repository "+repositoryID, count, m.limits.Worktrees)
	}
	return nil
}

// sameRequest compares a request with the workspace that is there.
func (m *Manager) sameRequest(ctx context.Context, space *Space, request *Request) error {
	differs := func(format string, args ...any) error {
		return tools.Errorf(tools.CodeWorkspaceFingerprint, "task %s has a workspace already, and "+format, append([]any{space.TaskID}, args...)...)
	}
	if len(space.Repositories) != len(request.Repositories) {
		return differs("it has %s", plural(len(space.Repositories), "work tree"))
	}
	for _, branch := range request.Repositories {
		wt := space.worktree(branch.RepositoryID)
		switch {
		case wt == nil:
			return differs("it has none of repository %s", branch.RepositoryID)
		case wt.Branch != branch.Branch:
			return differs("its branch of %s is %s", branch.RepositoryID, wt.Branch)
		case wt.Repository != m.repositories[branch.RepositoryID] && !sameDirectory(wt.Repository, m.repositories[branch.RepositoryID]):
			return differs("its repository %s is the one at %s", branch.RepositoryID, wt.Repository)
		case branch.Base == "":
			continue // wherever it began
		}
		repository, err := m.git.Repository(ctx, wt.Repository)
		if err != nil {
			return err
		}
		base, err := repository.Resolve(ctx, branch.Base)
		if err != nil {
			return err
		}
		// A base that has moved on since is the same base.
		if base != wt.Base {
			if on, err := m.ancestor(ctx, wt.Repository, wt.Base, base); err != nil || !on {
				return differs("its branch of %s began at %s, which %s does not lead to", branch.RepositoryID, wt.Base, branch.Base)
			}
		}
	}
	return nil
}

// worktree returns the one of a repository, or nil.
func (s *Space) worktree(repositoryID string) *Worktree {
	for i := range s.Repositories {
		if s.Repositories[i].RepositoryID == repositoryID {
			return &s.Repositories[i]
		}
	}
	return nil
}
