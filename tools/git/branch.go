package git

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
)

// checkBranch refuses what git would not take for a branch's short name. CodeGitRef.
func (g *Repository) checkBranch(ctx context.Context, name string) error {
	if err := CheckRef(name); err != nil {
		return &tools.Error{Code: tools.CodeGitRef, Message: err.Error(), Err: err}
	}
	if int64(len(name)) > RefLimit.Default {
		return tools.Errorf(tools.CodeGitRef, "the branch's name has %d bytes, at most %d are possible", len(name), RefLimit.Default)
	}
	out, err := g.run(ctx, []string{"check-ref-format", "--branch", name}, &RunOptions{OKCodes: []int{1, 128}})
	if err != nil {
		return err
	}
	// "@{-1}" stands for another branch's name, and is none itself.
	if out.ExitCode != 0 || string(out.Stdout) != name+"\n" {
		return tools.Errorf(tools.CodeGitRef, "%q cannot be the name of a branch; see git help check-ref-format for what can", name)
	}
	return nil
}

// branchAt returns the commit of a branch, if there is such a branch.
func (g *Repository) branchAt(ctx context.Context, name string) (id string, ok bool, err error) {
	if err := g.checkBranch(ctx, name); err != nil {
		return "", false, err
	}
	return g.lookup(ctx, branchPrefix+name, "commit")
}

// Settle finishes, or takes back, what a process of ours that is gone has left half
// done in this work tree. Everything that changes something here does it first.
func (g *Repository) Settle(ctx context.Context) error {
	dir, err := g.gitDir(ctx)
	if err != nil {
		return err
	}
	return g.settleIndex(ctx, dir)
}
