package langintel

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/edit"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// allowance says which files a server may edit that it usually may not.
type allowance struct{ generated, ignored bool }

// plan is a server's edit, checked against the workspace and worked out in
// memory: nothing has been written.
type plan struct {
	session *session
	allow   allowance
	files   map[string]*planned // by current path
	gone    []*planned          // deleted ones that were there before
	steps   []planStep
	edits   int
	stale   []string // files that are not what the server has seen
}

// planned is one file of a plan.
type planned struct {
	before *file  // nil: it does not exist yet
	origin string // where it was, "" when new
	data   []byte // after the edits so far
}

// planStep is a create, rename or delete, in the server's order.
type planStep struct {
	kind     string
	from, to string
	replace  bool
}

// newPlan works a server's edit out. It refuses the whole of it when any part
// leaves the workspace, is made for another text, or contradicts another part.
func (v *session) newPlan(ctx context.Context, e *workspaceEdit, allow allowance) (*plan, error) {
	if err := e.needsConfirmation(); err != nil {
		return nil, err
	}
	p := &plan{session: v, allow: allow, files: map[string]*planned{}}
	changes := e.DocumentChanges
	if len(changes) == 0 {
		uris := make([]protocol.DocumentURI, 0, len(e.Changes))
		for u := range e.Changes {
			uris = append(uris, u)
		}
		slices.Sort(uris)
		for _, u := range uris {
			one := documentChange{Edits: e.Changes[u]}
			one.TextDocument.URI = u
			changes = append(changes, one)
		}
	}
	for i := range changes {
		if err := p.add(ctx, &changes[i]); err != nil {
			return nil, err
		}
		if int64(len(p.files)+len(p.gone)) > v.client.opts.MaxEditFiles {
			return nil, tools.Errorf(tools.CodeLSPLimit, "the server's edit touches more than %d files", v.client.opts.MaxEditFiles)
		}
	}
	return p, p.checkIgnored(ctx)
}

