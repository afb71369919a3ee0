package builtin

import (
	"context"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

type lspReferencesInput struct {
	lspPlace
	IncludeDeclaration *bool  `json:"includeDeclaration,omitempty" jsonschema:"default true"`
	Limit              *int64 `json:"limit,omitempty"`
	Cursor             string `json:"cursor,omitempty"`
}

func (l *language) references() (*tools.Tool, error) {
	spec := lspSpec("lsp_references", "Find references", "Every use of a symbol, by file and enclosing symbol.")
	spec.Limits = []tools.Limit{lspLine, lspColumn, lspLimit}
	return lspTool(l, spec, func(ctx context.Context, _ *tools.Call, in lspReferencesInput) (*tools.Outcome[LSPLocations], error) {
		found, err := l.client.References(ctx, langintel.ReferencesQuery{
			Place:              in.place(),
			ExcludeDeclaration: in.IncludeDeclaration != nil && !*in.IncludeDeclaration,
			Limit:              in.Limit,
			Cursor:             in.Cursor,
		})
		if err != nil {
			return nil, err
		}
		return locationsOutcome(found), nil
	})
}
