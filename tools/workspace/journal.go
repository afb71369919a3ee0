package workspace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/prism-ls/prism-ls/tools/filelock"
)

// journal is the record of a transaction of several steps, flushed before the
// first of them. Its process holds a lock on it. While the file's name ends in
// ".open" the steps are to be taken back by whoever finds it without a lock;
// from the moment it ends in ".done" the transaction has happened and only its
// temporary files are to be removed.
type journal struct {
	file *os.File
	path string // without the ending
	seam *seam
}

const (
	endNew  = ".new"
	endOpen = ".open"
	endDone = ".done"
)

// journalRecord is a line of a journal. A later line says more about the same
// steps; one that a crash cut off does not count.
type journalRecord struct {
	Ops []*op `json:"ops"`
	// Undo is the directory of the undo copy that these steps use up.
	Undo raw `json:"undo,omitzero"`
}

func (s *store) journal(record journalRecord) (*journal, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	j := &journal{path: filepath.Join(s.journals(), randomHex(8)), seam: s.seam}
	var err error
	if j.file, err = createLocked(j.path + endNew); err != nil {
		return nil, err
	}
	err = j.write(record)
	if err == nil {
		err = j.rename(endNew, endOpen)
	}
	if err != nil {
		j.file.Close()
		os.Remove(j.path + endNew)
		os.Remove(j.path + endOpen)
		return nil, err
	}
	return j, nil
}

// write appends a line and flushes it.
func (j *journal) write(record journalRecord) error {
	data, err := json.Marshal(record)
	if err != nil {
		return err
	}
	if err := j.seam.before("journal", j.path); err != nil {
		return err
	}
	if _, err := j.file.Write(append(data, '\n')); err != nil {
		return err
	}
	return j.file.Sync()
}

// readJournal returns the last complete line, nil if there is none.
func readJournal(file *os.File) (*journalRecord, error) {
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	var last *journalRecord
	for line := range bytes.Lines(data) {
		var record journalRecord
		if json.Unmarshal(line, &record) == nil {
			last = &record
		}
	}
	return last, nil
}

// rename changes the ending and flushes the directory. A change that cannot be
// flushed is taken back: the ending decides what a recovery does.
func (j *journal) rename(from, to string) error {
	if err := j.seam.before("journal", j.path+to); err != nil {
		return err
	}
	if err := os.Rename(j.path+from, j.path+to); err != nil {
		return err
	}
	err := syncPath(filepath.Dir(j.path))
	if err != nil {
		_ = os.Rename(j.path+to, j.path+from)
	}
	return err
}

// commit is the moment from which the transaction has happened.
func (j *journal) commit() error { return j.rename(endOpen, endDone) }

// drop forgets the journal, whose steps are all done or all taken back.
func (j *journal) drop() {
	for _, end := range []string{endOpen, endDone} {
		_ = os.Remove(j.path + end)
	}
	_ = syncPath(filepath.Dir(j.path))
	j.file.Close()
}

// leave gives the journal to the next one who opens the workspace.
func (j *journal) leave() { j.file.Close() }

func syncPath(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return syncDir(file)
}

// createLocked makes a file and locks it. A recovery may find the file before
// it is locked, take it for one left behind, and remove it; then it is made
// again under the same name.
func createLocked(path string) (*os.File, error) {
	for range maxRaces {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		ok, err := filelock.Try(file)
		if ok && linked(file, path) {
			return file, nil
		}
		file.Close()
		if err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s cannot be locked", path)
}

// lockLeftover opens and locks a file whose process may be gone. nil without
// an error: it is alive, or somebody else cleans up.
func lockLeftover(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	if ok, err := filelock.Try(file); !ok {
		file.Close()
		return nil, err
	}
	if !linked(file, path) {
		file.Close()
		return nil, nil
	}
	return file, nil
}

// linked reports whether path still leads to the open file.
func linked(file *os.File, path string) bool {
	a, errA := file.Stat()
	b, errB := os.Lstat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}
