package taskspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// facts are what is found of one work tree.
type facts struct {
	// at is where it is; "" is that it is missing.
	at string
	// common is the repository's directory, admin the name of git's own directory for
	// the work tree, and registered that this directory is there.
	common, admin string
	registered    bool
	locked        bool
	// head is the commit of HEAD, and ref its branch in full or "".
	head, ref string
	problems  []Problem
}

// Names of Policy's fields, as Problem.Lifts has them.
const (
	liftsDirty     = "dirty"
	liftsLocked    = "locked"
	liftsMissing   = "missing"
	liftsUnowned   = "unowned"
	liftsMovedHead = "movedHead"
)

// lifted reports whether the policy lifts a problem.
func (p *Policy) lifted(problem Problem) bool {
	switch problem.Lifts {
	case liftsDirty:
		return p.Dirty
	case liftsLocked:
		return p.Locked
	case liftsMissing:
		return p.Missing
	case liftsUnowned:
		return p.Unowned
	case liftsMovedHead:
		return p.MovedHead
	}
	return false
}

// standing are the problems that no policy, or not this one, lifts.
func (p *Policy) standing(problems []Problem) []Problem {
	var left []Problem
	for _, problem := range problems {
		if !p.lifted(problem) {
			left = append(left, problem)
		}
	}
	return left
}

// inspection collects what is found of a work tree.
type inspection struct {
	m     *Manager
	space *Space
	wt    *Worktree
	facts
}

func (i *inspection) problem(code tools.Code, lifts, format string, args ...any) {
	i.problems = append(i.problems, Problem{RepositoryID: i.wt.RepositoryID, Code: code, Lifts: lifts, Message: fmt.Sprintf(format, args...)})
}

// inspect compares a work tree with its record. What is found to differ is in the
// facts' problems; an error is that it could not be looked at. It changes nothing.
func (m *Manager) inspect(ctx context.Context, space *Space, wt *Worktree) (*facts, error) {
	i := &inspection{m: m, space: space, wt: wt}
	if err := m.contained(space, wt); err != nil {
		i.problem(tools.CodeWorkspacePathEscape, "", "%s", tools.AsError(err).Message)
		return &i.facts, nil
	}
	var err error
	if i.common, err = m.commonDir(ctx, wt.Repository); err != nil {
		if _, statErr := os.Stat(wt.Repository); statErr != nil || gone(err) {
			return &i.facts, i.withoutRepository()
		}
		return nil, err
	}
	if err := i.find(); err != nil {
		return nil, err
	}
	if i.at == "" {
		if i.registered {
			err = i.lock()
		}
		return &i.facts, err
	}
	if err := i.link(); err != nil {
		return nil, err
	}
	if !i.registered {
		return &i.facts, nil
	}
	if err := i.lock(); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(i.at, ".git")); err != nil {
		return &i.facts, nil // found to be a problem, or half removed by us
	}
	return &i.facts, i.position(ctx)
}

