package git

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// BranchCount bounds how many branches are listed.
var BranchCount = tools.Limit{Name: "branches", Default: 1000, Hard: 10_000}

// LocalBranch is a branch of the repository.
type LocalBranch struct {
	// Name is its short name.
	Name string
	ID   string
	// Subject is the first line of its last commit.
	Subject string
	// Upstream is the short name of what it tracks; empty: nothing.
	Upstream string
	// Current reports that it is checked out here, Worktree where else it is.
	Current  bool
	Worktree string
}

// Branches lists the local branches, sorted by name, at most most of them (0: the
// default of BranchCount).
func (g *Repository) Branches(ctx context.Context, most int64) (list []LocalBranch, truncated bool, err error) {
	if most, err = BranchCount.Option(most); err != nil {
		return nil, false, err
	}
	format := strings.Join([]string{"%(refname:lstrip=2)", "%(objectname)", "%(contents:subject)", "%(upstream:short)", "%(HEAD)", "%(worktreepath)"}, "%00") + "%00"
	out, err := g.run(ctx, []string{"for-each-ref", "--sort=refname", "--format=" + format, branchPrefix}, &RunOptions{MaxOutput: outputLimit.Hard})
	if err != nil {
		return nil, false, err
	}
	for rest := out.Stdout; len(rest) > 0; {
		var parts [6]string
		for i := range parts {
			part, after, ok := bytes.Cut(rest, []byte{0})
			if !ok {
				return nil, false, tools.Errorf(tools.CodeGitFailed, "git lists branches in a form that is not known")
			}
			parts[i], rest = string(part), after
		}
		rest = bytes.TrimPrefix(rest, []byte("\n"))
		if int64(len(list)) == most {
			return list, true, nil
		}
		b := LocalBranch{Name: parts[0], ID: parts[1], Subject: parts[2], Upstream: parts[3], Current: parts[4] == "*", Worktree: parts[5]}
		if b.Current {
			b.Worktree = ""
		}
		list = append(list, b)
	}
	return list, false, nil
}

