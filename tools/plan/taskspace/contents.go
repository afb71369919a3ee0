package taskspace

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

// contents is what a work tree holds that is in no commit.
type contents struct {
	// files are the paths, from the top, of files and links on disk that are changed, not
	// tracked or ignored, without those that the policy declares to be nobody's.
	files []string
	// ignored of them are ignored.
	ignored int
	// untracked are those of them that are new, and not ignored.
	untracked []string
	// deleted are tracked files that are not on disk.
	deleted []string
	// sparse are tracked files that are not on disk because the work tree is a sparse one.
	sparse []string
	// staged: the index differs from HEAD.
	staged bool
	// underway names a merge, rebase or the like.
	underway string
	// submodules are those with content.
	submodules []string
}

func (c *contents) clean() bool {
	return len(c.files) == 0 && len(c.deleted) == 0 && !c.staged && c.underway == ""
}

// tracked reports whether anything differs that git itself would refuse to remove.
func (c *contents) tracked() bool {
	return len(c.files) > c.ignored || len(c.deleted) > 0 || c.staged
}

// problems words what is in the way of a removal.
func (c *contents) problems(repositoryID string) []Problem {
	var list []Problem
	if !c.clean() {
		list = append(list, Problem{RepositoryID: repositoryID, Code: tools.CodeWorkspaceDirty, Lifts: liftsDirty, Message: c.words()})
	}
	if len(c.submodules) > 0 {
		text := "the submodule " + git.DisplayPath(c.submodules[0]) + " has content, which cannot be saved; deinit it (git submodule deinit) first"
		list = append(list, Problem{RepositoryID: repositoryID, Code: tools.CodeWorkspaceDirty, Message: text})
	}
	return list
}

func (c *contents) words() string {
	var parts []string
	if n := len(c.files) - c.ignored; n > 0 {
		parts = append(parts, plural(n, "file")+" not committed")
	}
	if c.ignored > 0 {
		parts = append(parts, plural(c.ignored, "ignored file"))
	}
	if n := len(c.deleted); n > 0 {
		parts = append(parts, plural(n, "deletion")+" not committed")
	}
	if c.staged {
		parts = append(parts, "staged changes")
	}
	if c.underway != "" {
		parts = append(parts, "a "+c.underway+" under way")
	}
	text := "it holds " + strings.Join(parts, ", ")
	if len(c.files) > 0 {
		text += ", among them " + git.DisplayPath(c.files[0])
	}
	return text
}

// scan finds what a work tree holds. It asks git with an index of its own, made from
// HEAD: the work tree's may say that files are unchanged which are not (git-update-index(1),
// --assume-unchanged and --skip-worktree; a stale cache of untracked files).
func (h *held) scan(ctx context.Context, f *facts, policy *Policy) (*contents, error) {
	c := &contents{underway: underway(adminDir(f.common, f.admin))}
	index, done, err := h.scratch("index")
	if err != nil {
		return nil, err
	}
	defer done()
	private := within(f.at, index)
	if f.head != "" { // else the index is empty, as the commit is
		if _, err := h.m.git.Run(ctx, f.at, []string{"read-tree", "HEAD"}, private); err != nil {
			return nil, err
		}
	}
	out, err := h.m.git.Run(ctx, f.at, []string{"status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching"}, private)
	if err != nil {
		return nil, err
	}
	if err := h.sort(c, f, out.Stdout, policy); err != nil {
		return nil, err
	}
	if err := h.sparse(ctx, f, c); err != nil {
		return nil, err
	}
	if c.staged, err = h.staged(ctx, f); err != nil {
		return nil, err
	}
	places := []*git.RunOptions{private}
	if c.staged { // else it has what HEAD has
		places = append(places, &git.RunOptions{Env: ownTree(f.at), MaxOutput: 64 << 20})
	}
	c.submodules, err = h.submodules(ctx, f, places)
	return c, err
}

// within is for git commands that look at a work tree with an index of their own. What
// the repository's settings could hide is named: another directory than this one, files
// whose names differ in case alone, files that are taken for unchanged.
func within(top, index string) *git.RunOptions {
	return &git.RunOptions{
		Env: append(ownTree(top), "GIT_INDEX_FILE="+index), Timeout: longest, MaxOutput: 64 << 20,
		Config: []string{"core.untrackedCache=false", "core.ignoreStat=false", "core.splitIndex=false", "core.ignoreCase=false"},
	}
}

// ownTree keeps settings from giving a work tree another directory (git-config(1),
// core.worktree).
func ownTree(top string) []string { return []string{"GIT_WORK_TREE=" + top} }

// sort reads git's list (git-status(1), "Porcelain Format Version 1").
func (h *held) sort(c *contents, f *facts, list []byte, policy *Policy) error {
	walked := map[string]bool{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		if len(entry) < 4 {
			continue
		}
		letters, name := entry[:2], entry[3:]
		if letters[1] == 'D' {
			c.deleted = append(c.deleted, name)
			continue
		}
		before := len(c.files)
		walked[strings.TrimSuffix(name, "/")] = true
		if err := h.walk(c, f.at, name, letters == "!!", policy); err != nil {
			return err
		}
		switch letters {
		case "!!":
			c.ignored += len(c.files) - before
		case "??":
			c.untracked = append(c.untracked, c.files[before:]...)
		}
	}
	if err := h.repositories(c, f.at, walked); err != nil {
		return err
	}
	slices.Sort(c.files)
	c.files = slices.Compact(c.files)
	return nil
}

