package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

var (
	// WorktreeLimit bounds the linked worktrees of a repository. Those of task
	// workspaces are counted apart from the others.
	WorktreeLimit = tools.Limit{Name: "worktrees", Default: 4, Hard: 16}
	// LockReasonLimit bounds the reason for a lock, in bytes.
	LockReasonLimit = tools.Limit{Name: "reason", Default: 256, Hard: 256}
)

// WorkspaceLock begins the reasons for which worktrees of task workspaces are locked.
const WorkspaceLock = "prism-workspace:"

// LinkedWorktree is one work tree of a repository, the main one or a linked one.
type LinkedWorktree struct {
	// Path is the absolute path of its top directory, as git has it.
	Path string
	// Branch is the full name of what is checked out; empty when that is no branch.
	Branch string
	// ID is the commit that it is at; empty on a branch that has none, and for a
	// bare repository.
	ID     string
	Main   bool
	Bare   bool
	Locked bool
	// LockReason is empty when none was given.
	LockReason string
	// Missing says why git thinks that it is gone; empty: it is there.
	Missing string
}

// LinkedWorktrees lists the work trees of the repository, the main one first.
func (g *Repository) LinkedWorktrees(ctx context.Context) ([]LinkedWorktree, error) {
	out, err := g.run(ctx, []string{"worktree", "list", "--porcelain", "-z"}, nil)
	if err != nil {
		return nil, err
	}
	var all []LinkedWorktree
	for _, line := range fields(out.Stdout) {
		key, value, _ := strings.Cut(line, " ")
		if key == "worktree" {
			all = append(all, LinkedWorktree{Path: filepath.FromSlash(value), Main: len(all) == 0})
			continue
		}
		if len(all) > 0 {
			all[len(all)-1].set(key, value)
		}
	}
	return all, nil
}

func (w *LinkedWorktree) set(key, value string) {
	switch key {
	case "HEAD":
		if strings.Trim(value, "0") != "" {
			w.ID = value
		}
	case "branch":
		w.Branch = value
	case "bare":
		w.Bare = true
	case "locked":
		w.Locked, w.LockReason = true, value
	case "prunable":
		w.Missing = value
		if value == "" {
			w.Missing = "git does not say why"
		}
	}
}

// AddOptions say what a new worktree is to be.
type AddOptions struct {
	// Branch is the short name of the branch to check out. A branch that is there is
	// taken if nobody else has it checked out; Start must be empty then. Otherwise it
	// is made. Empty: Start is checked out without a branch.
	Branch string
	// Start is what to begin at; empty: HEAD.
	Start string
	// LockReason, when it is not empty, locks the worktree from the first moment.
	LockReason string
	// Limit bounds the worktrees of its kind: that of the runner, at most 16.
	Limit int64
}

