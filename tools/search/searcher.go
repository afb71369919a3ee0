package search

import (
	"context"
	"errors"
	"path"
	"runtime"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// Options configure a Searcher; nil and zero fields mean the defaults.
type Options struct {
	// Git makes calls inside a git work tree leave out what git ignores; nil
	// walks without ignore rules everywhere.
	Git *git.Runner
	// Limits are the caps of every call.
	Limits Limits
	// IncludeIgnored makes ignored and excluded files visible to every call;
	// .git never is.
	IncludeIgnored bool
	// Exclude are the names that are left out wherever they occur, hidden or
	// not; nil is node_modules and dist, empty is none. .git always is.
	Exclude []string
	// BraceExpansion is what a GlobQuery without the field means.
	BraceExpansion bool
	// Threads bounds the workers of one call; 0 is GOMAXPROCS.
	Threads int
}

// Searcher lists, searches and globs one workspace. It is safe for concurrent
// use, keeps nothing open between calls, and has nothing to close.
type Searcher struct {
	workspace *workspace.Workspace
	options   Options
	limits    Limits
	exclude   map[string]bool
	trees     workTrees
}

// New returns a Searcher for a workspace, or a [tools.CodeToolInput] error for
// a limit beyond its hard cap. It starts nothing.
func New(w *workspace.Workspace, opts *Options) (*Searcher, error) {
	if opts == nil {
		opts = &Options{}
	}
	limits, err := opts.Limits.resolved()
	if err != nil {
		return nil, err
	}
	if opts.Threads < 0 {
		return nil, tools.Errorf(tools.CodeToolInput, "Threads is %d, must not be negative", opts.Threads)
	}
	s := &Searcher{workspace: w, options: *opts, limits: limits, exclude: map[string]bool{}}
	if s.options.Exclude == nil {
		s.options.Exclude = []string{"node_modules", "dist"}
	}
	for _, name := range s.options.Exclude {
		s.exclude[name] = true
	}
	if s.options.Threads == 0 {
		s.options.Threads = runtime.GOMAXPROCS(0)
	}
	return s, nil
}

// scope is one call: where it starts and what it may see.
type scope struct {
	*Searcher
	rules    *rules
	maxDepth int64
	start    workspace.Path
	// only: the call is about this one file of start.
	only string
	ctx  context.Context // ends with the time cap
}

// open finds out what a query's path is. Path "" is the root.
func (s *scope) open(given string) (*dir, error) {
	if given == "" {
		given = "."
	}
	p, err := s.workspace.Resolve(given)
	if err != nil {
		return nil, err
	}
	shown := p.Real
	if p.ReadOnly() {
		shown = p.Rel
	}
	if tools.IsGitInternalPath(shown) {
		return nil, tools.Errorf(tools.CodeToolInput, "%s is git's own; list and search the work tree instead", given)
	}
	info, err := s.workspace.Stat(p)
	if err != nil {
		return nil, err
	}
	start := &dir{fd: -1, depth: 1}
	if !info.IsDir() {
		if !info.Mode().IsRegular() {
			return nil, tools.Errorf(tools.CodeNotFile, "%s is neither a directory nor a regular file", given)
		}
		parent, name := splitPath(shown)
		s.only = name
		if p, err = s.workspace.Resolve(parent); err != nil {
			return nil, err
		}
		shown = parent
	}
	if shown != "." && shown != "" {
		start.prefix = shown + "/"
	}
	s.start = p
	start.fd, err = openRoot(s.workspace, p)
	if err != nil {
		return nil, tools.AsError(err)
	}
	return start, nil
}

// deadline gives a call its time cap.
func (s *Searcher) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, s.limits.Time, errTimeCap)
}

// errTimeCap tells the package's own time cap from a caller's deadline.
var errTimeCap = errors.New("search: time cap")

// walked is a finished walk.
type walked struct {
	*cursor
	tree *dir
	// timedOut: the time cap ended it.
	timedOut bool
}

func (w *walked) truncation() string {
	if w.timedOut && !w.done {
		return byTime
	}
	return w.reason()
}

// walk visits the scope's tree in order. fresh makes the sink of each pass:
// when git has to be asked about names that are not tracked, a second pass goes
// over the same tree, in which only those are new. The caller closes start.
func (s *scope) walk(start *dir, search func(*worker, *dir, *entry), fresh func() sink) (*walked, error) {
	start.users = 1 // the caller's: open to the end, whatever the tasks do
	w := &walk{rules: s.rules, maxDepth: s.maxDepth, maxNames: int(entryLimit.Hard) + 1, search: search}
	if s.only != "" {
		w.stack = s.single(start, w)
		return s.pass(start, w, fresh())
	}
	source, err := s.source(start)
	if err != nil {
		return nil, err
	}
	start.names = source.tracked
	w.stack = []task{reading(start)}
	result, err := s.pass(start, w, fresh())
	if err != nil || result.timedOut || len(result.undecided) == 0 {
		return result, err
	}
	if w.stack, err = source.decide(s, start, w, result.undecided); err != nil {
		return nil, err
	}
	return s.pass(start, w, fresh())
}

func (s *scope) pass(start *dir, w *walk, to sink) (*walked, error) {
	w.at = newCursor(start, to, &s.limits)
	w.run(s.ctx, s.options.Threads)
	return s.finish(start, w.at)
}

// single makes the tree of a call about one file. It was named, so neither
// ignore rules nor hidden names matter.
func (s *scope) single(start *dir, w *walk) []task {
	e := entry{name: s.only, kind: kindFile}
	if tools.IsSecretPath(start.path(&e)) && !s.rules.listSecrets {
		e.fate = secret
	}
	start.entries, start.ready = []entry{e}, true
	list := w.tasks(start, func(e *entry) bool { return e.fate == visible })
	start.users += len(list)
	return list
}

// splitPath parts a slash-separated path into its directory, "." for none, and
// its last component.
func splitPath(p string) (parent, name string) { return path.Dir(p), path.Base(p) }

// finish tells a time cap, which is a result, from the end of the caller's own
// context, which is an error.
func (s *scope) finish(start *dir, at *cursor) (*walked, error) {
	result := &walked{cursor: at, tree: start}
	if at.done || s.ctx.Err() == nil {
		return result, nil
	}
	if errors.Is(context.Cause(s.ctx), errTimeCap) {
		result.timedOut = true
		return result, nil
	}
	return nil, tools.AsError(s.ctx.Err())
}
