package taskspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools/git"
)

// pinRef is where what a cleanup took out of a repository is kept, until the workspace
// is removed.
func pinRef(space *Space, wt *Worktree) string {
	return "refs/prism/workspaces/" + space.ID + "/" + wt.RepositoryID
}

// staying are the arguments for everything that refs lead to which do not go with the
// work tree, with those of prism-ls's own left out.
func staying() []string {
	return []string{"--single-worktree", "--not", "--exclude=refs/prism/*", "--all"}
}

// lost returns the tips of the commits that only this work tree leads to: its HEAD and
// what HEAD was, its own refs, and what an earlier cleanup had pinned.
func (h *held) lost(ctx context.Context, wt *Worktree, f *facts) ([]string, error) {
	candidates, err := h.candidates(ctx, wt, f)
	if err != nil || len(candidates) == 0 {
		return nil, err
	}
	args := append([]string{"rev-list", "--parents", fmt.Sprintf("--max-count=%d", h.m.limits.SavedCommits+1)}, staying()...)
	opts := &git.RunOptions{Stdin: []byte(strings.Join(candidates, "\n") + "\n"), MaxOutput: 64 << 20}
	out, err := h.m.git.Run(ctx, wt.Repository, append(args, "--not", "--stdin"), opts)
	if err != nil {
		return nil, err
	}
	list, below := []string{}, map[string]bool{}
	for line := range strings.Lines(string(out.Stdout)) {
		ids := strings.Fields(line)
		list = append(list, ids[0])
		for _, id := range ids[1:] {
			below[id] = true
		}
	}
	if n := int64(len(list)); n > h.m.limits.SavedCommits {
		return nil, over("commits of repository "+wt.RepositoryID+" that are on no branch", n, h.m.limits.SavedCommits)
	}
	return slices.DeleteFunc(list, func(id string) bool { return below[id] }), nil
}

// pinned reports whether all of the tips lead from what was saved last.
func (wt *Worktree) pinned(tips []string) bool {
	pin := ""
	for _, saved := range wt.Saved {
		if saved.Pin != "" {
			pin = saved.Pin
		}
	}
	return len(tips) == 1 && tips[0] == pin
}

// candidates are the commits that the work tree itself names, those that are there.
func (h *held) candidates(ctx context.Context, wt *Worktree, f *facts) ([]string, error) {
	admin := adminDir(f.common, f.admin)
	var ids []string
	for _, name := range []string{"HEAD", "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "AUTO_MERGE", filepath.Join("logs", "HEAD")} {
		data, err := os.ReadFile(filepath.Join(admin, name))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		for line := range strings.Lines(string(data)) {
			fields := strings.Fields(line)
			ids = append(ids, fields[:min(2, len(fields))]...) // a log has the old and the new one
		}
	}
	for _, dir := range []string{"rebase-merge", "rebase-apply"} {
		for _, name := range []string{"orig-head", "onto", "head-name", "stopped-sha"} {
			text, _, err := readLine(filepath.Join(admin, dir, name))
			if err != nil {
				return nil, err
			}
			ids = append(ids, text)
		}
	}
	if _, err := os.Stat(filepath.Join(admin, "refs")); err == nil && f.head != "" {
		out, err := h.m.git.Run(ctx, f.at, []string{"for-each-ref", "--format=%(objectname)", "refs/worktree", "refs/bisect", "refs/rewritten"}, nil)
		if err != nil {
			return nil, err
		}
		ids = append(ids, strings.Fields(string(out.Stdout))...)
	}
	pin, err := h.m.refID(ctx, wt.Repository, pinRef(h.space, wt))
	if err != nil {
		return nil, err
	}
	ids = append(ids, f.head, pin)
	ids = slices.DeleteFunc(ids, func(id string) bool { return !git.IsID(id) || strings.Trim(id, "0") == "" })
	slices.Sort(ids)
	return h.commits(ctx, wt.Repository, slices.Compact(ids))
}

// commits keeps of the objects the commits that are there.
func (h *held) commits(ctx context.Context, repository string, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	opts := &git.RunOptions{Stdin: []byte(strings.Join(ids, "\n") + "\n"), MaxOutput: 64 << 20}
	out, err := h.m.git.Run(ctx, repository, []string{"cat-file", "--batch-check=%(objectname) %(objecttype)"}, opts)
	if err != nil {
		return nil, err
	}
	var list []string
	for line := range strings.Lines(string(out.Stdout)) {
		if id, kind, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); kind == "commit" {
			list = append(list, id)
		}
	}
	return list, nil
}

// indexed is a work tree's index, to be asked for with these arguments of git.
type indexed struct {
	dir, head string
	env       []string
}

// stagedBlobs are the objects of the index that HEAD does not have.
func (h *held) stagedBlobs(ctx context.Context, in *indexed) ([]string, error) {
	args := []string{"diff-index", "--cached", "--raw", "--no-renames", "--no-abbrev", "-z", in.head}
	opts := &git.RunOptions{Env: in.env, MaxOutput: 64 << 20}
	unmerged, err := h.m.git.Run(ctx, in.dir, []string{"ls-files", "-u", "-z"}, opts)
	if err != nil {
		return nil, err
	}
	var blobs []string
	for entry := range strings.SplitSeq(string(unmerged.Stdout), "\x00") {
		if fields := strings.Fields(entry); len(fields) > 2 && fields[0] != "160000" {
			blobs = append(blobs, fields[1])
		}
	}
	if in.head == "" {
		args = []string{"ls-files", "-s", "-z"}
	}
	out, err := h.m.git.Run(ctx, in.dir, args, opts)
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(string(out.Stdout), "\x00") {
		fields := strings.Fields(entry)
		switch {
		case in.head == "" && len(fields) > 2 && fields[0] != "160000":
			blobs = append(blobs, fields[1])
		case strings.HasPrefix(entry, ":") && len(fields) > 4 && fields[1] != "160000" && strings.Trim(fields[3], "0") != "":
			blobs = append(blobs, fields[3])
		}
	}
	slices.Sort(blobs)
	return slices.Compact(blobs), nil
}

// pin makes a commit that leads to the tips and holds the blobs, and a ref to it.
func (h *held) pin(ctx context.Context, wt *Worktree, tips, blobs []string) (string, error) {
	var entries strings.Builder
	for _, blob := range blobs {
		fmt.Fprintf(&entries, "100644 blob %s\t%s\x00", blob, blob)
	}
	out, err := h.m.git.Run(ctx, wt.Repository, []string{"mktree", "-z"}, &git.RunOptions{Stdin: []byte(entries.String())})
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", strings.TrimSpace(string(out.Stdout)), "-m", "What cleaning up " + wt.RepositoryID + " of " + h.space.ID + " took away"}
	for _, tip := range tips {
		args = append(args, "-p", tip)
	}
	// It is no work of anybody's, and is made whether or not an identity is known.
	const name, address = "prism-ls", "prism-ls@localhost"
	opts := &git.RunOptions{Env: []string{
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + address, "GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + address,
	}}
	if out, err = h.m.git.Run(ctx, wt.Repository, args, opts); err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(out.Stdout))
	old, err := h.m.refID(ctx, wt.Repository, pinRef(h.space, wt))
	if err != nil {
		return "", err
	}
	return id, h.m.updateRef(ctx, wt.Repository, pinRef(h.space, wt), id, old)
}