// CheckBranch refuses, with CodeGitRef, what git would not take for a branch's short
// name.
func (g *Repository) CheckBranch(ctx context.Context, name string) error {
	if err := CheckRef(name); err != nil {
		return &tools.Error{Code: tools.CodeGitRef, Message: tools.AsError(err).Message, Err: err}
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
	if err := g.CheckBranch(ctx, name); err != nil {
		return "", false, err
	}
	return g.lookup(ctx, branchPrefix+name, "commit")
}

// CreateBranch makes a branch at start, or at HEAD when start is empty, and checks
// nothing out. It tracks nothing. CodeGitRef: the name cannot be one or is taken, or
// there is no such commit.
func (g *Repository) CreateBranch(ctx context.Context, name, start string) (id string, err error) {
	_, exists, err := g.branchAt(ctx, name)
	if err != nil {
		return "", err
	}
	if exists {
		return "", tools.Errorf(tools.CodeGitRef, "the branch %s exists already", name)
	}
	if start == "" {
		start = "HEAD"
	}
	if id, err = g.Resolve(ctx, start); err != nil {
		return "", err
	}
	who, err := g.runner.Identity(ctx, g.top)
	if err != nil {
		who = Identity{} // only the log of refs would name somebody; git finds a name for that
	}
	change := refChange{ref: branchPrefix + name, after: id, message: "branch: Created from " + start, who: who}
	if err := g.planned(ctx, nil, change); err != nil {
		return "", err
	}
	if err = g.move(ctx, change); err != nil {
		err = g.inTheWayOf(ctx, name, err)
	}
	return id, err
}

// inTheWayOf says which branch keeps one of that name from being made, if it is one: refs
// are files, and a file is no directory.
func (g *Repository) inTheWayOf(ctx context.Context, name string, err error) error {
	var all []string
	for i, c := range name {
		if c == '/' {
			all = append(all, branchPrefix+name[:i])
		}
	}
	args := slices.Concat([]string{"for-each-ref", "--count=1", "--format=%(refname:lstrip=2)", "--"}, all, []string{branchPrefix + name + "/"})
	out, listErr := g.run(ctx, args, nil)
	if listErr != nil {
		return err
	}
	if other := strings.TrimSpace(string(out.Stdout)); other != "" {
		return tools.Errorf(tools.CodeGitRef, "there cannot be a branch %s beside the branch %s; choose another name", name, other)
	}
	return err
}

// SwitchOptions adjust Switch.
type SwitchOptions struct {
	// Checkpoint saves the whole work tree before, and so allows that there are
	// changes that are in no commit. They are carried over; where the branches differ
	// there must be none.
	Checkpoint bool
}

// Switched is a change of branches that was made.
type Switched struct {
	Branch     string
	ID         string
	Checkpoint *Checkpoint
	// Files are the paths, in the opened directory, that were written or deleted.
	Files []string
}

// Switch checks a branch out. That it is checked out already is no error. No file that
// is in no commit is written over, ignored ones included. Codes: CodeGitRef (there is
// no such branch, or another worktree has it), CodeGitDirty (there are changes and no
// checkpoint is to be made, or they are where the branches differ), CodeGitConflict (a
// merge or the like is not finished), CodeGitLFS.
func (g *Repository) Switch(ctx context.Context, name string, opts *SwitchOptions) (*Switched, error) {
	if opts == nil {
		opts = &SwitchOptions{}
	}
	if err := g.Settle(ctx); err != nil {
		return nil, err
	}
	s, err := g.planSwitch(ctx, name)
	if err != nil || s.from.Ref == s.to.Ref {
		return &Switched{Branch: name, ID: s.to.ID}, err
	}
	if err := s.admit(ctx, opts.Checkpoint); err != nil {
		return nil, err
	}
	done := &Switched{Branch: name, ID: s.to.ID}
	for _, c := range s.changes {
		if rel, ok := g.Inside(c.path); ok {
			done.Files = append(done.Files, rel)
		}
	}
	who, err := g.runner.Identity(ctx, g.top)
	if err != nil && opts.Checkpoint {
		return nil, err
	}
	if opts.Checkpoint {
		if done.Checkpoint, err = g.prepareCheckpoint(ctx, who, nil); err != nil {
			return nil, err
		}
	}
	head := refChange{ref: "HEAD", before: s.from.symbolic(), after: s.to.Ref}
	if err := g.planned(ctx, done.Checkpoint, head); err != nil {
		return nil, err
	}
	if err := g.keep(ctx, done.Checkpoint, who); err != nil {
		return nil, err
	}
	if err := s.run(ctx, who); err != nil {
		return nil, g.unkeep(ctx, done.Checkpoint, err)
	}
	return done, nil
}

// symbolic is what HEAD says: the branch, or the commit when none is checked out.
func (h Head) symbolic() string {
	if h.Ref == "HEAD" {
		return h.ID
	}
	return h.Ref
}

// switching is a change of branches on its way.
type switching struct {
	g        *Repository
	from, to Head
	changes  []treeChange
}

func (g *Repository) planSwitch(ctx context.Context, name string) (*switching, error) {
	s := &switching{g: g}
	if err := g.nothingUnfinished(ctx); err != nil {
		return s, err
	}
	id, ok, err := g.branchAt(ctx, name)
	if err != nil {
		return s, err
	}
	if s.to = (Head{Ref: branchPrefix + name, ID: id}); !ok {
		return s, tools.Errorf(tools.CodeGitRef, "there is no branch %s here; create it first", name)
	}
	if s.from, err = g.Head(ctx); err != nil || s.from.Ref == s.to.Ref {
		return s, err
	}
	if err := g.notCheckedOut(ctx, name); err != nil {
		return s, err
	}
	from, err := g.treeOf(ctx, s.from.ID)
	if err != nil {
		return s, err
	}
	s.changes, err = g.changesBetween(ctx, from, s.to.ID+"^{tree}")
	return s, err
}

// admit refuses what would lose something, or write files other than their authors did.
func (s *switching) admit(ctx context.Context, checkpoint bool) error {
	x, err := s.g.copyIndex(ctx)
	if err != nil {
		return err
	}
	defer x.close()
	dirt, err := x.dirt(ctx)
	if err != nil {
		return err
	}
	if len(dirt) > 0 && !checkpoint {
		return tools.Errorf(tools.CodeGitDirty, "%s; commit that, or let a checkpoint be made first (createCheckpoint)", s.g.changesText(dirt))
	}
	// What git was told not to look at is not in the way of a switch, but is not
	// written over, either.
	if err := x.uncover(ctx); err != nil {
		return err
	}
	if dirt, err = x.dirt(ctx); err != nil {
		return err
	}
	var written []string
	for _, c := range s.changes {
		if _, changed := slices.BinarySearch(dirt, c.path); changed {
			return tools.Errorf(tools.CodeGitDirty, "the branches differ at %s, which has changes that are in no commit; commit them, or restore the file first", DisplayPath(c.path))
		}
		if c.mode != 0 {
			written = append(written, c.path)
		}
		if c.oldMode == 0 && s.g.inTheWay(c.path) {
			return tools.Errorf(tools.CodeGitDirty, "the branch has a file at %s, where an ignored file is; move that away first", DisplayPath(c.path))
		}
	}
	if len(written) == 0 {
		return nil
	}
	return s.g.refuseFilters(ctx, s.to.ID, written)
}

// inTheWay reports whether something that is no directory is at a path.
func (g *Repository) inTheWay(path string) bool {
	info, err := os.Lstat(filepath.Join(g.top, filepath.FromSlash(path)))
	return err == nil && !info.IsDir()
}

// Settle finishes, or takes back, what a process of ours that is gone has left half
// done in this work tree. Everything that changes something here does it first.
func (g *Repository) Settle(ctx context.Context) error {
	dir, err := g.gitDir(ctx)
	if err != nil {
		return err
	}
	if _, err := g.settleIndex(ctx, dir); err != nil {
		return err
	}
	return g.settleSwitch(ctx, dir)
}
