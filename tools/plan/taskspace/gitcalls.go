package taskspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

// commonDir is where a repository keeps what its work trees share.
func (m *Manager) commonDir(ctx context.Context, dir string) (string, error) {
	out, err := m.git.Run(ctx, dir, []string{"rev-parse", "--path-format=absolute", "--git-common-dir"}, nil)
	if err != nil {
		return "", err
	}
	return filepath.FromSlash(strings.TrimSuffix(string(out.Stdout), "\n")), nil
}

// commonDir is that of a work tree's repository, which is asked for once while the lease
// is held.
func (h *held) commonDir(ctx context.Context, wt *Worktree) (string, error) {
	if common := h.commons[wt.Repository]; common != "" {
		return common, nil
	}
	common, err := h.m.commonDir(ctx, wt.Repository)
	if err == nil {
		h.commons[wt.Repository] = common
	}
	return common, err
}

// branchID is the commit of a branch, "" where there is none.
func (m *Manager) branchID(ctx context.Context, repository, branch string) (string, error) {
	return m.refID(ctx, repository, "refs/heads/"+branch)
}

func (m *Manager) refID(ctx context.Context, dir, ref string) (string, error) {
	out, err := m.git.Run(ctx, dir, []string{"rev-parse", "--verify", "--quiet", ref + "^{commit}"}, &git.RunOptions{OKCodes: []int{1, 128}})
	if err != nil {
		return "", err
	}
	id := strings.TrimSuffix(string(out.Stdout), "\n")
	if out.ExitCode != 0 || !git.IsID(id) {
		return "", nil
	}
	return id, nil
}

// inTheWay is a branch that has the name already, or because of which there can be none
// of it ("a" and "a/b" exclude each other), or "".
func (m *Manager) inTheWay(ctx context.Context, repository, branch string) (string, error) {
	first, _, _ := strings.Cut(branch, "/")
	args := []string{"for-each-ref", "--format=%(refname)", "refs/heads/" + first}
	out, err := m.git.Run(ctx, repository, args, &git.RunOptions{MaxOutput: 64 << 20})
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out.Stdout)) {
		name, _ := cutBranch(strings.TrimSuffix(line, "\n"))
		if name == branch || strings.HasPrefix(name, branch+"/") || strings.HasPrefix(branch, name+"/") {
			return name, nil
		}
	}
	return "", nil
}

// headRef is the branch that HEAD of a work tree is, in full, or "" for a detached one.
func (m *Manager) headRef(ctx context.Context, dir string) (string, error) {
	out, err := m.git.Run(ctx, dir, []string{"symbolic-ref", "--quiet", "HEAD"}, &git.RunOptions{OKCodes: []int{1}})
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(string(out.Stdout), "\n"), nil
}

// ancestor reports whether one commit is, or leads to, another. One that is not there
// leads nowhere.
func (m *Manager) ancestor(ctx context.Context, dir, old, newer string) (bool, error) {
	out, err := m.git.Run(ctx, dir, []string{"merge-base", "--is-ancestor", old, newer}, &git.RunOptions{OKCodes: []int{1, 128}})
	return err == nil && out.ExitCode == 0, err
}

// updateRef moves a ref if it is where it was expected; "" is that there is none.
func (m *Manager) updateRef(ctx context.Context, repository, ref, id, old string) error {
	args := []string{"update-ref", "--no-deref", ref, id, old}
	switch {
	case id == "":
		args = []string{"update-ref", "--no-deref", "-d", ref, old}
	case old == "":
		args[4] = strings.Repeat("0", len(id))
	}
	_, err := m.git.Run(ctx, repository, args, nil)
	return err
}

func sameDirectory(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// gone tells an error of a missing repository from others.
func gone(err error) bool {
	code := tools.AsError(err).Code
	return code == tools.CodeGitNotRepository || code == tools.CodeNotFound
}
