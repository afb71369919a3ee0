package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

// MessageLimit bounds a commit's message, in bytes.
var MessageLimit = tools.Limit{Name: "message", Default: 64 << 10, Hard: 256 << 10}

// CommitOptions say what to commit.
type CommitOptions struct {
	// Message is taken as it is, but for space at its ends.
	Message string
	// Paths are files and directories of the opened directory, whose changes are
	// committed as they are in the work tree, new and deleted files included. Nothing
	// else is, whether it is in the index or not.
	Paths []string
	// Checkpoint saves the whole work tree before, and so allows that there are other
	// changes than those.
	Checkpoint bool
	// Admit, when set, is told the files before anything is done, and may refuse them.
	Admit func(files []string) error
}

// Committed is a commit that was made.
type Committed struct {
	ID, Tree string
	// Ref is the full name of the branch that it is on, or "HEAD".
	Ref string
	// Files are the paths, in the opened directory, at which it differs from its
	// parent, sorted.
	Files []string
	// Checkpoint is the one that was made before, or nil.
	Checkpoint *Checkpoint
}

// Commit makes a commit of the named paths on the branch that is checked out. No hook
// is run and nothing is signed. The index is as after git commit --only: what else is
// in it stays. Codes: CodeGitIdentity, CodeGitDirty (there are other changes, and no
// checkpoint is to be made), CodeNoChange, CodeNotFound (a path at which git knows
// nothing), CodeGitConflict (a merge or the like is not finished), CodeGitLFS,
// CodeGitRef (the branch has moved meanwhile).
func (g *Repository) Commit(ctx context.Context, opts *CommitOptions) (*Committed, error) {
	message, err := checkMessage(opts.Message)
	if err != nil {
		return nil, err
	}
	g = g.operation()
	who, err := g.runner.Identity(ctx, g.top)
	if err != nil {
		return nil, err
	}
	if err := g.Settle(ctx); err != nil {
		return nil, err
	}
	x, err := g.lockIndex(ctx)
	if err != nil {
		return nil, err
	}
	defer x.close()
	if err := g.nothingUnfinished(ctx); err != nil { // under the lock, nothing of the kind begins
		return nil, err
	}
	w := &committing{g: g, x: x, who: who, message: message}
	if w.head, err = g.Head(ctx); err != nil {
		return nil, err
	}
	if err := w.choose(ctx, opts); err != nil {
		return nil, err
	}
	if opts.Admit != nil {
		if err := opts.Admit(w.files()); err != nil {
			return nil, err
		}
	}
	if opts.Checkpoint {
		if w.checkpoint, err = g.prepareCheckpoint(ctx, who, nil); err != nil {
			return nil, err
		}
	}
	if err := w.build(ctx); err != nil {
		return nil, err
	}
	return w.finish(ctx)
}

func checkMessage(message string) (string, error) {
	message = strings.TrimSpace(message)
	switch {
	case message == "":
		return "", tools.Errorf(tools.CodeToolInput, "the message is empty; it says what the commit is about")
	case int64(len(message)) > MessageLimit.Hard:
		return "", tools.Errorf(tools.CodeToolInput, "the message has %d bytes, at most %d are taken", len(message), MessageLimit.Hard)
	case !utf8.ValidString(message) || strings.IndexByte(message, 0) >= 0:
		return "", tools.Errorf(tools.CodeToolInput, "the message must be UTF-8 without NUL")
	}
	return message, nil
}

// nothingUnfinished refuses, with CodeGitConflict, to go on in the middle of a merge or
// the like, which only a whole commit would end.
func (g *Repository) nothingUnfinished(ctx context.Context) error {
	dir, err := g.gitDir(ctx)
	if err != nil {
		return err
	}
	for name, what := range map[string]string{
		"MERGE_HEAD": "a merge", "CHERRY_PICK_HEAD": "a cherry-pick", "REVERT_HEAD": "a revert",
		"rebase-merge": "a rebase", "rebase-apply": "a rebase", "sequencer": "a cherry-pick or revert",
	} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return tools.Errorf(tools.CodeGitConflict, "%s is not finished in %s; it has to be finished or given up first", what, g.top)
		}
	}
	return nil
}

// committing is a commit on its way.
type committing struct {
	g          *Repository
	x          *lockedIndex
	who        Identity
	message    string
	head       Head
	chosen     []string // from the top
	id, tree   string
	checkpoint *Checkpoint
}

