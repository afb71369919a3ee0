package taskspace

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/state"
)

// rounds is how often a work tree that changes all the time is saved before its cleanup
// gives up.
const rounds = 4

// preserve saves what a work tree holds that is nowhere else, and looks again until nothing
// of it is unsaved. It reports whether git would refuse to remove the work tree.
func (h *held) preserve(ctx context.Context, wt *Worktree, f *facts) (dirty bool, err error) {
	for range rounds {
		c, err := h.scan(ctx, f, h.space.Policy)
		if err != nil {
			return false, err
		}
		if left := h.space.Policy.standing(c.problems(wt.RepositoryID)); wt.Step != Leaving && len(left) > 0 {
			return false, refusal(h.space.TaskID, left)
		}
		files, err := h.unsaved(ctx, wt, f, c)
		if err != nil {
			return false, err
		}
		saved, err := h.saveRest(ctx, wt, f, c, files)
		if err != nil {
			return false, err
		}
		if saved == nil && wt.Step == Leaving {
			return c.tracked() || c.underway != "", nil
		}
		if saved != nil {
			wt.Saved = append(wt.Saved, *saved)
		}
		wt.Step = Leaving
		if err := h.save(ctx); err != nil {
			return false, err
		}
	}
	return false, tools.Errorf(tools.CodeWorkspaceDirty, "repository %s: something writes to the work tree all the time; end it first", wt.RepositoryID)
}

// unsaved returns the files on disk that no saved archive has as they are. It reads the
// archives, and so proves that they can be read.
func (h *held) unsaved(ctx context.Context, wt *Worktree, f *facts, c *contents) ([]string, error) {
	kept := map[string]content{}
	for _, saved := range wt.Saved {
		if saved.Files == nil {
			continue
		}
		err := h.m.open(ctx, h.key.Owner, saved.Files, func(r io.Reader) error { return readContents(r, kept) })
		if err != nil {
			return nil, err
		}
	}
	return different(f.at, c.files, kept)
}

// saveRest saves files, and on the first look also where HEAD was, what was deleted and
// staged, and commits that nothing leads to. It returns nil if there is nothing more.
func (h *held) saveRest(ctx context.Context, wt *Worktree, f *facts, c *contents, files []string) (*Saved, error) {
	first := wt.Step != Leaving
	a := &archive{top: f.at, files: files}
	tips, err := h.lost(ctx, wt, f)
	if err != nil {
		return nil, err
	}
	var blobs []string
	if first {
		a.deleted = c.deleted
		if c.staged {
			if blobs, err = h.index(ctx, &indexed{f.at, f.head, ownTree(f.at)}, a); err != nil {
				return nil, err
			}
		}
	} else if wt.pinned(tips) {
		tips = nil
	}
	saved := &Saved{Head: f.head, Ref: f.ref}
	if len(tips) > 0 || len(blobs) > 0 {
		if saved.Pin, saved.Commits, err = h.bundle(ctx, wt, tips, blobs); err != nil {
			return nil, err
		}
	}
	if saved.Files, err = h.archive(ctx, wt, a); err != nil {
		return nil, err
	}
	if first {
		if saved.Patch, saved.PatchCut, err = h.patch(ctx, wt, f, c); err != nil {
			return nil, err
		}
	}
	if saved.Files == nil && saved.Commits == nil && !first { // the first says where HEAD was
		return nil, nil
	}
	return saved, nil
}

// archive keeps files, deletions and the index as an artifact, nil without any of them.
func (h *held) archive(ctx context.Context, wt *Worktree, a *archive) (*Artifact, error) {
	if len(a.files) == 0 && len(a.deleted) == 0 && a.index == nil {
		return nil, nil
	}
	return h.put(ctx, wt.RepositoryID+" files", func(w io.Writer) error { return a.write(ctx, w) })
}

// index takes the index into the archive, and returns the blobs that only it has.
func (h *held) index(ctx context.Context, in *indexed, a *archive) ([]string, error) {
	out, err := h.m.git.Run(ctx, in.dir, []string{"ls-files", "-s", "-z"}, &git.RunOptions{Env: in.env, MaxOutput: 64 << 20})
	if err != nil {
		return nil, err
	}
	a.index = out.Stdout
	return h.stagedBlobs(ctx, in)
}

// bundle pins commits and blobs, and keeps them as an artifact.
func (h *held) bundle(ctx context.Context, wt *Worktree, tips, blobs []string) (pin string, kept *Artifact, err error) {
	if err := h.step(ctx, "pin"); err != nil {
		return "", nil, err
	}
	if pin, err = h.pin(ctx, wt, tips, blobs); err != nil {
		return "", nil, err
	}
	path, done, err := h.scratch("bundle")
	if err != nil {
		return "", nil, err
	}
	defer done()
	args := append([]string{"bundle", "create", "--quiet", path, pinRef(h.space, wt)}, staying()...)
	if _, err := h.m.git.Run(ctx, wt.Repository, args, &git.RunOptions{Timeout: longest}); err != nil {
		return "", nil, err
	}
	kept, err = h.put(ctx, wt.RepositoryID+" commits", func(w io.Writer) error {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = io.Copy(w, file)
		return err
	})
	return pin, kept, err
}

// put keeps what write writes as an artifact.
func (h *held) put(ctx context.Context, name string, write func(io.Writer) error) (*Artifact, error) {
	if n := int64(len(h.space.named())) + 1; n > h.m.limits.ArtifactReferences {
		return nil, over("artifacts of one workspace", n, h.m.limits.ArtifactReferences)
	}
	if err := h.step(ctx, "artifact"); err != nil {
		return nil, err
	}
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := write(writer)
		writer.CloseWithError(err)
		done <- err
	}()
	kept, err := h.m.stores.Artifacts().Put(ctx, h.key.Owner, reader)
	reader.CloseWithError(io.ErrClosedPipe)
	if writing := <-done; writing != nil && (err == nil || errors.Is(err, writing)) {
		return nil, writing
	}
	if err != nil {
		return nil, coded(h.space.TaskID, err)
	}
	return &Artifact{Name: name, SHA256: kept.SHA256, Bytes: kept.Bytes}, nil
}

// open gives an artifact's content to read, which has to be read to its end.
func (m *Manager) open(ctx context.Context, owner state.Owner, artifact *Artifact, read func(io.Reader) error) error {
	content, err := m.stores.Artifacts().Open(ctx, owner, artifact.SHA256)
	if err != nil {
		return tools.Errorf(tools.AsError(err).Code, "the saved %s cannot be read: %w", artifact.Name, err)
	}
	return errors.Join(read(content), content.Close())
}
