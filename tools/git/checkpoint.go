package git

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// CheckpointPrefix begins the full names of the refs that keep checkpoints.
const CheckpointPrefix = "refs/prism/checkpoints/"

// Checkpoint is a commit, on no branch, of all that a work tree held: what is
// committed, what is not, also where git was told not to look (git-update-index(1),
// --assume-unchanged), and files that it does not know, but for ignored ones. Its first
// parent is where the work tree was, and its second the index as it was then, so that it
// has the form of a stash, too. Files that were changed go into it as they
// are on disk, through no filter but those that the host allows, with the line ends and
// the encoding that the repository keeps them in. Of a repository inside the work tree
// it has at most the commit that this was at, and nothing of a stranger's that git does
// not know.
type Checkpoint struct {
	// ID is the last part of Ref, and what callers name a checkpoint by.
	ID string
	// Ref is the full name of the ref that keeps it.
	Ref string
	// Commit and Tree are its objects.
	Commit string
	Tree   string
	// Head is where the work tree was.
	Head Head
	// Paths are those, from the top, at which something was not committed, sorted.
	Paths []string
}

// CheckpointOptions adjust Checkpoint; nil means the defaults.
type CheckpointOptions struct {
	// Note is the first line of its message; empty: one that says what it is.
	Note string
}

// Checkpoint saves all that the work tree holds. Neither the work tree nor its index
// nor any branch is different afterwards. CodeGitIdentity: there is nobody to make a
// commit.
func (g *Repository) Checkpoint(ctx context.Context, opts *CheckpointOptions) (*Checkpoint, error) {
	g = g.operation()
	who, err := g.runner.Identity(ctx, g.top)
	if err != nil {
		return nil, err
	}
	c, err := g.prepareCheckpoint(ctx, who, opts)
	if err != nil {
		return nil, err
	}
	if err := g.planned(ctx, c); err != nil {
		return nil, err
	}
	return c, g.keep(ctx, c, who)
}

// prepareCheckpoint makes a checkpoint's objects, which nothing refers to yet.
func (g *Repository) prepareCheckpoint(ctx context.Context, who Identity, opts *CheckpointOptions) (*Checkpoint, error) {
	x, err := g.copyIndex(ctx)
	if err != nil {
		return nil, err
	}
	defer x.close()
	if err := x.uncover(ctx); err != nil {
		return nil, err
	}
	c := &Checkpoint{ID: checkpointID(time.Now())}
	c.Ref = CheckpointPrefix + c.ID
	return c, g.collect(ctx, x, c, who, note(opts))
}

// planned tells whoever keeps account that refs are about to move; checkpoint may be nil.
func (g *Repository) planned(ctx context.Context, checkpoint *Checkpoint, changes ...refChange) error {
	var witnesses []tools.Witness
	if checkpoint != nil {
		w := g.witness(refChange{ref: checkpoint.Ref, after: checkpoint.Commit})
		w.Aside = len(changes) > 0
		witnesses = append(witnesses, w)
	}
	for _, change := range changes {
		witnesses = append(witnesses, g.witness(change))
	}
	return tools.Planned(ctx, witnesses)
}

// keep makes the ref of a checkpoint, if there is one.
func (g *Repository) keep(ctx context.Context, checkpoint *Checkpoint, who Identity) error {
	if checkpoint == nil {
		return nil
	}
	return g.move(ctx, refChange{ref: checkpoint.Ref, after: checkpoint.Commit, who: who})
}

// unkeep drops the checkpoint of a change that has failed, so that nothing is left of
// it, and returns why it failed.
func (g *Repository) unkeep(ctx context.Context, checkpoint *Checkpoint, why error) error {
	if checkpoint == nil {
		return why
	}
	// The call may have been given up; its remains are taken away all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockWait)
	defer cancel()
	return errors.Join(why, g.move(ctx, refChange{ref: checkpoint.Ref, before: checkpoint.Commit}))
}

