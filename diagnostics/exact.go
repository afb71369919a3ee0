package diagnostics

// ExactDelta is the exact view of two snapshots.
type ExactDelta struct {
	Added     []Diagnostic
	Removed   []Diagnostic
	Unchanged []Diagnostic // as the head has them
}

// exactKey is the identity of the exact view. Where a producer gave no UTF-16
// column, the byte column stands in, told apart by its sign.
type exactKey struct {
	path, source string
	line, column int
	code         string
}

func exactKeyOf(d *Diagnostic) exactKey {
	column := d.Range.Start.UTF16
	if column < 0 {
		column = -2 - d.Range.Start.Byte
	}
	return exactKey{d.Path, d.Source, d.Range.Start.Line, column, d.Code}
}

// Exact compares by file, source, line, character and code, as multisets: of
// three equal entries against two, one was removed. Nothing but the entries
// counts, so an empty head has fixed everything.
func Exact(base, head *Snapshot) *ExactDelta {
	left := make(map[exactKey]int, len(base.Diagnostics))
	for i := range base.Diagnostics {
		left[exactKeyOf(&base.Diagnostics[i])]++
	}
	delta := &ExactDelta{}
	for i := range head.Diagnostics {
		key := exactKeyOf(&head.Diagnostics[i])
		if left[key] > 0 {
			left[key]--
			delta.Unchanged = append(delta.Unchanged, head.Diagnostics[i])
			continue
		}
		delta.Added = append(delta.Added, head.Diagnostics[i])
	}
	// Which of several equal entries went is not known: the last ones.
	for i := len(base.Diagnostics) - 1; i >= 0; i-- {
		key := exactKeyOf(&base.Diagnostics[i])
		if left[key] > 0 {
			left[key]--
			delta.Removed = append(delta.Removed, base.Diagnostics[i])
		}
	}
	Sort(delta.Added)
	Sort(delta.Removed)
	Sort(delta.Unchanged)
	return delta
}
