package langintel

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// outlines caches the symbols of files, by the text that they were made from.
type outlines struct {
	mu    sync.Mutex
	files map[string]*outline
}

const maxOutlines = 2000

func (o *outlines) init() { o.files = map[string]*outline{} }

// outline is what one file declares.
type outline struct {
	file *file
	tops []*declared
	// pending is why there may be more later; "": these are all.
	pending string
}

// declared is one declaration of an outline.
type declared struct {
	name      string   // as shown: the last of names
	names     []string // the way to it inside the file
	kind      protocol.SymbolKind
	detail    string
	whole     span
	selection span
	flat      bool // the server gives no extent, only a place
	children  []*declared
}

// outlineOf returns the file's outline, from the server when it is not known for
// this text.
func (v *session) outlineOf(ctx context.Context, f *file, uri protocol.DocumentURI) (*outline, error) {
	v.outline.mu.Lock()
	known := v.outline.files[f.path]
	v.outline.mu.Unlock()
	if known != nil && known.file.text == f.text {
		return known, nil
	}
	nodes, err := v.symbolsOf(ctx, uri)
	if err != nil {
		return nil, err
	}
	pending := ""
	if len(nodes) == 0 && len(bytes.TrimSpace(f.text.data)) > 0 {
		// One that is still loading says that there is nothing: bash-language-server.
		pending = v.settleFor(ctx, outlineSettle)
		if nodes, err = v.symbolsOf(ctx, uri); err != nil {
			return nil, err
		}
	}
	fresh := &outline{file: f, tops: v.declare(f.text, nodes, nil)}
	if len(nodes) == 0 && pending != "" {
		fresh.pending = pending
		return fresh, nil
	}
	v.outline.mu.Lock()
	defer v.outline.mu.Unlock()
	if len(v.outline.files) >= maxOutlines {
		clear(v.outline.files)
	}
	v.outline.files[f.path] = fresh
	return fresh, nil
}

// outlineSettle bounds the wait for a server to be ready when it has no symbols
// for a file that is not empty.
const outlineSettle = 10 * time.Second

func (v *session) settleFor(ctx context.Context, limit time.Duration) (pending string) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return v.settle(ctx)
}

func (v *session) symbolsOf(ctx context.Context, uri protocol.DocumentURI) ([]symbolNode, error) {
	var raw jsontext.Value
	err := v.read(ctx, "textDocument/documentSymbol", protocol.DocumentSymbolParams{TextDocument: protocol.TextDocumentIdentifier{URI: uri}}, &raw)
	if err != nil {
		return nil, err
	}
	return parseSymbols(raw)
}

func (v *session) declare(t *text, nodes []symbolNode, above []string) []*declared {
	out := make([]*declared, 0, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		whole, _ := v.wire.span(t, n.Range, false)
		selection, _ := v.wire.span(t, n.Selection, false)
		own := splitNames(oneLine(n.Name, 500))
		names := append(append([]string(nil), above...), own...)
		if n.Container != "" && len(above) == 0 {
			names = append(splitNames(oneLine(n.Container, 500)), own...)
		}
		out = append(out, &declared{
			name: oneLine(n.Name, 500), names: names, kind: n.Kind, detail: oneLine(n.Detail, 500),
			whole: whole, selection: selection, flat: n.Location != nil, children: v.declare(t, n.Children, names),
		})
	}
	// As they stand in the file: tsserver, for one, sorts them by name.
	slices.SortStableFunc(out, func(a, b *declared) int {
		return cmp.Or(compare(a.whole.start.line, b.whole.start.line), compare(a.whole.start.byte, b.whole.start.byte))
	})
	return out
}

// enclosing returns the innermost declaration around a point, or nil.
func (o *outline) enclosing(p point) *declared {
	var found *declared
	for list := o.tops; list != nil; {
		var next *declared
		for _, d := range list {
			if d.whole.contains(p) {
				next = d
				break
			}
		}
		if next == nil {
			break
		}
		found, list = next, next.children
	}
	return found
}

// all calls yield for every declaration, outer ones first.
func (o *outline) all(yield func(*declared) bool) {
	var walk func([]*declared) bool
	walk = func(list []*declared) bool {
		for _, d := range list {
			if !yield(d) || !walk(d.children) {
				return false
			}
		}
		return true
	}
	walk(o.tops)
}

func (d *declared) namePath() string { return strings.Join(d.names, ".") }

// splitNames takes a symbol's name apart. Servers write members in several ways:
// Type.Method, (*Type).Method, Class/method, Class::method, Class#method; a
// signature behind the name, as some write it, is left out.
func splitNames(name string) []string {
	if rest, ok := strings.CutPrefix(name, "("); ok {
		if receiver, method, ok := strings.Cut(rest, ")."); ok {
			name = strings.TrimLeft(receiver, "*") + "." + method
		}
	}
	if i := strings.IndexAny(name, "(<[ "); i > 0 {
		if rest := strings.LastIndexByte(name, '.'); name[i] == '[' && rest > i {
			name = name[:i] + name[rest:] // a generic receiver
		} else {
			name = name[:i]
		}
	}
	fields := strings.FieldsFunc(strings.ReplaceAll(name, "::", "."), func(r rune) bool { return r == '.' || r == '/' || r == '#' })
	if len(fields) == 0 {
		return []string{name}
	}
	return fields
}

// endsWith reports whether a name path ends with what was asked for.
func endsWith(names, asked []string) bool {
	if len(asked) > len(names) {
		return false
	}
	tail := names[len(names)-len(asked):]
	for i, name := range asked {
		if tail[i] != name {
			return false
		}
	}
	return true
}
