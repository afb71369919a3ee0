package diagnostics

// Via names the pass of [Compare] that found a match.
type Via string

// The passes, surest first.
const (
	ViaPosition Via = "position" // same line (as mapped), column and message
	ViaLine     Via = "line"     // same line, message equal but for column or numbers
	ViaGap      Via = "gap"      // the line was edited; its closest new line, or else its block, has it
	ViaMove     Via = "move"     // the line was moved, as part of a block, to elsewhere in any file
	ViaRename   Via = "rename"   // as line, gap or move, a symbol in the message renamed: by our own edits, or (low) as edited lines agree
	ViaFile     Via = "file"     // same file and message, by count, one of the lines untouched
)

// Certainty is how sure a match is.
type Certainty string

// The certainties.
const (
	High   Certainty = "high"
	Medium Certainty = "medium"
	Low    Certainty = "low"
)

// Match is one problem that both sides have.
type Match struct {
	Base    Diagnostic
	Head    Diagnostic
	Via     Via
	Sure    Certainty
	Moved   bool // it stands on another line or in another file
	Updated bool // its message, severity, source, code or tags differ
}

// Reason says why a problem is neither introduced nor fixed.
type Reason string

// The reasons.
const (
	// ReasonNotRun: the other side has no run of that producer.
	ReasonNotRun Reason = "producer_not_run"
	// ReasonChanged: the other side's run was by another tool, version or configuration.
	ReasonChanged Reason = "producer_changed"
	// ReasonFailed: the other side's run was partial, crashed, timed out or lost entries.
	ReasonFailed Reason = "producer_incomplete"
	// ReasonScope: the other side's run did not look at that file.
	ReasonScope Reason = "not_in_scope"
)

// Unknown is a problem of one side of which the other side cannot tell.
type Unknown struct {
	Diagnostic
	Side   Side
	Reason Reason
}

// Counts are the numbers of a whole delta, also of entries that its lists do
// not hold.
type Counts struct {
	Introduced       int
	Fixed            int
	Unchanged        int
	Unknown          int
	IntroducedErrors int // of Introduced, those that are errors
	Generated        int // introduced in generated files; not in Introduced
}

// entries is how many entries the lists of a whole delta hold.
func (c *Counts) entries() int {
	return c.Introduced + c.Generated + c.Fixed + c.Unchanged + c.Unknown
}

// held is how many the delta's lists hold.
func (d *Delta) held() int {
	return len(d.Introduced) + len(d.Generated) + len(d.Fixed) + len(d.Unchanged) + len(d.Unknown)
}

// Delta is what a change did to the problems. Every diagnostic of the head is
// introduced (in generated files listed apart), unchanged or unknown; every one
// of the base is fixed, unchanged or unknown, or its severity rose under a strict
// policy. The lists are in a fixed order, worst first.
type Delta struct {
	Introduced []Diagnostic
	// OnChanged says of each of Introduced whether its line is new or was replaced;
	// see [Delta.ByChangedLines].
	OnChanged  []bool
	Generated  []Diagnostic // introduced in generated files
	Fixed      []Diagnostic
	Unchanged  []Match
	Unknown    []Unknown
	Counts     Counts
	Truncated  bool // the lists hold fewer than Counts says
	Incomplete bool // one of the snapshots was not complete
	// Unread are the files, by the name of the head where it has them, whose text
	// was asked for and not at hand; their lines were taken for unchanged.
	Unread []string
}

// Complete reports whether the delta answers for every problem.
func (d *Delta) Complete() bool {
	return !d.Truncated && !d.Incomplete && d.Counts.Unknown == 0 && len(d.Unread) == 0
}

// Status returns complete or partial.
func (d *Delta) Status() string {
	if d.Complete() {
		return "complete"
	}
	return "partial"
}

// Options are what Compare knows of the change. nil, and every zero field, is
// the default.
type Options struct {
	Files    FileMap        // nil: every file kept its name
	Lines    LineMap        // nil: worked out from Contents; without those no line changed
	Contents Contents       // nil: edited blocks of equal length are paired line by line, and no moves are found
	Renames  []SymbolRename // none: messages are compared as they are
	// Generated reports whether a file is generated, by the attributes of the base's
	// tree, so that a change cannot declare its own problems generated. It is asked
	// by the base's name of a file, or the head's of a new one. nil: none is.
	Generated  func(path string) bool
	Strict     bool // a severity that rose counts as introduced
	MaxEntries int  // entries in all lists together; default 2000, at most 10000
}
