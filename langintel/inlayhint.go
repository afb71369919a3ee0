package langintel

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-ls/prism-ls/tools"
)

// InlayHintsQuery asks for what a server would show between the characters of some
// lines: inferred types, names of parameters.
type InlayHintsQuery struct {
	Path    string
	Line    int // first line, from 1; 0: the whole file
	EndLine int // last line; 0: Line
	Limit   *int64
}

// InlayHint is one piece of text that a source does not hold.
type InlayHint struct {
	Line   int // from 1
	Column int // from 1, in code points: it stands before that character
	Label  string
	Kind   string // "type", "parameter" or ""
}

// InlayHintsResult answers [Client.InlayHints], in the order of the text.
type InlayHintsResult struct {
	Answer
	Hints     []InlayHint
	Truncated bool
}

// InlayHints lists hints (LSP 3.17 §textDocument_inlayHint). Many servers have
// none unless their settings ask for some.
func (c *Client) InlayHints(ctx context.Context, q InlayHintsQuery) (*InlayHintsResult, error) {
	const method = "textDocument/inlayHint"
	limit, err := limitResults().Of(q.Limit)
	if err != nil {
		return nil, err
	}
	if err := c.watch.sweep(ctx); err != nil {
		return nil, tools.AsError(err)
	}
	t, err := c.openOffering(ctx, q.Path, method)
	if err != nil {
		answer, err := c.soften(ctx, "", err)
		return &InlayHintsResult{Answer: answer}, err
	}
	defer t.release()
	if !t.offers(method) {
		return &InlayHintsResult{Answer: Answer{Status: Unsupported, Server: t.spec.Name, Reason: t.spec.Name + " does not offer inlay hints"}}, nil
	}
	text := t.doc.file.text
	first, last := q.Line, max(q.Line, q.EndLine)
	if first == 0 {
		first, last = 1, len(text.lines)
	}
	params := inlayHintParams{}
	params.TextDocument.URI = t.doc.uri
	if params.Range, err = t.linesRange(first, last); err != nil {
		return nil, err
	}
	var raw jsontext.Value
	answer, err := c.soften(ctx, t.spec.Name, t.read(ctx, method, params, &raw))
	if err != nil || answer.Status != Complete {
		return &InlayHintsResult{Answer: answer}, err
	}
	var list []inlayHint
	if offered(raw) {
		if err := decodeJSON(raw, &list); err != nil {
			return nil, err
		}
	}
	out := &InlayHintsResult{Answer: answer, Truncated: int64(len(list)) > limit}
	for i := range list {
		h := &list[i]
		where, _ := t.wire.decode(text, h.Position, false)
		kind := map[int]string{1: "type", 2: "parameter"}[h.Kind] // LSP 3.17 §inlayHintKind
		out.Hints = append(out.Hints, InlayHint{Line: where.line + 1, Column: text.characters(where), Label: printable(h.text(), 300), Kind: kind})
	}
	slices.SortStableFunc(out.Hints, func(a, b InlayHint) int {
		if a.Line != b.Line {
			return compare(a.Line, b.Line)
		}
		return compare(a.Column, b.Column)
	})
	out.Hints = out.Hints[:min(len(out.Hints), int(limit))]
	return out, nil
}
