package workspace

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prism-ls/prism-ls/tools"
)

// Limits of a workspace. See [tools.Limit].
var (
	limitUndoTransactions = tools.Limit{Name: "UndoTransactions", Default: 100, Hard: 10_000}
	limitUndoBytes        = tools.Limit{Name: "UndoBytes", Default: 256 << 20, Hard: 16 << 30}
	limitDeleteEntries    = tools.Limit{Name: "maxEntries", Default: 10_000, Hard: 100_000}
)

// Options adjusts a Workspace. The zero value reads files and degrades every
// change, because it names no state directory.
type Options struct {
	// StateDir holds locks, journals and undo copies; it may be shared by any
	// number of roots and processes. It is created at the first change with mode
	// 0700. Empty: no durable state, as if the directory could not be used.
	StateDir string
	// Home is what "~" stands for. Empty: paths that start with "~" are refused.
	Home string
	// ReadRoots are further directories whose files may be read by absolute
	// path, never written.
	ReadRoots []string
	// UndoTransactions is how many transactions can be undone: 1 to 10 000, zero
	// means 100. The oldest go first.
	UndoTransactions int
	// UndoBytes bounds the undo copies of this root: 1 to 16 GiB, zero means
	// 256 MiB.
	UndoBytes int64
	// Unopened are files, by absolute path, that are never opened for reading: this
	// process has locks on them that end when any of its descriptors of the file is
	// closed (fcntl(2)), such as those of SQLite.
	Unopened []string
	// Logger hears of recoveries and of state failures. nil: nobody does.
	Logger *slog.Logger
}

// Workspace is the files of one root. Its methods may be called from several
// goroutines at once.
type Workspace struct {
	areas  []*area // areas[0] is the root, the others are read-only
	home   string
	log    *slog.Logger
	queue  queue
	store  *store
	seam   *seam
	limits limits
	// unopened are Options.Unopened.
	unopened []string

	noOpenat2 atomic.Bool
	closeOnce sync.Once
}

type limits struct {
	undoTransactions int
	undoBytes        int64
}

// area is a directory that paths may lie in.
type area struct {
	dir   *dir
	real  string   // absolute, symbolic links resolved
	names []string // absolute spellings a caller may use, real among them
}

// Open binds a workspace to the directory root, which must exist. It rolls
// back what a crashed process left half done; a state directory that cannot be
// used does not fail Open. Close releases the workspace.
func Open(root string, opts *Options) (*Workspace, error) {
	if opts == nil {
		opts = &Options{}
	}
	w := &Workspace{home: opts.Home, log: opts.Logger}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	undoTransactions, err := limitUndoTransactions.Option(int64(opts.UndoTransactions))
	if err != nil {
		return nil, err
	}
	undoBytes, err := limitUndoBytes.Option(opts.UndoBytes)
	if err != nil {
		return nil, err
	}
	w.limits = limits{undoTransactions: int(undoTransactions), undoBytes: undoBytes}
	for _, given := range append([]string{root}, opts.ReadRoots...) {
		a, err := openArea(given)
		if err != nil {
			w.Close()
			return nil, err
		}
		w.areas = append(w.areas, a)
	}
	w.unopened = slices.DeleteFunc(slices.Clone(opts.Unopened), func(name string) bool { return !w.within(name) })
	w.store = newStore(opts.StateDir, w.areas[0].real)
	if err := w.recover(context.Background()); err != nil {
		w.log.Warn("workspace: recovery is not finished", "root", w.Root(), "error", err)
	}
	return w, nil
}

func openArea(given string) (*area, error) {
	if given == "" || strings.ContainsRune(given, 0) {
		return nil, tools.Errorf(tools.CodeToolInput, "a workspace root is a directory path, got %q", given)
	}
	absolute, err := filepath.Abs(given)
	if err != nil {
		return nil, tools.Errorf(tools.CodeIO, "workspace root %s: %w", given, err)
	}
	real, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return nil, pathError(given, err)
	}
	d, err := openRootDir(real)
	if err != nil {
		return nil, pathError(given, err)
	}
	a := &area{dir: d, real: real, names: []string{real}}
	if absolute != real {
		a.names = append(a.names, absolute)
	}
	return a, nil
}

// Root returns the absolute path of the root, symbolic links resolved.
func (w *Workspace) Root() string { return w.areas[0].real }

// Close releases descriptors and locks. The workspace must not be used after.
func (w *Workspace) Close() error {
	var err error
	w.closeOnce.Do(func() {
		if w.store != nil {
			err = w.store.close()
		}
		for _, a := range w.areas {
			a.dir.close()
		}
	})
	return err
}

// pathError gives an operating system error a code and names the path.
func pathError(path string, err error) error {
	if err == nil {
		return nil
	}
	var coded *tools.Error
	if errors.As(err, &coded) {
		return err
	}
	code := tools.AsError(err).Code
	switch code {
	case tools.CodeNotFound:
		return tools.Errorf(code, "%s does not exist: %w", path, cause(err))
	case tools.CodeNotFile:
		return tools.Errorf(code, "%s is not a regular file: %w", path, cause(err))
	case tools.CodePermission:
		return tools.Errorf(code, "%s: the operating system refuses: %w", path, cause(err))
	case tools.CodeNoSpace:
		return tools.Errorf(code, "%s: the file system is full: %w", path, cause(err))
	case tools.CodePathEscape:
		return tools.Errorf(code, "%s: a symbolic link loops, or leads out of the workspace root: %w", path, cause(err))
	case tools.CodeInternal:
		code = tools.CodeIO
	}
	return tools.Errorf(code, "%s: %w", path, cause(err))
}

// cause strips the descriptor-relative names that os and io/fs put around an
// error number; the message already has the path that the caller knows.
func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	var linkErr *os.LinkError
	if errors.As(err, &linkErr) {
		return linkErr.Err
	}
	return err
}
