package builtin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/search"
)

// The codes of indexed searches. An index that cannot answer never has another
// search take its place: that would change what the query means.
const (
	CodeIndexStale     tools.Code = "ERR_PRISM_INDEX_STALE"
	CodeIndexFailed    tools.Code = "ERR_PRISM_INDEX_FAILED"
	CodeIndexLimit     tools.Code = "ERR_PRISM_INDEX_LIMIT"
	CodeIndexTimeout   tools.Code = "ERR_PRISM_INDEX_TIMEOUT"
	CodeIndexUntrusted tools.Code = "ERR_PRISM_INDEX_UNTRUSTED"
)

// IndexProvenance says where indexed results come from. Their text is
// untrusted, and is to be read again before anything is changed by it.
type IndexProvenance struct {
	UntrustedIndex bool   `json:"untrusted_index,omitempty"`
	IndexMode      string `json:"indexMode,omitempty"`
	IndexState     string `json:"indexState,omitempty"`
	IndexRevision  string `json:"indexRevision,omitempty"`
	IndexUpdatedAt string `json:"indexUpdatedAt,omitempty"`
}

func (t *searchTool) indexed(ctx context.Context, in searchInput) (*tools.Outcome[SearchMetadata], error) {
	limit := search.IndexResultLimit.Default
	if in.MaxMatches != nil {
		limit = min(limit, *in.MaxMatches)
	}
	bounded, cancel := context.WithTimeout(ctx, time.Duration(search.IndexTimeLimit.Default)*time.Second)
	defer cancel()
	status, err := t.ready(bounded)
	if err != nil {
		return nil, err
	}
	hits, err := t.index.Search(bounded, search.IndexQuery{Mode: search.Mode(in.Mode), Query: in.Query, Path: in.Path, Limit: int(limit)})
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return nil, tools.Errorf(CodeIndexTimeout, "the index did not answer within %d s", search.IndexTimeLimit.Default)
	case err != nil:
		return nil, err
	case int64(len(hits)) > limit:
		return nil, tools.Errorf(CodeIndexLimit, "the index gave %d results, at most %d were asked for", len(hits), limit)
	}
	return t.indexedAnswer(in, status, hits)
}

// ready makes sure that the index speaks of the present files.
func (t *searchTool) ready(ctx context.Context) (search.IndexStatus, error) {
	status, err := t.index.Status(ctx)
	fresh := time.Duration(search.IndexFreshnessLimit.Default) * time.Second
	switch {
	case err != nil:
		return status, err
	case status.State == search.IndexFailed:
		return status, tools.Errorf(CodeIndexFailed, "the index has failed; search with mode literal")
	case status.State != search.IndexReady || time.Since(status.UpdatedAt) > fresh:
		return status, tools.Errorf(CodeIndexStale, "the index is %s, of %s; search with mode literal", status.State, status.UpdatedAt.UTC().Format(time.RFC3339))
	}
	return status, nil
}

func (t *searchTool) indexedAnswer(in searchInput, status search.IndexStatus, hits []search.IndexHit) (*tools.Outcome[SearchMetadata], error) {
	m := SearchMetadata{IndexProvenance: IndexProvenance{
		UntrustedIndex: true, IndexMode: string(in.Mode), IndexState: string(status.State),
		IndexRevision: status.Revision, IndexUpdatedAt: status.UpdatedAt.UTC().Format(time.RFC3339),
	}}
	m.OutputMode, m.Matches = search.OutputContent, []search.Match{}
	files := map[string]bool{}
	var lines []string
	for _, hit := range hits {
		at, err := follow(t.ws, hit.Path)
		if err != nil || tools.IsSecretPath(at.policy) || hit.Line < 0 {
			return nil, tools.Errorf(CodeIndexUntrusted, "the index names %s, which a search would not show", plainText(hit.Path))
		}
		if int64(len(hit.Snippet)) > search.IndexSnippetLimit.Hard {
			return nil, tools.Errorf(CodeIndexLimit, "a snippet of the index has %d bytes", len(hit.Snippet))
		}
		text := plainText(hit.Snippet)
		m.Matches = append(m.Matches, search.Match{Path: at.policy, Line: hit.Line, Column: 1, Text: text})
		lines = append(lines, fmt.Sprintf("%s:%d:1:%s [score %.3f]", at.policy, hit.Line, strings.ReplaceAll(text, "\n", " "), hit.Score))
		files[at.policy] = true
	}
	m.MatchCount, m.FileCount = len(hits), len(files)
	if len(lines) == 0 {
		lines = []string{"(no matches)"}
	}
	return tools.Answer(strings.Join(lines, "\n"), m), nil
}
