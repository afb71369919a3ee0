package builtin

import (
	"strings"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

// Language makes the tools of language intelligence over one client.
func Language(client *langintel.Client) ([]*tools.Tool, error) {
	var list []*tools.Tool
	for _, make := range []func(*langintel.Client) (*tools.Tool, error){
		newLSPSymbols, newLSPDefinition, newLSPReferences, newLSPHover, newLSPDiagnostics, newLSPRename, newLSPStatus,
	} {
		tool, err := make(client)
		if err != nil {
			return nil, err
		}
		list = append(list, tool)
	}
	return list, nil
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
