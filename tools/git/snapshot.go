package git

import "context"

// Snapshot is what a work tree is at, and holds.
type Snapshot struct {
	Head Head
	// Tree is the tree of all that the work tree holds, committed or not, files that
	// git does not know included and ignored ones not, as Checkpoint takes it. Two
	// snapshots with one tree hold the same files with the same content.
	Tree string
}

// Snapshot looks at all that the work tree holds, but for the paths in except, which are
// relative to the top. Neither index nor refs nor files are different afterwards; the
// objects that it makes are kept by nothing, and git clears them up in time.
func (g *Repository) Snapshot(ctx context.Context, except []string) (*Snapshot, error) {
	g = g.operation()
	x, err := g.copyIndex(ctx)
	if err != nil {
		return nil, err
	}
	defer x.close()
	if err := x.uncover(ctx); err != nil {
		return nil, err
	}
	s := &Snapshot{}
	if s.Head, err = g.Head(ctx); err != nil {
		return nil, err
	}
	if err := x.takeAll(ctx); err != nil {
		return nil, err
	}
	if len(except) > 0 {
		if _, err := x.run(ctx, []string{"update-index", "--force-remove", "-z", "--stdin"}, list(except)); err != nil {
			return nil, err
		}
	}
	s.Tree, err = x.writeTree(ctx)
	return s, err
}
