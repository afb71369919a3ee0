package mcpserver

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/prism-ls/prism-ls/tools"
)

// A result that writes itself reads back as the SDK's own type.
func TestRawResult(t *testing.T) {
	for name, c := range map[string]struct {
		raw  *rawResult
		want *mcp.CallToolResult
	}{
		"blocks": {
			&rawResult{structured: true, result: &tools.Result{
				Content:  []tools.Block{tools.Text("a \"b\" <c> \u2028\n"), tools.Text("bad \xff"), tools.Image("image/png", []byte{0, 255, 7})},
				Metadata: json.RawMessage(`{"n":1}`),
			}},
			&mcp.CallToolResult{
				Meta: mcp.Meta{MetadataKey: map[string]any{"n": 1.0}},
				Content: []mcp.Content{
					&mcp.TextContent{Text: "a \"b\" <c> \u2028\n"}, &mcp.TextContent{Text: "bad \ufffd"},
					&mcp.ImageContent{MIMEType: "image/png", Data: []byte{0, 255, 7}},
				},
				StructuredContent: map[string]any{"n": 1.0},
			},
		},
		"nothing": {&rawResult{result: &tools.Result{}}, &mcp.CallToolResult{Meta: mcp.Meta{}, Content: []mcp.Content{}}},
		"error": {
			&rawResult{structured: true, ResultBase: mcp.ResultBase{Meta: mcp.Meta{"more": "x"}}, result: &tools.Result{
				Content: []tools.Block{tools.Text("before")}, Err: tools.Errorf(tools.CodeNotFound, "gone"),
			}},
			&mcp.CallToolResult{
				Meta:    mcp.Meta{"more": "x", ErrorKey: map[string]any{"code": "ERR_PRISM_NOT_FOUND", "message": "gone"}},
				Content: []mcp.Content{&mcp.TextContent{Text: "ERR_PRISM_NOT_FOUND: gone"}, &mcp.TextContent{Text: "before"}}, IsError: true,
			},
		},
	} {
		text, err := json.Marshal(c.raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got mcp.CallToolResult
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v: %s", name, err, text)
		}
		want, err := json.Marshal(c.want)
		if err != nil {
			t.Fatal(err)
		}
		have, err := json.Marshal(&got)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(have)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
