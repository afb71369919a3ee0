package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/prism-ls/prism-ls/tools"
)

// The keys under which a result's _meta carries what is meant for the host.
const (
	MetadataKey = "prism-ls/metadata"
	ErrorKey    = "prism-ls/error"
)

// rawResult is a tools/call result that writes its own JSON: the SDK's type
// copies and checks every text three times on its way out, which for large
// results is most of a call's time.
type rawResult struct {
	mcp.ResultBase // the SDK adds to its Meta
	result         *tools.Result
	// structured adds structuredContent.
	structured bool
	// complete adds the resultType that clients since 2026-07-28 want.
	complete bool
}

// MarshalJSON writes the result. The text of a failed call starts with its
// code; whatever it printed before failing comes after.
func (r *rawResult) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, r.size())
	b, err := r.appendMeta(append(b, `{"_meta":`...))
	if err != nil {
		return nil, err
	}
	b = append(b, `,"content":[`...)
	blocks := r.result.Content
	if r.result.Err != nil {
		blocks = append([]tools.Block{tools.Text(r.result.Err.Error())}, blocks...)
	}
	for i, block := range blocks {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendBlock(b, block)
	}
	b = append(b, ']')
	if r.structured && r.result.Err == nil { // an error's metadata need not fit the schema
		b = append(append(b, `,"structuredContent":`...), r.result.Metadata...)
	}
	if r.result.Err != nil {
		b = append(b, `,"isError":true`...)
	}
	if r.complete {
		b = append(b, `,"resultType":"complete"`...)
	}
	return append(b, '}'), nil
}

// size is about how long the JSON is, so that it is copied while growing at
// most once.
func (r *rawResult) size() int {
	size := 512 + 2*len(r.result.Metadata)
	for _, block := range r.result.Content {
		size += len(block.Text)*9/8 + len(block.Data)*4/3 + 64
	}
	return size
}

func (r *rawResult) appendMeta(b []byte) ([]byte, error) {
	b = append(b, '{')
	if len(r.result.Metadata) > 0 {
		b = append(b, `"`+MetadataKey+`":`...)
		b = append(append(b, r.result.Metadata...), ',')
	}
	further := map[string]any(r.Meta)
	if r.result.Err != nil {
		further = maps.Clone(further)
		if further == nil {
			further = map[string]any{}
		}
		further[ErrorKey] = r.result.Err
	}
	for _, key := range slices.Sorted(maps.Keys(further)) {
		text, err := json.Marshal(further[key])
		if err != nil {
			return nil, err
		}
		b = append(appendText(b, key), ':')
		b = append(append(b, text...), ',')
	}
	if b[len(b)-1] == ',' {
		b = b[:len(b)-1]
	}
	return append(b, '}'), nil
}

func appendBlock(b []byte, block tools.Block) []byte {
	if block.Type != "image" {
		b = append(b, `{"type":"text","text":`...)
		return append(appendText(b, block.Text), '}')
	}
	b = append(b, `{"type":"image","mimeType":`...)
	b = append(appendText(b, block.MIMEType), `,"data":"`...)
	return append(base64.StdEncoding.AppendEncode(b, block.Data), `"}`...)
}

// appendText writes a JSON string; bytes that are not UTF-8 become U+FFFD.
func appendText(b []byte, text string) []byte {
	quoted, err := jsontext.AppendQuote(b, text)
	if err != nil {
		quoted, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(text, "\ufffd")) // valid by now
	}
	return quoted
}

// slot carries a result past the SDK's own type, from the handler of a tool to
// the middleware around it.
type slot struct{ result *tools.Result }

type slotKey struct{}

func withSlot(ctx context.Context) (context.Context, *slot) {
	s := &slot{}
	return context.WithValue(ctx, slotKey{}, s), s
}

// fill leaves the result for the middleware, and returns a stand-in for the SDK.
func fill(ctx context.Context, result *tools.Result) *mcp.CallToolResult {
	if s, ok := ctx.Value(slotKey{}).(*slot); ok {
		s.result = result
	}
	return &mcp.CallToolResult{}
}
