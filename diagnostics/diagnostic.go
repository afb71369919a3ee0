package diagnostics

import (
	"cmp"
	"fmt"
	"slices"
)

// Position is a place in a text file. Line and both columns are 0-based. UTF16
// counts UTF-16 code units from the start of the line, as LSP 3.17 §position
// does by default; Byte counts UTF-8 bytes. A producer that knows only one of
// them sets the other to -1.
type Position struct {
	Line  int
	UTF16 int
	Byte  int
}

// Compare orders by line, then column (UTF-16 where both have it, else bytes).
func (p Position) Compare(other Position) int {
	if c := cmp.Compare(p.Line, other.Line); c != 0 {
		return c
	}
	if p.UTF16 >= 0 && other.UTF16 >= 0 {
		return cmp.Compare(p.UTF16, other.UTF16)
	}
	return cmp.Compare(p.Byte, other.Byte)
}

// Column is the 1-based column in Unicode code points, as people and models count,
// of a position in its line. Without the line, or past its end, it is in the units
// that the position has.
func (p Position) Column(line []byte) int { return column(p, line) }

// Range is the text from Start up to, and without, End.
type Range struct {
	Start Position
	End   Position
}

// Severity is how bad a problem is; the numbers are those of LSP 3.17
// §diagnosticSeverity, so a smaller one is worse.
type Severity int

// The severities. A diagnostic without one counts as an error.
const (
	Error       Severity = 1
	Warning     Severity = 2
	Information Severity = 3
	Hint        Severity = 4
)

// String returns error, warning, information or hint.
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	case Information:
		return "information"
	case Hint:
		return "hint"
	default:
		return fmt.Sprintf("severity(%d)", int(s))
	}
}

// Tag is a remark on a diagnostic; the numbers are those of LSP 3.17
// §diagnosticTag.
type Tag int

// The tags.
const (
	Unnecessary Tag = 1
	Deprecated  Tag = 2
)

// Diagnostic is one problem at one place.
type Diagnostic struct {
	Producer string // id of the Producer in the same snapshot
	Source   string // who found it, as the producer says: "compiler", "eslint"
	Code     string // the producer's name for this kind of problem; may be empty
	Severity Severity
	Tags     []Tag
	Message  string
	Path     string // slash-separated, relative to the workspace root
	Range    Range
	Related  []Related
}

// Related is another place that explains a diagnostic.
type Related struct {
	Path    string
	Range   Range
	Message string
}

// order sorts worst first, then by place; it looks at every field that an
// output shows, so that equal inputs print equally.
func order(a, b *Diagnostic) int {
	return cmp.Or(
		cmp.Compare(a.Severity, b.Severity),
		cmp.Compare(a.Path, b.Path),
		a.Range.Start.Compare(b.Range.Start),
		a.Range.End.Compare(b.Range.End),
		cmp.Compare(a.Producer, b.Producer),
		cmp.Compare(a.Source, b.Source),
		cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Message, b.Message),
	)
}

// placeOrder sorts by place first, as the passes pair equal entries in the order
// in which they stand in the file.
func placeOrder(a, b *Diagnostic) int {
	return cmp.Or(
		cmp.Compare(a.Path, b.Path),
		a.Range.Start.Compare(b.Range.Start),
		order(a, b),
	)
}

// Sort puts the worst first, then orders by path and position.
func Sort(list []Diagnostic) {
	slices.SortStableFunc(list, func(a, b Diagnostic) int { return order(&a, &b) })
}