// choose finds the changes to commit, and refuses others.
func (w *committing) choose(ctx context.Context, opts *CommitOptions) error {
	specs, err := w.g.pathspecs(opts.Paths)
	if err != nil {
		return err
	}
	if len(opts.Paths) == 0 {
		return tools.Errorf(tools.CodeToolInput, "no paths are named; name the files or directories to commit")
	}
	if err := w.x.merged(ctx); err != nil {
		return err
	}
	dirt, err := w.x.dirt(ctx)
	if err != nil {
		return err
	}
	specs = specs[1:] // behind "--"
	var others []string
	used := make([]bool, len(specs))
	for _, path := range dirt {
		at := slices.IndexFunc(specs, func(spec string) bool { return covers(spec, path) })
		if at < 0 {
			others = append(others, path)
			continue
		}
		for i, spec := range specs {
			used[i] = used[i] || covers(spec, path)
		}
		w.chosen = append(w.chosen, path)
	}
	if err := w.g.known(ctx, w.x.privateIndex, specs, used); err != nil {
		return err
	}
	if len(w.chosen) == 0 {
		return tools.Errorf(tools.CodeNoChange, "nothing has changed at the named paths")
	}
	if len(others) > 0 && !opts.Checkpoint {
		return tools.Errorf(tools.CodeGitDirty, "beside the named paths %s; commit that as well, or let a checkpoint be made first (createCheckpoint)", w.g.changesText(others))
	}
	found, err := w.x.filtered(ctx, w.g.regular(w.chosen), false)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return w.g.needsFilter(found)
	}
	return nil
}

// regular returns those of the paths at which there is a regular file: nothing else
// goes through a filter.
func (g *Repository) regular(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		info, err := os.Lstat(filepath.Join(g.top, filepath.FromSlash(path)))
		return err != nil || !info.Mode().IsRegular()
	})
}

// covers reports whether a path is, or lies below, the one that was named.
func covers(named, path string) bool {
	return named == "." || path == named || strings.HasPrefix(path, named+"/")
}

// known refuses a named path at which nothing has changed and git knows nothing.
func (g *Repository) known(ctx context.Context, x *privateIndex, specs []string, used []bool) error {
	for i, spec := range specs {
		if used[i] {
			continue
		}
		out, err := x.run(ctx, []string{"ls-files", "-z", "--", spec}, nil)
		if err != nil {
			return err
		}
		if len(out.Stdout) == 0 {
			rel, _ := g.Inside(spec)
			return tools.Errorf(tools.CodeNotFound, "git knows nothing at %s: there is no file, or it is ignored", DisplayPath(rel))
		}
	}
	return nil
}

// changesText says how many changes there are, and names nothing outside of the opened
// directory.
func (g *Repository) changesText(paths []string) string {
	text, first := fmt.Sprintf("there are %d changes that are in no commit", len(paths)), ", the first at "
	if len(paths) == 1 {
		text, first = "there is 1 change that is in no commit", ", at "
	}
	for _, path := range paths {
		if rel, ok := g.Inside(path); ok {
			return text + first + DisplayPath(rel)
		}
	}
	return text + " outside of this directory"
}

// build makes the tree, the commit, and the index that goes with it.
func (w *committing) build(ctx context.Context) error {
	if err := w.x.take(ctx, w.chosen); err != nil {
		return err
	}
	base, err := w.g.treeOf(ctx, w.head.ID)
	if err != nil {
		return err
	}
	changes, err := w.x.changesFrom(ctx, base)
	if err != nil {
		return err
	}
	only, err := w.g.newIndex(ctx)
	if err != nil {
		return err
	}
	defer only.close()
	if _, err := only.run(ctx, []string{"read-tree", base}, nil); err != nil {
		return err
	}
	var info strings.Builder
	for _, c := range changes {
		if _, ok := slices.BinarySearch(w.chosen, c.path); ok {
			fmt.Fprintf(&info, "%06o %s\t%s\x00", c.mode, c.id, c.path)
		}
	}
	if _, err := only.run(ctx, []string{"update-index", "--replace", "-z", "--index-info"}, []byte(info.String())); err != nil {
		return err
	}
	if w.tree, err = only.writeTree(ctx); err != nil {
		return err
	}
	if w.tree == base && w.head.ID != "" {
		return tools.Errorf(tools.CodeNoChange, "the named paths are as they were committed")
	}
	commit := &newCommit{tree: w.tree, who: w.who, message: w.message}
	if w.head.ID != "" {
		commit.parents = []string{w.head.ID}
	}
	w.id, err = w.g.commitTree(ctx, commit)
	return err
}

func (w *committing) finish(ctx context.Context) (*Committed, error) {
	subject, _, _ := strings.Cut(w.message, "\n")
	verb := "commit: "
	if w.head.ID == "" {
		verb = "commit (initial): "
	}
	change := refChange{ref: w.head.Ref, before: w.head.ID, after: w.id, message: verb + subject, who: w.who}
	if err := w.g.planned(ctx, w.checkpoint, change); err != nil {
		return nil, err
	}
	if err := w.g.keep(ctx, w.checkpoint, w.who); err != nil {
		return nil, err
	}
	if err := w.x.commit(ctx, change); err != nil {
		return nil, w.g.unkeep(ctx, w.checkpoint, err)
	}
	return &Committed{ID: w.id, Tree: w.tree, Ref: w.head.Ref, Checkpoint: w.checkpoint, Files: w.files()}, nil
}

// files are the chosen paths as callers name them.
func (w *committing) files() []string {
	var files []string
	for _, path := range w.chosen {
		if rel, ok := w.g.Inside(path); ok {
			files = append(files, rel)
		}
	}
	return files
}
