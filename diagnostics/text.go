package diagnostics

// TextOptions shape the text form. nil, and every zero field, is the default.
type TextOptions struct {
	Contents Contents // nil: no source lines, columns counted in UTF-16 units
	MaxItems int      // introduced and fixed problems shown, 0: 50
}

// Text is the delta in few words for a model: a line of counts, then what was
// introduced, worst first, each with its source line, then what was fixed.
func (d *Delta) Text(opts *TextOptions) string { return "" }

// Lines writes one "file:line:column: severity: message" line a diagnostic, with
// 1-based numbers and columns in characters (UTF-16 units where contents, which
// may be nil, does not have the file).
func Lines(list []Diagnostic, side Side, contents Contents) string { return "" }
