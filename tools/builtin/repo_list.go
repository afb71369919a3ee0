package builtin

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/search"
)

type listInput struct {
	Path          string `json:"path,omitempty" check:"nonempty" jsonschema:"directory or file to list; default the root"`
	IncludeHidden bool   `json:"includeHidden,omitempty"`
	MaxDepth      *int64 `json:"maxDepth,omitempty"`
	MaxResults    *int64 `json:"maxResults,omitempty"`
	Offset        *int64 `json:"offset,omitempty"`
}

func newRepoList(d *Deps) (*tools.Tool, error) {
	repo, err := newRepository(d)
	if err != nil {
		return nil, err
	}
	spec := tools.Spec{
		Name: "repo_list", Title: "List files", Toolset: "core", Kind: tools.KindRead, Effect: tools.Observes,
		Description: "List directories and files recursively: kind, path, size.",
		Limits:      []tools.Limit{search.DepthLimit, search.ResultLimit, search.OffsetLimit},
	}
	plan := func(_ context.Context, _ *tools.Call, in listInput) (tools.Action, error) { return repo.start(in.Path) }
	return tools.New(spec, plan, func(ctx context.Context, call *tools.Call, in listInput) (*tools.Outcome[search.ListResult], error) {
		path, err := repo.again(call, in.Path)
		if err != nil {
			return nil, err
		}
		defer heartbeat(call, 0, "listing")()
		result, err := repo.ops.List(ctx, search.ListQuery{
			Path: path, IncludeHidden: in.IncludeHidden, MaxDepth: in.MaxDepth, MaxResults: in.MaxResults, Offset: in.Offset,
		})
		if err != nil {
			return nil, err
		}
		return tools.Answer(result.Text(), *result), nil
	})
}
