package git

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// Repository is one work tree, seen from one of its directories: paths are relative to
// that directory, slash-separated, and what lies outside of it is not shown. It holds
// no state of its own and is safe for concurrent use.
type Repository struct {
	runner *Runner
	top    string
	prefix string
	once   *oneOperation // nil but within one operation
}

// Repository opens the work tree that dir lies in. CodeGitNotRepository: it lies in
// none. Other errors are those of WorkTree.
func (r *Runner) Repository(ctx context.Context, dir string) (*Repository, error) {
	top, ok, err := r.WorkTree(ctx, dir)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, tools.Errorf(tools.CodeGitNotRepository, "%s is in no git work tree", dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, tools.Errorf(tools.CodeGitNotRepository, "%s cannot be followed: %w", dir, err)
	}
	rel, err := filepath.Rel(top, real)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, tools.Errorf(tools.CodeGitNotRepository, "%s is not below %s, which git takes for its work tree", dir, top)
	}
	g := &Repository{runner: r, top: top, prefix: filepath.ToSlash(rel)}
	if g.prefix == "." {
		g.prefix = ""
	}
	return g, nil
}

// Top is the absolute path of the work tree's top directory.
func (g *Repository) Top() string { return g.top }

// Prefix is the path of the opened directory relative to Top, "" when it is the top.
func (g *Repository) Prefix() string { return g.prefix }

// FromTop turns a path relative to the opened directory into one relative to Top, as
// git takes it in arguments.
func (g *Repository) FromTop(rel string) string {
	if joined := path.Join(g.prefix, rel); joined != "" {
		return joined
	}
	return "."
}

// Inside turns a path relative to Top, as git prints it, into one relative to the
// opened directory. ok is false for what lies outside of that.
func (g *Repository) Inside(fromTop string) (rel string, ok bool) {
	if g.prefix == "" {
		return fromTop, true
	}
	rel, ok = strings.CutPrefix(fromTop, g.prefix+"/")
	return rel, ok && rel != ""
}

// PathLimit bounds how many paths one call names.
var PathLimit = tools.Limit{Name: "paths", Default: 1000, Hard: 10_000}

// pathspecs returns the arguments that keep a command to paths of the opened directory,
// to all of it without any. Pathspecs are literal on every call.
func (g *Repository) pathspecs(paths []string) ([]string, error) {
	if int64(len(paths)) > PathLimit.Hard {
		return nil, tools.Errorf(tools.CodeToolInput, "%d paths are named, at most %d are taken", len(paths), PathLimit.Hard)
	}
	if len(paths) == 0 {
		if g.prefix == "" {
			return nil, nil
		}
		return []string{"--", g.prefix}, nil
	}
	list := []string{"--"}
	for _, p := range paths {
		if p == "" || strings.IndexByte(p, 0) >= 0 || !filepath.IsLocal(filepath.FromSlash(p)) {
			return nil, tools.Errorf(tools.CodePathEscape, "%q is not a path inside the workspace", p)
		}
		list = append(list, g.FromTop(p))
	}
	return list, nil
}

func (g *Repository) run(ctx context.Context, args []string, opts *RunOptions) (*Output, error) {
	return g.runner.guarded(ctx, g.top, args, opts, g.once)
}
