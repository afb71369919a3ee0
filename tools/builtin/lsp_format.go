package builtin

import (
	"context"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

type lspFormatInput struct {
	Path    string `json:"path" check:"nonempty"`
	Line    int    `json:"line,omitempty" jsonschema:"only these lines"`
	EndLine int    `json:"endLine,omitempty"`
	DryRun  bool   `json:"dryRun,omitempty"`
}

// LSPFormat is the metadata of `lsp_format`.
type LSPFormat struct {
	LSPAnswer
	Changed bool `json:"changed"`
	LSPApplied
}

func (l *language) format() (*tools.Tool, error) {
	spec := changeSpec("lsp_format", "Format", "Format a file, or some lines of it.")
	spec.Limits = []tools.Limit{lspLine, lspEndLine}
	asks := func(in lspFormatInput) bool { return in.DryRun }
	return changeTool(l, spec, asks, func(ctx context.Context, call *tools.Call, in lspFormatInput) (*tools.Outcome[LSPFormat], error) {
		done, err := l.client.Format(ctx, langintel.FormatQuery{
			Path: in.Path, Line: in.Line, EndLine: in.EndLine, ChangeOptions: changeOptions(call, "lsp_format", in.DryRun, ""),
		})
		if err != nil {
			return nil, changeError(err)
		}
		outcome := changeOutcome(call, done, "Formatted", "Would format")
		metadata := LSPFormat{LSPAnswer: outcome.Metadata.LSPAnswer, Changed: len(done.Files) > 0, LSPApplied: outcome.Metadata.applied()}
		if !metadata.Changed {
			return tools.Answer(metadata.caveat()+"Formatted already.", metadata), nil
		}
		return &tools.Outcome[LSPFormat]{Content: outcome.Content, Metadata: metadata}, nil
	})
}
