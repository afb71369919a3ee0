package taskspace

import (
	"context"
	"io"
	"os"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

// bring makes sure that the commits which a cleanup saved are in the repository.
func (h *held) bring(ctx context.Context, wt *Worktree) error {
	for _, saved := range wt.Saved {
		if saved.Pin == "" {
			continue
		}
		there, err := h.m.refID(ctx, wt.Repository, saved.Pin)
		if err != nil {
			return err
		}
		if there == "" {
			if err := h.unbundle(ctx, wt, saved.Commits); err != nil {
				return err
			}
		}
		pinned, err := h.m.refID(ctx, wt.Repository, pinRef(h.space, wt))
		if err != nil {
			return err
		}
		if pinned != saved.Pin {
			if err := h.m.updateRef(ctx, wt.Repository, pinRef(h.space, wt), saved.Pin, pinned); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *held) unbundle(ctx context.Context, wt *Worktree, artifact *Artifact) error {
	path, done, err := h.scratch("bundle")
	if err != nil {
		return err
	}
	defer done()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = h.m.open(ctx, h.key.Owner, artifact, func(r io.Reader) error {
		_, err := io.Copy(file, r)
		return err
	})
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	if err := h.step(ctx, "unbundle"); err != nil {
		return err
	}
	if _, err := h.m.git.Run(ctx, wt.Repository, []string{"bundle", "unbundle", path}, &git.RunOptions{Timeout: longest}); err != nil {
		return tools.Errorf(tools.CodeWorkspaceFingerprint, "repository %s no longer has what the saved commits build on: %w", wt.RepositoryID, err)
	}
	return nil
}

// restore puts files and index back into a work tree that is in the making.
func (h *held) restore(ctx context.Context, wt *Worktree) error {
	if len(wt.Saved) == 0 {
		return nil
	}
	at := h.m.making(h.space, wt)
	var index []byte
	for _, saved := range wt.Saved {
		if saved.Files == nil {
			continue
		}
		if err := h.step(ctx, "restore"); err != nil {
			return err
		}
		err := h.m.open(ctx, h.key.Owner, saved.Files, func(r io.Reader) error {
			found, err := unpack(r, at)
			if found != nil {
				index = found
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if index != nil {
		if _, err := h.m.git.Run(ctx, at, []string{"read-tree", "--empty"}, nil); err != nil {
			return err
		}
		if _, err := h.m.git.Run(ctx, at, []string{"update-index", "-z", "--index-info"}, &git.RunOptions{Stdin: index}); err != nil {
			return err
		}
		// 1 is that something differs from the index, which it may.
		if _, err := h.m.git.Run(ctx, at, []string{"update-index", "-q", "--refresh"}, &git.RunOptions{OKCodes: []int{1}, Timeout: longest}); err != nil {
			return err
		}
	}
	return flush(at)
}
