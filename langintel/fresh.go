package langintel

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/prism-ls/prism-ls/tools"
)

// Freshness is a strategy that gets a file's diagnostics, and knows that they are
// of the text as it is now and not of an earlier one.
type Freshness interface {
	// Name is how documentation and status call the strategy.
	Name() string
	check(ctx context.Context, v *session, doc document) (checked, error)
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
	began := time.Now()
	patient, cancel := v.patient(ctx)
	defer cancel()
	out, err := v.spec.fresh().check(patient, v, doc)
	switch {
	case err == nil && out.Status == Complete:
		v.pace.took(time.Since(began))
	case gaveUp(patient, err):
		late := Answer{Status: TimedOut, Server: v.spec.Name, Reason: "the server takes far longer than it usually does"}
		return checked{Answer: late}, nil
	}
	return out, err
}

// PullOrPush asks for the diagnostics where the server offers that (LSP 3.17
// §textDocument_diagnostic), and else waits for what it publishes. It is right for
// any server.
func PullOrPush() Freshness { return pullOrPush{} }

type pullOrPush struct{}

func (pullOrPush) Name() string { return "pull_or_push" }

func (pullOrPush) check(ctx context.Context, v *session, doc document) (checked, error) {
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
	return v.awaitPush(ctx, doc, didChangeParams{})
}

// Pulls is for a server that answers for diagnostics but says so only a while
// after its start, by a registration (LSP 3.17 §client_registerCapability): until
// then it looks like one that publishes, and never does.
func Pulls() Freshness { return pulls{} }

type pulls struct{}

func (pulls) Name() string { return "pull" }

func (pulls) check(ctx context.Context, v *session, doc document) (checked, error) {
	wait, cancel := context.WithTimeout(ctx, v.client.opts.StartTimeout)
	defer cancel()
	for {
		moved := v.dynamic.changed()
		if options, ok := v.pullOptions(); ok {
			return v.pull(ctx, doc, options)
		}
		select {
		case <-moved:
		case <-v.dead:
			return checked{}, v.reason()
		case <-wait.Done():
			if err := ctx.Err(); err != nil {
				return checked{}, err
			}
			return checked{Answer: Answer{Status: TimedOut, Server: v.spec.Name, Reason: "the server has not said yet that it answers for diagnostics"}}, nil
		}
	}
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
	out := checked{Answer: Answer{Status: Complete, Server: v.spec.Name, Barrier: BarrierPull}}
	if out.items, out.dropped = v.bound(report.Items); report.Kind == "unchanged" {
		out.items, out.dropped = previous.items, previous.dropped
	}
	v.problem.mu.Lock()
	defer v.problem.mu.Unlock()
	if report.ResultID == "" || len(report.ResultID) > detailBytes {
		delete(v.problem.pulled, doc.path)
	} else {
		v.problem.pulled[doc.path] = pulled{report.ResultID, out.items, out.dropped}
	}
	return out, nil
}

const (
	shortestQuiet = 150 * time.Millisecond
	// versionQuiet follows a publish with the right version: some servers
	// publish an empty list first, and the real one at once after it.
	versionQuiet = 50 * time.Millisecond
	// silence is how long a server that was made to look again may say nothing
	// before what it said last is taken for its answer, as far as it goes.
	silence = 3 * time.Second
)

// awaitPush waits for a publish that is certainly of the document's text, and of
// the other files as they are: one with its version, or without versions one that
// came after the text and was followed by quiet. nudge is how the server is made
// to look again at a text that it has judged before another file changed.
func (v *session) awaitPush(ctx context.Context, doc document, nudge didChangeParams) (checked, error) {
	ctx, cancel := context.WithTimeout(ctx, v.client.opts.Timeout)
	defer cancel()
	if out, ok := v.settledFor(doc); ok {
		return out, nil
	}
	if err := v.order(ctx, doc); err != nil && ctx.Err() == nil {
		return checked{}, err
	}
	var nudged time.Time
	for {
		pub, moved := v.problem.last(doc.path)
		quiet := time.Duration(-1)
		switch {
		case pub == nil || pub.sha != doc.file.sha:
		case !v.covers(doc, pub):
			if nudged.IsZero() {
				again, err := v.docs.touch(doc.path, nudge)
				if err != nil {
					return checked{}, err
				}
				nudged, doc = time.Now(), again
			}
			if time.Since(nudged) > silence {
				out := v.published(pub)
				out.Status, out.Reason = Partial, "the server did not speak of this file again after others changed"
				return out, nil
			}
			quiet = max(0, silence-time.Since(nudged))
		default:
			if quiet = v.quietFor(doc, pub); quiet <= 0 {
				v.problem.settle(doc.path, pub)
				return v.published(pub), nil
			}
		}
		if quiet < 0 {
			quiet = v.client.opts.Timeout
		}
		wake := time.NewTimer(quiet)
		select {
		case <-moved:
		case <-wake.C:
		case <-v.dead:
			return checked{}, v.reason()
		case <-ctx.Done():
			return v.late(pub), nil
		}
		wake.Stop()
	}
}

