package builtin

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
)

type lspHoverInput struct{ lspPlace }

// LSPHover is the metadata of `lsp_hover`.
type LSPHover struct {
	LSPAnswer
	Text      string `json:"text"`
	Signature string `json:"signature,omitempty"`
}

func (l *language) hover() (*tools.Tool, error) {
	spec := lspSpec("lsp_hover", "Hover", "A symbol's signature and documentation.")
	spec.Kind = tools.KindRead
	spec.Limits = []tools.Limit{lspLine, lspColumn}
	return lspTool(l, spec, func(ctx context.Context, _ *tools.Call, in lspHoverInput) (*tools.Outcome[LSPHover], error) {
		found, err := l.client.Hover(ctx, in.place())
		if err != nil {
			return nil, err
		}
		metadata := LSPHover{lspAnswer(found.Answer), found.Text, found.Signature}
		text := found.Text
		if text == "" {
			text = "(no matches)"
		}
		return tools.Answer(metadata.caveat()+text, metadata), nil
	})
}
