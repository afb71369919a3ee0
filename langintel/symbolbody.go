package langintel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"

	"github.com/prism-ls/prism-ls/tools"
)

// BodyOp is what is done with a declaration.
type BodyOp string

// The operations.
const (
	ReadBody     BodyOp = "read"
	ReplaceBody  BodyOp = "replace"
	InsertBefore BodyOp = "insert_before"
	InsertAfter  BodyOp = "insert_after"
	DeleteBody   BodyOp = "delete"
)

// SymbolBodyQuery asks for a declaration to be shown or changed as a whole. The
// place is its name, or a use of it.
type SymbolBodyQuery struct {
	Place
	Op BodyOp
	// Text is the new declaration, or one to put before or after. It may be indented
	// for its place or not at all.
	Text string
	ChangeOptions
}

// SymbolBodyResult answers [Client.SymbolBody].
type SymbolBodyResult struct {
	Answer
	Symbol Symbol
	Text   string        // of a read
	Change *ChangeResult // of everything else
}

const maxBodyText = 1 << 20

// SymbolBody reads, replaces or deletes a declaration, or puts text before or
// after it. What is read is what a replacement replaces: keywords and a separator
// that a server leaves out are part of it, comments and decorators above it are
// not, unless the new text has its own. A delete takes them, and is refused with
// CodeLSPWorkspace, the details a []Location, while the symbol is used. Other
// errors are those of [Client.Rename].
func (c *Client) SymbolBody(ctx context.Context, q SymbolBodyQuery) (*SymbolBodyResult, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	switch q.Op {
	case ReadBody, DeleteBody:
		if q.Text != "" {
			return nil, tools.Errorf(tools.CodeToolInput, "text goes with replace, insert_before and insert_after, not with %s", q.Op)
		}
	case ReplaceBody, InsertBefore, InsertAfter:
		if strings.TrimSpace(q.Text) == "" || len(q.Text) > maxBodyText {
			return nil, tools.Errorf(tools.CodeToolInput, "text has %d bytes, must have 1 to %d and more than white space", len(q.Text), maxBodyText)
		}
	default:
		return nil, tools.Errorf(tools.CodeToolInput, "op is %q, must be read, replace, insert_before, insert_after or delete", oneLine(string(q.Op), 40))
	}
	if q.Op != ReadBody {
		c.editing.Lock()
		defer c.editing.Unlock()
	}
	out, err := c.symbolBody(ctx, q)
	if errors.Is(err, tools.CodeLSPStale) && ctx.Err() == nil {
		out, err = c.symbolBody(ctx, q)
	}
	return out, err
}

func (c *Client) symbolBody(ctx context.Context, q SymbolBodyQuery) (*SymbolBodyResult, error) {
	b, err := c.declaration(ctx, q.Place)
	if err != nil && q.Op == ReadBody {
		answer, err := c.soften(ctx, "", err)
		return &SymbolBodyResult{Answer: answer}, err
	}
	if err != nil {
		return nil, hard(ctx, "the language server", err)
	}
	defer b.release()
	out := &SymbolBodyResult{Answer: Answer{Status: Complete, Server: b.spec.Name, Barrier: BarrierRequest}, Symbol: b.symbol()}
	if q.Op == ReadBody {
		out.Text = b.extent.shown()
		return out, nil
	}
	pieces, err := b.pieces(ctx, q)
	if err != nil {
		return nil, err
	}
	p := c.emptyPlan(b.spec.Name, q.allowance())
	if err := p.replace(ctx, b.doc.path, pieces...); err != nil {
		return nil, err
	}
	if p.files[b.doc.path].before.sha != b.doc.file.sha {
		return nil, tools.Errorf(tools.CodeLSPStale, "%s changed meanwhile; nothing was written", b.doc.path)
	}
	if err := p.finish(ctx); err != nil {
		return nil, err
	}
	out.Change, err = p.apply(ctx, q.ChangeOptions)
	if err != nil {
		return nil, err
	}
	out.Answer = out.Change.Answer
	return out, nil
}

// body is a declaration in an opened document.
type body struct {
	*target
	node     *declared
	siblings []*declared
	extent   *extent
}

// declaration finds what a place declares, or what the symbol there is declared as.
func (c *Client) declaration(ctx context.Context, place Place) (*body, error) {
	t, err := c.resolve(ctx, place)
	if err != nil {
		return nil, err
	}
	b, err := t.declaredHere(ctx)
	if err == nil && b == nil {
		var raw jsontext.Value
		if err = t.read(ctx, "textDocument/definition", t.params(), &raw); err == nil {
			t, b, err = t.declaredThere(ctx, raw)
		}
	}
	if err != nil {
		t.release()
		return nil, err
	}
	return b, nil
}

