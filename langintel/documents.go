package langintel

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// documents are what one server has open. What is sent and what is recorded
// change together, under one lock, so that versions reach the server in order.
type documents struct {
	session *session

	mu       sync.Mutex
	open     map[string]*document
	order    *list.List // of *document, most recently used first
	versions map[string]int32
}

// document is an open document as the server knows it.
type document struct {
	path    string
	uri     protocol.DocumentURI
	version int32
	file    *file
	place   *list.Element
	// saved is whether the server was told of a save of this text.
	saved bool
	// epoch is the number of the last change of its text in the change log, and sent
	// when the server was told.
	epoch int64
	sent  time.Time
	// rebuilt is the number of the last change of any file that the server was made
	// to take in.
	rebuilt int64
}

func (d *documents) init(v *session) {
	d.session, d.open, d.order, d.versions = v, map[string]*document{}, list.New(), map[string]int32{}
}

func (v *session) uriOf(path string) protocol.DocumentURI {
	return uri.File(v.client.work.Abs(workspace.Path{Rel: path, Real: path}))
}

// sync makes the server see a file as it is on disk now, opening it if need be,
// and returns a copy of the document.
func (d *documents) sync(ctx context.Context, p workspace.Path) (document, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, _, err := d.session.client.files.get(ctx, p)
	if err != nil {
		return document{}, err
	}
	doc := d.open[p.Real]
	if doc == nil {
		doc, err = d.add(p.Real, f)
	} else {
		d.order.MoveToFront(doc.place)
		err = d.update(doc, f)
	}
	if err != nil {
		return document{}, err
	}
	return *doc, nil
}

// add opens a document (LSP 3.17 §textDocument_didOpen); d.mu is held.
func (d *documents) add(path string, f *file) (*document, error) {
	for int64(d.order.Len()) >= d.session.client.opts.MaxOpen {
		if err := d.close(d.order.Back().Value.(*document)); err != nil {
			return nil, err
		}
	}
	doc := &document{path: path, uri: d.session.uriOf(path), file: f, version: d.versions[path] + 1}
	sent := time.Now() // before the server can answer
	err := d.session.rpc.notify("textDocument/didOpen", protocol.DidOpenTextDocumentParams{
		TextDocument: protocol.TextDocumentItem{
			URI: doc.uri, Version: doc.version, Text: string(f.text.data),
			LanguageID: protocol.LanguageIdentifier(d.session.spec.language(path)),
		},
	})
	if err != nil {
		return nil, tools.AsError(err)
	}
	doc.epoch, doc.sent = d.session.changes.now(), sent
	doc.rebuilt = doc.epoch
	doc.place = d.order.PushFront(doc)
	d.open[path] = doc
	d.versions[path] = doc.version
	return doc, nil
}

// update sends new content when it differs (§textDocument_didChange, and
// §textDocument_didSave, since what is on disk is saved); d.mu is held.
func (d *documents) update(doc *document, f *file) error {
	if doc.file == f || doc.file.sha == f.sha {
		doc.file = f
		return nil
	}
	doc.version++
	d.versions[doc.path] = doc.version
	seen := d.session.changes.now()
	params, rebuilds := d.session.nudge(doc)
	params.TextDocument = versionedDocument{URI: doc.uri, Version: doc.version}
	params.Changes = []contentChange{d.session.replacement(doc.file.text, f.text)}
	sent := time.Now()
	if err := d.session.rpc.notify("textDocument/didChange", params); err != nil {
		return tools.AsError(err)
	}
	doc.file = f
	if rebuilds {
		doc.rebuilt = seen
	}
	doc.epoch, doc.sent = d.session.changes.noteOnce(doc.path, doc.epoch), sent
	return d.save(doc)
}

// save tells the server that the text is on disk, if it wants to hear that
// (§textDocument_didSave); d.mu is held.
func (d *documents) save(doc *document) error {
	doc.saved = true
	if !d.session.sync.Save || !d.session.spec.hearsSaves() {
		return nil
	}
	f := doc.file
	params := protocol.DidSaveTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: doc.uri}}
	if d.session.sync.SaveText {
		params.Text = string(f.text.data)
	}
	return d.session.rpc.notify("textDocument/didSave", params)
}

// close tells the server that the disk speaks for the file again; d.mu is held.
func (d *documents) close(doc *document) error {
	d.order.Remove(doc.place)
	delete(d.open, doc.path)
	return d.session.rpc.notify("textDocument/didClose", protocol.DidCloseTextDocumentParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: doc.uri},
	})
}

// replacement is the change of one whole text into another.
func (v *session) replacement(old, new *text) contentChange {
	out := contentChange{Text: string(new.data)}
	if v.spec.RangedChanges {
		out.Range = &protocol.Range{End: v.wire.encode(old, old.at(len(old.data)))}
	}
	return out
}

// touch sends an open document's text again under a new version, so that a server
// looks at it anew; extra are members that the server's own extensions add to
// didChange.
func (d *documents) touch(path string, extra didChangeParams) (document, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	doc := d.open[path]
	if doc == nil {
		return document{}, tools.Errorf(tools.CodeLSPStale, "%s was closed meanwhile", path)
	}
	doc.version++
	d.versions[path] = doc.version
	extra.TextDocument = versionedDocument{URI: doc.uri, Version: doc.version}
	extra.Changes = []contentChange{d.session.replacement(doc.file.text, doc.file.text)}
	sent := time.Now()
	if err := d.session.rpc.notify("textDocument/didChange", extra); err != nil {
		return document{}, tools.AsError(err)
	}
	doc.epoch, doc.sent = d.session.changes.now(), sent
	doc.rebuilt = doc.epoch
	return *doc, nil
}

// refresh brings one open document in line with the disk; a file that is gone is
// closed. Files that are not open are left alone.
func (d *documents) refresh(ctx context.Context, path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	doc := d.open[path]
	if doc == nil {
		return nil
	}
	f, _, err := d.session.client.files.get(ctx, workspace.Path{Rel: path, Real: path})
	switch {
	case errors.Is(err, tools.CodeNotFound), errors.Is(err, tools.CodeNotFile):
		return d.close(doc)
	case err != nil:
		return err
	}
	return d.update(doc, f)
}

// keep makes an open document the last one to be closed; false: it is not open.
func (d *documents) keep(path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	doc := d.open[path]
	if doc != nil {
		d.order.MoveToFront(doc.place)
	}
	return doc != nil
}

// version returns the version of an open document.
func (d *documents) version(path string) (int32, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if doc := d.open[path]; doc != nil {
		return doc.version, true
	}
	return 0, false
}

// paths returns the open documents.
func (d *documents) paths() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for e := d.order.Front(); e != nil; e = e.Next() {
		out = append(out, e.Value.(*document).path)
	}
	return out
}
