package search

import "context"

// bounds are the depth and the page of a listing.
type bounds struct {
	depth, results, offset int64
}

func pageOf(depth, results, offset *int64) (b bounds, err error) {
	if b.depth, err = DepthLimit.Of(depth); err != nil {
		return b, err
	}
	if b.results, err = ResultLimit.Of(results); err != nil {
		return b, err
	}
	b.offset, err = OffsetLimit.Of(offset)
	return b, err
}

// next is the offset of the page that follows, nil where asking for one would
// not help.
func (b bounds) next(truncatedBy string, returned int) *int64 {
	if truncatedBy != byResults {
		return nil
	}
	next := b.offset + int64(returned)
	return &next
}

// page is the sink of list and glob.
type page struct {
	bounds
	want   func(path string, k kind) bool // nil: everything
	passed int64
	places []place
}

func (p *page) take(d *dir, e *entry) string {
	if p.want != nil && !p.want(d.path(e), e.kind) {
		return ""
	}
	if p.passed < p.offset {
		p.passed++
		return ""
	}
	if int64(len(p.places)) == p.results {
		return byResults
	}
	p.places = append(p.places, place{d, e})
	return ""
}

// ListQuery asks for what is below a directory, or for one file.
type ListQuery struct {
	// Path is a directory or file; "" is the root.
	Path string
	// IncludeHidden shows names that begin with a dot, also those of files that
	// hold credentials: a name and a size are not a credential.
	IncludeHidden bool
	// MaxDepth (32, at most 128), MaxResults (1 000, at most 10 000) and Offset
	// are the defaults when nil.
	MaxDepth, MaxResults, Offset *int64
}

// Entry is one listed name.
type Entry struct {
	// Kind is file, directory, symlink or other (a device, FIFO or socket).
	Kind string `json:"kind"`
	Path string `json:"path"`
	// Size in bytes, of files only.
	Size *int64 `json:"size,omitempty"`
}

// ListResult is one page of entries, in order; a directory comes before its
// content.
type ListResult struct {
	Entries        []Entry `json:"entries"`
	Truncated      bool    `json:"truncated"`
	TruncatedBy    string  `json:"truncatedBy,omitempty"`
	NextOffset     *int64  `json:"nextOffset,omitempty"`
	Offset         int64   `json:"offset"`
	Returned       int     `json:"returned"`
	ScannedEntries int64   `json:"scannedEntries"`
	ScannedFiles   int64   `json:"scannedFiles"`
	Skipped        Skipped `json:"skipped"`
}

// List lists a directory and all below it. Errors: [tools.CodeToolInput] for a
// limit, [tools.CodePathEscape], [tools.CodeNotFound], [tools.CodeGitFailed]
// once git has accepted the work tree.
func (s *Searcher) List(ctx context.Context, query ListQuery) (*ListResult, error) {
	bounds, err := pageOf(query.MaxDepth, query.MaxResults, query.Offset)
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.deadline(ctx)
	defer cancel()
	scope := &scope{Searcher: s, ctx: ctx, maxDepth: bounds.depth, rules: &rules{
		includeHidden: query.IncludeHidden, includeIgnored: s.options.IncludeIgnored, exclude: s.exclude, listSecrets: true,
	}}
	start, err := scope.open(query.Path)
	if err != nil {
		return nil, err
	}
	defer closeDir(start)
	var found *page
	var entries []Entry
	done, err := scope.walk(start, nil, func() sink {
		found = &page{bounds: bounds}
		return found
	})
	if err != nil {
		return nil, err
	}
	entries = scope.describe(start, found.places)
	result := &ListResult{
		Entries: entries, Offset: bounds.offset, Returned: len(entries),
		ScannedEntries: done.entries, ScannedFiles: done.files, Skipped: done.skipped,
	}
	result.TruncatedBy = done.truncation()
	result.Truncated = result.TruncatedBy != ""
	result.NextOffset = bounds.next(result.TruncatedBy, len(found.places))
	return result, nil
}

// describe adds the sizes, which only the entries of a page need. A file that
// is gone by now is left out.
func (s *scope) describe(start *dir, places []place) []Entry {
	list := make([]Entry, 0, len(places))
	var open *dir
	defer func() {
		if open != nil && open != start {
			closeDir(open)
		}
	}()
	for _, p := range places {
		item := Entry{Kind: p.e.kind.String(), Path: p.d.path(p.e)}
		if p.e.kind == kindFile {
			if open != p.d {
				if open != nil && open != start {
					closeDir(open)
				}
				open = p.d
				if p.d.fd < 0 && !reopen(start, p.d) {
					continue
				}
			}
			size, ok := sizeAt(p.d.fd, p.e.name)
			if !ok {
				continue
			}
			item.Size = &size
		}
		list = append(list, item)
	}
	return list
}
