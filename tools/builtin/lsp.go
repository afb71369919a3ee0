package builtin

import (
	"context"
	"strings"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

// Language makes the tools of language intelligence over one client. What the
// client's servers are doing, progress passes on to the calls in flight; it may
// be nil.
func Language(client *langintel.Client, progress *LSPProgress) ([]*tools.Tool, error) {
	l := &language{client, progress}
	var list []*tools.Tool
	for _, make := range []func() (*tools.Tool, error){
		l.symbols, l.definition, l.references, l.hover, l.diagnostics, l.rename, l.codeActions,
		l.format, l.symbolBody, l.hierarchy, l.status,
	} {
		tool, err := make()
		if err != nil {
			return nil, err
		}
		list = append(list, tool)
	}
	return list, nil
}

// language is what the tools of this group have in common.
type language struct {
	client   *langintel.Client
	progress *LSPProgress
}

// lspTool declares a tool during whose calls the progress of servers is passed
// on.
func lspTool[In, Out any](l *language, spec tools.Spec, run tools.RunFunc[In, Out]) (*tools.Tool, error) {
	return tools.New(spec, nil, func(ctx context.Context, call *tools.Call, in In) (*tools.Outcome[Out], error) {
		defer l.progress.follow(call)()
		return run(ctx, call, in)
	})
}

// lspPlace is where a question is asked.
type lspPlace struct {
	Path   string `json:"path,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty" jsonschema:"in characters"`
	Symbol string `json:"symbol,omitempty" jsonschema:"text on that line; alone or with path: Type.Method"`
}

func (p lspPlace) place() langintel.Place {
	return langintel.Place{Path: p.Path, Line: p.Line, Column: p.Column, Symbol: p.Symbol}
}

// Where a place's numbers begin and end.
var (
	lspLine   = tools.Limit{Name: "line", Hard: 1 << 31}
	lspColumn = tools.Limit{Name: "column", Hard: 1 << 31}
	lspLimit  = tools.Limit{Name: "limit", Default: 500, Hard: 5000}
)

// LSPAnswer is what the metadata of every answer says about itself.
type LSPAnswer struct {
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Server  string `json:"server"`
	Barrier string `json:"barrier,omitempty"`
}

func lspAnswer(a langintel.Answer) LSPAnswer {
	return LSPAnswer{string(a.Status), a.Reason, a.Server, string(a.Barrier)}
}

// caveat is the line by which a model learns that an answer is not the whole
// truth; a complete answer needs none.
func (a LSPAnswer) caveat() string {
	if a.Status == string(langintel.Complete) {
		return ""
	}
	return "[" + strings.TrimSuffix(a.Status+": "+a.Reason, ": ") + "]\n"
}

// lspSpec is a tool of this group that only asks.
func lspSpec(name, title, description string) tools.Spec {
	return tools.Spec{
		Name: name, Title: title, Description: description, Toolset: "lsp",
		Kind: tools.KindSearch, Effect: tools.Observes,
	}
}
