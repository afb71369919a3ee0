package langintel

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/prism-ls/prism-ls/tools"
)

// FormatQuery asks for a file, or with Line some lines of it, to be laid out as
// its language server does.
type FormatQuery struct {
	Path    string
	Line    int // first line, from 1; 0: the whole file
	EndLine int // last line; 0: Line
	ChangeOptions
}

// Format lays a file out. A file that is laid out already is no error: the result
// has no files. Errors are those of [Client.Rename].
func (c *Client) Format(ctx context.Context, q FormatQuery) (*ChangeResult, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	if q.Line < 0 || q.EndLine < 0 || q.EndLine != 0 && (q.Line == 0 || q.EndLine < q.Line) {
		return nil, tools.Errorf(tools.CodeToolInput, "lines %d to %d are no lines; line is the first, endLine the last", q.Line, q.EndLine)
	}
	c.editing.Lock()
	defer c.editing.Unlock()
	return again(ctx, func() (*ChangeResult, error) { return c.format(ctx, q) })
}

// formattingParams is LSP 3.17 §documentFormattingParams and, with a range,
// §documentRangeFormattingParams.
type formattingParams struct {
	TextDocument protocol.TextDocumentIdentifier `json:"textDocument"`
	Range        *protocol.Range                 `json:"range,omitzero"`
	Options      formattingOptions               `json:"options"`
}

// formattingOptions is LSP 3.17 §formattingOptions.
type formattingOptions struct {
	TabSize      int  `json:"tabSize"`
	InsertSpaces bool `json:"insertSpaces"`
}

func (c *Client) format(ctx context.Context, q FormatQuery) (*ChangeResult, error) {
	if err := c.watch.sweep(ctx); err != nil {
		return nil, tools.AsError(err)
	}
	method := "textDocument/formatting"
	if q.Line != 0 {
		method = "textDocument/rangeFormatting"
	}
	t, err := c.openOffering(ctx, q.Path, method)
	if err != nil {
		return nil, hard(ctx, "the language server", err)
	}
	defer t.release()
	if !t.offers(method) {
		what := "formatting"
		if q.Line != 0 && t.offers("textDocument/formatting") {
			what = "formatting a part of a file; leave the lines out for all of it"
		}
		return nil, unsupported(t.session, what)
	}
	text := t.doc.file.text
	params := formattingParams{Options: indentOf(text)}
	params.TextDocument.URI = t.doc.uri
	if q.Line != 0 {
		r, err := t.linesRange(q.Line, max(q.Line, q.EndLine))
		if err != nil {
			return nil, err
		}
		params.Range = &r
	}
	var edits []textEdit
	if err := t.call(ctx, method, params, &edits); err != nil {
		return nil, hard(ctx, t.spec.Name, err)
	}
	p := c.emptyPlan(t.spec.Name, q.allowance())
	var pieces []piece
	for i := range edits {
		one, err := t.wire.pieceOf(text, &edits[i], t.session)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, one)
	}
	if err := p.replace(ctx, t.doc.path, pieces...); err != nil {
		return nil, err
	}
	if err := p.finish(ctx); err != nil {
		return nil, err
	}
	// The text may have moved since it was opened.
	if file := p.files[t.doc.path]; file.before.sha != t.doc.file.sha {
		return nil, tools.Errorf(tools.CodeLSPStale, "%s changed while %s worked on it; nothing was written", t.doc.path, t.spec.Name)
	}
	if len(p.changed()) == 0 {
		return &ChangeResult{Answer: Answer{Status: Complete, Server: t.spec.Name, Barrier: BarrierRequest}, DryRun: q.DryRun}, nil
	}
	return p.apply(ctx, q.ChangeOptions)
}

// linesRange is the range of whole lines, without the end of the last.
func (t *target) linesRange(first, last int) (protocol.Range, error) {
	text := t.doc.file.text
	start, err := text.pointAt(first, 1)
	if err != nil {
		return protocol.Range{}, err
	}
	end, err := text.pointAt(last, 1)
	if err != nil {
		return protocol.Range{}, err
	}
	end.byte = len(text.line(end.line))
	return protocol.Range{Start: t.wire.encode(text, start), End: t.wire.encode(text, end)}, nil
}

// indentOf guesses how a text is indented from the text itself: by tabs where more
// lines start with one than with spaces, else by the step that its indented lines
// are mostly apart.
func indentOf(t *text) formattingOptions {
	tabs, spaces, last := 0, 0, 0
	steps := map[int]int{}
	for n := range t.lines {
		line := t.line(n)
		width := 0
		for width < len(line) && line[width] == ' ' {
			width++
		}
		switch {
		case len(line) == 0 || width == len(line):
			continue // says nothing
		case line[0] == '\t':
			tabs++
			continue
		case line[width] == '*':
			continue // the inside of a comment
		case width > 0:
			spaces++
		}
		if step := width - last; step > 1 && step <= 8 {
			steps[step]++
		}
		last = width
	}
	out := formattingOptions{TabSize: 4, InsertSpaces: spaces > tabs}
	if !out.InsertSpaces {
		return out
	}
	best := 0
	for _, step := range []int{2, 4, 8, 3, 6} {
		if steps[step] > best {
			best, out.TabSize = steps[step], step
		}
	}
	return out
}
