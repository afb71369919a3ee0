package demo

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/filelock"
)

// Scratch is the directory of one demonstration. Each source has one of its own,
// always the same, because build caches go by path.
type Scratch struct {
	Dir  string
	lock *os.File
}

// OpenScratch makes an empty directory below base for copies of the workspace
// with that root. Another demonstration of the same workspace is CodeExists.
func OpenScratch(base, root string) (*Scratch, error) {
	sum := sha256.Sum256([]byte(root))
	dir := filepath.Join(base, filepath.Base(root)+"-"+hex.EncodeToString(sum[:4]))
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, noScratch(err)
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, noScratch(err)
	}
	s := &Scratch{dir, lock}
	switch ok, err := filelock.Try(lock); {
	case err != nil:
		err = noScratch(err)
		return nil, closed(lock, err)
	case !ok:
		return nil, closed(lock, tools.Errorf(tools.CodeExists, "a demonstration of %s runs already", root))
	}
	if err := os.RemoveAll(dir); err != nil { // of a run that was killed
		return nil, closed(lock, noScratch(err))
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, closed(lock, noScratch(err))
	}
	return s, nil
}

// Close removes the directory.
func (s *Scratch) Close() error {
	return closed(s.lock, os.RemoveAll(s.Dir))
}

func closed(file *os.File, err error) error {
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}

func noScratch(err error) error {
	return tools.Errorf(tools.CodeStateUnavailable, "the scratch copy cannot be made: %w", err)
}
