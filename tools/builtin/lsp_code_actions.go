package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

type lspCodeActionsInput struct {
	lspPlace
	EndLine   int      `json:"endLine,omitempty"`
	EndColumn int      `json:"endColumn,omitempty"`
	Kinds     []string `json:"kinds,omitempty" jsonschema:"quickfix, refactor, source.organizeImports …"`
	Apply     string   `json:"apply,omitempty" jsonschema:"id from the list"`
	DryRun    bool     `json:"dryRun,omitempty"`
}

// LSPCodeAction is one thing that a server offers to do. ID is good for the text
// that it was listed for.
type LSPCodeAction struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Kind      string `json:"kind"`
	Preferred bool   `json:"preferred"`
	Server    string `json:"server"`
	Disabled  string `json:"disabled,omitempty"`
}

// LSPCodeActions is the metadata of `lsp_code_actions`: a list, or a change.
type LSPCodeActions struct {
	LSPAnswer
	Actions []LSPCodeAction `json:"actions,omitzero"`
	LSPApplied
}

// Where a range's numbers begin and end.
var (
	lspEndLine   = tools.Limit{Name: "endLine", Hard: 1 << 31}
	lspEndColumn = tools.Limit{Name: "endColumn", Hard: 1 << 31}
)

func (l *language) codeActions() (*tools.Tool, error) {
	spec := changeSpec("lsp_code_actions", "Code actions", "List fixes and refactorings at a line, range or place; apply one by id.")
	spec.Limits = append(spec.Limits, lspEndLine, lspEndColumn)
	asks := func(in lspCodeActionsInput) bool { return in.Apply == "" || in.DryRun }
	return changeTool(l, spec, asks, func(ctx context.Context, call *tools.Call, in lspCodeActionsInput) (*tools.Outcome[LSPCodeActions], error) {
		query := langintel.CodeActionsQuery{Place: in.place(), EndLine: in.EndLine, EndColumn: in.EndColumn, Kinds: in.Kinds}
		if in.Apply == "" {
			if in.DryRun {
				return nil, tools.Errorf(tools.CodeToolInput, "dryRun goes with apply; listing changes nothing")
			}
			return l.listActions(ctx, query)
		}
		done, err := l.client.ApplyCodeAction(ctx, langintel.ApplyActionQuery{
			ID: in.Apply, CodeActionsQuery: query, ChangeOptions: changeOptions(call, "lsp_code_actions", in.DryRun, ""),
		})
		if err != nil {
			return nil, changeError(err)
		}
		outcome := changeOutcome(call, done, "Applied", "Would apply")
		return &tools.Outcome[LSPCodeActions]{
			Content:  outcome.Content,
			Metadata: LSPCodeActions{LSPAnswer: outcome.Metadata.LSPAnswer, LSPApplied: outcome.Metadata.applied()},
		}, nil
	})
}

func (l *language) listActions(ctx context.Context, query langintel.CodeActionsQuery) (*tools.Outcome[LSPCodeActions], error) {
	found, err := l.client.CodeActions(ctx, query)
	if err != nil {
		return nil, err
	}
	metadata := LSPCodeActions{LSPAnswer: lspAnswer(found.Answer), Actions: []LSPCodeAction{}}
	var b strings.Builder
	for _, a := range found.Actions {
		metadata.Actions = append(metadata.Actions, LSPCodeAction{a.ID, a.Title, a.Kind, a.Preferred, a.Server, a.Disabled})
		fmt.Fprintf(&b, "%s %s: %s", a.ID, a.Kind, strings.ReplaceAll(a.Title, "\n", " "))
		switch {
		case a.Disabled != "":
			fmt.Fprintf(&b, " (not now: %s)", a.Disabled)
		case a.Preferred:
			b.WriteString(" (preferred)")
		}
		b.WriteByte('\n')
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if text == "" {
		text = "(no matches)"
	}
	return tools.Answer(metadata.caveat()+text, metadata), nil
}
