package git

import (
	"context"
	"errors"
	"slices"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// PatchOptions say what to do with a patch.
type PatchOptions struct {
	// Patch is in git's format, its paths relative to the opened directory, as `git
	// diff --relative` prints them.
	Patch []byte
	// Reverse takes the patch back.
	Reverse bool
	// Checkpoint saves the whole work tree before, and so allows that there are
	// changes that are in no commit.
	Checkpoint bool
}

// CheckPatch works out what a patch makes of the work tree, and changes nothing: not
// even objects are kept. CodeToolInput: it is no patch. CodeGitConflict: it does not
// apply as a whole. CodeGitLFS, CodeLimit, CodePathEscape: a file that it changes cannot
// be changed so.
func (g *Repository) CheckPatch(ctx context.Context, opts *PatchOptions) ([]Rewrite, error) {
	if size := int64(len(opts.Patch)); size > PatchBytes.Hard {
		return nil, tools.Errorf(tools.CodeToolInput, "the patch has %d bytes, at most %d are taken", size, PatchBytes.Hard)
	}
	x, err := g.operation().copyIndex(ctx)
	if err != nil {
		return nil, err
	}
	defer x.close()
	base, err := x.worktree(ctx)
	if err != nil {
		return nil, err
	}
	if err := x.patch(ctx, opts); err != nil {
		return nil, err
	}
	changes, err := x.changesFrom(ctx, base)
	if err != nil {
		return nil, err
	}
	if len(changes) == 0 {
		return nil, tools.Errorf(tools.CodeNoChange, "the patch changes nothing")
	}
	if err := x.unfiltered(ctx, changes); err != nil {
		return nil, err
	}
	return x.rewrites(ctx, changes)
}

// worktree makes the index, and a tree that is in no repository, of the work tree.
func (x *privateIndex) worktree(ctx context.Context) (tree string, err error) {
	if err := x.quarantine(ctx); err != nil {
		return "", err
	}
	if err := x.merged(ctx); err != nil {
		return "", err
	}
	if err := x.uncover(ctx); err != nil {
		return "", err
	}
	if err := x.takeAll(ctx); err != nil {
		return "", err
	}
	return x.writeTree(ctx)
}

func (x *privateIndex) patch(ctx context.Context, opts *PatchOptions) error {
	args := []string{"apply", "--cached", "--whitespace=nowarn"}
	if opts.Reverse {
		args = append(args, "--reverse")
	}
	if x.repository.prefix != "" {
		args = append(args, "--directory="+x.repository.prefix)
	}
	_, err := x.with(ctx, append(args, "-"), &RunOptions{Stdin: opts.Patch, Config: []string{"apply.ignoreWhitespace=no"}})
	failure, ok := errors.AsType[*Error](err)
	switch {
	case err == nil || !ok:
		return err
	case failure.ExitCode == 1:
		return tools.Errorf(tools.CodeGitConflict, "the patch does not apply, and nothing was changed: %s", failure.Stderr)
	case failure.ExitCode == 128:
		return tools.Errorf(tools.CodeToolInput, "git cannot take the patch: %s", failure.Stderr)
	}
	return err
}

// unfiltered refuses changes of files that need a filter which is not allowed.
func (x *privateIndex) unfiltered(ctx context.Context, changes []treeChange) error {
	var paths []string
	for _, c := range changes {
		if c.mode == modeFile || c.mode == modeExecutable {
			paths = append(paths, c.path)
		}
	}
	found, err := x.filtered(ctx, paths, false)
	if err != nil || len(found) == 0 {
		return err
	}
	return x.repository.needsFilter(found)
}

// ApplyPatch writes what CheckPatch works out, all of it or nothing, in a transaction
// of the workspace, whose root is the opened directory. The index stays as it is.
// paths are those that CheckPatch has named. Further codes: CodeGitDirty (there are
// changes that are in no commit, and no checkpoint is to be made), CodeFileChanged.
func (g *Repository) ApplyPatch(ctx context.Context, ws *workspace.Workspace, paths []string, opts *PatchOptions) (*workspace.Committed, *Checkpoint, error) {
	if err := g.Settle(ctx); err != nil {
		return nil, nil, err
	}
	if !opts.Checkpoint {
		if err := g.clean(ctx); err != nil {
			return nil, nil, err
		}
	}
	r := &rewriting{g: g, ws: ws, checkpoint: opts.Checkpoint}
	r.work = func(ctx context.Context) ([]Rewrite, error) { return g.CheckPatch(ctx, opts) }
	return r.do(ctx, slices.Clone(paths))
}
