package langintel

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/edit"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// allowance says which files a server may edit that it usually may not.
type allowance struct{ generated, ignored bool }

// plan is the edits of one or several servers, checked against the workspace
// and worked out in memory: nothing has been written.
type plan struct {
	client  *Client
	by      string // the server whose change it is, for messages
	allow   allowance
	files   map[string]*planned // by current path
	gone    []*planned          // deleted ones that were there before
	steps   []planStep
	edits   int
	stale   []string // files that are not what the server has seen
	reasons []string // what a server wants a person to confirm
}

// planned is one file of a plan.
type planned struct {
	before *file  // nil: it does not exist yet, or is not read
	origin string // where it was, "" when new
	data   []byte // after the edits that are settled
	pieces []piece
	text   *text // of data, while there are pieces
	// unread: it is moved with its directory, and nothing edits it.
	unread bool
}

// planStep is a create, rename or delete, in the server's order.
type planStep struct {
	kind     string // create, rename, delete
	from, to string
	replace  bool
	dir      bool
	// inner and dirs are what a renamed directory holds, by the old names.
	inner, dirs []string
	// emptied: other steps take away what a deleted directory holds.
	emptied bool
}

func (c *Client) emptyPlan(by string, allow allowance) *plan {
	return &plan{client: c, by: by, allow: allow, files: map[string]*planned{}}
}

// newPlan works a server's edit out. It refuses the whole of it when any part
// leaves the workspace, is made for another text, or contradicts another part.
func (v *session) newPlan(ctx context.Context, e *workspaceEdit, allow allowance) (*plan, error) {
	p := v.client.emptyPlan(v.spec.Name, allow)
	if err := p.take(ctx, v, e); err != nil {
		return nil, err
	}
	return p, p.finish(ctx)
}

