package builtin

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// localFiles are the operations on the files of a workspace.
type localFiles struct{ ws *workspace.Workspace }

type localFile struct {
	*os.File
	size int64
}

func (f localFile) Size() int64 { return f.size }

// Open opens p, and makes sure that what was opened is still what the approved
// path names: a directory on the way could have become a link since.
func (l localFiles) Open(_ context.Context, p workspace.Path) (File, error) {
	file, info, err := l.ws.OpenFile(p)
	if err != nil {
		return nil, err
	}
	if !p.ReadOnly() && !l.still(p, file) {
		file.Close()
		return nil, tools.Errorf(tools.CodeFileChanged, "%s was replaced while it was opened; try again", p.Rel)
	}
	return localFile{file, info.Size()}, nil
}

// still reports whether p, links followed, is p itself and the opened file.
func (l localFiles) still(p workspace.Path, opened *os.File) bool {
	now, err := l.ws.Resolve("./" + p.Real)
	if err != nil || now.Real != p.Real {
		return false
	}
	file, _, err := l.ws.OpenFile(p)
	if err != nil {
		return false
	}
	defer file.Close()
	one, err := opened.Stat()
	if err != nil {
		return false
	}
	two, err := file.Stat()
	return err == nil && os.SameFile(one, two)
}

func (l localFiles) Exists(_ context.Context, p workspace.Path) (bool, error) {
	_, err := l.ws.Stat(p)
	if errors.Is(err, tools.CodeNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (l localFiles) Write(ctx context.Context, p workspace.Path, data []byte, opts *workspace.WriteOptions) (*workspace.Committed, error) {
	return l.ws.Transact(ctx, []workspace.Path{p}, func(tx *workspace.Tx) error {
		return tx.Write(p, data, opts)
	})
}

func (l localFiles) Edit(ctx context.Context, paths []workspace.Path, most int64, change func([]*workspace.Content) ([]Replacement, error)) (*workspace.Committed, error) {
	return l.ws.Transact(ctx, paths, func(tx *workspace.Tx) error {
		contents := make([]*workspace.Content, len(paths))
		for i, p := range paths {
			var err error
			if contents[i], err = tx.Read(p, most); err != nil {
				return err
			}
		}
		replacements, err := change(contents)
		if err != nil {
			return err
		}
		for i, r := range replacements {
			if err := tx.Write(paths[i], r.Data, &r.Options); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l localFiles) Delete(ctx context.Context, p workspace.Path, opts *workspace.DeleteOptions) (*workspace.Committed, error) {
	return l.ws.Transact(ctx, []workspace.Path{p}, func(tx *workspace.Tx) error {
		return tx.Delete(p, opts)
	})
}

func (l localFiles) Move(ctx context.Context, from, to workspace.Path, overwrite bool) (*workspace.Committed, error) {
	return l.ws.Transact(ctx, []workspace.Path{from, to}, func(tx *workspace.Tx) error {
		return tx.Move(from, to, overwrite)
	})
}

func (l localFiles) Touches(_ context.Context, id string) ([]string, error) {
	return l.ws.UndoPaths(id)
}

func (l localFiles) Undo(ctx context.Context, id string) ([]string, error) {
	return l.ws.Undo(ctx, id)
}

// Measure walks depth first with directory names in batches, so that a huge
// directory is never held whole.
func (l localFiles) Measure(ctx context.Context, p workspace.Path, most int) (Extent, error) {
	info, err := l.ws.Lstat(p)
	if err != nil {
		return Extent{}, err
	}
	extent := Extent{Entries: 1, Dir: info.IsDir()}
	if !extent.Dir {
		return extent, nil
	}
	pending := []string{p.Rel}
	for len(pending) > 0 && !extent.More {
		dir := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if err := ctx.Err(); err != nil {
			return extent, err
		}
		inside, err := l.measureDir(dir, most, &extent)
		if err != nil {
			return extent, err
		}
		pending = append(pending, inside...)
	}
	return extent, nil
}

func (l localFiles) measureDir(dir string, most int, extent *Extent) (inside []string, err error) {
	file, err := l.ws.OpenDir(workspace.Path{Rel: dir})
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for {
		entries, err := file.ReadDir(256)
		for _, entry := range entries {
			if extent.Entries >= most {
				extent.More = true
				return nil, nil
			}
			extent.Entries++
			if entry.Type() == fs.ModeDir {
				inside = append(inside, dir+"/"+entry.Name())
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return inside, nil
		case err != nil:
			return nil, tools.Errorf(tools.AsError(err).Code, "%s cannot be listed: %w", dir, err)
		}
	}
}
