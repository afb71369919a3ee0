package workspace

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/prism-ls/prism-ls/tools"
)

// maxLinks is how many symbolic links one path may go through (path_resolution(7)).
const maxLinks = 40

// maxRaces is how often a walk starts a component again because somebody
// replaced it between two system calls.
const maxRaces = 100

var errTooMany = errors.New("too many entries")

// spot is where a path leads: an entry of an open directory. The entry need
// not exist.
type spot struct {
	parent  *dir     // owned by the spot
	missing []string // directories between parent and name that do not exist
	name    string   // "." when the spot is the area's own directory
	real    string   // relative to the area, symbolic links resolved
	st      stat
	exists  bool
}

func (s *spot) close() {
	if s != nil {
		s.parent.close()
	}
}

// dirReal is the real path of the directory that holds the entry.
func (s *spot) dirReal() string { return path.Dir(s.real) }

// walker follows one path from an area's directory. It holds a descriptor of
// every directory on the way, so that ".." in a link goes back to where the
// walk came from and nowhere else.
type walker struct {
	area    *area
	given   string
	dirs    []*dir // opened on the way, without the area's own
	names   []string
	pending []string
	links   int
	races   int
}

// walk finds where sub leads. follow says whether a link in the last component
// is followed. The area's directory is the boundary: a link that leads out is
// [tools.CodePathEscape].
func (a *area) walk(given, sub string, follow bool) (*spot, error) {
	k := &walker{area: a, given: given, pending: split(sub)}
	defer func() {
		for _, d := range k.dirs {
			d.close()
		}
	}()
	for len(k.pending) > 0 {
		name := k.pending[0]
		if name == ".." {
			if err := k.up(); err != nil {
				return nil, err
			}
			continue
		}
		s, err := k.step(name, follow)
		if s != nil || err != nil {
			return s, err
		}
	}
	return k.here()
}

func split(sub string) []string {
	var parts []string
	for part := range strings.SplitSeq(sub, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return parts
}

func (k *walker) current() *dir {
	if len(k.dirs) == 0 {
		return k.area.dir
	}
	return k.dirs[len(k.dirs)-1]
}

func (k *walker) up() error {
	if len(k.dirs) == 0 {
		return tools.Errorf(tools.CodePathEscape, "%s leads out of the workspace root through a symbolic link", k.given)
	}
	k.current().close()
	k.dirs = k.dirs[:len(k.dirs)-1]
	k.names = k.names[:len(k.names)-1]
	k.pending = k.pending[1:]
	return nil
}

// step takes one component. It returns a spot when the walk has arrived.
func (k *walker) step(name string, follow bool) (*spot, error) {
	cur, last := k.current(), len(k.pending) == 1
	st, err := cur.stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return k.absent()
	case err != nil:
		return nil, pathError(k.given, err)
	case st.mode&fs.ModeSymlink != 0 && (follow || !last):
		return nil, k.link(name)
	case last:
		return k.arrive(name, st)
	case !st.mode.IsDir():
		return nil, tools.Errorf(tools.CodeNotFound, "%s does not exist: %s is not a directory", k.given, path.Join(append(k.names, name)...))
	}
	next, err := cur.child(name)
	if err != nil {
		// Replaced since the stat: look again.
		if k.races++; k.races > maxRaces || !(errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrNotExist)) {
			return nil, pathError(k.given, err)
		}
		return nil, nil
	}
	k.dirs = append(k.dirs, next)
	k.names = append(k.names, name)
	k.pending = k.pending[1:]
	return nil, nil
}

// link replaces the next component by the target of the link it is.
func (k *walker) link(name string) error {
	target, err := k.current().readlink(name)
	if err != nil {
		if k.races++; k.races <= maxRaces && (errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrNotExist)) {
			return nil
		}
		return pathError(k.given, err)
	}
	if k.links++; k.links > maxLinks {
		return tools.Errorf(tools.CodePathEscape, "%s goes through more than %d symbolic links; they seem to loop", k.given, maxLinks)
	}
	k.pending = k.pending[1:]
	if filepath.IsAbs(target) {
		sub, ok := k.area.contains(filepath.Clean(target))
		if !ok {
			return tools.Errorf(tools.CodePathEscape, "%s leads out of the workspace root: %s is a symbolic link to %s", k.given, name, target)
		}
		for _, d := range k.dirs {
			d.close()
		}
		k.dirs, k.names = nil, nil
		target = sub
	}
	k.pending = append(split(filepath.ToSlash(target)), k.pending...)
	return nil
}

func (k *walker) arrive(name string, st stat) (*spot, error) {
	parent, err := k.current().list(".")
	if err != nil {
		return nil, pathError(k.given, err)
	}
	return &spot{parent: parent, name: name, real: path.Join(append(k.names, name)...), st: st, exists: true}, nil
}

// absent ends the walk at a component that does not exist.
func (k *walker) absent() (*spot, error) {
	for _, name := range k.pending {
		if name == ".." {
			return nil, tools.Errorf(tools.CodeNotFound, "%s does not exist", k.given)
		}
	}
	parent, err := k.current().list(".")
	if err != nil {
		return nil, pathError(k.given, err)
	}
	last := len(k.pending) - 1
	return &spot{
		parent: parent, missing: k.pending[:last], name: k.pending[last],
		real: path.Join(append(k.names, k.pending...)...),
	}, nil
}

// here ends the walk in a directory that was reached by ".", ".." or a link,
// and names it by its own entry where it has one inside the area.
func (k *walker) here() (*spot, error) {
	if n := len(k.dirs); n > 0 {
		name := k.names[n-1]
		k.dirs[n-1].close()
		k.dirs, k.names = k.dirs[:n-1], k.names[:n-1]
		st, err := k.current().stat(name)
		if err != nil {
			return nil, pathError(k.given, err)
		}
		return k.arrive(name, st)
	}
	st, err := k.area.dir.self()
	if err != nil {
		return nil, pathError(k.given, err)
	}
	parent, err := k.area.dir.list(".")
	if err != nil {
		return nil, pathError(k.given, err)
	}
	return &spot{parent: parent, name: ".", real: ".", st: st, exists: true}, nil
}

// locate finds the entry that p names.
func (w *Workspace) locate(p Path, follow bool) (*spot, error) {
	s, err := w.locateFast(p, follow)
	if s == nil && err == nil {
		s, err = w.areas[p.area].walk(p.Rel, p.sub(), follow)
	}
	if err != nil {
		return nil, err
	}
	s.parent.seam = w.seam
	if p.slash && s.exists && !s.st.mode.IsDir() {
		s.close()
		return nil, tools.Errorf(tools.CodeNotFound, "%s/ ends in a slash, but %s is not a directory", p.Rel, p.Rel)
	}
	return s, nil
}

// Resolve parses a path and follows its symbolic links inside the root. The
// file, and directories on the way to it, may be missing; Path.Real is then
// where it would be made. A link that leads out is [tools.CodePathEscape].
func (w *Workspace) Resolve(given string) (Path, error) {
	p, err := w.Parse(given)
	if err != nil {
		return Path{}, err
	}
	s, err := w.locate(p, true)
	if err != nil {
		return Path{}, err
	}
	defer s.close()
	p.Real = s.real
	return p, nil
}
