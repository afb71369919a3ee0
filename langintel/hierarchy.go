package langintel

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"

	"github.com/prism-ls/prism-ls/tools"
)

// HierarchyKind says what a hierarchy is of.
type HierarchyKind string

// The kinds.
const (
	Calls HierarchyKind = "calls"
	Types HierarchyKind = "types"
)

// Direction says which way a hierarchy is followed.
type Direction string

// The directions: In leads to callers and supertypes, Out to what is called and
// to subtypes.
const (
	In  Direction = "in"
	Out Direction = "out"
)

// HierarchyQuery asks for who calls a function or what it calls, or for the types
// above or below one.
type HierarchyQuery struct {
	Place
	Kind      HierarchyKind
	Direction Direction
	Depth     *int64 // steps from the place; nil: 1, at most 5
	Limit     *int64 // nodes; nil: 500, at most 5000
}

// HierarchyNode is one function or type; the first of a result is the one asked
// about.
type HierarchyNode struct {
	Name   string
	Kind   string
	Detail string
	Depth  int // 0 for the one asked about
	// Parent is the index of the node that this one was reached from; -1: none.
	Parent   int
	Location Location
	// Sites are where the calls are made, in the caller's file; 1-based lines.
	Sites []int
	// Seen: the node stands in the result already, and what follows from it only
	// there. A cycle ends like this.
	Seen bool
}

// HierarchyResult answers [Client.Hierarchy]: depth first, each node behind the
// one that it was reached from.
type HierarchyResult struct {
	Answer
	Nodes     []HierarchyNode
	Truncated bool
}

// limitDepth bounds the steps of a hierarchy.
func limitDepth() tools.Limit { return tools.Limit{Name: "depth", Default: 1, Hard: 5} }

// Hierarchy follows calls (LSP 3.17 §textDocument_prepareCallHierarchy) or types
// (§textDocument_prepareTypeHierarchy).
func (c *Client) Hierarchy(ctx context.Context, q HierarchyQuery) (*HierarchyResult, error) {
	depth, err := limitDepth().Of(q.Depth)
	if err != nil {
		return nil, err
	}
	limit, err := limitResults().Of(q.Limit)
	if err != nil {
		return nil, err
	}
	w := &hierarchyWalk{depth: int(depth), limit: int(limit), at: map[hierarchyKey]bool{}}
	if err := w.methods(q.Kind, q.Direction); err != nil {
		return nil, err
	}
	t, err := c.resolve(ctx, q.Place)
	if err != nil {
		answer, err := c.soften(ctx, "", err)
		return &HierarchyResult{Answer: answer}, err
	}
	defer t.release()
	if !t.session.offers(w.prepare) {
		return &HierarchyResult{Answer: Answer{Status: Unsupported, Server: t.spec.Name, Reason: fmt.Sprintf("%s does not offer a hierarchy of %s", t.spec.Name, q.Kind)}}, nil
	}
	w.target = t
	pending := t.settle(ctx)
	err = w.start(ctx)
	answer, err := c.soften(ctx, t.spec.Name, err)
	if err != nil {
		return nil, err
	}
	result := &HierarchyResult{Answer: answer, Nodes: w.nodes, Truncated: w.cut}
	if answer.Status == Complete {
		t.qualify(&result.Answer, pending, len(w.nodes) < 2)
		if w.failed != "" {
			result.Status, result.Reason = Partial, w.failed
		}
	}
	return result, nil
}

// hierarchyWalk collects the nodes of one hierarchy.
type hierarchyWalk struct {
	target       *target
	prepare      string
	method       string
	calls, in    bool
	depth, limit int
	at           map[hierarchyKey]bool
	nodes        []HierarchyNode
	cut          bool
	failed       string
}

