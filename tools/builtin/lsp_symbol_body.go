package builtin

import (
	"context"
	"fmt"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

type bodyOp string

// Values lists the operations.
func (bodyOp) Values() []string {
	return []string{string(langintel.ReadBody), string(langintel.ReplaceBody), string(langintel.InsertBefore), string(langintel.InsertAfter), string(langintel.DeleteBody)}
}

type lspSymbolBodyInput struct {
	lspPlace
	Op     bodyOp `json:"op" jsonschema:"delete only what nothing uses"`
	Text   string `json:"text,omitempty" jsonschema:"whole declarations; indentation is adapted"`
	DryRun bool   `json:"dryRun,omitempty"`
}

// LSPSymbolBody is the metadata of `lsp_symbol_body`: the declaration's text, or a
// change. Line and EndLine are where it stood.
type LSPSymbolBody struct {
	LSPAnswer
	Path     string `json:"path,omitempty"`
	NamePath string `json:"namePath,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Line     int    `json:"line,omitempty"`
	EndLine  int    `json:"endLine,omitempty"`
	Text     string `json:"text,omitempty"`
	LSPApplied
}

func (l *language) symbolBody() (*tools.Tool, error) {
	spec := changeSpec("lsp_symbol_body", "Symbol body", "Read, replace or delete a whole declaration, or insert before or after it.")
	asks := func(in lspSymbolBodyInput) bool { return in.DryRun || in.Op == bodyOp(langintel.ReadBody) }
	return changeTool(l, spec, asks, func(ctx context.Context, call *tools.Call, in lspSymbolBodyInput) (*tools.Outcome[LSPSymbolBody], error) {
		if in.DryRun && in.Op == bodyOp(langintel.ReadBody) {
			return nil, tools.Errorf(tools.CodeToolInput, "dryRun does not go with read, which changes nothing")
		}
		done, err := l.client.SymbolBody(ctx, langintel.SymbolBodyQuery{
			Place: in.place(), Op: langintel.BodyOp(in.Op), Text: in.Text, ChangeOptions: changeOptions(call, "lsp_symbol_body", in.DryRun, ""),
		})
		if err != nil {
			return nil, changeError(err)
		}
		metadata := LSPSymbolBody{
			LSPAnswer: lspAnswer(done.Answer), Path: done.Symbol.Path, NamePath: done.Symbol.NamePath, Kind: done.Symbol.Kind,
			Line: done.Symbol.Line, EndLine: done.Symbol.EndLine, Text: done.Text,
		}
		if done.Change == nil {
			head := ""
			if metadata.Path != "" {
				head = fmt.Sprintf("%s %s %s:%d-%d\n", metadata.Kind, metadata.NamePath, metadata.Path, metadata.Line, metadata.EndLine)
			}
			return tools.Answer(metadata.caveat()+head+metadata.Text, metadata), nil
		}
		outcome := changeOutcome(call, done.Change, "Changed", "Would change")
		metadata.LSPApplied = outcome.Metadata.applied()
		return &tools.Outcome[LSPSymbolBody]{Content: outcome.Content, Metadata: metadata}, nil
	})
}
