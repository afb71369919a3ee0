package search

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prism-ls/prism-ls/tools"
)

// Bounds of brace expansion.
const (
	maxAlternatives   = 128
	maxExpandedLength = 4096
)

// pattern is a set of globs of which one has to match.
type pattern struct {
	globs []string
	// bases are the literal directories that each glob begins with.
	bases []string
	// names: a glob without a slash is about the last component, at any depth.
	names bool
}

// compileGlob checks a glob and takes it apart. Braces are an error unless
// they are to be expanded.
func compileGlob(text string, braces bool, maxBytes int64) (*pattern, error) {
	if text == "" {
		return nil, tools.Errorf(tools.CodeToolInput, "the pattern is empty; **/* matches every file")
	}
	if int64(len(text)) > maxBytes {
		return nil, tools.Errorf(tools.CodeToolInput, "the pattern has %d bytes, at most %d are taken", len(text), maxBytes)
	}
	globs := []string{text}
	if opening, closing := braceIn(text); opening || closing {
		if !braces {
			return nil, tools.Errorf(tools.CodeToolInput, "the pattern holds a brace: set braceExpansion to expand it, or write \\{ for the character")
		}
		var err error
		if globs, err = expandBraces(text); err != nil {
			return nil, err
		}
	}
	p := &pattern{}
	for _, glob := range globs {
		if err := p.add(glob, text); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *pattern) add(glob, text string) error {
	for strings.HasPrefix(glob, "./") {
		glob = glob[2:]
	}
	if strings.HasPrefix(glob, "/") || slices.Contains(strings.Split(glob, "/"), "..") {
		return tools.Errorf(tools.CodePathEscape, "the pattern %q leaves the workspace: patterns are relative to the root, without ..", text)
	}
	if glob == "" || strings.IndexByte(glob, 0) >= 0 || !doublestar.ValidatePattern(glob) {
		return tools.Errorf(tools.CodeToolInput, "the pattern %q is malformed: a class, an escape or an alternative is not finished", text)
	}
	base, _ := doublestar.SplitPattern(glob)
	if base == "." {
		base = ""
	}
	p.globs = append(p.globs, glob)
	p.bases = append(p.bases, base)
	return nil
}

// match reports whether the path, relative to the root, matches.
func (p *pattern) match(file string) bool {
	for _, glob := range p.globs {
		name := file
		if p.names && !strings.Contains(glob, "/") {
			name = path.Base(file)
		}
		if doublestar.MatchUnvalidated(glob, name) {
			return true
		}
	}
	return false
}

// mayHold reports whether a directory can hold a match.
func (p *pattern) mayHold(dir string) bool {
	return slices.ContainsFunc(p.bases, func(base string) bool {
		return base == "" || base == dir || strings.HasPrefix(base, dir+"/") || strings.HasPrefix(dir, base+"/")
	})
}

// GlobQuery asks for the files whose path from the workspace root matches.
type GlobQuery struct {
	// Pattern knows * and ? (not across a slash), ** and [classes].
	Pattern string
	// Path is where to look: a directory or file, "" for the root.
	Path          string
	IncludeHidden bool
	// BraceExpansion expands {a,b}; nil is what the Searcher's options say.
	BraceExpansion *bool
	// MaxDepth (32, at most 128), MaxResults (1 000, at most 10 000) and Offset
	// are the defaults when nil.
	MaxDepth, MaxResults, Offset *int64
}

// GlobResult is one page of matching files, in order.
type GlobResult struct {
	Paths          []string `json:"paths"`
	Truncated      bool     `json:"truncated"`
	TruncatedBy    string   `json:"truncatedBy,omitempty"`
	NextOffset     *int64   `json:"nextOffset,omitempty"`
	Offset         int64    `json:"offset"`
	Returned       int      `json:"returned"`
	ScannedEntries int64    `json:"scannedEntries"`
	ScannedFiles   int64    `json:"scannedFiles"`
	Skipped        Skipped  `json:"skipped"`

	below bool // the query had a path
}

// Glob finds files by their path. Errors: [tools.CodeToolInput] for a bad
// pattern or limit, [tools.CodePathEscape], [tools.CodeNotFound],
// [tools.CodeGitFailed] once git has accepted the work tree.
func (s *Searcher) Glob(ctx context.Context, query GlobQuery) (*GlobResult, error) {
	braces := s.options.BraceExpansion
	if query.BraceExpansion != nil {
		braces = *query.BraceExpansion
	}
	pattern, err := compileGlob(query.Pattern, braces, s.limits.PatternBytes)
	if err != nil {
		return nil, err
	}
	bounds, err := pageOf(query.MaxDepth, query.MaxResults, query.Offset)
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.deadline(ctx)
	defer cancel()
	scope := &scope{Searcher: s, ctx: ctx, maxDepth: bounds.depth, rules: &rules{
		includeHidden: query.IncludeHidden, includeIgnored: s.options.IncludeIgnored, exclude: s.exclude,
		only: func(path string, k kind) bool { return k != kindDir || pattern.mayHold(path) },
	}}
	start, err := scope.open(query.Path)
	if err != nil {
		return nil, err
	}
	defer closeDir(start)
	var found *page
	done, err := scope.walk(start, nil, func() sink {
		found = &page{bounds: bounds, want: func(path string, k kind) bool { return k == kindFile && pattern.match(path) }}
		return found
	})
	if err != nil {
		return nil, err
	}
	result := &GlobResult{
		Paths: make([]string, 0, len(found.places)), Offset: bounds.offset, Returned: len(found.places),
		ScannedEntries: done.entries, ScannedFiles: done.files, Skipped: done.skipped,
		below: query.Path != "",
	}
	for _, p := range found.places {
		result.Paths = append(result.Paths, p.d.path(p.e))
	}
	result.TruncatedBy = done.truncation()
	result.Truncated = result.TruncatedBy != ""
	result.NextOffset = bounds.next(result.TruncatedBy, result.Returned)
	return result, nil
}