// repositories adds those that somebody has made of tracked directories: git lists
// nothing that is called .git.
func (h *held) repositories(c *contents, top string, walked map[string]bool) error {
	return filepath.WalkDir(top, func(full string, entry fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil // it went meanwhile
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, full)
		switch rel = filepath.ToSlash(rel); {
		case err != nil || rel == ".git":
		case walked[rel]:
		case entry.Name() == ".git":
			err = h.walk(c, top, rel, false, nil)
		default:
			return nil
		}
		if err == nil && entry.IsDir() {
			err = fs.SkipDir
		}
		return err
	})
}

// walk adds a file, or all of a directory, a repository within it included.
func (h *held) walk(c *contents, top, name string, ignored bool, policy *Policy) error {
	name = strings.TrimSuffix(name, "/")
	return filepath.WalkDir(filepath.Join(top, filepath.FromSlash(name)), func(full string, entry fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil // it went meanwhile
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, full)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if ignored && policy.nobodys(rel) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		switch {
		case entry.IsDir():
			if inside, err := os.ReadDir(full); err != nil || len(inside) > 0 {
				return err
			} // an empty one may be what makes a repository of the one above
		case !entry.Type().IsRegular() && entry.Type()&fs.ModeSymlink == 0:
			return nil // it has no content
		}
		if int64(len(c.files)) >= h.m.limits.SavedFiles {
			return over("files that are not committed", int64(len(c.files))+1, h.m.limits.SavedFiles)
		}
		c.files = append(c.files, rel)
		return nil
	})
}

// nobodys reports whether an ignored path is declared to be nobody's work.
func (p *Policy) nobodys(rel string) bool {
	for _, declared := range p.Ignored {
		declared = strings.Trim(declared, "/")
		if strings.Contains(declared, "/") {
			if rel == declared || strings.HasPrefix(rel, declared+"/") {
				return true
			}
			continue
		}
		if slices.Contains(strings.Split(rel, "/"), declared) {
			return true
		}
	}
	return false
}

// sparse takes out of the deleted files those that are not on disk because the work
// tree is a sparse one.
func (h *held) sparse(ctx context.Context, f *facts, c *contents) error {
	if len(c.deleted) == 0 {
		return nil
	}
	out, err := h.m.git.Run(ctx, f.at, []string{"ls-files", "-t", "-z"}, &git.RunOptions{Env: ownTree(f.at), MaxOutput: 64 << 20})
	if err != nil {
		return err
	}
	left := map[string]bool{}
	for entry := range strings.SplitSeq(string(out.Stdout), "\x00") {
		if name, ok := strings.CutPrefix(entry, "S "); ok {
			left[name] = true
		}
	}
	c.deleted = slices.DeleteFunc(c.deleted, func(name string) bool {
		if left[name] {
			c.sparse = append(c.sparse, name)
		}
		return left[name]
	})
	return nil
}

// staged reports whether the work tree's own index differs from HEAD.
func (h *held) staged(ctx context.Context, f *facts) (bool, error) {
	if f.head == "" {
		out, err := h.m.git.Run(ctx, f.at, []string{"ls-files", "-z"}, &git.RunOptions{Env: ownTree(f.at), MaxOutput: 1 << 20, Partial: true})
		return err == nil && len(out.Stdout) > 0, err
	}
	if _, err := os.Stat(filepath.Join(adminDir(f.common, f.admin), "index")); os.IsNotExist(err) {
		return false, nil
	}
	args := []string{"diff-index", "--cached", "--quiet", "--ignore-submodules=none", "HEAD"}
	out, err := h.m.git.Run(ctx, f.at, args, &git.RunOptions{Env: ownTree(f.at), OKCodes: []int{1}, Timeout: longest})
	return err == nil && out.ExitCode == 1, err
}

// submodules finds those that have content, of HEAD and of the index.
func (h *held) submodules(ctx context.Context, f *facts, places []*git.RunOptions) ([]string, error) {
	var found []string
	for _, opts := range places {
		out, err := h.m.git.Run(ctx, f.at, []string{"ls-files", "-s", "-z"}, opts)
		if err != nil {
			return nil, err
		}
		for entry := range strings.SplitSeq(string(out.Stdout), "\x00") {
			name, ok := gitlink(entry)
			if !ok || slices.Contains(found, name) {
				continue
			}
			inside, err := os.ReadDir(filepath.Join(f.at, filepath.FromSlash(name)))
			if err == nil && len(inside) > 0 {
				found = append(found, name)
			}
		}
	}
	if inside, err := os.ReadDir(filepath.Join(adminDir(f.common, f.admin), "modules")); err == nil && len(inside) > 0 && len(found) == 0 {
		found = append(found, inside[0].Name())
	}
	return found, nil
}

func gitlink(entry string) (name string, ok bool) {
	if !strings.HasPrefix(entry, "160000 ") {
		return "", false
	}
	_, name, ok = strings.Cut(entry, "\t")
	return name, ok
}

// underway names what git was asked to do and has not finished (gitrepository-layout(5)).
func underway(admin string) string {
	for _, sign := range [][2]string{
		{"MERGE_HEAD", "merge"}, {"rebase-merge", "rebase"}, {"rebase-apply", "rebase"}, {"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"}, {"sequencer", "cherry-pick"}, {"BISECT_LOG", "bisect"},
	} {
		if _, err := os.Lstat(filepath.Join(admin, sign[0])); err == nil {
			return sign[1]
		}
	}
	return ""
}
