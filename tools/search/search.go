package search

import (
	"context"
	"math"

	"github.com/prism-ls/prism-ls/tools"
)

// OutputMode is the shape of a search's result.
type OutputMode string

// The output modes.
const (
	// OutputContent: matching lines with context.
	OutputContent OutputMode = "content"
	// OutputFiles: the paths of files with a match.
	OutputFiles OutputMode = "files_with_matches"
	// OutputCount: totals only.
	OutputCount OutputMode = "count"
)

// Query asks for lines that hold a text or match an expression.
type Query struct {
	Query string
	// Path is where to look: a directory or file, "" for the root.
	Path string
	// Mode "" is ModeLiteral.
	Mode          Mode
	CaseSensitive bool
	// Word wants no letter, digit, mark or connector beside the match.
	Word bool
	// Include and Exclude are globs with braces: one without a slash is about
	// names at any depth, one with is about the path from the root. Exclude also
	// leaves out whole directories.
	Include, Exclude []string
	IncludeHidden    bool
	// IncludeIgnored searches what git ignores and what the exclude list names.
	IncludeIgnored bool
	// Context is the lines before and after: 5, at most 20; nil is the default.
	Context *int64
	// MaxMatches is the matching lines, or for OutputFiles the files, that are
	// kept: 1 000, at most 10 000; nil is the default, but OutputCount, which
	// keeps none, then counts all.
	MaxMatches *int64
	// OutputMode "" is OutputContent.
	OutputMode OutputMode
}

// Match is one matching line.
type Match struct {
	Path string `json:"path"`
	// Line and Column of the line's first match, from 1; the column in code points.
	Line   int `json:"line"`
	Column int `json:"column"`
	// Text is the line, or for a long one a window around the match with "…"
	// where it was cut.
	Text   string   `json:"text"`
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

// Result is what a search found, in order of path and line.
type Result struct {
	OutputMode OutputMode `json:"outputMode"`
	Matches    []Match    `json:"matches"`
	// Files are the paths with a match, for OutputFiles.
	Files []string `json:"files,omitempty"`
	// MatchCount counts matching lines in the part of the tree that was searched
	// before a cap; FileCount the files they are in.
	MatchCount   int     `json:"matchCount"`
	FileCount    int     `json:"fileCount"`
	Skipped      Skipped `json:"skipped"`
	Truncated    bool    `json:"truncated"`
	TruncatedBy  string  `json:"truncatedBy,omitempty"`
	ScannedBytes int64   `json:"scannedBytes"`
	ScannedFiles int     `json:"scannedFiles"`
	// IgnoredMatches counts matching lines in ignored files when there are none
	// in visible ones, as far as the caps reach.
	IgnoredMatches int `json:"ignoredMatches,omitempty"`
}

// keptText bounds the text of all matches of a call, in bytes.
const keptText = 16 << 20

// Search searches. Errors: [tools.CodeToolInput] for a bad query, expression,
// glob or limit, [tools.CodeIndexUnsupported], [tools.CodePathEscape],
// [tools.CodeNotFound], [tools.CodeGitFailed] once git has accepted the work
// tree.
func (s *Searcher) Search(ctx context.Context, query Query) (*Result, error) {
	scan, blank, err := s.prepare(&query)
	if err != nil {
		return nil, err
	}
	only, err := s.globs(&query)
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.deadline(ctx)
	defer cancel()
	scope := &scope{Searcher: s, ctx: ctx, maxDepth: DepthLimit.Default, rules: &rules{
		includeHidden: query.IncludeHidden, includeIgnored: query.IncludeIgnored || s.options.IncludeIgnored,
		exclude: s.exclude, only: only,
	}}
	start, err := scope.open(query.Path)
	if err != nil {
		return nil, err
	}
	defer closeDir(start)
	var found *findings
	done, err := scope.walk(start, scan.file, func() sink {
		found = blank.fresh()
		return found
	})
	if err != nil {
		return nil, err
	}
	result := &found.result
	result.Skipped.add(done.skipped)
	result.TruncatedBy = done.truncation()
	result.Truncated = result.TruncatedBy != ""
	if result.MatchCount == 0 && !result.Truncated && result.Skipped.Ignored > 0 && scope.only == "" {
		result.IgnoredMatches = scope.ignoredMatches(start, scan)
	}
	return result, nil
}

func (k *Skipped) add(other Skipped) {
	k.Ignored += other.Ignored
	k.Hidden += other.Hidden
	k.Secret += other.Secret
	k.Unreadable += other.Unreadable
}

// prepare checks a query and returns what searches files for it, and an empty
// sink for what they hold.
func (s *Searcher) prepare(query *Query) (*scanner, *findings, error) {
	matcher, err := newMatcher(query, s.limits.PatternBytes)
	if err != nil {
		return nil, nil, err
	}
	lines, err := ContextLimit.Of(query.Context)
	if err != nil {
		return nil, nil, err
	}
	limit, err := MatchLimit.Of(query.MaxMatches)
	if err != nil {
		return nil, nil, err
	}
	scan := &scanner{
		matcher: matcher, context: int(lines), keep: 0, stop: math.MaxInt,
		maxBytes: s.limits.FileBytes, window: int(min(wholeLine, s.limits.LineBytes)),
		unopened: s.workspace.UnopenedNames(),
	}
	mode := query.OutputMode
	switch mode {
	case "", OutputContent:
		mode, scan.keep, scan.stop = OutputContent, int(limit), int(limit)+1
	case OutputFiles, OutputCount:
	default:
		return nil, nil, tools.Errorf(tools.CodeToolInput, "outputMode is %q, must be content, files_with_matches or count", mode)
	}
	found := &findings{result: Result{OutputMode: mode, Matches: []Match{}}, limit: int(limit), maxScan: s.limits.ScanBytes}
	if mode == OutputCount && query.MaxMatches == nil {
		found.limit = math.MaxInt
	}
	return scan, found, nil
}
