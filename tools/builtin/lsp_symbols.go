package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

type lspSymbolsInput struct {
	Path  string   `json:"path,omitempty" jsonschema:"a file, for its outline"`
	Query string   `json:"query,omitempty" jsonschema:"part of a name, for the workspace"`
	Kinds []string `json:"kinds,omitempty" jsonschema:"function, method, struct, class …"`
	Limit *int64   `json:"limit,omitempty"`
}

// LSPSymbol is a declaration.
type LSPSymbol struct {
	Name     string     `json:"name"`
	NamePath string     `json:"namePath"`
	Kind     string     `json:"kind"`
	Path     string     `json:"path"`
	Line     int        `json:"line"`
	EndLine  int        `json:"endLine"`
	Column   int        `json:"column"`
	Detail   string     `json:"detail,omitempty"`
	External bool       `json:"external,omitempty"`
	Children LSPOutline `json:"children,omitempty"`
}

// LSPOutline is a list of declarations, with what is declared inside them.
type LSPOutline []LSPSymbol

// JSONSchema says that the list nests; the elements are LSPSymbols.
func (LSPOutline) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "object"}}
}

// LSPSymbols is the metadata of `lsp_symbols`.
type LSPSymbols struct {
	LSPAnswer
	Symbols     LSPOutline `json:"symbols"`
	Truncated   bool       `json:"truncated"`
	TruncatedBy string     `json:"truncatedBy,omitempty"`
}

func (l *language) symbols() (*tools.Tool, error) {
	spec := lspSpec("lsp_symbols", "Find symbols", "The outline of a file, or symbols of the workspace by name.")
	spec.Limits = []tools.Limit{lspLimit}
	return lspTool(l, spec, func(ctx context.Context, _ *tools.Call, in lspSymbolsInput) (*tools.Outcome[LSPSymbols], error) {
		found, err := l.client.Symbols(ctx, langintel.SymbolsQuery{Path: in.Path, Query: in.Query, Kinds: in.Kinds, Limit: in.Limit})
		if err != nil {
			return nil, err
		}
		metadata := LSPSymbols{LSPAnswer: lspAnswer(found.Answer), Symbols: lspOutline(found.Symbols), Truncated: found.Truncated}
		if found.Truncated {
			metadata.TruncatedBy = "results"
		}
		return tools.Answer(symbolsText(&metadata, in.Path == ""), metadata), nil
	})
}

func lspOutline(list []langintel.Symbol) LSPOutline {
	out := make(LSPOutline, 0, len(list))
	for _, s := range list {
		symbol := LSPSymbol{
			Name: s.Name, NamePath: s.NamePath, Kind: s.Kind, Path: s.Path, Line: s.Line, EndLine: s.EndLine,
			Column: s.Column, Detail: s.Detail, External: s.External,
		}
		if len(s.Children) > 0 {
			symbol.Children = lspOutline(s.Children)
		}
		out = append(out, symbol)
	}
	return out
}

func symbolsText(m *LSPSymbols, named bool) string {
	if len(m.Symbols) == 0 {
		return m.caveat() + "(no matches)"
	}
	var b strings.Builder
	b.WriteString(m.caveat())
	writeOutline(&b, m.Symbols, 0, named)
	if m.Truncated {
		b.WriteString("[truncated by results]")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func writeOutline(b *strings.Builder, list LSPOutline, depth int, named bool) {
	for _, s := range list {
		where := fmt.Sprintf("%d-%d", s.Line, s.EndLine)
		name := s.Name
		if named {
			where, name = fmt.Sprintf("%s:%d", s.Path, s.Line), s.NamePath
		}
		detail := ""
		if s.Detail != "" {
			detail = "  " + clipRunes(s.Detail, 100)
		}
		fmt.Fprintf(b, "%s%s %s %s%s\n", strings.Repeat("  ", depth), where, s.Kind, name, detail)
		writeOutline(b, s.Children, depth+1, named)
	}
}
