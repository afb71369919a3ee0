package langintel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	filedir "path"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/tools"
)

// collector builds a snapshot from what servers say about files.
type collector struct {
	client  *Client
	builder *diagnostics.Builder
	answer  Answer
	files   map[string]*file
	// refused are the files about which their server says nothing, and why; skip
	// those that it is not even asked about.
	refused []refusal
	skip    map[string]string
	late    atomic.Bool // the server did not answer in time
	// silent are the servers that did not, in this collection or in one that this is
	// to be compared with: they are asked nothing more.
	silent map[*server]bool
}

// refusal is one file about which a server says nothing.
type refusal struct{ path, reason string }

func newCollector(c *Client) (*collector, error) {
	builder, err := diagnostics.NewBuilder(&diagnostics.Limits{PerFile: int(c.opts.MaxDiagnostics)})
	if err != nil {
		return nil, tools.Errorf(tools.CodeToolInput, "%w", err)
	}
	return &collector{client: c, builder: builder, answer: Answer{Status: Complete}, files: map[string]*file{}, silent: map[*server]bool{}}, nil
}

func (k *collector) snapshot() *diagnostics.Snapshot { return k.builder.Snapshot() }

// asking is how many files a server is asked about at a time: enough to keep it
// busy, few beside the requests that may wait for it.
const asking = 4

// collect asks one server about files; those that are gone are looked at too:
// they have no problems.
func (k *collector) collect(ctx context.Context, v *session, paths []string) error {
	producer := diagnostics.Producer{
		ID: v.spec.Name, Tool: v.spec.Name, Version: serverVersion(v.info.Version), ConfigDigest: v.digest(),
		Status: diagnostics.StatusOK,
	}
	k.name(v.spec.Name)
	k.late.Store(k.silent[v.server])
	found, err := k.ask(ctx, v, paths)
	if err != nil {
		return err
	}
	k.silent[v.server] = k.late.Load()
	before := len(k.refused)
	for i, path := range paths {
		switch one := &found[i]; {
		case one.gone:
			producer.Scope.Paths = append(producer.Scope.Paths, path)
		case one.refused:
			k.refused = append(k.refused, refusal{path, one.Reason})
		default:
			k.take(v, one.doc, one.checked, &producer)
		}
	}
	k.mention(v.spec.Name, k.refused[before:])
	k.builder.Producer(producer)
	return nil
}

// finding is what a server says about one of the files of a collection.
type finding struct {
	checked
	doc  document
	gone bool
}

// ask checks several files at a time. The answers come in the order of paths,
// whatever the order in which they were given.
func (k *collector) ask(ctx context.Context, v *session, paths []string) ([]finding, error) {
	found := make([]finding, len(paths))
	group, ctx := errgroup.WithContext(ctx)
	// Documents that must be open to be asked about must also stay open meanwhile.
	group.SetLimit(int(max(1, min(asking, k.client.opts.MaxOpen/2, k.client.opts.MaxPending/2))))
	for _, i := range spread(paths) {
		group.Go(func() (err error) {
			found[i], err = k.askOne(ctx, v, paths[i])
			return err
		})
	}
	err := group.Wait()
	return found, err
}

// spread orders the indices of paths so that files of different directories come
// first: what a server works out for one file often serves those beside it.
func spread(paths []string) []int {
	order, rank, met := make([]int, len(paths)), make([]int, len(paths)), map[string]int{}
	for i, name := range paths {
		dir := filedir.Dir(name)
		order[i], rank[i] = i, met[dir]
		met[dir]++
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(rank[a], rank[b]) })
	return order
}

func (k *collector) askOne(ctx context.Context, v *session, path string) (finding, error) {
	if reason, known := k.skip[path]; known {
		return finding{checked: checked{refused: true, Answer: Answer{Reason: reason}}}, nil
	}
	doc, err := v.subject(ctx, path)
	if errors.Is(err, tools.CodeNotFound) {
		return finding{gone: true}, nil
	}
	if err != nil {
		return finding{}, err
	}
	if doc.version == 0 && v.spec.Excluded != nil {
		if reason := v.spec.Excluded(v.run.env, path, doc.file.text.data); reason != "" {
			return finding{checked: checked{refused: true, Answer: Answer{Reason: reason}}}, nil
		}
	}
	if k.late.Load() {
		// Each file would wait as long as the one before, for nothing.
		late := Answer{Status: TimedOut, Server: v.spec.Name, Reason: "not asked, since the server did not answer about another file in time"}
		return finding{checked: checked{Answer: late}, doc: doc}, nil
	}
	found, err := v.check(ctx, doc)
	if err != nil {
		found.Answer, err = k.client.soften(ctx, v.spec.Name, err)
	}
	if found.Status == TimedOut {
		k.late.Store(true)
	}
	return finding{checked: found, doc: doc}, err
}

// mention says which files are not in what the producer looked at.
func (k *collector) mention(server string, left []refusal) {
	if len(left) == 0 {
		return
	}
	more := ""
	if n := len(left) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more files", n)
	}
	k.lower(Partial, fmt.Sprintf("%s says nothing about %s%s: %s", server, left[0].path, more, left[0].reason))
}

// lower makes the answer no better than status; of several reasons the first of
// the worst status stays.
func (k *collector) lower(status Status, reason string) {
	rank := func(s Status) int { return slices.Index([]Status{Complete, Partial, Unsupported, Stale, TimedOut}, s) }
	if rank(status) > rank(k.answer.Status) {
		k.answer.Status, k.answer.Reason = status, reason
	}
}