// late is the answer when the server did not publish for the text in time.
func (v *session) late(pub *published) checked {
	out := checked{Answer: Answer{Status: TimedOut, Server: v.spec.Name, Reason: "the server published nothing for this text in time"}}
	if pub != nil {
		out.items, out.dropped, out.Status = pub.items, pub.dropped, Stale
		out.Reason = "what the server published last is of an earlier text"
	}
	return out
}

func (v *session) published(pub *published) checked {
	barrier := BarrierPushQuiet
	if pub.version != nil {
		barrier = BarrierPushVersion
	}
	return checked{Answer: Answer{Status: Complete, Server: v.spec.Name, Barrier: barrier}, items: pub.items, dropped: pub.dropped}
}

// settledFor returns what the server was found to say about exactly this text,
// provided that nothing else changed since: many servers do not publish a second
// time for a text that they know.
func (v *session) settledFor(doc document) (checked, bool) {
	v.problem.mu.Lock()
	pub := v.problem.settled[doc.path]
	v.problem.mu.Unlock()
	if pub == nil || pub.sha != doc.file.sha || !v.covers(doc, pub) {
		return checked{}, false
	}
	return v.published(pub), true
}

// covers reports whether a publish is of the time after the last change that may
// concern the document.
func (v *session) covers(doc document, pub *published) bool {
	return !v.affected(doc.path, pub.epoch)
}

// reaches remembers what depends on changed files, as of a change's number: many
// documents ask about the same ones.
type reaches struct {
	mu     sync.Mutex
	number int64
	known  map[string]map[string]bool // by the changed files
}

// reached returns the files whose problems may change with others.
func (v *session) reached(number int64, changed []string) map[string]bool {
	slices.Sort(changed)
	of := strings.Join(slices.Compact(changed), "\x00")
	v.reaches.mu.Lock()
	defer v.reaches.mu.Unlock()
	if v.reaches.known == nil || v.reaches.number != number {
		v.reaches.number, v.reaches.known = number, map[string]map[string]bool{}
	}
	if set := v.reaches.known[of]; set != nil {
		return set
	}
	files := v.client.filesNow(v.client.ctx)
	set := map[string]bool{}
	for _, path := range v.spec.Dependents(files, changed) {
		set[path] = true
	}
	v.reaches.known[of] = set
	return set
}

// quietFor is how long must be waited before a publish may be believed to be the
// last word; 0 or less: it may be believed now.
func (v *session) quietFor(doc document, pub *published) time.Duration {
	if pub.sure {
		return versionQuiet - time.Since(pub.at)
	}
	open, _, _ := v.work.state(nil)
	v.problem.mu.Lock()
	lag, ordered := v.problem.lag, v.problem.orderedAt
	v.problem.mu.Unlock()
	since := pub.at
	if ordered.After(since) {
		since = ordered
	}
	if doc.sent.After(since) {
		since = doc.sent
	}
	// What it has finished since may be followed by another publish.
	if ended := v.work.lastEnd(func(string) bool { return true }); ended.After(since) {
		since = ended
	}
	quiet := max(shortestQuiet, 2*lag)
	if open != "" && v.work.begunSince(doc.sent) {
		return quiet // what it has begun since may end in another publish
	}
	return quiet - time.Since(since)
}

// settle remembers a publish as what the server says about its text.
func (p *problems) settle(path string, pub *published) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.settled) >= maxPublished {
		clear(p.settled)
	}
	p.settled[path] = pub
}

// order has the server answer a request after everything that it was told, so
// that what it publishes from then on is of the present: servers handle messages
// in order, and answer this one from what they have.
func (v *session) order(ctx context.Context, doc document) error {
	number := v.changes.now()
	v.problem.mu.Lock()
	done := v.problem.ordered >= number && v.problem.orderedAt.After(doc.sent)
	v.problem.mu.Unlock()
	if done {
		return nil
	}
	id := protocol.TextDocumentIdentifier{URI: doc.uri}
	var err error
	switch {
	case v.has("textDocument/documentSymbol"):
		err = v.read(ctx, "textDocument/documentSymbol", protocol.DocumentSymbolParams{TextDocument: id}, nil)
	case v.has("textDocument/hover"):
		err = v.read(ctx, "textDocument/hover", protocol.TextDocumentPositionParams{TextDocument: id}, nil)
	}
	if err != nil && !refused(err) {
		return err
	}
	v.problem.mu.Lock()
	defer v.problem.mu.Unlock()
	if number >= v.problem.ordered {
		v.problem.ordered, v.problem.orderedAt = number, time.Now()
	}
	return nil
}

// nudge is what the session's strategy adds to a didChange of a document, and
// whether that makes the server look at other files again.
func (v *session) nudge(doc *document) (extra didChangeParams, rebuilds bool) {
	if with, ok := v.spec.Fresh.(interface {
		nudge(v *session, doc *document) didChangeParams
	}); ok {
		extra = with.nudge(v, doc)
	}
	return extra, extra.ForceRebuild
}

// hearsSaves reports whether the server is told of saves.
func (s *Spec) hearsSaves() bool {
	with, ok := s.Fresh.(interface{ hearsSaves() bool })
	return !ok || with.hearsSaves()
}