func (p *plan) add(ctx context.Context, ch *documentChange) error {
	switch ch.Kind {
	case "":
		return p.addEdits(ctx, ch)
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
func (p *plan) path(u protocol.DocumentURI) (string, error) {
	c := p.session.client
	absolute := pathOf(u)
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
	if known, ok := p.files[name]; ok {
		return known, nil
	}
	if slices.ContainsFunc(p.gone, func(g *planned) bool { return g.origin == name }) {
		return nil, nil
	}
	f, changed, err := p.session.client.files.get(ctx, workspace.Path{Rel: name, Real: name})
	if errors.Is(err, tools.CodeNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if changed {
		p.stale = append(p.stale, name)
	}
	out := &planned{before: f, origin: name, data: f.text.data}
	p.files[name] = out
	return out, nil
}

// addEdits applies the text edits of one document.
func (p *plan) addEdits(ctx context.Context, ch *documentChange) error {
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
	if file.before != nil && file.before.generated && !p.allow.generated {
		return tools.Errorf(tools.CodeLSPWorkspace, "the server wants to edit %s, which is generated; change what it is generated from, or allow it", name)
	}
	if want := ch.TextDocument.Version; want != nil {
		if have, open := p.session.docs.version(name); open && have != *want {
			return tools.Errorf(tools.CodeLSPStale, "the server's edit of %s is for version %d, the document is at %d", name, *want, have)
		}
	}
	data, err := applyEdits(p.session.wire, newText(file.data), ch.Edits)
	if err != nil {
		return tools.Errorf(tools.AsError(err).Code, "%s: %w", name, err)
	}
	file.data = data
	p.edits += len(ch.Edits)
	return nil
}

// applyEdits returns the text with edits applied, which all refer to the text as
// it is (LSP 3.17 §textEditArray): they must not overlap, and insertions at one
// place come in their order.
func applyEdits(w wire, t *text, edits []textEdit) ([]byte, error) {
	type piece struct {
		from, to int
		text     string
	}
	pieces := make([]piece, len(edits))
	for i, e := range edits {
		s, err := w.span(t, e.Range, true)
		if err != nil {
			return nil, err
		}
		pieces[i] = piece{t.offset(s.start), t.offset(s.end), e.NewText}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int {
		if a.from != b.from {
			return compare(a.from, b.from)
		}
		return compare(a.to, b.to)
	})
	out := make([]byte, 0, len(t.data)+64*len(edits))
	at := 0
	for _, e := range pieces {
		if e.from < at {
			return nil, tools.Errorf(tools.CodeLSPWorkspace, "two edits of the server overlap on line %d", t.at(e.from).line+1)
		}
		out = append(append(out, t.data[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, t.data[at:]...), nil
}

func (p *plan) addCreate(ctx context.Context, ch *documentChange) error {
	name, err := p.path(ch.URI)
	if err != nil {
		return err
	}
	there, err := p.load(ctx, name)
	switch {
	case err != nil:
		return err
	case there != nil && ch.Options.Overwrite:
		there.data = nil
		return nil
	case there != nil && ch.Options.IgnoreIfExists:
		return nil
	case there != nil:
		return tools.Errorf(tools.CodeLSPWorkspace, "the server wants to create %s, which exists", name)
	}
	p.files[name] = &planned{}
	p.steps = append(p.steps, planStep{kind: "create", to: name})
	return nil
}

func (p *plan) addRename(ctx context.Context, ch *documentChange) error {
	from, err := p.path(ch.OldURI)
	if err != nil {
		return err
	}
	to, err := p.path(ch.NewURI)
	if err != nil {
		return err
	}
	file, err := p.load(ctx, from)
	if err != nil {
		return err
	}
	if file == nil {
		return tools.Errorf(tools.CodeLSPWorkspace, "the server wants to rename %s, which does not exist", from)
	}
	target, err := p.load(ctx, to)
	switch {
	case err != nil:
		return err
	case target != nil && ch.Options.IgnoreIfExists && !ch.Options.Overwrite:
		return nil
	case target != nil && !ch.Options.Overwrite:
		return tools.Errorf(tools.CodeLSPWorkspace, "the server wants to rename %s to %s, which exists", from, to)
	case target != nil && target.before != nil:
		p.gone = append(p.gone, target)
	}
	delete(p.files, from)
	p.files[to] = file
	p.steps = append(p.steps, planStep{kind: "rename", from: from, to: to, replace: ch.Options.Overwrite})
	return nil
}

func (p *plan) addDelete(ctx context.Context, ch *documentChange) error {
	name, err := p.path(ch.URI)
	if err != nil {
		return err
	}
	resolved := workspace.Path{Rel: name, Real: name}
	if info, err := p.session.client.work.Lstat(resolved); err == nil && info.IsDir() {
		// What a directory holds cannot be shown in a patch or judged one by one.
		return tools.Errorf(tools.CodeLSPWorkspace, "the server wants to delete the directory %s; only files are deleted for a server", name)
	}
	file, err := p.load(ctx, name)
	switch {
	case err != nil:
		return err
	case file == nil && ch.Options.IgnoreIfNotExists:
		return nil
	case file == nil:
		return tools.Errorf(tools.CodeLSPWorkspace, "the server wants to delete %s, which does not exist", name)
	}
	delete(p.files, name)
	if file.before != nil {
		p.gone = append(p.gone, file)
	}
	p.steps = append(p.steps, planStep{kind: "delete", from: name})
	return nil
}

// changed returns the files that the plan writes, moves, makes or removes: all
// the names, sorted.
func (p *plan) changed() []string {
	var out []string
	for name, file := range p.files {
		if file.origin != name || file.before == nil || !slices.Equal(file.data, file.before.text.data) {
			out = append(out, name)
			if file.origin != "" && file.origin != name {
				out = append(out, file.origin)
			}
		}
	}
	for _, file := range p.gone {
		out = append(out, file.origin)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// changes describes the plan for a patch.
func (p *plan) changes() []edit.Change {
	var out []edit.Change
	for name, file := range p.files {
		ch := edit.Change{NewPath: name, New: file.data, NewMode: fs.FileMode(0o644)}
		if file.before != nil {
			ch.OldPath, ch.Old, ch.OldMode, ch.NewMode = file.origin, file.before.text.data, file.before.mode, file.before.mode
		}
		if ch.OldPath != ch.NewPath || !slices.Equal(ch.Old, ch.New) {
			out = append(out, ch)
		}
	}
	for _, file := range p.gone {
		out = append(out, edit.Change{OldPath: file.origin, Old: file.before.text.data, OldMode: file.before.mode})
	}
	slices.SortFunc(out, func(a, b edit.Change) int {
		return compare(a.NewPath+"\x00"+a.OldPath, b.NewPath+"\x00"+b.OldPath)
	})
	return out
}
