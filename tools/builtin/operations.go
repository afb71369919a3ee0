package builtin

import (
	"context"
	"io"

	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/search"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// The interfaces below are all that a tool does to the world. A host puts an
// editor's buffers or a remote machine behind them; nil in [Deps] means the
// local ones. Paths that reach them are parsed, contained, and approved: Real
// is the one to act on. Limits are checked before and after. Implementations
// are safe for concurrent use, return coded errors, and stop when the context
// ends.

// ReadOperations opens files for `read`.
type ReadOperations interface {
	// Open opens a regular file; anything else is CodeNotFile, and nothing is
	// CodeNotFound.
	Open(ctx context.Context, p workspace.Path) (File, error)
}

// File is an open file. Reads may come in any order.
type File interface {
	io.ReaderAt
	io.Closer
	// Size is the file's length in bytes when it was opened.
	Size() int64
}

// WriteOperations creates and replaces files for `write`.
type WriteOperations interface {
	// Exists reports whether a file is at p.
	Exists(ctx context.Context, p workspace.Path) (bool, error)
	// Write makes data the whole content of p, or changes nothing.
	Write(ctx context.Context, p workspace.Path, data []byte, opts *workspace.WriteOptions) (*workspace.Committed, error)
}

// Replacement is the new content of a file that `edit` changed.
type Replacement struct {
	Data    []byte
	Options workspace.WriteOptions
}

// EditOperations changes files for `edit`.
type EditOperations interface {
	// Edit hands the contents of all paths, none longer than most bytes, to
	// change, and makes what it returns their new contents: all of them or
	// none. Where change returns nothing, nothing is written. No other writer
	// comes between the reading and the writing unnoticed.
	Edit(ctx context.Context, paths []workspace.Path, most int64, change func([]*workspace.Content) ([]Replacement, error)) (*workspace.Committed, error)
}

// DeleteOperations removes entries for `delete`. A link is removed as a link.
type DeleteOperations interface {
	// Measure counts what a deletion of p takes, p included, and stops at most.
	Measure(ctx context.Context, p workspace.Path, most int) (Extent, error)
	Delete(ctx context.Context, p workspace.Path, opts *workspace.DeleteOptions) (*workspace.Committed, error)
}

// Extent is how much hangs on a path.
type Extent struct {
	Entries int
	Dir     bool
	// More: there are more entries than were counted.
	More bool
}

// MoveOperations renames for `move`. A link is moved as a link.
type MoveOperations interface {
	Move(ctx context.Context, from, to workspace.Path, overwrite bool) (*workspace.Committed, error)
}

// UndoOperations takes committed changes back for `undo`.
type UndoOperations interface {
	// Touches returns the real paths of all that an undo would change, so that
	// the policy sees them. It changes nothing.
	Touches(ctx context.Context, id string) (files []string, err error)
	Undo(ctx context.Context, id string) (files []string, err error)
}

// RepositoryOperations enumerates and searches for `repo_list`, `repo_search`
// and `glob`. A *[search.Searcher] is one.
type RepositoryOperations interface {
	List(ctx context.Context, query search.ListQuery) (*search.ListResult, error)
	Search(ctx context.Context, query search.Query) (*search.Result, error)
	Glob(ctx context.Context, query search.GlobQuery) (*search.GlobResult, error)
}

// ShellOperations runs commands for `shell`.
type ShellOperations interface {
	// Capabilities says what a command will be isolated from.
	Capabilities(ctx context.Context) (child.Capabilities, error)
	// Run runs a command and hands its output, both streams in their order, to
	// out. When the context ends, the timeout is over, or out fails, the whole
	// process tree is ended: TERM, then soon KILL. A nil exit means that the
	// command never ran.
	Run(ctx context.Context, command ShellCommand, out io.Writer) (*ShellExit, error)
}
