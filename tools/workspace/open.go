package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/prism-ls/prism-ls/tools"
)

// OpenFile opens a regular file for reading, symbolic links followed inside
// the root. A directory, FIFO, device or socket is [tools.CodeNotFile] and is
// never waited for.
func (w *Workspace) OpenFile(p Path) (*os.File, fs.FileInfo, error) {
	if err := w.mayOpen(p); err != nil {
		return nil, nil, err
	}
	file, info, ok, err := w.openFast(p)
	if ok {
		return file, info, err
	}
	for range maxRaces {
		s, err := w.find(p)
		if err != nil {
			return nil, nil, err
		}
		file, info, err := s.open(p.Rel)
		s.close()
		if errors.Is(err, syscall.ELOOP) { // became a link since the walk saw it
			continue
		}
		return file, info, err
	}
	return nil, nil, tools.Errorf(tools.CodeIO, "%s keeps changing while it is opened", p.Rel)
}

// within reports whether a file lies in the root, or in what may be read beside it.
func (w *Workspace) within(name string) bool {
	dir := filepath.Dir(name)
	if real, err := filepath.EvalSymlinks(dir); err == nil { // else it is not made yet, and leads nowhere else
		dir = real
	}
	return slices.ContainsFunc(w.areas, func(a *area) bool {
		rel, err := filepath.Rel(a.real, dir)
		return err == nil && filepath.IsLocal(rel)
	})
}

// UnopenedNames are the last parts of Options.Unopened, of those that paths can lead to:
// for whoever opens files without OpenFile.
func (w *Workspace) UnopenedNames() []string {
	var names []string
	for _, name := range w.unopened {
		names = append(names, filepath.Base(name))
	}
	return names
}

// mayOpen refuses one of Options.Unopened, by whatever links it is reached. What cannot
// be looked at is for the open to explain.
func (w *Workspace) mayOpen(p Path) error {
	if len(w.unopened) == 0 {
		return nil
	}
	s, err := w.locate(p, true)
	if err != nil {
		return nil
	}
	defer s.close()
	if !s.exists {
		return nil
	}
	there, err := os.Lstat(filepath.Join(w.areas[p.area].real, s.real))
	if err != nil {
		return nil
	}
	for _, name := range w.unopened {
		if kept, err := os.Lstat(name); err == nil && os.SameFile(kept, there) {
			return tools.Errorf(tools.CodePermission, "%s is a database that prism-ls itself has open, and is not read as a file", p.Rel)
		}
	}
	return nil
}

// find locates an entry that has to exist, links followed.
func (w *Workspace) find(p Path) (*spot, error) {
	s, err := w.locate(p, true)
	if err != nil {
		return nil, err
	}
	if !s.exists {
		s.close()
		return nil, tools.Errorf(tools.CodeNotFound, "%s does not exist", p.Rel)
	}
	return s, nil
}

// open opens the spot's entry as a regular file.
func (s *spot) open(given string) (*os.File, fs.FileInfo, error) {
	if s.name == "." {
		return nil, nil, notRegular(given, fs.ModeDir)
	}
	file, err := s.parent.open(s.name)
	if err != nil {
		if errors.Is(err, syscall.ENXIO) {
			return nil, nil, notRegular(given, fs.ModeSocket)
		}
		return nil, nil, pathError(given, err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, nil, pathError(given, err)
	}
	if !info.Mode().IsRegular() {
		file.Close()
		return nil, nil, notRegular(given, info.Mode())
	}
	return file, info, nil
}

// notRegular says what a path is instead of a regular file.
func notRegular(given string, mode fs.FileMode) error {
	kind := "a special file"
	switch {
	case mode.IsDir():
		kind = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe (FIFO)"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	case mode&fs.ModeSymlink != 0:
		kind = "a symbolic link"
	}
	return tools.Errorf(tools.CodeNotFile, "%s is %s, not a regular file", given, kind)
}

// OpenDir opens a directory for listing, symbolic links followed inside the
// root. Anything else is [tools.CodeNotFile].
func (w *Workspace) OpenDir(p Path) (*os.File, error) {
	file, ok, err := w.openDirFast(p)
	if ok {
		return file, err
	}
	s, err := w.find(p)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if !s.st.mode.IsDir() {
		return nil, tools.Errorf(tools.CodeNotFile, "%s is a file, not a directory", p.Rel)
	}
	file, err = s.parent.openDirFile(s.name)
	return file, pathError(p.Rel, err)
}

// Present is [tools.CodeNotFound] where the root is not the directory any more that was
// opened: what is reached by its path, by programs that have no other way, would be
// something else.
func (w *Workspace) Present() error {
	now, err := os.Stat(w.Root())
	if err == nil {
		var file *os.File
		if file, err = w.OpenDir(Path{Rel: "."}); err == nil {
			var opened fs.FileInfo
			opened, err = file.Stat()
			err = errors.Join(err, file.Close())
			if err == nil && !os.SameFile(now, opened) {
				err = fs.ErrNotExist
			}
		}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, tools.CodeNotFound) {
		return tools.Errorf(tools.CodeNotFound, "%s was removed: the directory that was opened is not there any more", w.Root())
	}
	return err
}

// Lstat describes what is at p; a symbolic link in the last component is
// described itself, links before it are followed inside the root.
func (w *Workspace) Lstat(p Path) (fs.FileInfo, error) { return w.stat(p, false) }

// Stat describes what p leads to, symbolic links followed inside the root.
func (w *Workspace) Stat(p Path) (fs.FileInfo, error) { return w.stat(p, true) }

func (w *Workspace) stat(p Path, follow bool) (fs.FileInfo, error) {
	s, err := w.locate(p, follow)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if !s.exists {
		return nil, tools.Errorf(tools.CodeNotFound, "%s does not exist", p.Rel)
	}
	return &fileInfo{name: s.name, stat: s.st}, nil
}
