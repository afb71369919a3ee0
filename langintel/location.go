package langintel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

const (
	lineBytes   = 300 // of a source line in a result
	maxExternal = 10_000
	depPrefix   = "dep:"
)

// sited is a place with its path worked out.
type sited struct {
	path     string // relative, or absolute when external
	external bool
	uri      docURI
	rng      protocol.Range
}

// site sorts places by file and position, each once. What is not a file cannot
// be shown and is counted. A file of the workspace that is gone has no places: some
// servers remember it.
func (c *Client) site(places []place) (out []sited, dropped int) {
	paths := map[docURI]sited{}
	gone := map[docURI]bool{}
	for _, p := range places {
		s, known := paths[p.uri]
		if !known {
			s.uri = p.uri
			s.path = p.uri.path()
			if rel, ok := c.relative(s.path); ok && s.path != "" {
				s.path = rel
				gone[p.uri] = !c.watch.knows(rel) && c.isGone(rel)
			} else {
				s.external = true
			}
			paths[p.uri] = s
		}
		if s.path == "" {
			dropped++
			continue
		}
		if gone[p.uri] {
			continue
		}
		s.rng = p.rng
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b sited) int {
		if a.external != b.external {
			if a.external {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(a.path, b.path),
			cmp.Compare(a.rng.Start.Line, b.rng.Start.Line), cmp.Compare(a.rng.Start.Character, b.rng.Start.Character),
			cmp.Compare(a.rng.End.Line, b.rng.End.Line), cmp.Compare(a.rng.End.Character, b.rng.End.Character))
	})
	out = slices.CompactFunc(out, func(a, b sited) bool { return a.path == b.path && a.rng == b.rng })
	return out, dropped
}

// isGone reports whether the workspace has no such file.
func (c *Client) isGone(rel string) bool {
	_, err := c.work.Lstat(workspace.Path{Rel: rel, Real: rel})
	return errors.Is(err, tools.CodeNotFound)
}

// page is the part of a sorted list that one answer shows.
type page struct {
	limit  int64
	cursor string
}

// cut returns the page of list and the cursor of the next one. A cursor belongs
// to one list: when that has changed it is refused, since it would skip or
// repeat entries.
func (p page) cut(list []sited) (part []sited, next string, err error) {
	digest := fnv.New32a()
	for _, s := range list {
		fmt.Fprintf(digest, "%s\x00%v", s.path, s.rng)
	}
	mark := strconv.FormatUint(uint64(digest.Sum32()), 36)
	start := 0
	if p.cursor != "" {
		at, given, ok := strings.Cut(p.cursor, ".")
		start, err = strconv.Atoi(at)
		if !ok || err != nil || start < 0 {
			return nil, "", tools.Errorf(tools.CodeToolInput, "%q is no cursor of an earlier answer", oneLine(p.cursor, 60))
		}
		if given != mark || start > len(list) {
			return nil, "", tools.Errorf(tools.CodeLSPStale, "the answer has changed since the cursor was made; ask again without it")
		}
	}
	end := min(len(list), start+int(p.limit))
	if end < len(list) {
		next = strconv.Itoa(end) + "." + mark
	}
	return list[start:end], next, nil
}

// fileOf returns the content that a place refers to; changed says that the
// server answered for an earlier one.
func (c *Client) fileOf(ctx context.Context, s sited) (f *file, changed bool, err error) {
	if s.external {
		f, err = c.files.getExternal(s.path)
		return f, false, err
	}
	return c.files.get(ctx, workspace.Path{Rel: s.path, Real: s.path})
}

// show turns places into locations. changed lists files that are no longer what
// the server answered for.
func (v *session) show(ctx context.Context, list []sited) (out []Location, changed []string, err error) {
	var f *file
	var o *outline
	for i, s := range list {
		if i == 0 || list[i-1].path != s.path {
			var moved bool
			f, moved, err = v.client.fileOf(ctx, s)
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			if moved {
				changed = append(changed, s.path)
			}
			if err != nil {
				f = nil // gone since, or not readable: the place is shown without its text
			}
			o = v.outlineFor(ctx, f, s)
		}
		out = append(out, v.location(s, f, o))
	}
	return out, changed, nil
}

// outlineFor returns the outline for containers, or nil: a result without
// containers is better than none.
func (v *session) outlineFor(ctx context.Context, f *file, s sited) *outline {
	if f == nil || !v.has("textDocument/documentSymbol") || v.spec.language(s.path) == "" {
		return nil
	}
	if !v.spec.ReadsDisk {
		if s.external {
			return nil
		}
		if _, err := v.docs.sync(ctx, workspace.Path{Rel: s.path, Real: s.path}); err != nil {
			return nil
		}
	}
	// Not as the answer spelled it: the server knows an open document by our name.
	name := v.uriOf(s.path)
	if s.external {
		name = uri.File(s.path)
	}
	o, err := v.outlineOf(ctx, f, name)
	if err != nil {
		v.client.opts.Logger.Debug("no outline", "server", v.spec.Name, "path", s.path, "error", err)
		return nil
	}
	return o
}

func (v *session) location(s sited, f *file, o *outline) Location {
	loc := Location{Path: s.path, External: s.external, Range: s.rng, Line: int(s.rng.Start.Line) + 1, EndLine: int(s.rng.End.Line) + 1}
	if s.external {
		loc.Path = v.client.nameExternal(s.path)
	}
	if f == nil {
		loc.Column, loc.EndColumn = int(s.rng.Start.Character)+1, int(s.rng.End.Character)+1
		return loc
	}
	where, _ := v.wire.span(f.text, s.rng, false)
	fillLocation(&loc, f, where)
	if o != nil {
		if d := o.enclosing(where.start); d != nil {
			loc.Container, loc.Kind = d.namePath(), kindName(d.kind)
		}
	}
	return loc
}

func fillLocation(loc *Location, f *file, where span) {
	loc.Line, loc.EndLine = where.start.line+1, where.end.line+1
	loc.Column, loc.EndColumn = f.text.characters(where.start), f.text.characters(where.end)
	loc.Text = printable(string(f.text.line(where.start.line)), lineBytes)
	loc.Range = f.text.lsp(where)
	loc.Generated = f.generated
}

// nameExternal names a file outside the root, and remembers that a result did.
func (c *Client) nameExternal(absolute string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.external) < maxExternal {
		c.external[absolute] = true
	}
	return depPrefix + absolute
}

// Dependency returns the absolute path of a "dep:" path that a result has named,
// for reading; others are refused.
func (c *Client) Dependency(path string) (absolute string, ok bool) {
	absolute, ok = strings.CutPrefix(path, depPrefix)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !ok || !c.external[absolute] {
		return "", false
	}
	return absolute, true
}