// declaredHere returns the declaration whose name is at the target, or nil.
func (t *target) declaredHere(ctx context.Context) (*body, error) {
	if !t.offers("textDocument/documentSymbol") {
		return nil, unsupported(t.session, "document symbols, by which a declaration's extent is known")
	}
	o, err := t.outlineOf(ctx, t.doc.file, t.doc.uri)
	if err != nil {
		return nil, err
	}
	var out *body
	var find func(list []*declared)
	find = func(list []*declared) {
		for _, d := range list {
			name := t.nameIn(d)
			last := d.names[len(d.names)-1]
			if name.line == t.at.line && name.byte <= t.at.byte && t.at.byte <= name.byte+len(last) {
				out = &body{target: t, node: d, siblings: list}
			}
			find(d.children)
		}
	}
	find(o.tops)
	if out == nil {
		return nil, nil
	}
	if out.node.flat {
		return nil, tools.Errorf(tools.CodeLSPUnsupported, "%s does not say where declarations end, only where they are; use read and edit", t.spec.Name)
	}
	out.extent = out.measure(out.node)
	return out, nil
}

// measure returns the extent of one of the siblings.
func (b *body) measure(d *declared) *extent {
	text, above := b.doc.file.text, 0
	for _, other := range b.siblings {
		if end := text.offset(other.whole.end); other != d && end <= text.offset(d.whole.start) {
			above = max(above, end)
		}
	}
	return extentOf(text, b.spec.language(b.doc.path), d, above)
}

// declaredThere follows a definition; the target of the place is released when it
// leads to another file.
func (t *target) declaredThere(ctx context.Context, raw jsontext.Value) (*target, *body, error) {
	places, err := parsePlaces(raw)
	if err != nil {
		return t, nil, err
	}
	list, _ := t.client.site(places)
	switch {
	case len(list) == 0:
		return t, nil, tools.Errorf(tools.CodeNotFound, "nothing is declared at %s:%d; the outline lists what is", t.doc.path, t.at.line+1)
	case list[0].external:
		return t, nil, tools.Errorf(tools.CodeNotFound, "it is declared outside the workspace, in %s", t.client.nameExternal(list[0].path))
	case len(list) > 1:
		return t, nil, tools.Errorf(tools.CodeLSPAmbiguous, "it is declared in %d places, the first in %s:%d; name one of them", len(list), list[0].path, list[0].rng.Start.Line+1)
	}
	there := t
	if list[0].path != t.doc.path {
		if there, err = t.client.openTarget(ctx, list[0].path); err != nil {
			return t, nil, err
		}
		t.release()
	}
	if there.at, err = there.wire.decode(there.doc.file.text, list[0].rng.Start, false); err != nil {
		return there, nil, err
	}
	b, err := there.declaredHere(ctx)
	if err == nil && b == nil {
		err = tools.Errorf(tools.CodeNotFound, "what is declared at %s:%d is not in the file's outline", there.doc.path, there.at.line+1)
	}
	return there, b, err
}

func (b *body) symbol() Symbol {
	at := b.nameIn(b.node)
	return Symbol{
		Name: b.node.name, NamePath: b.node.namePath(), Kind: kindName(b.node.kind), Path: b.doc.path,
		Line: b.doc.file.text.at(b.extent.start).line + 1, EndLine: b.extent.lastLine() + 1, Column: b.doc.file.text.characters(at),
	}
}

// pieces are the edits that an operation is.
func (b *body) pieces(ctx context.Context, q SymbolBodyQuery) ([]piece, error) {
	e := b.extent
	if q.Op != ReplaceBody && !e.alone {
		return nil, tools.Errorf(tools.CodeLSPUnsupported, "%s shares its line %d with something else; use edit", b.node.name, b.doc.file.text.at(e.start).line+1)
	}
	switch q.Op {
	case ReplaceBody:
		return []piece{b.replacement(q.Text)}, nil
	case InsertBefore, InsertAfter:
		return b.insertion(q.Op, q.Text), nil
	}
	if err := b.unused(ctx); err != nil {
		return nil, err
	}
	from, to := e.removal()
	out := []piece{{from: from, to: to}}
	if last := b.siblings[len(b.siblings)-1] == b.node; last && e.separator == "" && strings.HasPrefix(e.lang, "json") && len(b.siblings) > 1 {
		before := b.measure(b.siblings[len(b.siblings)-2])
		if before.separator == "," {
			out = append(out, piece{from: before.separatorEnd() - 1, to: before.separatorEnd()})
		}
	}
	return out, nil
}

// shown is the declaration as it stands in the file, its indentation included.
func (e *extent) shown() string {
	from := e.text.lines[e.text.at(e.start).line]
	if len(strings.TrimSpace(string(e.text.data[from:e.start]))) > 0 {
		from = e.start
	}
	return strings.ReplaceAll(string(e.text.data[from:e.separatorEnd()]), "\r\n", "\n")
}