// AddWorktree makes a linked worktree at path, which must be absolute and not there
// yet; directories that are missing on the way are made. The user's configuration stays as
// it is: nothing is tracked. Codes: CodeGitRef (the branch's name, where it begins, or
// that another worktree has it), CodeExists, CodeNotFound, CodeLimit (too many
// worktrees), CodeGitLFS (a file would need a filter that the host has not allowed).
func (g *Repository) AddWorktree(ctx context.Context, path string, opts *AddOptions) (*LinkedWorktree, error) {
	if opts == nil {
		opts = &AddOptions{}
	}
	path, err := g.addable(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	plan, err := g.planWorktree(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	if err := g.refuseFilters(ctx, plan.id, nil); err != nil {
		return nil, err
	}
	if err := tools.Planned(ctx, plan.witnesses); err != nil {
		return nil, err
	}
	// Else git may write into the user's configuration that its paths are relative.
	if _, err := g.run(ctx, plan.args, &RunOptions{Timeout: longTime, Config: []string{"worktree.useRelativePaths=false"}}); err != nil {
		return nil, g.unadd(ctx, path, plan, err)
	}
	return g.FindWorktree(ctx, path)
}

// unadd takes back what a failed AddWorktree has left, and returns why it failed. git
// itself takes the directory back, unless it was killed, but never the new branch.
func (g *Repository) unadd(ctx context.Context, path string, plan *worktreePlan, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockWait)
	defer cancel()
	_, err := g.FindWorktree(ctx, path)
	switch {
	case err == nil:
		return errors.Join(why, tools.Errorf(tools.CodeGitConflict, "git was stopped in the middle, and %s is left unfinished; remove it with force", DisplayPath(path)))
	case !errors.Is(err, tools.CodeNotFound):
		return errors.Join(why, err)
	case plan.created == nil:
		return why
	}
	if now, ok, err := g.lookup(ctx, plan.created.ref, "commit"); err != nil || !ok || now != plan.id {
		return joined(why, err) // it was not made, or is somebody else's by now
	}
	return joined(why, g.move(ctx, refChange{ref: plan.created.ref, before: plan.id}))
}

// addable checks everything but refs, and returns the path as git will have it.
func (g *Repository) addable(ctx context.Context, path string, opts *AddOptions) (string, error) {
	if !filepath.IsAbs(path) {
		return "", tools.Errorf(tools.CodeToolInput, "the worktree's path is %q, must be absolute", path)
	}
	if err := checkReason(opts.LockReason); err != nil {
		return "", err
	}
	parent, err := resolveMissing(filepath.Dir(filepath.Clean(path)))
	if err != nil {
		return "", tools.Errorf(tools.AsError(err).Code, "the directory that %s is to be in cannot be had: %w", path, err)
	}
	path = filepath.Join(parent, filepath.Base(path))
	if _, err := os.Lstat(path); err == nil {
		return "", tools.Errorf(tools.CodeExists, "%s exists already; a worktree needs a place of its own", path)
	}
	all, err := g.LinkedWorktrees(ctx)
	if err != nil {
		return "", err
	}
	most := opts.Limit
	if most == 0 {
		most = g.runner.options.Worktrees
	}
	if most, err = WorktreeLimit.Option(most); err != nil {
		return "", err
	}
	ofWorkspace := strings.HasPrefix(opts.LockReason, WorkspaceLock)
	count := int64(0)
	for _, w := range all {
		if w.Path == path {
			return "", tools.Errorf(tools.CodeExists, "a worktree at %s is on record, and its directory is gone (%s); remove it first", path, w.Missing)
		}
		if !w.Main && strings.HasPrefix(w.LockReason, WorkspaceLock) == ofWorkspace {
			count++
		}
	}
	if count >= most {
		return "", tools.Errorf(tools.CodeLimit, "the repository has %d linked worktrees, at most %d are possible; remove one first", count, most)
	}
	return path, nil
}

// resolveMissing follows the links of a directory as far as it exists. What is missing
// of it is made with the worktree, as git worktree add does.
func resolveMissing(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
		return real, err
	}
	if _, err := os.Lstat(dir); err == nil {
		return "", tools.Errorf(tools.CodeNotFound, "%s is a link that leads nowhere", dir)
	}
	parent, err := resolveMissing(filepath.Dir(dir))
	return filepath.Join(parent, filepath.Base(dir)), err
}

// worktreePlan is a worktree that can be made.
type worktreePlan struct {
	args      []string
	id        string
	created   *refChange // the branch that is made for it, or nil
	witnesses []tools.Witness
}

func (g *Repository) planWorktree(ctx context.Context, path string, opts *AddOptions) (*worktreePlan, error) {
	args := []string{"worktree", "add", "-q"}
	if opts.LockReason != "" {
		args = append(args, "--lock", "--reason", opts.LockReason)
	}
	start := opts.Start
	if start == "" {
		start = "HEAD"
	}
	plan := &worktreePlan{}
	exists := false
	var err error
	if opts.Branch != "" {
		if plan.id, exists, err = g.branchAt(ctx, opts.Branch); err != nil {
			return nil, err
		}
	}
	switch {
	case exists && opts.Start != "":
		return nil, tools.Errorf(tools.CodeGitRef, "the branch %s exists already; leave out where it is to begin to check it out, or choose another name", opts.Branch)
	case exists:
		if err := g.notCheckedOut(ctx, opts.Branch); err != nil {
			return nil, err
		}
		args = append(args, "--", path, opts.Branch)
	default:
		if plan.id, err = g.Resolve(ctx, start); err != nil {
			return nil, err
		}
		if opts.Branch == "" {
			args = append(args, "--detach", "--", path, plan.id)
			break
		}
		args = append(args, "--no-track", "-b", opts.Branch, "--", path, plan.id)
		plan.created = &refChange{ref: branchPrefix + opts.Branch, after: plan.id}
		plan.witnesses = append(plan.witnesses, g.witness(*plan.created))
	}
	plan.args = args
	plan.witnesses = append(plan.witnesses, tools.Witness{Ref: "HEAD", Repository: path, After: seen(plan.id)})
	return plan, nil
}

