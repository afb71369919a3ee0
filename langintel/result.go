package langintel

import (
	"go.lsp.dev/protocol"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// Status says how far an answer can be relied on.
type Status string

// The statuses of an answer.
const (
	Complete    Status = "complete"    // everything, as of now
	Partial     Status = "partial"     // there may be more; Reason says why
	Stale       Status = "stale"       // made for text that has changed since
	TimedOut    Status = "timeout"     // the server did not answer in time
	Unsupported Status = "unsupported" // the server does not do this
)

// Barrier says by what an answer is known to be current.
type Barrier string

// The barriers.
const (
	// BarrierRequest: the server answers a request only after it has taken in
	// all that it was told before.
	BarrierRequest Barrier = "request"
	// BarrierReasked: the answer is the second one. The first was empty, or the
	// server finished other work while it gave it.
	BarrierReasked Barrier = "reasked"
	// BarrierPull: diagnostics were asked for (LSP 3.17 §textDocument_diagnostic).
	BarrierPull Barrier = "pull"
	// BarrierPushVersion: the server published for the version that it was sent.
	BarrierPushVersion Barrier = "push_version"
	// BarrierPushQuiet: the server published after the change, without a
	// version, and then was quiet.
	BarrierPushQuiet Barrier = "push_quiet"
	// BarrierCommand: a command of the server's answered for the text it was sent.
	BarrierCommand Barrier = "sync_command"
	// BarrierFlycheck: a run of the compiler that began after the last change ended.
	BarrierFlycheck Barrier = "flycheck"
)

// Answer is what every result says about itself.
type Answer struct {
	Status  Status
	Reason  string // why it is not complete
	Server  string
	Barrier Barrier
}

// Place says where: a path with a line and a column, a path with a line and the
// symbol that stands on it, or a symbol alone (with a path: in that file) as a
// name path, such as Type.Method, package.Func or Class/method.
type Place struct {
	Path   string
	Line   int // from 1
	Column int // from 1, in code points
	Symbol string
	// Position takes the place of Line and Column: 0-based, UTF-16.
	Position *protocol.Position
}

// Location is a place in a result. Columns are code points, the end is
// exclusive.
type Location struct {
	Path      string // relative to the root; "dep:" and an absolute path outside it
	Line      int
	Column    int
	EndLine   int
	EndColumn int
	Text      string         // the source line
	Container string         // name path of the enclosing symbol
	Kind      string         // the enclosing symbol's kind
	External  bool           // outside the root: readable, never edited
	Generated bool           // a generator's output
	Range     protocol.Range // the same place as LSP counts: 0-based, UTF-16
}

// Symbol is a declaration.
type Symbol struct {
	Name     string
	NamePath string
	Kind     string
	Path     string
	Line     int
	EndLine  int
	Column   int // of the name
	Detail   string
	External bool
	Children []Symbol
}

// SymbolsResult answers [Client.Symbols].
type SymbolsResult struct {
	Answer
	Symbols   []Symbol
	Truncated bool
}

// LocationsResult answers [Client.Definition] and [Client.References]: sorted by
// path, then position, so that those of one file stand together.
type LocationsResult struct {
	Answer
	Locations  []Location
	Total      int      // of all pages
	Files      []string // of all pages
	Truncated  bool
	NextCursor string // "": that was all
}

// HoverResult answers [Client.Hover].
type HoverResult struct {
	Answer
	Text      string
	Signature string // the first code block, where there is one
}

// DiagnosticsResult answers [Client.Diagnostics]. Column counts in it are those
// of package diagnostics: both UTF-16 and bytes.
type DiagnosticsResult struct {
	Answer
	Snapshot *diagnostics.Snapshot
	Problems []Problem
}

// Problem is a diagnostic with the columns that people count.
type Problem struct {
	Path      string
	Line      int
	Column    int
	EndLine   int
	EndColumn int
	Severity  string
	Source    string
	Code      string
	Message   string
}

// ChangeResult answers everything that changes files.
type ChangeResult struct {
	Answer
	Files    []string // written, created, moved and removed
	Edits    int      // replaced pieces of text
	Patch    string
	UndoID   string
	Degraded string // what the transaction could not promise
	// UndoIDs are set instead of UndoID when a server's command made several
	// changes, the newest first: undone in this order they take all of it back.
	UndoIDs []string
	// Confirmations are what the server wants a person to confirm.
	Confirmations []string
	Delta         *diagnostics.Delta
	DeltaOf       Answer // how far the delta can be relied on
	// Introduced and Fixed are those of Delta with the columns that people count:
	// introduced problems stand where they are now, fixed ones where they were.
	Introduced, Fixed []Problem
	Leftovers         []Location // of a rename
	DryRun            bool
}

// Rejection is what a change that was taken back had done to the problems: the
// details of the error that says so.
type Rejection struct {
	Delta             *diagnostics.Delta
	DeltaOf           Answer
	Introduced, Fixed []Problem // as in [ChangeResult]
}

// kindName is LSP's name of a symbol kind in lower case (LSP 3.17 §symbolKind).
func kindName(kind protocol.SymbolKind) string {
	names := [...]string{
		"file", "module", "namespace", "package", "class", "method", "property", "field", "constructor",
		"enum", "interface", "function", "variable", "constant", "string", "number", "boolean", "array",
		"object", "key", "null", "enummember", "struct", "event", "operator", "typeparameter",
	}
	if i := int(kind) - 1; i >= 0 && i < len(names) {
		return names[i]
	}
	return "unknown"
}
