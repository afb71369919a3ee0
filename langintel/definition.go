package langintel

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
)

// DefinitionKind says which of the places that belong to a symbol is asked for.
type DefinitionKind string

// The kinds; empty is ToDefinition.
const (
	ToDefinition     DefinitionKind = "definition"
	ToDeclaration    DefinitionKind = "declaration"
	ToType           DefinitionKind = "type"
	ToImplementation DefinitionKind = "implementation"
)

// DefinitionQuery asks where a symbol comes from.
type DefinitionQuery struct {
	Place
	Kind DefinitionKind
}

// Definition returns where a symbol is defined or declared, its type, or what
// implements it.
func (c *Client) Definition(ctx context.Context, q DefinitionQuery) (*LocationsResult, error) {
	method := map[DefinitionKind]string{
		"":               "textDocument/definition",
		ToDefinition:     "textDocument/definition",
		ToDeclaration:    "textDocument/declaration",
		ToType:           "textDocument/typeDefinition",
		ToImplementation: "textDocument/implementation",
	}[q.Kind]
	if method == "" {
		return nil, tools.Errorf(tools.CodeToolInput, "kind is %q, must be definition, declaration, type or implementation", oneLine(string(q.Kind), 40))
	}
	what := string(q.Kind)
	if what == "" {
		what = string(ToDefinition)
	}
	return c.locations(ctx, locationsQuery{
		place: q.Place, method: method, what: "going to the " + what,
		params: func(t *target) any { return t.params() },
	})
}
