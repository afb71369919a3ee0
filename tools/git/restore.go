package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// RestoreOptions say what to restore.
type RestoreOptions struct {
	// Paths are files and directories of the opened directory.
	Paths []string
	// From is the id of a checkpoint, or a revision.
	From string
}

// CheckRestore works out what it takes for the named paths to be as they were in a
// checkpoint or commit, and changes nothing. Files that git knows and that were not
// there are deleted; files that it does not know, and was not told of, stay, and so do
// those that it was told not to look at, unless they are named themselves. Codes:
// CodeGitRef (there is no such checkpoint or commit), CodeNotFound (nothing was or is
// at a path), CodeNoChange, CodeGitLFS.
func (g *Repository) CheckRestore(ctx context.Context, opts *RestoreOptions) ([]Rewrite, error) {
	g = g.operation()
	specs, err := g.pathspecs(opts.Paths)
	if err != nil {
		return nil, err
	}
	if len(opts.Paths) == 0 {
		return nil, tools.Errorf(tools.CodeToolInput, "no paths are named; name the files or directories to restore")
	}
	commit, isCheckpoint, err := g.source(ctx, opts.From)
	if err != nil {
		return nil, err
	}
	x, err := g.newIndex(ctx)
	if err != nil {
		return nil, err
	}
	defer x.close()
	if _, err := x.run(ctx, []string{"read-tree", commit}, nil); err != nil {
		return nil, err
	}
	changes, err := x.toRestore(ctx, specs)
	if err != nil {
		return nil, err
	}
	if len(changes) == 0 {
		return nil, tools.Errorf(tools.CodeNoChange, "the named paths are as they were")
	}
	if err := x.refuseRestore(ctx, changes, commit, isCheckpoint); err != nil {
		return nil, err
	}
	return x.rewrites(ctx, changes)
}

// source finds the commit of a checkpoint's id or a revision.
func (g *Repository) source(ctx context.Context, from string) (commit string, isCheckpoint bool, err error) {
	if checkCheckpointID(from) == nil {
		id, ok, err := g.lookup(ctx, CheckpointPrefix+from, "commit")
		if err != nil || ok {
			return id, ok, err
		}
	}
	commit, err = g.Resolve(ctx, from)
	return commit, strings.HasPrefix(from, CheckpointPrefix), err
}

// toRestore compares the index, which has the source, with the work tree.
func (x *privateIndex) toRestore(ctx context.Context, specs []string) ([]treeChange, error) {
	source, err := x.staged(ctx, specs)
	if err != nil {
		return nil, err
	}
	now, err := x.repository.tracked(ctx, specs)
	if err != nil {
		return nil, err
	}
	out, err := x.run(ctx, append([]string{"ls-files", "-z", "--modified", "--deleted"}, specs...), nil)
	if err != nil {
		return nil, err
	}
	var changes []treeChange
	for _, path := range compacted(fields(out.Stdout)) {
		if mode := source[path]; mode != modeSubmodule && !now.spares(path, specs) {
			changes = append(changes, treeChange{path: path, mode: mode})
		}
	}
	for _, path := range now.paths {
		if _, kept := source[path]; kept || now.spares(path, specs) {
			continue
		}
		if info, err := os.Lstat(filepath.Join(x.repository.top, filepath.FromSlash(path))); err == nil && !info.IsDir() {
			changes = append(changes, treeChange{path: path})
		}
	}
	for _, spec := range specs[1:] {
		if !slices.ContainsFunc(now.paths, func(path string) bool { return covers(spec, path) }) && !anyCovered(spec, source) {
			rel, _ := x.repository.Inside(spec)
			return nil, tools.Errorf(tools.CodeNotFound, "%s was not there, and git knows nothing there now", DisplayPath(rel))
		}
	}
	return changes, nil
}

func anyCovered(spec string, source map[string]uint32) bool {
	for path := range source {
		if covers(spec, path) {
			return true
		}
	}
	return false
}

func compacted(paths []string) []string {
	slices.Sort(paths)
	return slices.Compact(paths)
}

// staged lists what the index has at the paths, with the modes.
func (x *privateIndex) staged(ctx context.Context, specs []string) (map[string]uint32, error) {
	out, err := x.run(ctx, append([]string{"ls-files", "-z", "--stage"}, specs...), nil)
	if err != nil {
		return nil, err
	}
	found := map[string]uint32{}
	for _, entry := range fields(out.Stdout) {
		head, path, _ := strings.Cut(entry, "\t")
		mode, _, _ := strings.Cut(head, " ")
		found[path] = octalMode(mode)
	}
	return found, nil
}

// trackedPaths are what the work tree's own index has.
type trackedPaths struct {
	paths []string
	// hidden are those that git was told not to look at, or that a sparse checkout
	// leaves out.
	hidden map[string]bool
}

// spares reports a path that is left as it is unless it is named itself.
func (t *trackedPaths) spares(path string, specs []string) bool {
	return t.hidden[path] && !slices.Contains(specs, path)
}

func (g *Repository) tracked(ctx context.Context, specs []string) (*trackedPaths, error) {
	out, err := g.run(ctx, append([]string{"ls-files", "-z", "-v"}, specs...), &RunOptions{MaxOutput: outputLimit.Hard})
	if err != nil {
		return nil, err
	}
	t := &trackedPaths{hidden: map[string]bool{}}
	for _, entry := range fields(out.Stdout) {
		tag, path, _ := strings.Cut(entry, " ")
		t.paths = append(t.paths, path)
		if tag == "S" || tag != strings.ToUpper(tag) {
			t.hidden[path] = true
		}
	}
	return t, nil
}

// refuseRestore refuses files that need a filter which is not allowed. A checkpoint has
// them as they were on disk where they had changed.
func (x *privateIndex) refuseRestore(ctx context.Context, changes []treeChange, commit string, isCheckpoint bool) error {
	var paths []string
	for _, c := range changes {
		if c.mode == modeFile || c.mode == modeExecutable {
			paths = append(paths, c.path)
		}
	}
	found, err := x.filtered(ctx, paths, true)
	if err != nil || len(found) == 0 {
		return err
	}
	if isCheckpoint {
		parent, ok, err := x.repository.lookup(ctx, commit+"^1", "tree")
		if err != nil || !ok { // before the first commit, everything is as it was on disk
			return err
		}
		raw, err := x.changesFrom(ctx, parent)
		if err != nil {
			return err
		}
		found = slices.DeleteFunc(found, func(f filteredPath) bool {
			return slices.ContainsFunc(raw, func(c treeChange) bool { return c.path == f.path })
		})
	}
	if len(found) == 0 {
		return nil
	}
	return x.repository.needsFilter(found)
}

// Restore writes what CheckRestore works out, all of it or nothing, in a transaction of
// the workspace, whose root is the opened directory. Index and branches stay as they
// are. paths are those that CheckRestore has named. Further code: CodeFileChanged.
func (g *Repository) Restore(ctx context.Context, ws *workspace.Workspace, paths []string, opts *RestoreOptions) (*workspace.Committed, error) {
	if err := g.Settle(ctx); err != nil {
		return nil, err
	}
	r := &rewriting{g: g, ws: ws}
	r.work = func(ctx context.Context) ([]Rewrite, error) { return g.CheckRestore(ctx, opts) }
	done, _, err := r.do(ctx, slices.Clone(paths))
	return done, err
}
