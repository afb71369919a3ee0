package langintel

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

const hoverBytes = 16 << 10

// Hover returns what the server says about a symbol: signature and
// documentation, as Markdown.
func (c *Client) Hover(ctx context.Context, p Place) (*HoverResult, error) {
	t, err := c.resolve(ctx, p)
	if err != nil {
		answer, err := c.soften(ctx, "", err)
		return &HoverResult{Answer: answer}, err
	}
	defer t.release()
	if !t.offers("textDocument/hover") {
		return &HoverResult{Answer: Answer{Status: Unsupported, Server: t.spec.Name, Reason: t.spec.Name + " does not offer hover"}}, nil
	}
	var raw jsontext.Value
	err = t.read(ctx, "textDocument/hover", t.params(), &raw)
	answer, err := c.soften(ctx, t.spec.Name, err)
	if err != nil || answer.Status != Complete {
		return &HoverResult{Answer: answer}, err
	}
	text, err := parseHover(raw)
	if err != nil {
		return nil, err
	}
	text = printable(text, hoverBytes)
	signature := firstFence(text)
	if signature == "" {
		signature = t.signature(ctx)
	}
	return &HoverResult{Answer: answer, Text: text, Signature: signature}, nil
}

// firstFence returns the content of the first fenced code block.
func firstFence(text string) string {
	_, rest, ok := strings.Cut(text, "```")
	if !ok {
		return ""
	}
	_, rest, ok = strings.Cut(rest, "\n")
	if !ok {
		return ""
	}
	code, _, ok := strings.Cut(rest, "\n```")
	if !ok {
		return ""
	}
	return strings.TrimSpace(code)
}
