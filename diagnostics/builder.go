package diagnostics

// Limits bound a snapshot. Zero fields are defaults; negative ones and ones
// above the hard cap are refused.
type Limits struct {
	MessageBytes int // a message; default 4096, at most 16384
	PerFile      int // diagnostics a file; default 500, at most 5000
}

// Builder collects a snapshot. It is not for concurrent use.
type Builder struct {
	limits Limits
}

// NewBuilder refuses limits that are out of range; nil means defaults.
func NewBuilder(limits *Limits) (*Builder, error) {
	return &Builder{}, nil
}

// Producer announces a run; diagnostics are added under its id. Announcing an id
// again replaces what was said of it and keeps its counts.
func (b *Builder) Producer(p Producer) {}

// Add takes a diagnostic in, bounded and cleaned, or counts it as dropped. It
// reports whether it was taken.
func (b *Builder) Add(d Diagnostic) bool { return false }

// Snapshot returns what was collected, sorted. The builder may be used further.
func (b *Builder) Snapshot() *Snapshot { return &Snapshot{} }