// notCheckedOut refuses a branch that some work tree has.
func (g *Repository) notCheckedOut(ctx context.Context, branch string) error {
	all, err := g.LinkedWorktrees(ctx)
	if err != nil {
		return err
	}
	for _, w := range all {
		if w.Branch == branchPrefix+branch {
			return tools.Errorf(tools.CodeGitRef, "the branch %s is checked out at %s", branch, w.Path)
		}
	}
	return nil
}

// FindWorktree returns the work tree whose top directory is path. CodeNotFound: it
// is none of this repository's.
func (g *Repository) FindWorktree(ctx context.Context, path string) (*LinkedWorktree, error) {
	all, err := g.LinkedWorktrees(ctx)
	if err != nil {
		return nil, err
	}
	path = filepath.Clean(path)
	if parent, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(parent, filepath.Base(path))
	}
	if i := slices.IndexFunc(all, func(w LinkedWorktree) bool { return w.Path == path }); i >= 0 {
		return &all[i], nil
	}
	return nil, tools.Errorf(tools.CodeNotFound, "%s is no worktree of this repository", path)
}

// linked is FindWorktree for what only a linked worktree takes.
func (g *Repository) linked(ctx context.Context, path string) (*LinkedWorktree, error) {
	w, err := g.FindWorktree(ctx, path)
	if err == nil && w.Main {
		return nil, tools.Errorf(tools.CodeToolInput, "%s is the main worktree, which is neither locked nor removed", path)
	}
	return w, err
}

// LockWorktree keeps a linked worktree from being removed or forgotten. A reason may
// be empty. CodeExists: it is locked already, for the reason that the error names.
func (g *Repository) LockWorktree(ctx context.Context, path, reason string) error {
	if err := checkReason(reason); err != nil {
		return err
	}
	w, err := g.linked(ctx, path)
	if err != nil {
		return err
	}
	if w.Locked {
		return tools.Errorf(tools.CodeExists, "%s is locked already%s", w.Path, because(w))
	}
	args := []string{"worktree", "lock"}
	if reason != "" {
		args = append(args, "--reason", reason)
	}
	_, err = g.run(ctx, append(args, "--", w.Path), nil)
	return err
}

// UnlockWorktree takes the lock of a linked worktree away. CodeNotFound: it has none.
func (g *Repository) UnlockWorktree(ctx context.Context, path string) error {
	w, err := g.linked(ctx, path)
	if err != nil {
		return err
	}
	if !w.Locked {
		return tools.Errorf(tools.CodeNotFound, "%s is not locked", w.Path)
	}
	_, err = g.run(ctx, []string{"worktree", "unlock", "--", w.Path}, nil)
	return err
}

func because(w *LinkedWorktree) string {
	if w.LockReason == "" {
		return ""
	}
	return ": " + w.LockReason
}

func checkReason(reason string) error {
	if int64(len(reason)) > LockReasonLimit.Hard {
		return tools.Errorf(tools.CodeToolInput, "the reason has %d bytes, at most %d are possible", len(reason), LockReasonLimit.Hard)
	}
	if strings.ContainsFunc(reason, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return tools.Errorf(tools.CodeToolInput, "the reason %q must be one line without control characters", reason)
	}
	return nil
}

// longTime is for commands that write a whole work tree.
const longTime = 10 * time.Minute
