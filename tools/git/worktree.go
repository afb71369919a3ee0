package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// WorkTree reports the top directory of the git work tree that dir lies in.
// Where no directory from dir upwards holds a ".git", the answer is ok=false
// without starting a process. It fails with [tools.CodeGitFailed] when there
// is one but git does not accept it; for a work tree that another user owns
// the message says how to allow it. The answer is not cached here.
func (r *Runner) WorkTree(ctx context.Context, dir string) (top string, ok bool, err error) {
	answer, ok, err := r.workTree(ctx, dir)
	if !ok || err != nil {
		return "", false, err
	}
	top, err = topOf(strings.TrimSuffix(answer, "\n"))
	return top, err == nil, err
}

// Index is WorkTree for who also wants the path of the index file, which need not be
// there: both cost one process.
func (r *Runner) Index(ctx context.Context, dir string) (top, index string, ok bool, err error) {
	question := []string{"--git-path", "index"}
	answer, ok, err := r.workTree(ctx, dir, question...)
	if !ok || err != nil {
		return "", "", false, err
	}
	top, index, _ = strings.Cut(strings.TrimSuffix(answer, "\n"), "\n")
	if strings.Contains(index, "\n") {
		// One of the two has a line break in it, so each is asked for alone.
		if top, ok, err = r.WorkTree(ctx, dir); !ok || err != nil {
			return "", "", false, err
		}
		out, err := r.run(ctx, dir, slices.Concat([]string{"rev-parse"}, question), &RunOptions{})
		if err != nil {
			return "", "", false, err
		}
		index = strings.TrimSuffix(string(out.Stdout), "\n")
	} else if top, err = topOf(top); err != nil {
		return "", "", false, err
	}
	if index = filepath.FromSlash(index); !filepath.IsAbs(index) {
		index = filepath.Join(dir, index)
	}
	return top, index, true, nil
}

// workTree returns what git says of a work tree's top, and then of more.
func (r *Runner) workTree(ctx context.Context, dir string, more ...string) (answer string, ok bool, err error) {
	holder, found := Holder(dir)
	if !found {
		return "", false, nil
	}
	if err := r.checkOwner(holder); err != nil {
		return "", false, err
	}
	if rel, err := filepath.Rel(holder, dir); err != nil || tools.IsGitInternalPath(filepath.ToSlash(rel)) {
		return "", false, nil
	}
	out, err := r.run(ctx, dir, slices.Concat([]string{"rev-parse", "--is-inside-work-tree", "--show-toplevel"}, more), &RunOptions{})
	if err != nil {
		return "", false, err
	}
	inside, answer, _ := strings.Cut(string(out.Stdout), "\n")
	return answer, inside == "true", nil
}

func topOf(printed string) (string, error) {
	top := filepath.FromSlash(printed)
	if _, err := os.Lstat(filepath.Join(top, ".git")); err != nil {
		// core.worktree can point anywhere, also above the repository.
		return "", tools.Errorf(tools.CodeGitFailed, "the repository's core.worktree names %q, which has no .git of its own", top)
	}
	return top, nil
}

// Holder returns the nearest directory, from dir upwards, that holds an entry
// named ".git". It is a look at the file system only: a few lstat(2) calls.
func Holder(dir string) (string, bool) {
	for {
		_, err := os.Lstat(filepath.Join(dir, ".git"))
		if err == nil {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return "", false
		}
		dir = parent
	}
}

// checkOwner refuses, before git does, a work tree that belongs to somebody
// else, because git's own refusal can only be told apart by its wording.
func (r *Runner) checkOwner(holder string) error {
	if slices.Contains(r.options.SafeDirectories, "*") || slices.Contains(r.options.SafeDirectories, holder) {
		return nil
	}
	owner, foreign := foreignOwner(holder, filepath.Join(holder, ".git"))
	if !foreign {
		return nil
	}
	return tools.Errorf(tools.CodeGitFailed,
		"the repository at %s belongs to user %d, and git does not trust the repositories of others; add it to the safe directories to use it", holder, owner)
}

// CheckRef refuses a ref or name that git could take for an option or that
// cannot be one: empty, beginning with a dash, with control characters.
func CheckRef(ref string) error {
	if ref == "" || ref[0] == '-' || strings.ContainsFunc(ref, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return tools.Errorf(tools.CodeToolInput, "%q is not a ref: must not be empty, begin with a dash or hold control characters", ref)
	}
	return nil
}

// Find returns the first git on a PATH-like list of directories that is an
// absolute path and lies in none of the excluded roots, where a repository
// could have put it. Symbolic links are followed before the comparison.
func Find(pathList string, exclude ...string) (string, error) {
	for _, dir := range filepath.SplitList(pathList) {
		if !filepath.IsAbs(dir) {
			continue
		}
		candidate, err := filepath.EvalSymlinks(filepath.Join(dir, executableName))
		if err != nil || !isExecutable(candidate) || slices.ContainsFunc(exclude, func(root string) bool { return within(root, candidate) }) {
			continue
		}
		return candidate, nil
	}
	return "", tools.Errorf(tools.CodeGitFailed, "no git on the path outside the workspace")
}

func within(root, path string) bool {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
