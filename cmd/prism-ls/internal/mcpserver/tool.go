package mcpserver

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/prism-ls/prism-ls/tools"
)

// describe is how a client sees a tool.
func (s *Server) describe(tool *tools.Tool) *mcp.Tool {
	spec := tool.Spec()
	described := &mcp.Tool{
		Name:        spec.Name,
		Title:       spec.Title,
		Description: spec.Description,
		InputSchema: tool.InputSchema(),
		Annotations: annotate(spec),
	}
	if s.opts.Structured {
		described.OutputSchema = tool.OutputSchema()
	}
	return described
}

// annotate derives the hints of MCP's ToolAnnotations from kind and effect.
func annotate(spec tools.Spec) *mcp.ToolAnnotations {
	mutates := spec.Effect.Mutates()
	destructive, open := false, false
	switch spec.Kind {
	case tools.KindEdit, tools.KindDelete, tools.KindMove, tools.KindExecute:
		destructive = mutates
	}
	if spec.Kind == tools.KindExecute || spec.Kind == tools.KindFetch || spec.Effect.Mutation == tools.MutatesExternally {
		open = true
	}
	idempotent := !mutates
	switch spec.Effect.Idempotency {
	case tools.IdempotencyRequired, tools.IdempotencyToolManaged:
		idempotent = true
	}
	return &mcp.ToolAnnotations{
		Title:           spec.Title,
		ReadOnlyHint:    !mutates,
		DestructiveHint: &destructive,
		IdempotentHint:  idempotent,
		OpenWorldHint:   &open,
	}
}
