package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// git can be told to take files for unchanged without a look (git-update-index(1),
// --assume-unchanged and --skip-worktree), as people do with settings of their own. A
// status then says nothing of what such a file holds, and it is theirs all the same.

// hiddenPaths are those of the index that git takes for unchanged. A file that a sparse
// checkout has left out, and that is not there, is none.
func (x *privateIndex) hiddenPaths(ctx context.Context) (assumed, skipped []string, err error) {
	out, err := x.run(ctx, []string{"ls-files", "-z", "-v"}, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range fields(out.Stdout) {
		tag, path, _ := strings.Cut(entry, " ")
		if tag != strings.ToUpper(tag) {
			assumed = append(assumed, path)
		}
		if strings.EqualFold(tag, "S") && x.repository.there(path) {
			skipped = append(skipped, path)
		}
	}
	return assumed, skipped, nil
}

// there reports whether anything is at a path.
func (g *Repository) there(path string) bool {
	_, err := os.Lstat(filepath.Join(g.top, filepath.FromSlash(path)))
	return err == nil
}

// uncover makes this copy of the index look at all files that are there. It must not
// take the place of the work tree's own.
func (x *privateIndex) uncover(ctx context.Context) error {
	assumed, skipped, err := x.hiddenPaths(ctx)
	if err != nil {
		return err
	}
	for flag, paths := range map[string][]string{"--no-assume-unchanged": assumed, "--no-skip-worktree": skipped} {
		if len(paths) == 0 {
			continue
		}
		if _, err := x.run(ctx, []string{"update-index", flag, "-z", "--stdin"}, list(paths)); err != nil {
			return err
		}
	}
	return nil
}
