package langintel

import (
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

// problems holds what a server published (LSP 3.17
// §textDocument_publishDiagnostics), by file.
type problems struct {
	mu     sync.Mutex
	byPath map[string]*published
	moved  chan struct{} // closed at the next publish
	pulled map[string]pulled
	// settled are the publishes that were found to be of their text.
	settled map[string]*published
	// ordered is the number of the last change that the server has certainly seen,
	// since it answered a request that was sent after it; orderedAt is when it did.
	ordered   int64
	orderedAt time.Time
	// lag is how long publishes come after a change: the longest of late.
	lag      time.Duration
	compiler compiler
	// size is about what byPath holds, in bytes; lost is how many publishes were not
	// kept because that is too much.
	size, lost int
	// number counts publishes and states of files, in the order in which they came.
	number int64
	// work is what the server does with files, and heads what files included when it
	// was last heard about them, where it says so.
	work  map[string]workState
	heads map[string][sha256.Size]byte
}

// published is the last publish for a file.
type published struct {
	version *int32
	sha     string // of the text that it is about; without a version, of the open document when it came
	at      time.Time
	// epoch is the number of the last change that the server had certainly seen.
	epoch int64
	// sure: it is known to be about the text.
	sure bool
	// number is its place among all publishes and states of files.
	number  int64
	items   []lspDiagnostic
	dropped int
}

// pulled is the last answer to a pull, for resultId.
type pulled struct {
	resultID string
	items    []lspDiagnostic
	dropped  int
}

// compiler is the state of a server's runs of a compiler.
type compiler struct {
	turn chan struct{} // holds one value while somebody has a run made
	// checkedTo is the number of the last change that a finished run has seen; nil:
	// none has finished. It belongs to who has the turn.
	checkedTo *int64
	// abandoned: nobody waited for the end of the last run.
	abandoned bool
}

const (
	maxPublished = 20_000 // files
	// publishedBytes bounds what is kept of publishes; those of open documents, which
	// are few, are kept all the same.
	publishedBytes = 64 << 20
	longestLag     = time.Second
)

func (p *problems) init() {
	p.compiler.turn = make(chan struct{}, 1)
	p.byPath, p.pulled, p.moved = map[string]*published{}, map[string]pulled{}, make(chan struct{})
	p.settled, p.work, p.heads = map[string]*published{}, map[string]workState{}, map[string][sha256.Size]byte{}
}

// takePublished records a publish; it runs in the reader.
func (v *session) takePublished(params []byte) {
	var p publishParams
	if decodeJSON(params, &p) != nil {
		return
	}
	path, ok := v.client.relative(p.URI.path())
	if !ok {
		return
	}
	now := time.Now()
	fresh := &published{version: p.Version, at: now}
	fresh.items, fresh.dropped = v.bound(p.Diagnostics)
	doc, open := v.docs.state(path)
	if p.Version != nil && (*p.Version < 1 || open && *p.Version > doc.version) {
		p.Version, fresh.version = nil, nil // no version that was ever sent
	}
	if open && (p.Version == nil || *p.Version == doc.version) {
		fresh.sha, fresh.sure = doc.file.sha, p.Version != nil
	}
	v.problem.mu.Lock()
	defer v.problem.mu.Unlock()
	v.problem.number++
	fresh.number, fresh.epoch = v.problem.number, v.problem.ordered
	if fresh.sure {
		fresh.epoch = max(fresh.epoch, doc.epoch)
	}
	old := v.problem.byPath[path]
	grown := v.problem.size + fresh.size() - old.size()
	switch {
	case old == nil && len(v.problem.byPath) >= maxPublished, grown > publishedBytes && !open:
		v.problem.lost++
		return
	case old != nil && old.version != nil && p.Version != nil && *p.Version < *old.version:
		return // overtaken: a later version was published already
	}
	if open && old != nil && old.at.Before(doc.sent) {
		v.problem.lag = max(v.problem.lag/2, min(now.Sub(doc.sent), longestLag))
	}
	v.problem.byPath[path], v.problem.size = fresh, grown
	close(v.problem.moved)
	v.problem.moved = make(chan struct{})
}

// size is about what a publish holds, in bytes; nil holds nothing.
func (p *published) size() int {
	if p == nil {
		return 0
	}
	const each = 256 // the values themselves
	size := each
	for i := range p.items {
		item := &p.items[i]
		size += each + len(item.Message) + len(item.Source) + len(item.Code)
		for _, r := range item.Related {
			size += each + len(r.Message) + len(r.Location.URI)
		}
	}
	return size
}

// bound cuts a file's diagnostics to what is kept.
func (v *session) bound(items []lspDiagnostic) (kept []lspDiagnostic, dropped int) {
	limit := int(v.client.opts.MaxDiagnostics)
	if len(items) > limit {
		items, dropped = slices.Clone(items[:limit]), len(items)-limit
	}
	for i := range items {
		items[i].trim()
	}
	return items, dropped
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