// collect makes the checkpoint's objects.
func (g *Repository) collect(ctx context.Context, x *privateIndex, c *Checkpoint, who Identity, message string) (err error) {
	if c.Head, err = g.Head(ctx); err != nil {
		return err
	}
	if c.Paths, err = x.dirt(ctx); err != nil {
		return err
	}
	var parents []string
	if c.Head.ID != "" {
		parents = append(parents, c.Head.ID)
		if unmerged, err := x.unmerged(ctx); err != nil {
			return err
		} else if len(unmerged) == 0 { // else the index describes no tree
			staged, err := x.writeTree(ctx)
			if err != nil {
				return err
			}
			index, err := g.commitTree(ctx, &newCommit{tree: staged, parents: parents, who: who, message: "index: " + message})
			if err != nil {
				return err
			}
			parents = append(parents, index)
		}
	}
	if err := x.takeAll(ctx); err != nil {
		return err
	}
	if c.Tree, err = x.writeTree(ctx); err != nil {
		return err
	}
	c.Commit, err = g.commitTree(ctx, &newCommit{tree: c.Tree, parents: parents, who: who, message: message})
	return err
}

// takeAll makes the index say what the work tree has. Line ends that a repository would
// refuse are no reason to leave a file out (core.safecrlf).
func (x *privateIndex) takeAll(ctx context.Context) error {
	paths, err := x.changedInTree(ctx)
	if err != nil {
		return err
	}
	return x.takeWith(ctx, paths, "core.safecrlf=false")
}

// unmerged lists the paths that a merge has left without an answer.
func (x *privateIndex) unmerged(ctx context.Context) ([]string, error) {
	out, err := x.run(ctx, []string{"ls-files", "-z", "--unmerged"}, nil)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, entry := range fields(out.Stdout) {
		_, path, _ := strings.Cut(entry, "\t")
		if len(paths) == 0 || paths[len(paths)-1] != path {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// merged refuses, with CodeGitConflict, an index with such paths.
func (x *privateIndex) merged(ctx context.Context) error {
	paths, err := x.unmerged(ctx)
	if err == nil && len(paths) > 0 {
		err = tools.Errorf(tools.CodeGitConflict, "%d paths are not merged; resolve them and say so with git add first", len(paths))
	}
	return err
}

// newCommit is what a commit object is made of.
type newCommit struct {
	tree    string
	parents []string
	who     Identity
	message string
}

func (g *Repository) commitTree(ctx context.Context, c *newCommit) (string, error) {
	args := []string{"commit-tree"}
	for _, parent := range c.parents {
		args = append(args, "-p", parent)
	}
	out, err := g.run(ctx, append(args, c.tree), &RunOptions{
		Stdin: []byte(c.message + "\n"), Env: c.who.environment(), Config: []string{"i18n.commitEncoding=UTF-8"},
	})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out.Stdout)), nil
}

func note(opts *CheckpointOptions) string {
	if opts == nil || strings.TrimSpace(opts.Note) == "" {
		return "prism-ls checkpoint"
	}
	line, _, _ := strings.Cut(strings.TrimSpace(opts.Note), "\n")
	return strings.ToValidUTF8(line, "\uFFFD")
}

// checkpointID is sorted by time and guessed by nobody.
func checkpointID(now time.Time) string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	return now.UTC().Format("20060102t150405z") + "-" + hex.EncodeToString(random[:])
}

// checkCheckpointID refuses what is not the id of a checkpoint.
func checkCheckpointID(id string) error {
	valid := len(id) > 0 && len(id) <= 64
	for _, c := range id {
		valid = valid && (c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-')
	}
	if !valid {
		return tools.Errorf(tools.CodeToolInput, "%q is not the id of a checkpoint, which looks like 20060102t150405z-0123abcd", id)
	}
	return nil
}

// DropCheckpoint forgets a checkpoint. CodeGitRef: there is none of that id.
func (g *Repository) DropCheckpoint(ctx context.Context, id string) error {
	if err := checkCheckpointID(id); err != nil {
		return err
	}
	ref := CheckpointPrefix + id
	now, ok, err := g.lookup(ctx, ref, "commit")
	if err != nil {
		return err
	}
	if !ok {
		return tools.Errorf(tools.CodeGitRef, "there is no checkpoint %s", id)
	}
	change := refChange{ref: ref, before: now}
	if err := tools.Planned(ctx, []tools.Witness{g.witness(change)}); err != nil {
		return err
	}
	return g.move(ctx, change)
}
