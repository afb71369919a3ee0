package git

import (
	"context"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// Head is where a work tree is.
type Head struct {
	// Ref is the full name of the branch, or "HEAD" when none is checked out.
	Ref string
	// ID is the commit; empty on a branch that has none yet.
	ID string
}

// Branch is the branch's short name; empty when none is checked out.
func (h Head) Branch() string {
	name, ok := strings.CutPrefix(h.Ref, branchPrefix)
	if !ok {
		return ""
	}
	return name
}

const branchPrefix = "refs/heads/"

// Head looks where the work tree is.
func (g *Repository) Head(ctx context.Context) (Head, error) {
	out, err := g.run(ctx, []string{"symbolic-ref", "-q", "HEAD"}, &RunOptions{OKCodes: []int{1}})
	if err != nil {
		return Head{}, err
	}
	head := Head{Ref: strings.TrimSuffix(string(out.Stdout), "\n")}
	if head.Ref == "" {
		head.Ref = "HEAD"
	}
	head.ID, _, err = g.lookup(ctx, "HEAD", "commit")
	return head, err
}

// lookup returns the id of what a name stands for, as an object of that kind.
func (g *Repository) lookup(ctx context.Context, name, kind string) (id string, ok bool, err error) {
	out, err := g.run(ctx, []string{"rev-parse", "-q", "--verify", "--end-of-options", name + "^{" + kind + "}"}, &RunOptions{OKCodes: []int{1}})
	if err != nil {
		return "", false, err
	}
	id = strings.TrimSpace(string(out.Stdout))
	return id, id != "", nil
}

// refChange is a ref that is about to point elsewhere.
type refChange struct {
	ref           string
	before, after string // ids; empty is that there is no such ref
	message       string // for the log of refs; empty: none is written
	who           Identity
}

func (g *Repository) witness(c refChange) tools.Witness {
	return tools.Witness{Ref: c.ref, Repository: g.top, Before: seen(c.before), After: seen(c.after)}
}

func seen(id string) tools.Seen { return tools.Seen{Exists: id != "", ID: id} }

// move points the ref elsewhere if it is where it was. CodeGitRef: it is not. Once
// begun, a call that is given up does not stop it: whether it had happened would be
// anybody's guess.
func (g *Repository) move(ctx context.Context, c refChange) error {
	if err := ctx.Err(); err != nil {
		return tools.AsError(err)
	}
	ctx = context.WithoutCancel(ctx)
	opts := &RunOptions{Env: c.who.environment()}
	args := []string{"update-ref"}
	if c.message != "" {
		args = append(args, "-m", c.message)
	} else {
		opts.Config = []string{"core.logAllRefUpdates=false"}
	}
	if c.after == "" {
		args = append(args, "-d", c.ref, c.before)
	} else {
		args = append(args, c.ref, c.after, c.before)
	}
	_, err := g.run(ctx, args, opts)
	if err == nil {
		return nil
	}
	now, _, lookErr := g.lookup(ctx, c.ref, "object")
	switch {
	case lookErr != nil || now == c.before:
		return err
	case now == c.after:
		return nil // done, whatever became of git then
	}
	return tools.Errorf(tools.CodeGitRef, "%s has moved to %s in the meantime; nothing was changed: %w", c.ref, orNothing(now), err)
}

func orNothing(id string) string {
	if id == "" {
		return "nothing"
	}
	return id
}
