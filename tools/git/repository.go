package git

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
)

// Repository is one work tree and what git knows of it. It holds no state of its own
// and is safe for concurrent use.
type Repository struct {
	runner *Runner
	top    string
}

// Repository opens the work tree that dir lies in. CodeGitNotRepository: it lies in
// none. Other errors are those of WorkTree.
func (r *Runner) Repository(ctx context.Context, dir string) (*Repository, error) {
	top, ok, err := r.WorkTree(ctx, dir)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, tools.Errorf(tools.CodeGitNotRepository, "%s is in no git work tree", dir)
	}
	return &Repository{runner: r, top: top}, nil
}

// Top is the absolute path of the work tree's top directory.
func (g *Repository) Top() string { return g.top }

func (g *Repository) run(ctx context.Context, args []string, opts *RunOptions) (*Output, error) {
	return g.runner.Run(ctx, g.top, args, opts)
}
