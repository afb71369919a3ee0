package mcpserver

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/prism-ls/prism-ls/tools"
)

// The keys under which a result's _meta carries what is meant for the host.
const (
	MetadataKey = "prism-ls/metadata"
	ErrorKey    = "prism-ls/error"
)

// shape puts a result into MCP's form. The text of a failed call starts with
// its code; whatever it printed before failing comes after.
func (s *Server) shape(result *tools.Result) *mcp.CallToolResult {
	shaped := &mcp.CallToolResult{Meta: mcp.Meta{}, Content: make([]mcp.Content, 0, len(result.Content)+1)}
	if len(result.Metadata) > 0 {
		shaped.Meta[MetadataKey] = result.Metadata
	}
	if result.Err != nil {
		shaped.IsError = true
		shaped.Meta[ErrorKey] = result.Err
		shaped.Content = append(shaped.Content, &mcp.TextContent{Text: result.Err.Error()})
	} else if s.opts.Structured {
		shaped.StructuredContent = result.Metadata // an error's metadata need not fit the schema
	}
	for _, block := range result.Content {
		switch block.Type {
		case "image":
			shaped.Content = append(shaped.Content, &mcp.ImageContent{MIMEType: block.MIMEType, Data: block.Data})
		default:
			shaped.Content = append(shaped.Content, &mcp.TextContent{Text: block.Text})
		}
	}
	return shaped
}