func (w *hierarchyWalk) methods(kind HierarchyKind, direction Direction) error {
	if direction != In && direction != Out {
		return tools.Errorf(tools.CodeToolInput, "direction is %q, must be in (callers, supertypes) or out", oneLine(string(direction), 40))
	}
	w.in = direction == In
	switch kind {
	case Calls:
		w.calls, w.prepare, w.method = true, "textDocument/prepareCallHierarchy", "callHierarchy/outgoingCalls"
		if w.in {
			w.method = "callHierarchy/incomingCalls"
		}
	case Types:
		w.prepare, w.method = "textDocument/prepareTypeHierarchy", "typeHierarchy/subtypes"
		if w.in {
			w.method = "typeHierarchy/supertypes"
		}
	default:
		return tools.Errorf(tools.CodeToolInput, "kind is %q, must be calls or types", oneLine(string(kind), 40))
	}
	return nil
}

func (w *hierarchyWalk) start(ctx context.Context) error {
	var raw jsontext.Value
	if err := w.target.read(ctx, w.prepare, w.target.params(), &raw); err != nil {
		return err
	}
	items, err := parseItems(raw)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		w.failed = fmt.Sprintf("%s finds nothing at %s:%d that has such a hierarchy", w.target.spec.Name, w.target.doc.path, w.target.at.line+1)
	}
	for i := range items {
		if err := w.visit(ctx, hierarchyLink{item: items[i]}, -1, 0); err != nil {
			return err
		}
	}
	return nil
}

// visit adds a node and what follows from it.
func (w *hierarchyWalk) visit(ctx context.Context, link hierarchyLink, parent, depth int) error {
	if len(w.nodes) >= w.limit {
		w.cut = true
		return nil
	}
	key := link.item.key()
	node, err := w.node(ctx, link, parent, depth)
	if err != nil {
		return err
	}
	node.Seen = w.at[key]
	w.at[key] = true
	here := len(w.nodes)
	w.nodes = append(w.nodes, node)
	if node.Seen || depth == w.depth {
		return nil
	}
	links, err := w.follow(ctx, &link.item)
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	if err != nil && depth == 0 {
		return err
	}
	if err != nil {
		// What else there is was found nonetheless.
		w.failed = fmt.Sprintf("what follows from %s is not known: %s", node.Name, oneLine(err.Error(), 200))
		return nil
	}
	for _, next := range links {
		if err := w.visit(ctx, next, here, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// follow asks for the next step.
func (w *hierarchyWalk) follow(ctx context.Context, item *hierarchyItem) ([]hierarchyLink, error) {
	var raw jsontext.Value
	if err := w.target.read(ctx, w.method, hierarchyParams{item.raw}, &raw); err != nil {
		return nil, err
	}
	if w.calls {
		return parseCalls(raw)
	}
	items, err := parseItems(raw)
	out := make([]hierarchyLink, len(items))
	for i := range items {
		out[i].item = items[i]
	}
	return out, err
}

func (w *hierarchyWalk) node(ctx context.Context, link hierarchyLink, parent, depth int) (HierarchyNode, error) {
	item := &link.item
	out := HierarchyNode{Name: oneLine(item.Name, 300), Kind: kindName(item.Kind), Detail: oneLine(item.Detail, 300), Depth: depth, Parent: parent}
	list, _ := w.target.client.site([]place{{uri: item.URI, rng: item.Selection, whole: item.Range}})
	shown, _, err := w.target.show(ctx, list)
	if err != nil || len(shown) == 0 {
		return out, err
	}
	out.Location = shown[0]
	from := item.URI // of incoming calls the ranges are in the item's file
	if !w.in && parent >= 0 {
		from = ""
	}
	for _, site := range link.sites {
		out.Sites = append(out.Sites, w.line(ctx, from, site, parent))
	}
	return out, nil
}

// line is a line as people count: servers that end lines at a lone CR count
// others. Of outgoing calls the ranges are in the file of the parent.
func (w *hierarchyWalk) line(ctx context.Context, uri docURI, r protocol.Range, parent int) int {
	path := ""
	if rel, ok := w.target.client.relative(uri.path()); ok && uri != "" {
		path = rel
	} else if parent >= 0 && uri == "" && !w.nodes[parent].Location.External {
		path = w.nodes[parent].Location.Path
	}
	if f, _, err := w.target.client.files.get(ctx, at(path)); path != "" && err == nil {
		if where, err := w.target.wire.decode(f.text, r.Start, false); err == nil {
			return where.line + 1
		}
	}
	return int(r.Start.Line) + 1
}
