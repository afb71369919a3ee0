package diagnostics

import (
	"fmt"
	"io/fs"
	"math"
	"slices"
)

// The bounds of what a producer may say. Names are short by nature; their bound
// only keeps a hostile producer from filling a snapshot.
const (
	defaultMessageBytes = 4 << 10
	hardMessageBytes    = 16 << 10
	defaultPerFile      = 500
	hardPerFile         = 5000
	nameBytes           = 256
	pathBytes           = 4096
	relatedPlaces       = 32
)

// Limits bound a snapshot. Zero fields are defaults; negative ones and ones
// above the hard cap are refused.
type Limits struct {
	MessageBytes int // a message; default 4096, at most 16384
	PerFile      int // diagnostics a file; default 500, at most 5000
}

func (l Limits) resolve() (Limits, error) {
	var err error
	if l.MessageBytes, err = limit("MessageBytes", l.MessageBytes, defaultMessageBytes, hardMessageBytes); err != nil {
		return l, err
	}
	l.PerFile, err = limit("PerFile", l.PerFile, defaultPerFile, hardPerFile)
	return l, err
}

func limit(name string, value, byDefault, hard int) (int, error) {
	switch {
	case value == 0:
		return byDefault, nil
	case value < 0 || value > hard:
		return 0, fmt.Errorf("diagnostics: %s is %d, it must be between 1 and %d", name, value, hard)
	default:
		return value, nil
	}
}

// Builder collects a snapshot. It is not for concurrent use.
type Builder struct {
	limits    Limits
	snapshot  Snapshot
	producers map[string]int // id → index in snapshot.Producers
	perFile   map[string]int
}

// NewBuilder refuses limits that are out of range; nil means defaults.
func NewBuilder(limits *Limits) (*Builder, error) {
	if limits == nil {
		limits = &Limits{}
	}
	resolved, err := limits.resolve()
	if err != nil {
		return nil, err
	}
	return &Builder{limits: resolved, producers: map[string]int{}, perFile: map[string]int{}}, nil
}

// Revision says which state of the code the snapshot is of; each may be empty.
func (b *Builder) Revision(revision, tree string, generation uint64) {
	b.snapshot.Revision, b.snapshot.Tree, b.snapshot.Generation = revision, tree, generation
}

// Producer announces a run; diagnostics are added under its id. Announcing an id
// again replaces what was said of it; what was dropped or cut meanwhile is added
// to the counts given.
func (b *Builder) Producer(p Producer) {
	at := b.producer(p.ID)
	p.Dropped += at.Dropped
	p.Cut += at.Cut
	p.Scope.Paths = slices.Clone(p.Scope.Paths)
	*at = p
}

// producer finds or makes the entry; one that was never announced has no status,
// and so proves nothing.
func (b *Builder) producer(id string) *Producer {
	i, ok := b.producers[id]
	if !ok {
		i = len(b.snapshot.Producers)
		b.producers[id] = i
		b.snapshot.Producers = append(b.snapshot.Producers, Producer{ID: id, Status: StatusPartial})
	}
	return &b.snapshot.Producers[i]
}

// Add takes a diagnostic in, bounded and cleaned, or counts it as dropped with
// its producer: when its path is not inside the workspace, a position is not
// finite, or its file is full. It reports whether it was taken.
func (b *Builder) Add(d Diagnostic) bool {
	p := b.producer(d.Producer)
	if !validPath(d.Path) || !validRange(d.Range) || b.perFile[d.Path] >= b.limits.PerFile {
		p.Dropped++
		return false
	}
	b.perFile[d.Path]++
	if b.clean(&d) {
		p.Cut++
	}
	b.snapshot.Diagnostics = append(b.snapshot.Diagnostics, d)
	return true
}

// clean bounds d in place and reports whether that lost anything.
func (b *Builder) clean(d *Diagnostic) (lossy bool) {
	take := func(text string, limit int) string {
		text, cut := cleanText(text, limit)
		lossy = lossy || cut
		return text
	}
	d.Message = take(d.Message, b.limits.MessageBytes)
	d.Source = oneLine(take(d.Source, nameBytes))
	d.Code = oneLine(take(d.Code, nameBytes))
	if d.Severity < Error || d.Severity > Hint {
		// A producer may leave it out, and the worst reading is the safe one.
		d.Severity = Error
	}
	lossy = orderRange(&d.Range) || lossy
	d.Tags = slices.Clone(d.Tags)
	related := make([]Related, 0, min(len(d.Related), relatedPlaces))
	for _, r := range d.Related {
		if len(related) == relatedPlaces || !validPath(r.Path) || !validRange(r.Range) {
			lossy = true
			continue
		}
		lossy = orderRange(&r.Range) || lossy
		r.Message = take(r.Message, b.limits.MessageBytes)
		related = append(related, r)
	}
	d.Related = slices.Clip(related)
	return lossy
}

// Snapshot returns what was collected, sorted. The builder may be used further.
func (b *Builder) Snapshot() *Snapshot {
	s := b.snapshot
	s.Producers = slices.Clone(s.Producers)
	s.Diagnostics = slices.Clone(s.Diagnostics)
	Sort(s.Diagnostics)
	return &s
}

// validPath takes slash-separated relative paths without "." and ".." elements.
func validPath(path string) bool {
	if path == "." || len(path) > pathBytes || !fs.ValidPath(path) {
		return false
	}
	for i := range len(path) {
		if path[i] < ' ' || path[i] == 0x7f {
			return false
		}
	}
	return true
}

// validRange takes positions that a 32-bit reader can hold, with at least one
// column each.
func validRange(r Range) bool {
	for _, p := range [...]Position{r.Start, r.End} {
		if p.Line < 0 || p.Line > math.MaxInt32 || p.UTF16 > math.MaxInt32 || p.Byte > math.MaxInt32 {
			return false
		}
		if p.UTF16 < -1 || p.Byte < -1 || p.UTF16 < 0 && p.Byte < 0 {
			return false
		}
	}
	return true
}

// orderRange collapses a range that ends before it starts: its start is what the
// producer points at.
func orderRange(r *Range) bool {
	if r.End.Compare(r.Start) >= 0 {
		return false
	}
	r.End = r.Start
	return true
}
