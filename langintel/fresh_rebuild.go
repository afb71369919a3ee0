package langintel

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"time"
)

// Rebuild is for clangd, which publishes with versions, for each text that it is
// asked to (wantDiagnostics). What a text includes it looks at again when it
// notices by size and second of change that it is not the same; where a file that
// is included changed it is made to look (forceRebuild). Since it publishes at
// once what it finds with the old state of those, with the version of the text,
// and again when it has read them, only what is followed by its saying that it is
// idle (clangdFileStatus), and not that it reads them, is its last word.
func Rebuild() Freshness { return rebuild{} }

type rebuild struct{}

func (rebuild) Name() string { return "rebuild" }

// nudge is what every didChange carries: without it the server waits for more
// changes first.
func (rebuild) nudge(v *session, doc *document) didChangeParams {
	return didChangeParams{WantDiagnostics: true, ForceRebuild: v.affected(doc.path, doc.rebuilt)}
}

// hearsSaves: a save would have it look at every open document, and say nothing
// where it finds the same.
func (rebuild) hearsSaves() bool { return false }

// idleQuiet is how long it must stay idle where it has to read included files
// again: between what it does first and that, it may seem so.
const idleQuiet = 50 * time.Millisecond

func (r rebuild) check(ctx context.Context, v *session, doc document) (checked, error) {
	ctx, cancel := context.WithTimeout(ctx, v.client.opts.Timeout)
	defer cancel()
	again := didChangeParams{WantDiagnostics: true, ForceRebuild: true}
	var err error
	quiet := time.Duration(0)
	head := includedBy(doc.file.text.data)
	if v.affected(doc.path, doc.rebuilt) {
		quiet = idleQuiet
		if doc, err = v.docs.touch(doc.path, again); err != nil {
			return checked{}, err
		}
	} else if !v.problem.headIs(doc.path, head) {
		quiet = idleQuiet
	}
	silent := time.NewTimer(silence)
	defer silent.Stop()
	for {
		pub, moved := v.problem.last(doc.path)
		var settled <-chan time.Time
		if pub != nil && pub.version != nil && *pub.version >= doc.version {
			state := v.problem.workOn(doc.path)
			// What is followed by reading the included files is followed by another
			// publish, and only that, even if it seems idle in between.
			if state.idle && state.idleAt > pub.number && state.readingAt < pub.number {
				left := quiet - time.Since(state.since)
				if left <= 0 {
					v.problem.keepHead(doc.path, head)
					return r.answer(v, doc, pub), nil
				}
				settled = time.After(left)
			}
		}
		select {
		case <-moved:
			silent.Reset(silence)
		case <-settled:
		case <-silent.C:
			// It has nothing to say of a text that it has just judged.
			if v.problem.workOn(doc.path).idle {
				if doc, err = v.docs.touch(doc.path, again); err != nil {
					return checked{}, err
				}
			}
			silent.Reset(silence)
		case <-v.dead:
			return checked{}, v.reason()
		case <-ctx.Done():
			return v.late(pub), nil
		}
	}
}

func (rebuild) answer(v *session, doc document, pub *published) checked {
	out := v.published(pub)
	lacks := v.lacks()
	switch {
	case pub.sha != doc.file.sha:
		out.Status, out.Reason = Stale, "the file changed again meanwhile"
	case lacks != "":
		out.Status, out.Reason = Partial, lacks
	}
	return out
}

// includedBy is a digest of the lines of a text that the preprocessor acts on:
// while it is the same the text includes the same.
func includedBy(source []byte) (sum [sha256.Size]byte) {
	h := sha256.New()
	for line := range bytes.Lines(source) {
		if line = bytes.TrimLeft(line, " \t"); len(line) > 0 && line[0] == '#' {
			h.Write(line)
		}
	}
	h.Sum(sum[:0])
	return sum
}

// workState is what a server says that it does with a file.
type workState struct {
	idle  bool
	since time.Time
	// idleAt and readingAt are the numbers of the last messages that said that it is
	// idle and that it reads what the file includes, among all publishes and states.
	idleAt, readingAt int64
}

// takeFileStatus records clangd's textDocument/clangd.fileStatus; it runs in the
// reader.
func (v *session) takeFileStatus(params []byte) {
	var p struct {
		URI   docURI `json:"uri"`
		State string `json:"state"`
	}
	if decodeJSON(params, &p) != nil {
		return
	}
	path, ok := v.client.relative(p.URI.path())
	if !ok {
		return
	}
	v.problem.mu.Lock()
	defer v.problem.mu.Unlock()
	v.work.noted() // it is at work
	v.problem.number++
	state, known := v.problem.work[path]
	if !known && len(v.problem.work) >= maxPublished {
		return
	}
	state.idle, state.since = p.State == "idle", time.Now()
	if state.idle {
		state.idleAt = v.problem.number
	} else if strings.Contains(p.State, "parsing includes") {
		state.readingAt = v.problem.number
	}
	v.problem.work[path] = state
	close(v.problem.moved)
	v.problem.moved = make(chan struct{})
}

// workOn is what the server does with a file.
func (p *problems) workOn(path string) workState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.work[path]
}

func (p *problems) headIs(path string, head [sha256.Size]byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heads[path] == head
}

func (p *problems) keepHead(path string, head [sha256.Size]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.heads[path]; known || len(p.heads) < maxPublished {
		p.heads[path] = head
	}
}

// affected reports whether a file's problems may be others since a change of
// another file, after the given one of the change log.
func (v *session) affected(path string, since int64) bool {
	changed, known := v.changes.since(since)
	if !known {
		return true
	}
	// A change of its own text shows in the hash.
	changed = slices.DeleteFunc(changed, func(name string) bool { return name == path })
	if len(changed) == 0 || v.spec.Dependents == nil {
		return len(changed) > 0
	}
	return v.reached(v.changes.now(), changed)[path]
}
