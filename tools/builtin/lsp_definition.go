package builtin

import (
	"context"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

type definitionKind string

// Values lists the kinds.
func (definitionKind) Values() []string {
	return []string{"definition", "declaration", "type", "implementation"}
}

type lspDefinitionInput struct {
	lspPlace
	Kind definitionKind `json:"kind,omitempty"`
}

func (l *language) definition() (*tools.Tool, error) {
	spec := lspSpec("lsp_definition", "Go to definition", "Where a symbol is defined, declared, typed or implemented.")
	spec.Limits = []tools.Limit{lspLine, lspColumn}
	return lspTool(l, spec, func(ctx context.Context, _ *tools.Call, in lspDefinitionInput) (*tools.Outcome[LSPLocations], error) {
		found, err := l.client.Definition(ctx, langintel.DefinitionQuery{Place: in.place(), Kind: langintel.DefinitionKind(in.Kind)})
		if err != nil {
			return nil, err
		}
		return locationsOutcome(found), nil
	})
}
