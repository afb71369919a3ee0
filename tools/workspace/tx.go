package workspace

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
)

// WriteOptions adjusts [Tx.Write].
type WriteOptions struct {
	ExpectSHA256                               string
	AllowHardlink, CreateParents, MustNotExist bool
}

// DeleteOptions adjusts [Tx.Delete].
type DeleteOptions struct {
	Recursive  bool
	MaxEntries int
}

// Committed is what a transaction did.
type Committed struct {
	UndoID   string
	Files    []string
	Entries  int
	Degraded string
	SHA256   map[string]string
}

// Tx collects the changes of one transaction.
type Tx struct{}

var errSoon = tools.Errorf(tools.CodeInternal, "transactions are still being built")

func (w *Workspace) Transact(ctx context.Context, paths []Path, fn func(*Tx) error) (*Committed, error) {
	return nil, errSoon
}
func (tx *Tx) Read(p Path, max int64) (*Content, error)                    { return nil, errSoon }
func (tx *Tx) Write(p Path, data []byte, opts *WriteOptions) error         { return errSoon }
func (tx *Tx) Move(from, to Path, overwrite bool) error                    { return errSoon }
func (tx *Tx) Delete(p Path, opts *DeleteOptions) error                    { return errSoon }
func (tx *Tx) Mkdir(p Path) error                                          { return errSoon }
func (tx *Tx) Discard()                                                    {}
func (w *Workspace) Undo(ctx context.Context, id string) ([]string, error) { return nil, errSoon }

type queue struct{}
type store struct{}

func newStore(string, string) *store                   { return nil }
func (s *store) close() error                          { return nil }
func (w *Workspace) recover(ctx context.Context) error { return nil }
