package builtin

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/search"
)

type globInput struct {
	Pattern        string `json:"pattern" check:"nonempty"`
	Path           string `json:"path,omitempty" check:"nonempty" jsonschema:"directory to look in"`
	IncludeHidden  bool   `json:"includeHidden,omitempty"`
	BraceExpansion *bool  `json:"braceExpansion,omitempty" jsonschema:"expand {a,b}"`
	MaxDepth       *int64 `json:"maxDepth,omitempty"`
	MaxResults     *int64 `json:"maxResults,omitempty"`
	Offset         *int64 `json:"offset,omitempty"`
}

func newGlob(d *Deps) (*tools.Tool, error) {
	repo, err := newRepository(d)
	if err != nil {
		return nil, err
	}
	spec := tools.Spec{
		Name: "glob", Title: "Find files", Toolset: "core", Kind: tools.KindSearch, Effect: tools.Observes,
		Description: "Find files whose whole path from the root matches: * and ? within a segment, ** across.",
		Limits:      []tools.Limit{search.DepthLimit, search.ResultLimit, search.OffsetLimit},
	}
	plan := func(_ context.Context, _ *tools.Call, in globInput) (tools.Action, error) { return repo.start(in.Path) }
	return tools.New(spec, plan, func(ctx context.Context, call *tools.Call, in globInput) (*tools.Outcome[search.GlobResult], error) {
		path, err := repo.again(call, in.Path)
		if err != nil {
			return nil, err
		}
		defer heartbeat(call, 0, "searching")()
		result, err := repo.ops.Glob(ctx, search.GlobQuery{
			Pattern: in.Pattern, Path: path, IncludeHidden: in.IncludeHidden, BraceExpansion: in.BraceExpansion,
			MaxDepth: in.MaxDepth, MaxResults: in.MaxResults, Offset: in.Offset,
		})
		if err != nil {
			return nil, err
		}
		return tools.Answer(result.Text(), *result), nil
	})
}
