package taskspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

// patch keeps, for a person to read, what a work tree has that its HEAD does not, as a
// patch that `git apply` takes. It begins with what is left out of it. The archive has
// everything; so where no patch can be made, or the record has no room for its name,
// there is none.
func (h *held) patch(ctx context.Context, wt *Worktree, f *facts, c *contents) (kept *Artifact, cut bool, err error) {
	if f.head == "" || len(c.files) == c.ignored && len(c.deleted) == 0 || !h.roomForPatch() {
		return nil, false, nil
	}
	text, cut, err := h.patchText(ctx, wt, f, c)
	if err != nil {
		if code := tools.AsError(err).Code; ctx.Err() != nil || code != tools.CodeGitFailed && code != tools.CodeTimeout && code != tools.CodeLimit {
			return nil, false, err
		}
		h.m.log.Warn("what a work tree holds is saved, and not as a patch", "repository", wt.RepositoryID, "error", err)
		return nil, false, nil
	}
	kept, err = h.put(ctx, wt.RepositoryID+" patch", func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	return kept, cut, err
}

// roomForPatch leaves room for the names of what has to be saved.
func (h *held) roomForPatch() bool {
	const each = 2 // files and commits
	used := int64(len(h.space.named()))
	for _, wt := range h.space.Repositories {
		if wt.Step == Made {
			used += each
		}
	}
	return used < h.m.limits.ArtifactReferences
}

func (h *held) patchText(ctx context.Context, wt *Worktree, f *facts, c *contents) (text []byte, cut bool, err error) {
	index, done, err := h.scratch("index")
	if err != nil {
		return nil, false, err
	}
	defer done()
	private := within(f.at, index)
	if _, err := h.m.git.Run(ctx, f.at, []string{"read-tree", "HEAD"}, private); err != nil {
		return nil, false, err
	}
	fresh, left, err := readable(f.at, c)
	if err != nil {
		return nil, false, err
	}
	if err := h.show(ctx, f, private, fresh, c.sparse); err != nil {
		return nil, false, err
	}
	private.MaxOutput, private.Partial = h.m.limits.PatchBytes, true
	out, err := h.m.git.Run(ctx, f.at, []string{"diff", "--binary", "--no-color", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/", "HEAD"}, private)
	if err != nil {
		return nil, false, err
	}
	body := out.Stdout
	if out.Truncated { // to the end of the last whole file
		body = body[:bytes.LastIndex(body, []byte("\ndiff --git "))+1]
	}
	var head strings.Builder
	fmt.Fprintf(&head, "What the work tree of repository %s had when task %s was cleaned up, and its HEAD %s had not.\n", wt.RepositoryID, h.space.TaskID, f.head)
	if out.Truncated {
		fmt.Fprintf(&head, "It is cut after %d files, at the bound of %d bytes; the archive of files has the others.\n", bytes.Count(append([]byte("\n"), body...), []byte("\ndiff --git ")), h.m.limits.PatchBytes)
	}
	if c.ignored > 0 {
		fmt.Fprintf(&head, "It has no ignored files; the archive has %d.\n", c.ignored)
	}
	for i, name := range left {
		const most = 20
		if i == most {
			fmt.Fprintf(&head, "And %d more.\n", len(left)-most)
			break
		}
		fmt.Fprintf(&head, "New and no text, and so only in the archive: %s\n", git.DisplayPath(name))
	}
	return append([]byte(head.String()+"\n"), body...), out.Truncated, nil
}

// readable splits new files into those that a patch can show and those that are no text.
// It looks where git does (as much as git's own first look): a NUL byte is in no text.
func readable(top string, c *contents) (fresh, left []string, err error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	for _, name := range c.untracked {
		switch ok, err := isText(root, name); {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return nil, nil, err
		case !ok || slices.Contains(strings.Split(strings.ToLower(name), "/"), ".git"):
			left = append(left, name)
		default:
			fresh = append(fresh, name)
		}
	}
	return fresh, left, nil
}

func isText(root *os.Root, name string) (bool, error) {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return err == nil && info.Mode()&os.ModeSymlink != 0, err
	}
	file, err := root.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	const first = 8000
	data, err := io.ReadAll(io.LimitReader(file, first))
	return bytes.IndexByte(data, 0) < 0, err
}

// show has git's comparison show new files, and leave out those that a sparse work tree
// does not have.
func (h *held) show(ctx context.Context, f *facts, private *git.RunOptions, fresh, sparse []string) error {
	if len(fresh) > 0 {
		// What the entry names is not looked at, since the file is; every repository knows
		// the empty one.
		out, err := h.m.git.Run(ctx, f.at, []string{"hash-object", "-t", "blob", "--stdin"}, &git.RunOptions{Stdin: []byte{}})
		if err != nil {
			return err
		}
		var entries strings.Builder
		for _, name := range fresh {
			fmt.Fprintf(&entries, "100644 %s\t%s\x00", strings.TrimSpace(string(out.Stdout)), name)
		}
		opts := *private
		opts.Stdin = []byte(entries.String())
		if _, err := h.m.git.Run(ctx, f.at, []string{"update-index", "-z", "--index-info"}, &opts); err != nil {
			return err
		}
	}
	if len(sparse) > 0 {
		opts := *private
		opts.Stdin = []byte(strings.Join(sparse, "\x00") + "\x00")
		_, err := h.m.git.Run(ctx, f.at, []string{"update-index", "-z", "--skip-worktree", "--stdin"}, &opts)
		return err
	}
	return nil
}
