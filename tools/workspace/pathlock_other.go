//go:build !linux

package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/prism-ls/prism-ls/tools/filelock"
)

// pathLocks are the locks between processes: a fixed number of files, one of
// which stands for every key of its remainder.
type pathLocks struct{ path string }

const lockFiles = 1 << 16

func openPathLocks(path string) (*pathLocks, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return &pathLocks{path: path}, nil
}

func (l *pathLocks) close()      {}
func (l *pathLocks) stale() bool { return false }

func (l *pathLocks) lock(ctx context.Context, key uint64) (release func(), err error) {
	name := filepath.Join(l.path, fmt.Sprintf("%04x", key%lockFiles))
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := poll(ctx, func() (bool, error) { return filelock.Try(file) }); err != nil {
		file.Close()
		return nil, err
	}
	return func() { file.Close() }, nil
}