// take adds the edit of one server.
func (p *plan) take(ctx context.Context, v *session, e *workspaceEdit) error {
	p.reasons = append(p.reasons, e.reasons()...)
	changes := e.list()
	for i := range changes {
		if err := p.add(ctx, v, &changes[i]); err != nil {
			return err
		}
		if err := p.checkSize(); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) checkSize() error {
	if most := p.client.opts.MaxEditFiles; int64(len(p.files)+len(p.gone)) > most {
		return tools.Errorf(tools.CodeLSPLimit, "the change touches more than %d files", most)
	}
	return nil
}

// finish settles what is pending, and looks at the plan as a whole.
func (p *plan) finish(ctx context.Context) error {
	for name := range p.files {
		if err := p.settle(name); err != nil {
			return err
		}
	}
	if err := p.checkSize(); err != nil {
		return err
	}
	return p.checkIgnored(ctx)
}

func (p *plan) add(ctx context.Context, v *session, ch *documentChange) error {
	switch ch.Kind {
	case "":
		return p.addEdits(ctx, v, ch)
	case "create":
		return p.addCreate(ctx, ch)
	case "rename":
		return p.addRename(ctx, ch)
	case "delete":
		return p.addDelete(ctx, ch)
	}
	return tools.Errorf(tools.CodeLSPWorkspace, "the server's edit has an operation %q, which is none of LSP's", oneLine(ch.Kind, 40))
}

// path returns the workspace path of a URI that may be edited.
func (p *plan) path(u docURI) (string, error) {
	c := p.client
	absolute := u.path()
	rel, ok := c.relative(absolute)
	if absolute == "" || !ok {
		return "", tools.Errorf(tools.CodeLSPWorkspace, "the server wants to edit %s, which is outside the workspace", oneLine(string(u), 300))
	}
	resolved, err := c.work.Resolve(rel)
	if err != nil {
		return "", tools.Errorf(tools.CodeLSPWorkspace, "the server wants to edit %s: %w", oneLine(rel, 300), err)
	}
	real := resolved.Real
	if real == "" {
		real = path.Clean(rel)
	}
	if tools.IsControlPath(rel) || tools.IsControlPath(real) {
		return "", tools.Errorf(tools.CodeLSPWorkspace, "the server wants to edit %s, which controls tools and is not a server's to change", oneLine(rel, 300))
	}
	return real, nil
}

// load returns the planned state of a file; it exists unless the result is nil.
func (p *plan) load(ctx context.Context, name string) (*planned, error) {
	known, ok := p.files[name]
	if ok && !known.unread {
		return known, nil
	}
	if !ok && p.takes(name) {
		return nil, nil
	}
	origin := name
	if ok {
		origin = known.origin
	}
	f, changed, err := p.client.files.get(ctx, workspace.Path{Rel: origin, Real: origin})
	if errors.Is(err, tools.CodeNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if changed {
		p.stale = append(p.stale, origin)
	}
	out := &planned{before: f, origin: origin, data: f.text.data}
	p.files[name] = out
	return out, nil
}

// addEdits adds the text edits of one document. Those that follow each other
// without an operation on the file between them all refer to the same text.
func (p *plan) addEdits(ctx context.Context, v *session, ch *documentChange) error {
	name, err := p.path(ch.TextDocument.URI)
	if err != nil {
		return err
	}
	file, err := p.load(ctx, name)
	if err != nil {
		return err
	}
	if file == nil {
		return tools.Errorf(tools.CodeLSPWorkspace, "the server wants to edit %s, which does not exist", name)
	}
	if err := p.checkGenerated(name, file); err != nil {
		return err
	}
	if want := ch.TextDocument.Version; want != nil {
		if have, open := v.docs.version(name); open && have != *want {
			return tools.Errorf(tools.CodeLSPStale, "the server's edit of %s is for version %d, the document is at %d", name, *want, have)
		}
	}
	for i := range ch.Edits {
		one, err := v.wire.pieceOf(file.current(), &ch.Edits[i], v)
		if err != nil {
			return tools.Errorf(tools.AsError(err).Code, "%s: %w", name, err)
		}
		file.pieces = append(file.pieces, one)
	}
	return nil
}

func (p *plan) checkGenerated(name string, file *planned) error {
	if file.before != nil && file.before.generated && !p.allow.generated {
		return tools.Errorf(tools.CodeLSPWorkspace, "the server wants to edit %s, which is generated; change what it is generated from, or allow it", name)
	}
	return nil
}

// replace adds edits of our own to one file.
func (p *plan) replace(ctx context.Context, name string, pieces ...piece) error {
	file, err := p.load(ctx, name)
	if err != nil {
		return err
	}
	if file == nil {
		return tools.Errorf(tools.CodeNotFound, "%s does not exist", name)
	}
	if err := p.checkGenerated(name, file); err != nil {
		return err
	}
	file.pieces = append(file.pieces, pieces...)
	return nil
}

// current is the text that pieces of the file refer to.
func (f *planned) current() *text {
	if f.text == nil {
		f.text = newText(f.data)
	}
	return f.text
}

// settle makes the pending edits of a file its content.
func (p *plan) settle(name string) error {
	file := p.files[name]
	if file == nil || len(file.pieces) == 0 {
		return nil
	}
	pieces, err := merge(file.current(), file.pieces)
	if err != nil {
		return tools.Errorf(tools.AsError(err).Code, "%s: %w", name, err)
	}
	file.data = splice(file.data, pieces)
	file.pieces, file.text = nil, nil
	p.edits += len(pieces)
	return nil
}

// differs reports whether the file's bytes are not those on disk.
func (f *planned) differs() bool {
	return !f.unread && (f.before == nil || !slices.Equal(f.data, f.before.text.data))
}

// changed returns the files that the plan writes, moves, makes or removes: all
// the names, sorted.
func (p *plan) changed() []string {
	var out []string
	for name, file := range p.files {
		if file.origin != name || file.differs() {
			out = append(out, name)
			if file.origin != "" && file.origin != name {
				out = append(out, file.origin)
			}
		}
	}
	for _, file := range p.gone {
		out = append(out, file.origin)
	}
	for _, step := range p.steps {
		if step.dir { // an empty one has no files to stand for it
			out = append(out, step.from)
			if step.to != "" {
				out = append(out, step.to)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// changes describes the plan for a patch.
func (p *plan) changes() []edit.Change {
	var out []edit.Change
	for name, file := range p.files {
		ch := edit.Change{NewPath: name, New: file.data, NewMode: fs.FileMode(0o644)}
		switch {
		case file.unread:
			ch.OldPath = file.origin
		case file.before != nil:
			ch.OldPath, ch.Old, ch.OldMode, ch.NewMode = file.origin, file.before.text.data, file.before.mode, file.before.mode
		}
		if ch.OldPath != ch.NewPath || !slices.Equal(ch.Old, ch.New) {
			out = append(out, ch)
		}
	}
	for _, file := range p.gone {
		ch := edit.Change{OldPath: file.origin}
		if file.before != nil {
			ch.Old, ch.OldMode = file.before.text.data, file.before.mode
		}
		out = append(out, ch)
	}
	slices.SortFunc(out, func(a, b edit.Change) int {
		return compare(a.NewPath+"\x00"+a.OldPath, b.NewPath+"\x00"+b.OldPath)
	})
	return out
}