// withoutRepository is for a work tree whose repository is gone: what is new in it
// cannot be told, and so it has to be gone, too.
func (i *inspection) withoutRepository() error {
	for _, place := range []string{i.m.leaving(i.space, i.wt), i.wt.Path} {
		switch _, err := os.Lstat(place); {
		case err == nil:
			i.problem(tools.CodeWorkspaceUnknown, "", "its repository is not at %s any more; move that back, or move %s away, which nobody knows then", i.wt.Repository, place)
			return nil
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	i.problem(tools.CodeWorkspaceUnknown, liftsMissing, "its repository is not at %s any more, and the work tree not at %s", i.wt.Repository, i.wt.Path)
	return nil
}

// find looks where the work tree may be.
func (i *inspection) find() error {
	i.admin = i.wt.Admin
	info, err := os.Stat(adminDir(i.common, i.admin))
	i.registered = err == nil && info.IsDir()
	if home := i.m.home(i.space); i.wt.Step != Planned {
		if real, err := filepath.EvalSymlinks(home); err == nil {
			above, err := filepath.EvalSymlinks(i.m.directory)
			if err != nil || real != filepath.Join(above, i.space.ID) {
				i.problem(tools.CodeWorkspacePathEscape, "", "%s leads to %s", home, real)
				return nil
			}
		}
	}
	for _, place := range []string{i.m.leaving(i.space, i.wt), i.wt.Path} {
		identity, there, err := directoryAt(place)
		if errors.Is(err, tools.CodeWorkspacePathEscape) {
			i.problem(tools.CodeWorkspacePathEscape, "", "%s", tools.AsError(err).Message)
			return nil
		}
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		i.at = place
		if i.wt.Directory != "" && identity != "" && identity != i.wt.Directory {
			i.problem(tools.CodeWorkspaceOwnership, liftsUnowned, "the directory at %s is another one than was made", place)
		}
		return nil
	}
	return i.elsewhere()
}

// elsewhere is for a work tree that is not where it was: only if git has it nowhere else
// it is missing.
func (i *inspection) elsewhere() error {
	back, _, err := readLine(filepath.Join(adminDir(i.common, i.admin), "gitdir"))
	if err != nil {
		return err
	}
	if place := filepath.Dir(back); back != "" {
		if _, err := os.Lstat(place); err == nil {
			i.problem(tools.CodeWorkspaceUnknown, "", "the work tree was moved to %s; move it back to %s (git worktree move -f -f)", place, i.wt.Path)
			return nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	i.problem(tools.CodeWorkspaceUnknown, liftsMissing, "the work tree is not at %s any more", i.wt.Path)
	return nil
}

// link follows the work tree to its repository and back.
func (i *inspection) link() error {
	file := filepath.Join(i.at, ".git")
	info, err := os.Lstat(file)
	switch {
	case err == nil && info.IsDir(), sameDirectory(i.at, i.wt.Repository):
		i.registered = false
		i.problem(tools.CodeWorkspaceMain, "", "%s is a repository's main work tree, which is never removed", i.at)
		return nil
	case errors.Is(err, fs.ErrNotExist) && i.wt.Step == Leaving:
		return nil // git was ended while it removed it
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil || !info.Mode().IsRegular():
		i.registered = false
		i.problem(tools.CodeWorkspaceOwnership, "", "%s has no .git that leads to its repository, so that what is new in it cannot be told; move it away", i.at)
		return nil
	}
	text, _, err := readLine(file)
	if err != nil {
		return err
	}
	target, _ := strings.CutPrefix(text, "gitdir: ")
	if !filepath.IsAbs(target) {
		target = filepath.Join(i.at, target)
	}
	switch {
	case sameDirectory(target, adminDir(i.common, i.admin)):
	case sameDirectory(filepath.Dir(target), filepath.Join(i.common, "worktrees")):
		i.admin, i.registered = filepath.Base(target), true
		i.problem(tools.CodeWorkspaceOwnership, liftsUnowned, "the work tree at %s is another one than was made", i.at)
	default:
		i.registered = false
		i.problem(tools.CodeWorkspaceOwnership, "", "%s is not a work tree of the repository at %s", i.at, i.wt.Repository)
		return nil
	}
	if !i.registered {
		i.problem(tools.CodeWorkspaceUnknown, "", "git does not know the work tree at %s any more, so that what is new in it cannot be told; move it away", i.at)
		return nil
	}
	back, _, err := readLine(filepath.Join(adminDir(i.common, i.admin), "gitdir"))
	if err != nil {
		return err
	}
	ours := map[string]bool{i.wt.Path: true, i.m.making(i.space, i.wt): true, i.m.leaving(i.space, i.wt): true}
	if place := filepath.Dir(back); !ours[place] && !sameDirectory(place, i.at) {
		i.problem(tools.CodeWorkspacePathEscape, "", "git has the work tree at %s, and not at %s", place, i.wt.Path)
	}
	return nil
}

// lock looks whether the work tree is locked, and by whom.
func (i *inspection) lock() error {
	reason, locked, err := readLine(filepath.Join(adminDir(i.common, i.admin), "locked"))
	i.locked = locked
	switch {
	case err != nil:
		return err
	case locked && reason != i.wt.LockReason:
		i.problem(tools.CodeWorkspaceLocked, liftsLocked, "the work tree was locked by somebody else: %q", clip(reason))
	case !locked && i.at != "" && i.wt.Step == Made:
		i.problem(tools.CodeWorkspaceOwnership, liftsUnowned, "the work tree is not locked as this workspace's any more")
	}
	return nil
}

// position looks where HEAD is.
func (i *inspection) position(ctx context.Context) (err error) {
	if i.ref, err = i.m.headRef(ctx, i.at); err != nil {
		return err
	}
	if i.head, err = i.m.refID(ctx, i.at, "HEAD"); err != nil {
		return err
	}
	switch {
	case i.head == "":
		i.problem(tools.CodeWorkspaceFingerprint, liftsMovedHead, "its HEAD has no commit; recorded is %s", i.wt.Head)
		return nil
	case i.ref != "refs/heads/"+i.wt.Branch:
		i.problem(tools.CodeWorkspaceFingerprint, liftsMovedHead, "its HEAD is %s, and not the branch %s", orDetached(i.ref), i.wt.Branch)
		return nil
	}
	if i.head == i.wt.Head {
		return nil
	}
	on, err := i.m.ancestor(ctx, i.at, i.wt.Head, i.head)
	if err == nil && !on {
		i.problem(tools.CodeWorkspaceFingerprint, liftsMovedHead, "its branch %s is at %s, which does not lead to the recorded %s", i.wt.Branch, i.head, i.wt.Head)
	}
	return err
}

func orDetached(ref string) string {
	if ref == "" {
		return "detached"
	}
	return ref
}

// cutBranch takes the short name of a branch.
func cutBranch(ref string) (string, bool) { return strings.CutPrefix(ref, "refs/heads/") }

// clip keeps a foreign text to what fits in a message.
func clip(text string) string {
	const most = 200
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