// separatorEnd is behind the separator, and before a comment that follows it.
func (e *extent) separatorEnd() int {
	if data := e.text.data; e.separator != "" && data[e.end-1] != e.separator[0] {
		for i := e.end; i < len(data); i++ {
			if data[i] == e.separator[0] {
				return i + 1
			}
		}
	}
	return e.end
}

// replacement puts a new declaration into the old one's place.
func (b *body) replacement(given string) piece {
	e := b.extent
	from := e.start
	given = fit(given, e.indent(), e.text.lineEnding())
	code := &extent{text: newText([]byte(given)), lang: e.lang}
	bare := strings.TrimLeft(given, " \t")
	switch at := code.skipTrivia(0); {
	case at > len(given)-len(bare) && at < len(given):
		from = e.lead // it brings its own comments
	case e.keywords != "" && strings.HasPrefix(bare, b.node.names[len(b.node.names)-1]):
		bare = e.keywords + bare // it starts where the server's range does
	}
	if e.separator != "" && !strings.HasSuffix(bare, e.separator) {
		bare += e.separator
	}
	return piece{from: from, to: e.separatorEnd(), text: bare}
}

// insertion puts a declaration before or after, as far from it as its neighbours
// are.
func (b *body) insertion(op BodyOp, given string) []piece {
	e := b.extent
	eol := e.text.lineEnding()
	given = fit(given, e.indent(), eol)
	gap := strings.Repeat(eol, b.gap(strings.Contains(given, eol)))
	commas := slices.ContainsFunc(b.siblings, func(d *declared) bool { return b.measure(d).separator == "," })
	if op == InsertBefore {
		if commas && !strings.HasSuffix(given, ",") {
			given += ","
		}
		start := e.text.lines[e.firstLine()]
		return []piece{{from: start, to: start, text: given + eol + gap}}
	}
	var out []piece
	switch {
	case commas && e.separator == "":
		out = append(out, piece{from: e.end, to: e.end, text: ","})
	case commas && !strings.HasSuffix(given, ","):
		given += ","
	}
	stop := e.text.lineEnd(e.lastLine())
	if len(out) > 0 && stop == e.end {
		out[0].text += eol + gap + given
		return out
	}
	return append(out, piece{from: stop, to: stop, text: eol + gap + given})
}

// gap is how many blank lines are between the declaration and its neighbours.
func (b *body) gap(long bool) int {
	const most = 2
	at := slices.Index(b.siblings, b.node)
	for _, pair := range [][2]int{{at, at + 1}, {at - 1, at}} {
		if pair[0] < 0 || pair[1] >= len(b.siblings) {
			continue
		}
		upper, lower := b.measure(b.siblings[pair[0]]), b.measure(b.siblings[pair[1]])
		if between := lower.firstLine() - upper.lastLine() - 1; between >= 0 {
			if between == 0 && long && spacious(b.node.kind) {
				between = 1
			}
			return min(between, most)
		}
	}
	if long || b.extent.lastLine() > b.extent.firstLine() || spacious(b.node.kind) {
		return 1
	}
	return 0
}

// spacious kinds are kept apart by blank lines, when they are long.
func spacious(kind protocol.SymbolKind) bool {
	switch kindName(kind) {
	case "function", "method", "class", "struct", "interface", "constructor", "enum", "module", "namespace":
		return true
	}
	return false
}

// unused refuses a delete of what is used elsewhere.
func (b *body) unused(ctx context.Context) error {
	text := b.doc.file.text
	name := text.lsp(span{b.nameIn(b.node), b.nameIn(b.node)}).Start
	found, err := b.client.References(ctx, ReferencesQuery{Place: Place{Path: b.doc.path, Position: &name}, ExcludeDeclaration: true})
	if err != nil {
		return hard(ctx, b.spec.Name, err)
	}
	inside := func(l Location) bool {
		at := point{l.Line - 1, 0}
		return l.Path == b.doc.path && at.line >= b.extent.firstLine() && at.line <= b.extent.lastLine()
	}
	uses := slices.DeleteFunc(slices.Clone(found.Locations), inside)
	switch {
	case len(uses) > 0:
		return tools.Errorf(tools.CodeLSPWorkspace, "%s is used in %d places, the first in %s:%d: %s", b.node.name, len(uses), uses[0].Path, uses[0].Line, strings.TrimSpace(uses[0].Text)).WithDetails(uses)
	case found.Status == Unsupported:
		return tools.Errorf(tools.CodeLSPUnsupported, "whether %s is used cannot be told: %s; use edit", b.node.name, found.Reason)
	case found.Status != Complete:
		return tools.Errorf(tools.CodeLSPTimeout, "whether %s is used is not certain: %s; nothing was changed", b.node.name, fmt.Sprintf("%s %s", found.Status, found.Reason))
	}
	return nil
}
