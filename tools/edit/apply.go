package edit

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/prism-ls/prism-ls/tools"
)

// Replacement asks for one piece of text to become another. Line endings in
// both are understood however they are written; a byte order mark at the start
// of Old is ignored, and then also at the start of New.
type Replacement struct {
	// Old is the text to find. It must not be empty.
	Old string
	// New is the text to put in its place. Each line break in it takes the
	// ending of the line where the match starts.
	New string
	// All replaces every exact match, left to right, without overlap, instead
	// of requiring that there is exactly one. It never matches normalised.
	All bool
}

// The bounds of [Apply].
var (
	// TargetLimit bounds the file, in bytes. A larger one is CodeLimit.
	TargetLimit = tools.Limit{Name: "maxTargetBytes", Default: 8 << 20, Hard: 64 << 20}
	// InputLimit bounds all Old and New texts together, in bytes. More is CodeToolInput.
	InputLimit = tools.Limit{Name: "maxInputBytes", Default: 2 << 20, Hard: 16 << 20}
	// CountLimit bounds the number of replacements. More is CodeToolInput.
	CountLimit = tools.Limit{Name: "maxEdits", Default: 100, Hard: 1000}
)

// Options bounds what [Apply] takes on. A zero field is its limit's default; a
// value beyond the hard cap, or a negative one, is refused.
type Options struct {
	MaxTargetBytes int64 // TargetLimit
	MaxInputBytes  int64 // InputLimit
	MaxEdits       int64 // CountLimit
}

// Span is one replaced stretch: bytes OldStart to OldEnd of the original became
// bytes NewStart to NewEnd of the result (ends exclusive). Between spans the
// two are identical.
type Span struct {
	OldStart, OldEnd int
	NewStart, NewEnd int
}

// Result is an edited file.
type Result struct {
	// Data is the whole new content.
	Data []byte
	// Fuzzy tells that at least one replacement matched only normalised.
	Fuzzy bool
	// FirstChangedLine is the 1-based line of Data where it first differs.
	FirstChangedLine int
	// Spans are in ascending order and never overlap. A replacement that
	// changes nothing has none.
	Spans []Span
}

// match is one place where a replacement applies, in bytes of the original.
type match struct {
	edit       int // index into the replacements
	start, end int
	text       []byte // what takes its place
	fuzzy      bool
}

// Apply performs the replacements on original, which it does not modify.
//
// Errors: CodeToolInput (no, too many or too large replacements, an empty Old,
// a bad option), CodeLimit (original over its cap, a result over the cap's hard
// value, more than 1 048 576 places of one text), CodeNoMatch (the message
// shows nearby lines), CodeAmbiguous (the message lists the lines),
// CodeOverlap, CodeNoChange. After an error nothing has been done.
func Apply(original []byte, edits []Replacement, opts *Options) (*Result, error) {
	if err := checkInput(original, edits, opts); err != nil {
		return nil, err
	}
	src := newSource(original)
	matches, err := src.locate(edits)
	if err != nil {
		return nil, err
	}
	if err := checkOverlap(src, matches); err != nil {
		return nil, err
	}
	if err := checkGrowth(original, matches); err != nil {
		return nil, err
	}
	res := splice(original, matches)
	if len(res.Spans) == 0 || bytes.Equal(res.Data, original) {
		return nil, tools.Errorf(tools.CodeNoChange, "the replacements leave the file as it is; newText must differ from what it replaces")
	}
	res.FirstChangedLine = src.firstChangedLine(res)
	return res, nil
}

func checkInput(original []byte, edits []Replacement, opts *Options) error {
	if opts == nil {
		opts = &Options{}
	}
	maxTarget, err := TargetLimit.Option(opts.MaxTargetBytes)
	if err != nil {
		return err
	}
	maxInput, err := InputLimit.Option(opts.MaxInputBytes)
	if err != nil {
		return err
	}
	maxEdits, err := CountLimit.Option(opts.MaxEdits)
	if err != nil {
		return err
	}
	if len(edits) == 0 {
		return tools.Errorf(tools.CodeToolInput, "edits is empty, must hold at least one replacement")
	}
	if int64(len(edits)) > maxEdits {
		return tools.Errorf(tools.CodeToolInput, "edits holds %d replacements, at most %d are allowed", len(edits), maxEdits)
	}
	total := int64(0)
	for i, e := range edits {
		if trimBOM(e.Old) == "" {
			return tools.Errorf(tools.CodeToolInput, "edits[%d].oldText is empty, must be the text to replace", i)
		}
		total += int64(len(e.Old)) + int64(len(e.New))
	}
	if total > maxInput {
		return tools.Errorf(tools.CodeToolInput, "edits hold %d bytes of text, at most %d are allowed", total, maxInput)
	}
	if int64(len(original)) > maxTarget {
		return tools.Errorf(tools.CodeLimit, "the file has %d bytes, at most %d can be edited", len(original), maxTarget)
	}
	return nil
}

// checkOverlap sorts matches by place and refuses any two that share a byte.
func checkOverlap(src *source, matches []match) error {
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(a.start, b.start) })
	for i := 1; i < len(matches); i++ {
		before, after := matches[i-1], matches[i]
		if after.start < before.end {
			return tools.Errorf(tools.CodeOverlap, "edits[%d] and edits[%d] overlap at line %d; merge them into one, or make them touch different text",
				before.edit, after.edit, src.lineAt(after.start))
		}
	}
	return nil
}

// checkGrowth refuses a result that could not be edited again.
func checkGrowth(original []byte, matches []match) error {
	size, grows := len(original), false
	for _, m := range matches {
		grow := len(m.text) - (m.end - m.start)
		size += grow
		grows = grows || grow > 0
	}
	if grows && int64(size) > TargetLimit.Hard {
		return tools.Errorf(tools.CodeLimit, "the file would have %d bytes, at most %d are allowed", size, TargetLimit.Hard)
	}
	return nil
}

// splice builds the result of matches that are in order and apart.
func splice(original []byte, matches []match) *Result {
	res := &Result{}
	var pieces [][]byte
	last, shift := 0, 0
	for _, m := range matches {
		res.Fuzzy = res.Fuzzy || m.fuzzy
		if bytes.Equal(original[m.start:m.end], m.text) {
			continue
		}
		pieces = append(pieces, original[last:m.start], m.text)
		start := m.start + shift
		res.Spans = append(res.Spans, Span{OldStart: m.start, OldEnd: m.end, NewStart: start, NewEnd: start + len(m.text)})
		shift += len(m.text) - (m.end - m.start)
		last = m.end
	}
	// Join allocates without zeroing first, which counts for large files.
	res.Data = bytes.Join(append(pieces, original[last:]), nil)
	return res
}
