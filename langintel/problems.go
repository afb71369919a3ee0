package langintel

import (
	"context"
	"sync"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// problems holds what a server published (LSP 3.17
// §textDocument_publishDiagnostics), by file.
type problems struct {
	mu     sync.Mutex
	byPath map[string]*published
	moved  chan struct{} // closed at the next publish
	pulled map[string]pulled
}

// published is the last publish for a file.
type published struct {
	version *int32
	sha     string // of the open document when it came
	at      time.Time
	gap     time.Duration // since the publish before
	items   []lspDiagnostic
	dropped int
}

// pulled is the last answer to a pull, for resultId.
type pulled struct {
	resultID string
	report   diagnosticReport
}

const maxPublished = 20_000 // files

func (p *problems) init() {
	p.byPath, p.pulled, p.moved = map[string]*published{}, map[string]pulled{}, make(chan struct{})
}

// takePublished records a publish; it runs in the reader.
func (v *session) takePublished(params []byte) {
	var p publishParams
	if decodeJSON(params, &p) != nil {
		return
	}
	path, ok := v.client.relative(pathOf(p.URI))
	if !ok {
		return
	}
	now := time.Now()
	fresh := &published{version: p.Version, at: now}
	fresh.items, fresh.dropped = v.bound(p.Diagnostics)
	if version, sha, open := v.docs.state(path); open && (p.Version == nil || *p.Version == version) {
		fresh.sha = sha
	}
	v.problem.mu.Lock()
	defer v.problem.mu.Unlock()
	old := v.problem.byPath[path]
	switch {
	case old == nil && len(v.problem.byPath) >= maxPublished:
		return
	case old != nil && old.version != nil && p.Version != nil && *p.Version < *old.version:
		return // overtaken: a later version was published already
	case old != nil:
		fresh.gap = now.Sub(old.at)
	}
	v.problem.byPath[path] = fresh
	close(v.problem.moved)
	v.problem.moved = make(chan struct{})
}

// bound cuts a file's diagnostics to what is kept.
func (v *session) bound(items []lspDiagnostic) ([]lspDiagnostic, int) {
	limit := int(v.client.opts.MaxDiagnostics)
	if len(items) <= limit {
		return items, 0
	}
	return items[:limit], len(items) - limit
}

// last returns what was published for a file, and a channel that the next
// publish of any file closes.
func (p *problems) last(path string) (*published, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byPath[path], p.moved
}

// since returns the files that were published for after a moment.
func (p *problems) since(moment time.Time) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for path, pub := range p.byPath {
		if pub.at.After(moment) {
			out = append(out, path)
		}
	}
	return out
}

// checked is what a server says about one file.
type checked struct {
	Answer
	items   []lspDiagnostic
	dropped int
	// refused: the server says nothing about this file, and Reason why.
	refused bool
}

// check finds a document's diagnostics as of its current version.
func (v *session) check(ctx context.Context, doc document) (checked, error) {
	if options, ok := v.pullOptions(); ok {
		out, err := v.pull(ctx, doc, options)
		if code := faultCode(err); !refused(err) || code == codeContentModified || code == codeServerCancelled {
			return out, err
		}
		// It does not do this for that kind of file, or not for that file. What it
		// pushed counts; waiting for more would not help, since a file may be
		// outside of any build.
		pub, _ := v.problem.last(doc.path)
		if pub == nil || pub.sha != doc.file.sha {
			reason := printable(tools.AsError(err).Message, 300)
			return checked{Answer: Answer{Status: Partial, Server: v.spec.Name, Reason: reason}, refused: true}, nil
		}
	}
	return v.awaitPush(ctx, doc)
}

// pull asks for diagnostics (LSP 3.17 §textDocument_diagnostic).
func (v *session) pull(ctx context.Context, doc document, options diagnosticOptions) (checked, error) {
	v.problem.mu.Lock()
	previous := v.problem.pulled[doc.path]
	v.problem.mu.Unlock()
	params := diagnosticParams{Identifier: options.Identifier, PreviousResultID: previous.resultID}
	params.TextDocument.URI = doc.uri
	var report diagnosticReport
	if err := v.read(ctx, "textDocument/diagnostic", params, &report); err != nil {
		return checked{}, err
	}
	if report.Kind == "unchanged" {
		report.Items = previous.report.Items
	}
	if report.ResultID != "" {
		v.problem.mu.Lock()
		v.problem.pulled[doc.path] = pulled{report.ResultID, report}
		v.problem.mu.Unlock()
	}
	out := checked{Answer: Answer{Status: Complete, Server: v.spec.Name, Barrier: BarrierPull}}
	out.items, out.dropped = v.bound(report.Items)
	return out, nil
}

const (
	shortestQuiet = 150 * time.Millisecond
	// versionQuiet follows a publish with the right version: some servers
	// publish an empty list first, and the real one at once after it.
	versionQuiet = 50 * time.Millisecond
)

// awaitPush waits for a publish that is certainly of the document's text: one
// with its version, or without version one that came after the text was sent.
// Then it waits for quiet.
func (v *session) awaitPush(ctx context.Context, doc document) (checked, error) {
	ctx, cancel := context.WithTimeout(ctx, v.client.opts.Timeout)
	defer cancel()
	for {
		pub, moved := v.problem.last(doc.path)
		var quiet time.Duration
		barrier := BarrierPushQuiet
		switch {
		case pub == nil || pub.sha != doc.file.sha:
			quiet = -1
		case pub.version != nil:
			quiet, barrier = versionQuiet-time.Since(pub.at), BarrierPushVersion
		default:
			quiet = max(shortestQuiet, min(2*pub.gap, time.Second)) - time.Since(pub.at)
		}
		if pub != nil && quiet <= 0 && pub.sha == doc.file.sha {
			return checked{Answer: Answer{Status: Complete, Server: v.spec.Name, Barrier: barrier}, items: pub.items, dropped: pub.dropped}, nil
		}
		var settled <-chan time.Time
		if quiet > 0 {
			settled = time.After(quiet)
		}
		select {
		case <-moved:
		case <-settled:
		case <-v.dead:
			return checked{}, v.reason()
		case <-ctx.Done():
			out := checked{Answer: Answer{Status: TimedOut, Server: v.spec.Name, Reason: "the server published nothing for this text in time"}}
			if pub != nil {
				out.items, out.dropped, out.Status = pub.items, pub.dropped, Stale
				out.Reason = "what the server published last is of an earlier text"
			}
			return out, nil
		}
	}
}
