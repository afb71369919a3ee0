package search

import (
	"context"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// IndexState is what an index can be asked.
type IndexState string

// The states of an index.
const (
	IndexEmpty    IndexState = "empty"
	IndexBuilding IndexState = "building"
	IndexReady    IndexState = "ready"
	IndexStale    IndexState = "stale"
	IndexFailed   IndexState = "failed"
)

// Limits of an index: its freshness window and the time of one query in
// seconds, the changes and bytes of one update, the results of one query, the
// bytes of one snippet.
var (
	IndexFreshnessLimit = tools.Limit{Name: "indexFreshnessSeconds", Default: 60, Hard: 300}
	IndexTimeLimit      = tools.Limit{Name: "indexQuerySeconds", Default: 30, Hard: 120}
	IndexChangeLimit    = tools.Limit{Name: "indexChanges", Default: 1_000, Hard: 10_000}
	IndexUpdateLimit    = tools.Limit{Name: "indexUpdateBytes", Default: 16 << 20, Hard: 64 << 20}
	IndexResultLimit    = tools.Limit{Name: "indexResults", Default: 1_000, Hard: 10_000}
	IndexSnippetLimit   = tools.Limit{Name: "indexSnippetBytes", Default: 4 << 10, Hard: 16 << 10}
)

// IndexStatus describes an index at one moment.
type IndexStatus struct {
	State IndexState
	// Revision names the source that was indexed, for example a commit.
	Revision string
	// UpdatedAt is when the index last agreed with its source.
	UpdatedAt time.Time
	Documents int64
}

// IndexChange is one document's new content; nil Content keeps the path known
// but without text.
type IndexChange struct {
	Path    string
	Content []byte
}

// IndexQuery asks for at most Limit hits.
type IndexQuery struct {
	Mode  Mode
	Query string
	Path  string
	Limit int
}

// IndexHit is one answer with its provenance. Its text is untrusted: a caller
// reads the file again before it changes anything.
type IndexHit struct {
	Path     string
	Line     int
	Snippet  string
	Score    float64
	Revision string
}

// RepositoryIndex answers the indexed modes of a search. Implementations are
// safe for concurrent use, keep every limit above, return coded errors
// (ERR_PRISM_INDEX_…), and never answer a query by other means than the one
// it asks for. No implementation ships yet: the indexed modes are refused with
// [tools.CodeIndexUnsupported].
type RepositoryIndex interface {
	Status(ctx context.Context) (IndexStatus, error)
	Update(ctx context.Context, revision string, changes []IndexChange) error
	Remove(ctx context.Context, revision string, paths []string) error
	Search(ctx context.Context, query IndexQuery) ([]IndexHit, error)
	// Close ends the index and waits for its work; it may be called twice.
	Close() error
}
