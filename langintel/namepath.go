package langintel

import (
	"cmp"
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// found is a symbol of the whole workspace.
type found struct {
	session *session
	names   []string
	node    symbolNode
	path    string // relative to the root; absolute outside
	inside  bool
}

// workspaceSymbols asks one server (LSP 3.17 §workspace_symbol).
func (v *session) workspaceSymbols(ctx context.Context, query string) ([]found, error) {
	if !v.offers("workspace/symbol") {
		return nil, unsupported(v, "workspace symbols")
	}
	var raw jsontext.Value
	if err := v.read(ctx, "workspace/symbol", protocol.WorkspaceSymbolParams{Query: query}, &raw); err != nil {
		return nil, err
	}
	nodes, err := parseSymbols(raw)
	if err != nil {
		return nil, err
	}
	var out []found
	for _, n := range nodes {
		if n.Location == nil {
			continue
		}
		absolute := n.Location.URI.path()
		if absolute == "" {
			continue
		}
		f := found{session: v, node: n, path: absolute, names: splitNames(oneLine(n.Name, 500))}
		if container := oneLine(n.Container, 500); container != "" && len(f.names) == 1 {
			f.names = append(splitNames(container), f.names...)
		}
		if rel, ok := v.client.relative(absolute); ok {
			f.path, f.inside = rel, true
		}
		out = append(out, f)
	}
	return out, nil
}

// resolveName finds a name path anywhere in the workspace.
func (c *Client) resolveName(ctx context.Context, symbol string) (*target, error) {
	asked := splitNames(symbol)
	servers, absent, err := c.workspaceServers()
	if err != nil {
		return nil, err
	}
	look := lookup{symbol: symbol, asked: asked, servers: len(servers)}
	main, stray := strays(servers, c.counts())
	if err := look.ask(ctx, main); err != nil {
		return nil, err
	}
	if len(look.hits) == 0 && look.loading == "" {
		// A server for a handful of files is started only when nobody else knows.
		if err := look.ask(ctx, stray); err != nil {
			return nil, err
		}
	}
	hits := look.hits
	switch {
	case len(hits) > 1:
		return nil, c.ambiguousNames(ctx, symbol, hits)
	case len(hits) == 0 || look.cut:
		return nil, look.failure(absent)
	}
	t, err := c.openTarget(ctx, hits[0].path)
	if err != nil {
		return nil, err
	}
	s, err := t.wire.span(t.doc.file.text, hits[0].node.Selection, true)
	if err != nil {
		t.release()
		return nil, err
	}
	t.at = nameAt(t.doc.file.text, s, asked[len(asked)-1])
	return t, nil
}

// lookup is the search for one name path at several servers.
type lookup struct {
	symbol  string
	asked   []string
	servers int // that may be asked

	hits    []found
	skipped error  // of a server that could not be asked
	loading string // why a server may know more later
	cut     bool   // a server listed only a part
	answers int
}

// ask adds what servers know.
func (l *lookup) ask(ctx context.Context, servers []*server) error {
	for _, s := range servers {
		list, pending, err := s.search(ctx, s.spec.query(l.asked))
		if err != nil && !isUnsupported(err) && (l.servers == 1 || ctx.Err() != nil) {
			return err
		}
		if err != nil {
			l.skipped = cmp.Or(l.skipped, err)
		} else {
			l.answers++
		}
		if pending != "" {
			l.loading = s.spec.Name + ": " + pending
		}
		l.cut = l.cut || s.spec.MaxSymbols > 0 && len(list) >= s.spec.MaxSymbols
		for _, f := range list {
			if f.inside && endsWith(f.names, l.asked) {
				l.hits = append(l.hits, f)
			}
		}
	}
	return nil
}

// failure says why no single symbol was found.
func (l *lookup) failure(absent []string) error {
	name := oneLine(l.symbol, 200)
	none := len(l.hits) == 0
	switch {
	case none && l.loading != "":
		return tools.Errorf(tools.CodeLSPTimeout, "no symbol called %q was found so far, and not all is loaded yet (%s)", name, l.loading)
	case none && l.skipped != nil && !isUnsupported(l.skipped) && l.answers > 0:
		return tools.Errorf(tools.CodeNotFound, "no symbol called %q is known to the language servers that could be asked; one could not: %w", name, l.skipped)
	case none && l.skipped != nil && !(isUnsupported(l.skipped) && l.servers > 1):
		return l.skipped
	case l.cut:
		return tools.Errorf(tools.CodeLSPAmbiguous, "more symbols end like %q than the language server lists; name more of the path, or give path and line", name)
	case len(absent) > 0:
		return tools.Errorf(tools.CodeNotFound, "no symbol called %q was found; %s", name, notAsked(absent))
	}
	return tools.Errorf(tools.CodeNotFound, "no symbol of the workspace is called %q; lsp symbols with a query searches by part of a name", name)
}

func (c *Client) ambiguousNames(ctx context.Context, symbol string, hits []found) error {
	var candidates []Candidate
	for _, h := range hits[:min(len(hits), maxCandidates)] {
		one := Candidate{
			NamePath: joinNames(h.names), Kind: kindName(h.node.Kind), Path: h.path,
			Line: int(h.node.Selection.Start.Line) + 1, Column: int(h.node.Selection.Start.Character) + 1,
		}
		if f, _, err := c.files.get(ctx, workspace.Path{Rel: h.path, Real: h.path}); err == nil {
			if at, err := h.session.wire.decode(f.text, h.node.Selection.Start, false); err == nil {
				one.Line, one.Column = at.line+1, f.text.characters(at)
			}
		}
		candidates = append(candidates, one)
	}
	return ambiguous(fmt.Sprintf("%q names %d symbols; name more of the path, or give path and line", symbol, len(hits)), candidates)
}

// joinNames shows a name path from the package on: the whole import path of a
// Go symbol would say little more.
func joinNames(names []string) string {
	out := names[max(0, len(names)-3):]
	text := out[0]
	for _, n := range out[1:] {
		text += "." + n
	}
	return text
}
