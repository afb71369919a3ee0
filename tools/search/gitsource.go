package search

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

// gitSource is what git says about the files below a call's start; the zero
// value says nothing, and then every file counts.
type gitSource struct {
	tracked *names
	dir     string
	// inner: dir lies below the top of the work tree, and so may itself be ignored.
	inner bool
	// adopted are directories that git named in its second answer. tracked is
	// shared with other calls and stays as it is.
	adopted map[*entry]namedDir
}

// source finds out which files below start are tracked, where git is to be
// asked.
func (s *scope) source(start *dir) (*gitSource, error) {
	if s.options.Git == nil || s.rules.includeIgnored || s.start.ReadOnly() {
		return &gitSource{}, nil
	}
	dir := s.workspace.Abs(s.start)
	tree, ok, err := s.trees.covering(s.ctx, s.options.Git, dir)
	if err != nil {
		return nil, s.capped(err)
	}
	if !ok {
		return &gitSource{}, nil
	}
	base := tree.top
	if root := s.workspace.Root(); within(base, root) {
		base = root
	}
	tracked, err := s.tracked(tree, base)
	if err != nil {
		return nil, s.capped(err)
	}
	below, err := filepath.Rel(base, dir)
	if err != nil {
		return nil, tools.AsError(err)
	}
	if below == "." {
		below = ""
	}
	if tracked = tracked.at(filepath.ToSlash(below)); tracked == nil {
		tracked = &names{}
	}
	return &gitSource{tracked: tracked, dir: dir, inner: dir != tree.top}, nil
}

// tracked returns the tracked files below base. They are those in the index,
// and git replaces the index file whenever it changes it: as long as it is the
// same file, the answer is the one of the last time.
func (s *scope) tracked(tree *workTree, base string) (*names, error) {
	index := identify(tree.index)
	if known := tree.known(base, index); known != nil {
		return known, nil
	}
	out, err := s.lsFiles(base, "--cached")
	if err != nil {
		return nil, err
	}
	list := parseNames(out)
	tree.keep(base, index, list)
	return list, nil
}

// within reports whether the path lies in dir or is it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// capped turns git's end by the call's own time cap into what the caller can act on.
func (s *scope) capped(err error) error {
	if errors.Is(context.Cause(s.ctx), errTimeCap) {
		return tools.Errorf(tools.CodeTimeout, "git did not list the files within %v", s.limits.Time)
	}
	return err
}

func (s *scope) lsFiles(dir string, args ...string) ([]byte, error) {
	out, err := s.options.Git.Run(s.ctx, dir, slices.Concat([]string{"ls-files", "-z"}, args), &git.RunOptions{MaxOutput: s.limits.GitOutput})
	if err != nil {
		return nil, err
	}
	return out.Stdout, nil
}

// A question to git names at most this many paths; with more it is about the
// whole directory, since git compares every file with every path.
const (
	maxAsked      = 256
	maxAskedBytes = 64 << 10
)

// decide asks git which of the names that are not tracked it ignores, and
// returns the tasks that follow. No worker runs meanwhile.
func (g *gitSource) decide(s *scope, start *dir, w *walk, asked []place) ([]task, error) {
	args := []string{"--others", "--exclude-standard"}
	out, err := s.lsFiles(g.dir, append(args, pathspecs(start, asked)...)...)
	if err != nil {
		return nil, s.capped(err)
	}
	others := parseNames(out)
	others.setComplete()
	if g.inner && g.tracked.empty() && others.empty() {
		// The start itself is ignored. It was named, so it is seen all the same.
		start.names, start.entries, start.ready = nil, nil, false
		rewind(start.fd)
		return []task{reading(start)}, nil
	}
	g.adopted = map[*entry]namedDir{}
	w.adopted = g.adopted
	var dirs []*dir
	shown := map[*entry]bool{}
	for _, p := range asked {
		if g.settle(p, others.at(p.d.prefix[len(start.prefix):])) {
			shown[p.e] = true
		}
		if len(dirs) == 0 || dirs[len(dirs)-1] != p.d {
			dirs = append(dirs, p.d)
		}
	}
	var list []task
	for _, d := range slices.Backward(dirs) {
		list = append(list, w.resume(start, d, shown)...)
	}
	return list, nil
}

// settle gives an undecided entry its fate and reports whether it is visible.
func (g *gitSource) settle(p place, named *names) bool {
	p.e.fate = ignored
	if named.hasFile(p.e.name) {
		p.e.fate = visible
	}
	if below, ok := named.dir(p.e.name); ok && p.e.kind == kindDir {
		g.adopted[p.e] = below
		p.e.fate = visible
	}
	return p.e.fate == visible
}

func pathspecs(start *dir, asked []place) []string {
	if len(asked) > maxAsked {
		return nil
	}
	list := []string{"--"}
	size := 0
	for _, p := range asked {
		spec := p.d.path(p.e)[len(start.prefix):]
		size += len(spec)
		list = append(list, spec)
	}
	if size > maxAskedBytes {
		return nil
	}
	return list
}

// resume opens a directory of the first pass again and returns the work on the
// entries that have become visible, empty directories among them.
func (w *walk) resume(start, d *dir, shown map[*entry]bool) []task {
	if d.fd < 0 && !reopen(start, d) {
		for i := range d.entries {
			if shown[&d.entries[i]] {
				d.entries[i].fate = internal // the directory is gone
			}
		}
		return nil
	}
	helper := &worker{walk: w, listing: newListing()}
	for i := range d.entries {
		if e := &d.entries[i]; e.kind == kindDir && e.fate == ignored && e.child == nil {
			helper.keepEmpty(d)
			break
		}
	}
	list := w.tasks(d, func(e *entry) bool {
		return shown[e] || e.fate == visible && e.kind == kindDir && e.child == nil
	})
	for i := range d.entries {
		delete(shown, &d.entries[i])
	}
	if d.users += len(list); d.users == 0 {
		closeDir(d)
	}
	return list
}

// reopen opens d from start down, component by component and through no link.
func reopen(start, d *dir) bool {
	if d == start {
		return true
	}
	fd, err := -1, error(nil)
	if d.parent.fd >= 0 {
		fd, err = openDirAt(d.parent.fd, d.name)
	} else {
		if !reopen(start, d.parent) {
			return false
		}
		fd, err = openDirAt(d.parent.fd, d.name)
		closeDir(d.parent)
	}
	if err != nil {
		return false
	}
	d.fd = fd
	return true
}