// subject is the document to ask about: opened, unless the server reads the disk
// for itself and has certainly been told of the file as it is.
func (v *session) subject(ctx context.Context, path string) (document, error) {
	p, err := v.client.work.Resolve(path)
	if err != nil {
		return document{}, err
	}
	_, pulls := v.pullOptions()
	if !v.spec.ReadsDisk || !pulls {
		return v.docs.sync(ctx, p)
	}
	if _, open := v.docs.version(p.Real); open {
		return v.docs.sync(ctx, p)
	}
	f, _, err := v.client.files.get(ctx, p)
	if err == nil && !v.client.watch.told(p.Real, f.id) {
		return v.docs.sync(ctx, p)
	}
	return document{path: p.Real, uri: v.uriOf(p.Real), file: f}, err
}

// take adds what was found in one file.
func (k *collector) take(v *session, doc document, found checked, producer *diagnostics.Producer) {
	k.files[doc.path] = doc.file
	producer.Dropped += found.dropped
	producer.Scope.Paths = append(producer.Scope.Paths, doc.path)
	if found.Status != Complete {
		k.lower(found.Status, doc.path+": "+found.Reason)
		if found.Status == TimedOut {
			producer.Status = diagnostics.StatusTimeout
		} else if producer.Status == diagnostics.StatusOK {
			producer.Status = diagnostics.StatusPartial
		}
	} else if k.answer.Barrier == "" {
		k.answer.Barrier = found.Barrier
	}
	if found.dropped > 0 {
		k.lower(Partial, fmt.Sprintf("%s: %d problems more than the limit", doc.path, found.dropped))
	}
	for i := range found.items {
		k.builder.Add(v.diagnostic(doc, &found.items[i]))
	}
}

// diagnostic converts one item against the text that it is about.
func (v *session) diagnostic(doc document, item *lspDiagnostic) diagnostics.Diagnostic {
	where, _ := v.wire.span(doc.file.text, item.Range, false)
	out := diagnostics.Diagnostic{
		Producer: v.spec.Name, Source: printable(item.Source, 200), Code: printable(item.code(), 200),
		Severity: diagnostics.Severity(item.Severity), Message: printable(item.Message, messageBytes),
		Path: doc.path, Range: bothColumns(doc.file.text, where),
	}
	for _, tag := range item.Tags {
		out.Tags = append(out.Tags, diagnostics.Tag(tag))
	}
	for _, related := range item.Related {
		if path, ok := v.client.relative(related.Location.URI.path()); ok {
			r := diagnostics.Related{Path: path, Message: printable(related.Message, detailBytes)}
			r.Range.Start = diagnostics.Position{Line: int(related.Location.Range.Start.Line), UTF16: -1, Byte: 0}
			r.Range.End = r.Range.Start
			out.Related = append(out.Related, r)
		}
	}
	return out
}

func bothColumns(t *text, s span) diagnostics.Range {
	one := func(p point) diagnostics.Position {
		return diagnostics.Position{Line: p.line, Byte: p.byte, UTF16: utf16Units.column(t.line(p.line), p.byte)}
	}
	return diagnostics.Range{Start: one(s.start), End: one(s.end)}
}

// result makes the answer of a query.
func (k *collector) result(mildest diagnostics.Severity) *DiagnosticsResult {
	out := &DiagnosticsResult{Answer: k.answer, Snapshot: k.snapshot()}
	shown := out.Snapshot.Diagnostics
	if mildest != 0 {
		shown = slices.DeleteFunc(slices.Clone(shown), func(d diagnostics.Diagnostic) bool { return d.Severity > mildest })
	}
	out.Problems = k.problems(shown)
	return out
}

// problems are diagnostics of this collection with the columns that people count.
func (k *collector) problems(list []diagnostics.Diagnostic) []Problem {
	out := make([]Problem, 0, len(list))
	for _, d := range list {
		out = append(out, k.problem(d))
	}
	return out
}

func (k *collector) problem(d diagnostics.Diagnostic) Problem {
	out := Problem{
		Path: d.Path, Line: d.Range.Start.Line + 1, EndLine: d.Range.End.Line + 1,
		Column: d.Range.Start.UTF16 + 1, EndColumn: d.Range.End.UTF16 + 1,
		Severity: d.Severity.String(), Source: d.Source, Code: d.Code, Message: d.Message,
	}
	if f := k.files[d.Path]; f != nil {
		out.Column = f.text.characters(point{d.Range.Start.Line, d.Range.Start.Byte})
		out.EndColumn = f.text.characters(point{d.Range.End.Line, d.Range.End.Byte})
	}
	return out
}

// digest identifies the configuration that a server's diagnostics depend on.
func (v *session) digest() string {
	sum := sha256.Sum256(append([]byte(v.run.path+"\x00"), v.config...))
	return hex.EncodeToString(sum[:8])
}

// nonEmpty returns the files whose last publish had problems.
func (p *problems) nonEmpty() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for path, pub := range p.byPath {
		if len(pub.items) > 0 {
			out = append(out, path)
		}
	}
	return out
}

// notKept is how many publishes were too much to be kept.
func (p *problems) notKept() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

// state returns an open document as the server knows it.
func (d *documents) state(path string) (doc document, open bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if doc := d.open[path]; doc != nil {
		return *doc, true
	}
	return document{}, false
}
