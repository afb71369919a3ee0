package git

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// run lets git do it, on a copy of the index and with what is about to happen on record.
func (s *switching) run(ctx context.Context, who Identity) error {
	x, err := s.g.lockIndex(ctx)
	if err != nil {
		return err
	}
	defer x.close()
	journal, err := s.g.beginSwitch(ctx, s)
	if err != nil {
		return err
	}
	if err = s.checkout(ctx, x, who); err == nil {
		return journal.end()
	}
	// git may have been stopped in the middle: killed, or by a full disk, on which the
	// room that the copy takes is needed.
	_ = os.Remove(x.file)
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), longTime)
	defer cancel()
	if left := journal.settle(cleanup); left != nil {
		_ = journal.file.Close() // the record stays
		return tools.Errorf(tools.AsError(err).Code, "%w; %s is between two branches now, and the next call that changes something tries again to bring it back: %w", err, DisplayPath(s.g.top), left)
	}
	return joined(err, journal.end())
}

// checkout lets git switch on the copy x of the index, which then takes the place of
// the work tree's.
func (s *switching) checkout(ctx context.Context, x *lockedIndex, who Identity) error {
	if err := x.record(pendingChange{Ref: "HEAD", After: s.to.ID}); err != nil {
		return err
	}
	opts := &RunOptions{Timeout: longTime}
	if who != (Identity{}) {
		opts.Env = who.environment()
	}
	name := strings.TrimPrefix(s.to.Ref, branchPrefix)
	out, err := x.with(ctx, []string{"switch", "-q", "--no-guess", "--no-overwrite-ignore", "--no-recurse-submodules", "--", name}, opts)
	// From here on nobody stops it half way, and a git that was stopped when all was done
	// has done it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longTime)
	defer cancel()
	if err != nil {
		if now, lookErr := s.g.Head(ctx); lookErr != nil || now.Ref != s.to.Ref {
			return err
		}
		out = &Output{}
	}
	left, err := s.unwritten(ctx, x.privateIndex)
	if err == nil && len(left) > 0 {
		err = tools.Errorf(tools.CodeGitFailed, "git could not write %d of the files of %s: %s", len(left), name, out.Stderr)
	}
	if err != nil {
		if back := s.headBack(ctx); back != nil {
			err = tools.Errorf(tools.CodeGitFailed, "%w; and HEAD could not be put back, so that %s is checked out without them: %w", err, name, joined(back, x.place(s.to.Ref)))
		}
		return err
	}
	return x.place(s.to.Ref)
}

// unwritten lists the files that are not what the switch was to make of them. git goes on
// when it cannot write one, on a full disk for example, and says that all is well.
func (s *switching) unwritten(ctx context.Context, x *privateIndex) ([]string, error) {
	differ, err := x.changedInTree(ctx)
	if err != nil {
		return nil, err
	}
	var left []string
	var there []treeChange
	for _, c := range s.changes {
		_, differs := slices.BinarySearch(differ, c.path)
		switch {
		case !differs || c.mode == modeSubmodule:
		case c.mode == 0 || !s.g.there(c.path):
			left = append(left, c.path)
		default:
			there = append(there, c)
		}
	}
	// Line ends that are not as the attributes say make a file differ from itself.
	wanted, err := s.g.wanted(ctx, s.to.ID, there)
	if err != nil {
		return nil, err
	}
	defer wanted.close()
	tree, err := os.OpenRoot(s.g.top)
	if err != nil {
		return nil, orCoded(err)
	}
	defer tree.Close()
	for _, c := range there {
		made, err := wanted.made(tree, c.path)
		if err != nil {
			return nil, err
		}
		if !made {
			left = append(left, c.path)
		}
	}
	return left, nil
}

// headBack points HEAD to where it was before the switch.
func (s *switching) headBack(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockWait)
	defer cancel()
	const why = "checkout: taken back"
	args := []string{"symbolic-ref", "-m", why, "HEAD", s.from.Ref}
	if s.from.Ref == "HEAD" {
		args = []string{"update-ref", "-m", why, "--no-deref", "HEAD", s.from.ID, s.to.ID}
	}
	_, err := s.g.run(ctx, args, nil)
	return err
}
