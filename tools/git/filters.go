package git

import (
	"context"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// Filter is a program pair of the host's that files of one kind go through on their
// way into and out of the repository (gitattributes(5), "filter"). The commands are
// the host's, whatever a repository says of a filter of that name.
type Filter struct {
	// Name is what the attribute says, for example "lfs".
	Name string
	// Clean, Smudge and Process are command lines, as in git's configuration; empty
	// ones are not run.
	Clean   string
	Smudge  string
	Process string
}

// settings are the host's filters, which are required: a file that one fails on is
// not taken as it is.
func (f Filter) settings() []string {
	prefix := "filter." + f.Name + "."
	all := []string{prefix + "clean=" + f.Clean, prefix + "smudge=" + f.Smudge, prefix + "required=true"}
	if f.Process != "" { // even an empty one would keep the other two from being run
		all = append(all, prefix+"process="+f.Process)
	}
	return all
}

func (r *Runner) filterSettings() []string {
	var all []string
	for _, f := range r.options.Filters {
		all = append(all, f.settings()...)
	}
	return all
}

// refuseFilters refuses, with CodeGitLFS, a tree with files that need a filter which
// the host has not allowed: without it they would be something else than their
// authors wrote. paths are those to look at, from the top; nil is all.
func (g *Repository) refuseFilters(ctx context.Context, treeish string, paths []string) error {
	x, err := g.newIndex(ctx)
	if err != nil {
		return err
	}
	defer x.close()
	if _, err := x.run(ctx, []string{"read-tree", treeish}, nil); err != nil {
		return err
	}
	if paths == nil {
		if paths, err = x.listed(ctx); err != nil {
			return err
		}
	}
	found, err := x.filtered(ctx, paths, true)
	if err != nil || len(found) == 0 {
		return err
	}
	return g.needsFilter(found)
}

// listed lists all paths of the index.
func (x *privateIndex) listed(ctx context.Context) ([]string, error) {
	out, err := x.run(ctx, []string{"ls-files", "-z"}, nil)
	if err != nil {
		return nil, err
	}
	return fields(out.Stdout), nil
}

// filteredPath is a path and the filter that its attributes name.
type filteredPath struct{ path, filter string }

// filtered returns those of the paths that need a filter which the host has not
// allowed. cached takes the attributes from the index alone, not from the work tree.
func (x *privateIndex) filtered(ctx context.Context, paths []string, cached bool) ([]filteredPath, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	args := []string{"check-attr", "-z", "--stdin"}
	if cached {
		args = append(args, "--cached")
	}
	out, err := x.run(ctx, append(args, "filter"), list(paths))
	if err != nil {
		return nil, err
	}
	var found []filteredPath
	for part := range slices.Chunk(fields(out.Stdout), 3) {
		if len(part) < 3 {
			break
		}
		switch value := part[2]; {
		case value == "unspecified", value == "unset":
		case slices.ContainsFunc(x.repository.runner.options.Filters, func(f Filter) bool { return f.Name == value }):
		default:
			found = append(found, filteredPath{path: part[0], filter: value})
		}
	}
	return found, nil
}

// needsFilter names no file outside of the opened directory.
func (g *Repository) needsFilter(found []filteredPath) error {
	first := "which lie outside of this directory"
	for _, f := range found {
		if rel, ok := g.Inside(f.path); ok {
			first = "the first is " + DisplayPath(rel)
			break
		}
	}
	names := map[string]bool{}
	for _, f := range found {
		names[f.filter] = true
	}
	var list []string
	for name := range names {
		list = append(list, name)
	}
	slices.Sort(list)
	return tools.Errorf(tools.CodeGitLFS,
		"%d files need the filter %s, which is not allowed here, %s; git.filters in the configuration allows one",
		len(found), strings.Join(list, ", "), first)
}
