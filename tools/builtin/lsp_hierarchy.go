package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

type hierarchyKind string

// Values lists the kinds.
func (hierarchyKind) Values() []string {
	return []string{string(langintel.Calls), string(langintel.Types)}
}

type hierarchyDirection string

// Values lists the directions.
func (hierarchyDirection) Values() []string {
	return []string{string(langintel.In), string(langintel.Out)}
}

type lspHierarchyInput struct {
	lspPlace
	Kind      hierarchyKind      `json:"kind"`
	Direction hierarchyDirection `json:"direction" jsonschema:"in: callers, supertypes; out: callees, subtypes"`
	Depth     *int64             `json:"depth,omitempty"`
}

// LSPNode is a function or a type of a hierarchy. Parent is the index of the node
// that it was reached from, -1 for the first; sites are the lines of the calls.
type LSPNode struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Detail string `json:"detail,omitempty"`
	Depth  int    `json:"depth"`
	Parent int    `json:"parent"`
	// Seen: what follows from it stands where it stood first.
	Seen     bool        `json:"seen,omitempty"`
	Location LSPLocation `json:"location"`
	Sites    []int       `json:"sites,omitempty"`
}

// LSPHierarchy is the metadata of `lsp_hierarchy`.
type LSPHierarchy struct {
	LSPAnswer
	Nodes       []LSPNode `json:"nodes"`
	Truncated   bool      `json:"truncated"`
	TruncatedBy string    `json:"truncatedBy,omitempty"`
}

var lspDepth = tools.Limit{Name: "depth", Default: 1, Hard: 5}

func (l *language) hierarchy() (*tools.Tool, error) {
	spec := lspSpec("lsp_hierarchy", "Call and type hierarchy", "Who calls a function or what it calls; the types above or below one.")
	spec.Limits = []tools.Limit{lspLine, lspColumn, lspDepth}
	return lspTool(l, spec, func(ctx context.Context, _ *tools.Call, in lspHierarchyInput) (*tools.Outcome[LSPHierarchy], error) {
		found, err := l.client.Hierarchy(ctx, langintel.HierarchyQuery{
			Place: in.place(), Kind: langintel.HierarchyKind(in.Kind), Direction: langintel.Direction(in.Direction), Depth: in.Depth,
		})
		if err != nil {
			return nil, err
		}
		metadata := LSPHierarchy{LSPAnswer: lspAnswer(found.Answer), Nodes: []LSPNode{}, Truncated: found.Truncated}
		if found.Truncated {
			metadata.TruncatedBy = "results"
		}
		for _, n := range found.Nodes {
			metadata.Nodes = append(metadata.Nodes, LSPNode{
				Name: n.Name, Kind: n.Kind, Detail: n.Detail, Depth: n.Depth, Parent: n.Parent, Seen: n.Seen,
				Location: lspLocations([]langintel.Location{n.Location})[0], Sites: n.Sites,
			})
		}
		return tools.Answer(metadata.text(), metadata), nil
	})
}

func (m *LSPHierarchy) text() string {
	if len(m.Nodes) == 0 {
		return m.caveat() + "(no matches)"
	}
	var b strings.Builder
	b.WriteString(m.caveat())
	for _, n := range m.Nodes {
		fmt.Fprintf(&b, "%s%s %s %s:%d", strings.Repeat("  ", n.Depth), n.Kind, n.Name, n.Location.Path, n.Location.Line)
		if len(n.Sites) > 0 {
			fmt.Fprintf(&b, " (calls on line %s)", strings.Trim(fmt.Sprint(n.Sites), "[]"))
		}
		if n.Seen {
			b.WriteString(" (see above)")
		}
		b.WriteByte('\n')
	}
	if m.Truncated {
		b.WriteString("[truncated by results]")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
