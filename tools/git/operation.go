package git

import (
	"context"
	"path/filepath"
	"strings"
)

// oneOperation is what is asked of git once in an operation of many commands, instead of
// before each of them. It must not outlive what it was asked about: no command of the
// operation may change the work tree or what HEAD names, on which the configuration can
// depend (git-config(1), "include"). One goroutine uses it.
type oneOperation struct {
	asked   bool
	env     []string
	dirPath string
}

// operation returns the repository for the commands of one operation.
func (g *Repository) operation() *Repository {
	within := *g
	within.once = &oneOperation{}
	return &within
}

// replaced is Runner.overrides, asked once where there is an operation.
func (o *oneOperation) replaced(ctx context.Context, r *Runner, dir string) ([]string, error) {
	if o != nil && o.asked {
		return o.env, nil
	}
	env, err := r.overrides(ctx, dir)
	if o != nil && err == nil {
		o.asked, o.env = true, env
	}
	return env, err
}

// gitDir is the absolute path of the directory that git keeps for this work tree.
func (g *Repository) gitDir(ctx context.Context) (string, error) {
	if g.once != nil && g.once.dirPath != "" {
		return g.once.dirPath, nil
	}
	out, err := g.run(ctx, []string{"rev-parse", "--absolute-git-dir"}, nil)
	if err != nil {
		return "", err
	}
	dir := filepath.FromSlash(strings.TrimSuffix(string(out.Stdout), "\n"))
	if g.once != nil {
		g.once.dirPath = dir
	}
	return dir, nil
}
