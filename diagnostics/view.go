package diagnostics

// ByChangedLines splits the introduced problems into those on lines that the
// change added or replaced (white space aside) and those elsewhere, which it
// caused from afar: what a tool that filters by a patch would show, and what it
// would hide. It is a view of the delta: a problem that was there before is in
// neither part, though its line changed.
func (d *Delta) ByChangedLines() (on, off []Diagnostic) {
	for i := range d.Introduced {
		if i < len(d.OnChanged) && d.OnChanged[i] {
			on = append(on, d.Introduced[i])
		} else {
			off = append(off, d.Introduced[i])
		}
	}
	return on, off
}
