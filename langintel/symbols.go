package langintel

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// SymbolsQuery asks for the outline of a file (Path), or for symbols of the
// workspace by a part of their name (Query).
type SymbolsQuery struct {
	Path  string
	Query string
	Kinds []string // only these; empty: all
	Limit *int64   // nil: 500, at most 5000; children count
}

// Symbols lists declarations.
func (c *Client) Symbols(ctx context.Context, q SymbolsQuery) (*SymbolsResult, error) {
	limit, err := limitResults().Of(q.Limit)
	if err != nil {
		return nil, err
	}
	if (q.Path == "") == (q.Query == "") {
		return nil, tools.Errorf(tools.CodeToolInput, "give either a path, for its outline, or a query, for the workspace")
	}
	if err := c.watch.sweep(ctx); err != nil {
		return nil, tools.AsError(err)
	}
	if q.Path == "" {
		return c.workspaceQuery(ctx, q, int(limit))
	}
	t, err := c.openTarget(ctx, q.Path)
	if err != nil {
		answer, err := c.soften(ctx, "", err)
		return &SymbolsResult{Answer: answer}, err
	}
	defer t.release()
	if !t.offers("textDocument/documentSymbol") {
		return &SymbolsResult{Answer: Answer{Status: Unsupported, Server: t.spec.Name, Reason: t.spec.Name + " does not offer outlines"}}, nil
	}
	o, err := t.outlineOf(ctx, t.doc.file, t.doc.uri)
	answer, err := c.soften(ctx, t.spec.Name, err)
	if err != nil || answer.Status != Complete {
		return &SymbolsResult{Answer: answer}, err
	}
	if o.pending != "" {
		answer.Status, answer.Reason = Partial, t.spec.Name+" may know more later: "+o.pending
	}
	shaper := shaper{file: t.doc.file, kinds: q.Kinds, left: int(limit)}
	result := &SymbolsResult{Answer: answer, Symbols: shaper.shape(o.tops)}
	result.Truncated = shaper.cut
	return result, nil
}

// shaper turns declarations into symbols, up to a number.
type shaper struct {
	file  *file
	kinds []string
	left  int
	cut   bool
}

func (s *shaper) shape(list []*declared) []Symbol {
	var out []Symbol
	for _, d := range list {
		wanted := len(s.kinds) == 0 || slices.Contains(s.kinds, kindName(d.kind))
		if !wanted {
			out = append(out, s.shape(d.children)...)
			continue
		}
		if s.left == 0 {
			s.cut = true
			return out
		}
		s.left--
		at := nameAt(s.file.text, d.selection, d.names[len(d.names)-1])
		out = append(out, Symbol{
			Name: d.name, NamePath: d.namePath(), Kind: kindName(d.kind), Path: s.file.path,
			Line: at.line + 1, EndLine: d.whole.end.line + 1, Column: s.file.text.characters(at),
			Detail: d.detail, Children: s.shape(d.children),
		})
	}
	return out
}

// workspaceQuery merges what the servers find, each in its own order of
// relevance.
func (c *Client) workspaceQuery(ctx context.Context, q SymbolsQuery, limit int) (*SymbolsResult, error) {
	servers, absent, err := c.workspaceServers()
	if err != nil {
		answer, err := c.soften(ctx, "", err)
		return &SymbolsResult{Answer: answer}, err
	}
	result := &SymbolsResult{}
	var lost []error // servers that could not be asked
	for _, s := range servers {
		list, pending, err := s.search(ctx, q.Query)
		answer, err := c.soften(ctx, s.spec.Name, err)
		if ctx.Err() != nil && err != nil {
			return nil, err
		}
		if err != nil {
			lost = append(lost, err)
			continue
		}
		if answer.Status == Complete && pending != "" {
			answer.Status, answer.Reason = Partial, s.spec.Name+" may know more later: "+pending
		}
		if answer.Status == Unsupported && len(servers) > 1 {
			continue // the others may know
		}
		if result.Server == "" || answer.Status != Complete {
			result.Answer = answer
		}
		if most := s.spec.MaxSymbols; most > 0 && len(list) >= most && result.Status == Complete {
			result.Status, result.Truncated = Partial, true
			result.Reason = fmt.Sprintf("%s lists at most %d symbols, of all kinds; ask for more of the name", s.spec.Name, most)
		}
		for _, f := range list {
			if len(q.Kinds) > 0 && !slices.Contains(q.Kinds, kindName(f.node.Kind)) {
				continue
			}
			if len(result.Symbols) == limit {
				result.Truncated = true
				break
			}
			result.Symbols = append(result.Symbols, c.symbolOf(ctx, f))
		}
	}
	if len(lost) == len(servers) {
		return nil, lost[0]
	}
	if len(lost) > 0 && (result.Status == "" || result.Status == Complete) {
		result.Status = Partial
		result.Reason = fmt.Sprintf("%d of %d language servers could not be asked: %s", len(lost), len(servers), printable(tools.AsError(lost[0]).Message, 500))
	}
	if len(absent) > 0 && len(result.Symbols) == 0 && result.Status == Complete {
		result.Status, result.Reason = Partial, notAsked(absent)
	}
	if result.Status == "" {
		result.Answer = Answer{Status: Unsupported, Reason: "none of the language servers here searches the workspace"}
	}
	return result, nil
}

// notAsked says which servers of the workspace's languages are missing.
func notAsked(absent []string) string {
	return "files of other languages were not searched, since their servers are missing here: " + strings.Join(absent, ", ")
}

// search asks a server for symbols, twice when there are none; pending is what it
// has to do before it knows all.
func (s *server) search(ctx context.Context, query string) (list []found, pending string, err error) {
	live, release, err := s.acquire(ctx)
	if err != nil {
		return nil, "", err
	}
	defer release()
	if !live.offers("workspace/symbol") {
		return nil, "", unsupported(live, "workspace symbols")
	}
	pending = cmp.Or(live.settle(ctx), live.lacks())
	for attempt := range maxAsks {
		asked := time.Now()
		list, err = live.workspaceSymbols(ctx, query)
		if err != nil || !live.work.endedSince(asked) && (len(list) > 0 || attempt > 0) {
			break
		}
		if len(list) == 0 && pending == "" { // it may have begun something since
			pending = live.settle(ctx)
		}
	}
	if len(list) == 0 && pending == "" && !live.spec.ready().certain() {
		pending = "it does not say when it has loaded everything"
	}
	return list, pending, err
}

func (c *Client) symbolOf(ctx context.Context, f found) Symbol {
	out := Symbol{
		Name: f.names[len(f.names)-1], NamePath: joinNames(f.names), Kind: kindName(f.node.Kind), Path: f.path,
		Line: int(f.node.Selection.Start.Line) + 1, EndLine: int(f.node.Range.End.Line) + 1, Column: 1,
	}
	if !f.inside {
		out.Path, out.External = c.nameExternal(f.path), true
		return out
	}
	if file, _, err := c.files.get(ctx, workspace.Path{Rel: f.path, Real: f.path}); err == nil {
		if where, err := f.session.wire.span(file.text, f.node.Selection, false); err == nil {
			out.Line, out.Column = where.start.line+1, file.text.characters(where.start)
		}
	}
	return out
}
