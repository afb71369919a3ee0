package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// wantedFiles are the files that a checkout would make, on disk beside a private index,
// to compare a work tree with. They are never held in memory: there may be any number.
type wantedFiles struct {
	index *privateIndex
	root  *os.Root
}

// wanted makes what a checkout of the commit would make of the changes' files. Whoever
// has it closes it.
func (g *Repository) wanted(ctx context.Context, commit string, changes []treeChange) (w *wantedFiles, err error) {
	x, err := g.newIndex(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			x.close()
		}
	}()
	if _, err := x.run(ctx, []string{"read-tree", commit}, nil); err != nil {
		return nil, err
	}
	dir := filepath.Join(x.dir, "wanted")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, orCoded(err)
	}
	var paths []string
	for _, c := range changes {
		if c.mode != 0 && c.mode != modeSubmodule {
			paths = append(paths, c.path)
		}
	}
	for part := range slices.Chunk(paths, int(ChangedFiles.Hard)) {
		if err := x.checkOut(ctx, part, dir); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, orCoded(err)
	}
	return &wantedFiles{index: x, root: root}, nil
}

func (w *wantedFiles) close() {
	_ = w.root.Close() // a directory that was only read
	w.index.close()
}

// begun reports whether what is at a path of the work tree is what git leaves there
// while it makes it the wanted file: nothing, or its beginning.
func (w *wantedFiles) begun(tree *os.Root, path string) bool {
	name := filepath.FromSlash(path)
	info, err := tree.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return false
	}
	begins, _, err := w.compare(tree, name, info)
	return err == nil && begins
}

// made reports whether what is at a path of the work tree is the wanted file.
func (w *wantedFiles) made(tree *os.Root, path string) (bool, error) {
	name := filepath.FromSlash(path)
	info, err := tree.Lstat(name)
	if err != nil {
		return false, orCoded(err)
	}
	_, same, err := w.compare(tree, name, info)
	return same, orCoded(err)
}

// compare reports whether what info describes is the wanted file's beginning, and whether
// it is all of it. Of what is not wanted nothing is a beginning.
func (w *wantedFiles) compare(tree *os.Root, name string, info fs.FileInfo) (begins, same bool, err error) {
	want, err := w.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, false, nil
	case err != nil:
		return false, false, err
	case info.Mode().Type() != want.Mode().Type() || info.Size() > want.Size():
		return false, false, nil
	case info.Mode()&fs.ModeSymlink != 0:
		is, err := tree.Readlink(name)
		if err != nil {
			return false, false, err
		}
		target, err := w.root.Readlink(name)
		return is == target, is == target, err
	case !info.Mode().IsRegular():
		return false, false, nil
	}
	is, err := tree.Open(name)
	if err != nil {
		return false, false, err
	}
	defer is.Close()
	wanted, err := w.root.Open(name)
	if err != nil {
		return false, false, err
	}
	defer wanted.Close()
	begins, err = prefix(is, wanted)
	return begins, begins && info.Size() == want.Size(), err
}

// prefix reports whether all that short holds is what long begins with.
func prefix(short, long io.Reader) (bool, error) {
	a, b := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(short, a)
		if n > 0 {
			if m, _ := io.ReadFull(long, b[:n]); m != n || !bytes.Equal(a[:n], b[:n]) {
				return false, nil
			}
		}
		switch {
		case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
			return true, nil
		case err != nil:
			return false, err
		}
	}
}
