package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// Look returns what is at the ref of a [tools.Witness] now. HEAD is a commit, or where
// the witness speaks of branches the name of the branch. A work tree that is gone has
// no HEAD. An error is that it cannot be told: also when git was cut short in the
// middle of a checkout, of which refs alone know nothing.
func (r *Runner) Look(ctx context.Context, w tools.Witness) (tools.Seen, error) {
	if err := CheckRevision(w.Ref); err != nil {
		return tools.Seen{}, err
	}
	if _, err := os.Lstat(w.Repository); errors.Is(err, fs.ErrNotExist) && w.Ref == "HEAD" {
		return tools.Seen{}, nil
	}
	g, err := r.Repository(ctx, w.Repository)
	if err != nil {
		return tools.Seen{}, err
	}
	if !sameDir(g.top, w.Repository) {
		return tools.Seen{}, tools.Errorf(tools.CodeGitNotRepository, "%s is no work tree of its own any more", w.Repository)
	}
	dir, err := g.gitDir(ctx)
	if err != nil {
		return tools.Seen{}, err
	}
	if err := g.Settle(ctx); err != nil {
		return tools.Seen{}, err
	}
	if w.Ref != "HEAD" {
		id, ok, err := g.lookup(ctx, w.Ref, "object")
		return tools.Seen{Exists: ok, ID: id}, err
	}
	if err := g.whole(dir); err != nil {
		return tools.Seen{}, err
	}
	head, err := g.Head(ctx)
	if err != nil {
		return tools.Seen{}, err
	}
	if strings.HasPrefix(w.Before.ID, "refs/") || strings.HasPrefix(w.After.ID, "refs/") {
		if head.Ref != "HEAD" {
			return tools.Seen{Exists: true, ID: head.Ref}, nil
		}
	}
	return seen(head.ID), nil
}

// whole refuses a work tree whose index is being written, or was when git was cut
// short, and one that has none yet: what is checked out is not what HEAD says.
func (g *Repository) whole(gitDir string) error {
	for _, name := range []string{"index.lock", switchName} {
		if _, err := os.Lstat(filepath.Join(gitDir, name)); err == nil {
			return tools.Errorf(tools.CodeGitConflict, "%s is there for %s: git is at work, or was cut short", name, g.top)
		}
	}
	if _, err := os.Lstat(filepath.Join(gitDir, "index")); errors.Is(err, fs.ErrNotExist) {
		return tools.Errorf(tools.CodeGitConflict, "%s has no index: its checkout was never finished", g.top)
	}
	return nil
}

// sameDir reports whether two names are of one directory.
func sameDir(a, b string) bool {
	one, errA := os.Stat(a)
	two, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(one, two)
}
