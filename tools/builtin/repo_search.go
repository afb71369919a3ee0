package builtin

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/search"
)

// searchMode and outputMode are search's own, with the values that a schema lists.
type searchMode search.Mode

// Values lists the modes.
func (searchMode) Values() []string {
	return []string{string(search.ModeLiteral), string(search.ModeRegex), string(search.ModeIndexedLiteral), string(search.ModeSemantic)}
}

type outputMode search.OutputMode

// Values lists the modes.
func (outputMode) Values() []string {
	return []string{string(search.OutputContent), string(search.OutputFiles), string(search.OutputCount)}
}

type searchInput struct {
	Query          string     `json:"query" check:"nonempty"`
	Path           string     `json:"path,omitempty" check:"nonempty" jsonschema:"directory or file to search"`
	Mode           searchMode `json:"mode,omitempty" jsonschema:"default literal"`
	CaseSensitive  bool       `json:"caseSensitive,omitempty"`
	Word           bool       `json:"word,omitempty" jsonschema:"whole words only"`
	Include        []string   `json:"include,omitempty" jsonschema:"globs"`
	Exclude        []string   `json:"exclude,omitempty" jsonschema:"globs"`
	IncludeHidden  bool       `json:"includeHidden,omitempty"`
	IncludeIgnored bool       `json:"includeIgnored,omitempty" jsonschema:"also what git ignores"`
	Context        *int64     `json:"context,omitempty" jsonschema:"lines around a match"`
	MaxMatches     *int64     `json:"maxMatches,omitempty"`
	OutputMode     outputMode `json:"outputMode,omitempty"`
}

// SearchMetadata is what was found, and by which index if one was asked.
type SearchMetadata struct {
	search.Result
	IndexProvenance
}

type searchTool struct {
	repository
	index search.RepositoryIndex
}

func newRepoSearch(d *Deps) (*tools.Tool, error) {
	repo, err := newRepository(d)
	if err != nil {
		return nil, err
	}
	t := &searchTool{repo, d.Repository.Index}
	spec := tools.Spec{
		Name: "repo_search", Title: "Search text", Toolset: "core", Kind: tools.KindSearch, Effect: tools.Observes,
		Description: "Search the text of files: literal unless mode is regex (RE2). Matches are path:line:column:text.",
		Limits:      []tools.Limit{search.ContextLimit, search.MatchLimit},
	}
	return tools.New(spec, t.plan, t.run)
}

func (t *searchTool) plan(_ context.Context, _ *tools.Call, in searchInput) (tools.Action, error) {
	return t.start(in.Path)
}

func (t *searchTool) run(ctx context.Context, call *tools.Call, in searchInput) (*tools.Outcome[SearchMetadata], error) {
	path, err := t.again(call, in.Path)
	if err != nil {
		return nil, err
	}
	if mode := search.Mode(in.Mode); t.index != nil && (mode == search.ModeIndexedLiteral || mode == search.ModeSemantic) {
		return t.indexed(ctx, in)
	}
	defer heartbeat(call, 0, "searching")()
	result, err := t.ops.Search(ctx, search.Query{
		Query: in.Query, Path: path, Mode: search.Mode(in.Mode), CaseSensitive: in.CaseSensitive, Word: in.Word,
		Include: in.Include, Exclude: in.Exclude, IncludeHidden: in.IncludeHidden, IncludeIgnored: in.IncludeIgnored,
		Context: in.Context, MaxMatches: in.MaxMatches, OutputMode: search.OutputMode(in.OutputMode),
	})
	if err != nil {
		return nil, err
	}
	return tools.Answer(result.Text(), SearchMetadata{Result: *result}), nil
}
