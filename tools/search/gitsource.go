package search

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

// workTrees remembers which directories with a .git are work trees, so that
// git is asked once a directory and not once a call.
type workTrees struct {
	mu    sync.Mutex
	known map[string]bool
}

// covers reports whether dir lies in a git work tree, and that tree's top.
// Where git does not accept a repository (it belongs to another user, its
// configuration is damaged) there are no ignore rules to follow.
func (t *workTrees) covers(ctx context.Context, runner *git.Runner, dir string) (top string, ok bool, err error) {
	holder, found := git.Holder(dir)
	if !found {
		return "", false, nil
	}
	t.mu.Lock()
	accepted, known := t.known[holder]
	t.mu.Unlock()
	if known {
		return holder, accepted, nil
	}
	_, accepted, err = runner.WorkTree(ctx, holder)
	switch {
	case ctx.Err() != nil:
		return "", false, err
	case err != nil:
		return "", false, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		t.known = map[string]bool{}
	}
	t.known[holder] = accepted
	return holder, accepted, nil
}

// gitSource is what git says about the files below a call's start; the zero
// value says nothing, and then every file counts.
type gitSource struct {
	tracked *names
	dir     string
	// inner: dir lies below the top of the work tree, and so may itself be ignored.
	inner bool
}

// source asks git for the tracked files below start, where git is to be asked.
func (s *scope) source(start *dir) (*gitSource, error) {
	if s.options.Git == nil || s.rules.includeIgnored || s.start.ReadOnly() {
		return &gitSource{}, nil
	}
	dir := s.workspace.Abs(s.start)
	top, ok, err := s.trees.covers(s.ctx, s.options.Git, dir)
	if err != nil {
		return nil, s.capped(err)
	}
	if !ok {
		return &gitSource{}, nil
	}
	out, err := s.lsFiles(dir, "--cached")
	if err != nil {
		return nil, s.capped(err)
	}
	return &gitSource{tracked: parseNames(out), dir: dir, inner: dir != top}, nil
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
		return []task{{d: start}}, nil
	}
	var dirs []*dir
	shown := map[*entry]bool{}
	for _, p := range asked {
		if p.settle(others.at(p.d.prefix[len(start.prefix):])) {
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
func (p place) settle(named *names) bool {
	p.e.fate = ignored
	if named.hasFile(p.e.name) {
		p.e.fate = visible
	}
	if below, ok := named.dir(p.e.name); ok && p.e.kind == kindDir {
		p.d.names.put(below)
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
