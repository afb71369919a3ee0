package builtin

import (
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/plan"
)

// The limits of the core tools. A host sets them in [Deps]; a zero field is the
// default, and what is beyond the hard cap is refused when the tools are made.
var (
	// PageLines and PageBytes bound what one result shows.
	PageLines = tools.Limit{Name: "maxLines", Default: 2000, Hard: 100_000}
	PageBytes = tools.Limit{Name: "maxBytes", Default: 50 << 10, Hard: 1 << 20}
	// ScanBytes bounds the bytes that one read goes through.
	ScanBytes = tools.Limit{Name: "maxScanBytes", Default: 64 << 20, Hard: 1 << 30}
	// ImageBytes bounds an image, before and after a transformation.
	ImageBytes = tools.Limit{Name: "maxImageBytes", Default: 10_000_000, Hard: 32 << 20}
	// DocumentBytes, DocumentPages and DocumentTextBytes bound a document, in bytes,
	// pages and bytes of extracted text.
	DocumentBytes     = tools.Limit{Name: "maxDocumentBytes", Default: 32 << 20, Hard: 512 << 20}
	DocumentPages     = tools.Limit{Name: "maxDocumentPages", Default: 1000, Hard: 10_000}
	DocumentTextBytes = tools.Limit{Name: "maxDocumentText", Default: 2 << 20, Hard: 64 << 20}
	// WriteBytes bounds the content of one write.
	WriteBytes = tools.Limit{Name: "maxInputBytes", Default: 8 << 20, Hard: 64 << 20}
	// ShellSeconds and ShellBytes bound the time and the output of a command.
	ShellSeconds = tools.Limit{Name: "timeout", Default: 600, Hard: 3600}
	ShellBytes   = tools.Limit{Name: "maxTotalOutputBytes", Default: 64 << 20, Hard: 1 << 30}
	// DeleteEntries bounds a recursive deletion.
	DeleteEntries = tools.Limit{Name: "maxEntries", Default: 10_000, Hard: 100_000}
	// QuestionBytes bounds a question and an answer in a person's own words,
	// QuestionOptions the choices, OptionBytes each text of a choice.
	QuestionBytes   = plan.QuestionBytes
	QuestionOptions = plan.QuestionOptions
	OptionBytes     = plan.OptionBytes
)

// The bounds of read's own inputs.
var (
	lineNumber = tools.Limit{Name: "offset", Hard: 1 << 40}
	lineCount  = tools.Limit{Name: "limit", Hard: PageLines.Hard}
	byteNumber = tools.Limit{Name: "byteOffset", Hard: 1 << 40, ZeroOK: true}
	rangeCount = tools.Limit{Name: "ranges", Hard: 20}
	findBytes  = tools.Limit{Name: "findText", Hard: 4 << 10}
)

// bound is an option and the limit it has to keep.
type bound struct {
	value *int64
	limit tools.Limit
}

// settle puts defaults where an option is zero, and refuses what is too much.
func settle(bounds ...bound) error {
	for _, b := range bounds {
		value, err := b.limit.Option(*b.value)
		if err != nil {
			return err
		}
		*b.value = value
	}
	return nil
}
