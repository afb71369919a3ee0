package langintel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// Candidate is one of several symbols that a place may mean; the details of a
// CodeLSPAmbiguous error are a list of them.
type Candidate struct {
	NamePath string `json:"namePath"`
	Kind     string `json:"kind"`
	Path     string `json:"path"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
}

const maxCandidates = 20

// target is a resolved place: a live server that has the document in sync, and a
// point in it.
type target struct {
	*session
	doc     document
	at      point
	release func()
}

// params are the target as most requests take it.
func (t *target) params() protocol.TextDocumentPositionParams {
	return protocol.TextDocumentPositionParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: t.doc.uri},
		Position:     t.wire.encode(t.doc.file.text, t.at),
	}
}

// resolve finds a place and the server that knows it. The caller releases the
// target.
func (c *Client) resolve(ctx context.Context, p Place) (*target, error) {
	if err := c.watch.sweep(ctx); err != nil {
		return nil, tools.AsError(err)
	}
	switch {
	case p.Path == "" && p.Symbol == "":
		return nil, tools.Errorf(tools.CodeToolInput, "a place is a path with a line and a column or symbol, or a symbol alone")
	case p.Path == "":
		return c.resolveName(ctx, p.Symbol)
	case p.Position == nil && p.Line == 0 && p.Symbol == "":
		return nil, tools.Errorf(tools.CodeToolInput, "%s alone is no place; add a line with a column or symbol, or a symbol", p.Path)
	}
	t, err := c.openTarget(ctx, p.Path)
	if err != nil {
		return nil, err
	}
	if err := t.locate(ctx, p); err != nil {
		t.release()
		return nil, err
	}
	return t, nil
}

// openTarget opens a file at the server that knows its symbols.
func (c *Client) openTarget(ctx context.Context, given string) (*target, error) {
	return c.openOffering(ctx, given, "")
}

// openOffering opens a file at the first of its servers that offers a method;
// when none does, at the first one. The empty method is offered by all.
func (c *Client) openOffering(ctx context.Context, given, method string) (*target, error) {
	path, err := c.work.Resolve(given)
	if err != nil {
		return nil, err
	}
	servers, err := c.serversFor(path)
	if err != nil {
		return nil, err
	}
	if method == "" {
		return servers[0].open(ctx, path)
	}
	chosen := servers[0]
	for _, s := range servers {
		live, release, err := s.acquire(ctx)
		if err != nil {
			continue // the first one's error is told below
		}
		offers := live.offers(method)
		release()
		if offers {
			chosen = s
			break
		}
	}
	return chosen.open(ctx, path)
}

// open brings the server up and opens a file at it.
func (s *server) open(ctx context.Context, path workspace.Path) (*target, error) {
	live, release, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	doc, err := live.docs.sync(ctx, path)
	if err != nil {
		release()
		return nil, err
	}
	return &target{session: live, doc: doc, release: release}, nil
}

// locate finds the point inside the opened document.
func (t *target) locate(ctx context.Context, p Place) (err error) {
	switch {
	case p.Position != nil:
		t.at, err = wire{units: utf16Units}.decode(t.doc.file.text, *p.Position, true)
		if err != nil {
			return tools.Errorf(tools.CodeOutOfRange, "position %d:%d is not in %s", p.Position.Line, p.Position.Character, p.Path)
		}
		return nil
	case p.Line == 0:
		return t.locateName(ctx, p.Symbol)
	case p.Column != 0:
		t.at, err = t.doc.file.text.pointAt(p.Line, p.Column)
		return err
	case p.Symbol == "":
		return tools.Errorf(tools.CodeToolInput, "line %d alone is no place; add a column, or the symbol on that line", p.Line)
	}
	return t.locateOnLine(ctx, p)
}

// locateOnLine finds a symbol in a line's text. One that stands there more than
// once must mean the same each time.
func (t *target) locateOnLine(ctx context.Context, p Place) error {
	if _, err := t.doc.file.text.pointAt(p.Line, 1); err != nil {
		return err
	}
	line := t.doc.file.text.line(p.Line - 1)
	names := splitNames(p.Symbol)
	word := names[len(names)-1]
	var found []point
	for _, at := range occurrences(line, p.Symbol) {
		found = append(found, point{p.Line - 1, at + strings.LastIndex(p.Symbol, word)})
	}
	if len(found) == 0 && word != p.Symbol {
		for _, at := range occurrences(line, word) {
			found = append(found, point{p.Line - 1, at})
		}
	}
	if len(found) == 0 {
		return tools.Errorf(tools.CodeNotFound, "%q is not on line %d of %s, which is: %s", p.Symbol, p.Line, p.Path, oneLine(string(line), 200))
	}
	t.at = found[0]
	if len(found) == 1 {
		return nil
	}
	return t.unambiguous(ctx, p, found)
}

// unambiguous checks that all occurrences lead to one definition.
func (t *target) unambiguous(ctx context.Context, p Place, found []point) error {
	var first []place
	var candidates []Candidate
	same := true
	for i, at := range found[:min(len(found), maxCandidates)] {
		probe := *t
		probe.at = at
		var raw jsontext.Value
		if err := t.read(ctx, "textDocument/definition", probe.params(), &raw); err != nil && !refused(err) {
			return err
		}
		places, err := parsePlaces(raw)
		if err != nil {
			return err
		}
		if len(places) == 0 {
			continue // a comment or a string
		}
		candidates = append(candidates, Candidate{
			NamePath: p.Symbol, Kind: "occurrence", Path: t.doc.path, Line: p.Line, Column: t.doc.file.text.characters(at),
		})
		if first == nil {
			first, t.at = places, at
		} else if !slices.Equal(first, places) {
			same = false
		}
		_ = i
	}
	if same {
		return nil
	}
	return ambiguous(fmt.Sprintf("%q stands %d times on line %d of %s and means different things; give a column", p.Symbol, len(candidates), p.Line, p.Path), candidates)
}

// occurrences returns the bytes of a line where a word stands by itself.
func occurrences(line []byte, word string) []int {
	var out []int
	for at := 0; ; {
		i := bytes.Index(line[at:], []byte(word))
		if i < 0 {
			return out
		}
		start, end := at+i, at+i+len(word)
		before, _ := utf8.DecodeLastRune(line[:start])
		after, _ := utf8.DecodeRune(line[end:])
		head, _ := utf8.DecodeRuneInString(word)
		tail, _ := utf8.DecodeLastRuneInString(word)
		if !(start > 0 && wordRune(before) && wordRune(head)) && !(end < len(line) && wordRune(after) && wordRune(tail)) {
			out = append(out, start)
		}
		at = start + max(1, utf8.RuneLen(head))
		if at > len(line) {
			return out
		}
	}
}

func wordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// locateName finds a name path in the document.
func (t *target) locateName(ctx context.Context, symbol string) error {
	if !t.offers("textDocument/documentSymbol") {
		return unsupported(t.session, "document symbols, by which a symbol in a file is found")
	}
	o, err := t.outlineOf(ctx, t.doc.file, t.doc.uri)
	if err != nil {
		return err
	}
	asked := splitNames(symbol)
	var hits []*declared
	for d := range o.all {
		if endsWith(d.names, asked) {
			hits = append(hits, d)
		}
	}
	if len(hits) == 0 && len(asked) > 1 {
		// The first name may be the file's package or module.
		for d := range o.all {
			if endsWith(d.names, asked[1:]) && len(d.names) == len(asked)-1 {
				hits = append(hits, d)
			}
		}
	}
	switch len(hits) {
	case 0:
		return tools.Errorf(tools.CodeNotFound, "%s declares nothing called %q; its outline lists what it declares", t.doc.path, oneLine(symbol, 200))
	case 1:
		t.at = t.nameIn(hits[0])
		return nil
	}
	var candidates []Candidate
	for _, d := range hits[:min(len(hits), maxCandidates)] {
		at := t.nameIn(d)
		candidates = append(candidates, Candidate{d.namePath(), kindName(d.kind), t.doc.path, at.line + 1, t.doc.file.text.characters(at)})
	}
	return ambiguous(fmt.Sprintf("%q is declared %d times in %s", symbol, len(hits), t.doc.path), candidates)
}

// nameIn returns where a declaration's own name stands: some servers select
// more than the name.
func (t *target) nameIn(d *declared) point {
	return nameAt(t.doc.file.text, d.selection, d.names[len(d.names)-1])
}

func nameAt(t *text, s span, name string) point {
	line := t.line(s.start.line)
	if s.start.byte <= len(line) && !bytes.HasPrefix(line[s.start.byte:], []byte(name)) {
		for _, at := range occurrences(line, name) {
			if at >= s.start.byte {
				return point{s.start.line, at}
			}
		}
	}
	return s.start
}

func ambiguous(message string, candidates []Candidate) error {
	var b strings.Builder
	b.WriteString(message)
	for _, c := range candidates {
		fmt.Fprintf(&b, "\n  %s %s %s:%d:%d", c.Kind, c.NamePath, c.Path, c.Line, c.Column)
	}
	return tools.Errorf(tools.CodeLSPAmbiguous, "%s", b.String()).WithDetails(candidates)
}

func unsupported(v *session, what string) error {
	return tools.Errorf(tools.CodeLSPUnsupported, "%s does not offer %s", v.spec.Name, what)
}

// isUnsupported reports whether a read has to answer [Unsupported].
func isUnsupported(err error) bool {
	return errors.Is(err, tools.CodeLSPUnsupported) || faultCode(err) == codeMethodNotFound
}
