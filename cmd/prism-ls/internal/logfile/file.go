// Package logfile writes a log that stays small: when the file is full it is
// renamed, and the oldest of those that were renamed goes.
package logfile

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

const (
	// maxBytes is how large the file grows before it is renamed.
	maxBytes = 1 << 20
	// kept is how many renamed files stay.
	kept = 3
)

// File is an io.Writer that appends to a file, mode 0600. Several processes may
// append to the same one: each write is one line, and a process notices that
// another has renamed the file when its own turn to rename comes. The file and
// its directory (0700) are made at the first write; what cannot be written is
// dropped, since a log must never take a tool down.
type File struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
}

// New makes a File at path, and touches nothing.
func New(path string) *File { return &File{path: path} }

// Write appends one record. It never fails.
func (f *File) Write(record []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil && f.size+int64(len(record)) > maxBytes {
		f.turn()
	}
	if f.file == nil && f.open() != nil {
		return len(record), nil
	}
	n, _ := f.file.Write(record)
	f.size += int64(n)
	return len(record), nil
}

// Close closes the file; a later Write opens it again.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}

func (f *File) open() error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return err
	}
	f.file, f.size = file, info.Size()
	return nil
}

// turn renames the full file, unless another process has done so.
func (f *File) turn() {
	ours, err := f.file.Stat()
	f.file.Close()
	f.file = nil
	if err != nil {
		return
	}
	now, err := os.Stat(f.path)
	if err != nil || !os.SameFile(ours, now) {
		return
	}
	for i := kept - 1; i > 0; i-- {
		_ = os.Rename(f.numbered(i), f.numbered(i+1)) // missing until there are that many
	}
	_ = os.Rename(f.path, f.numbered(1))
}

func (f *File) numbered(i int) string { return fmt.Sprintf("%s.%d", f.path, i) }
