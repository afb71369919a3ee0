package sqlite

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/prism-ls/prism-ls/tools"
)

// mark is the file that says how far a store had come. It is written after a commit
// and before the gate is left, so it only grows, and is never ahead of what is on the
// disk. It is not flushed: what a power cut takes from it makes it less, and only that.
type mark struct {
	file     *os.File
	buffer   []byte
	identity int64
	sequence int64
}

// markForm is the content, always of the same length so that it is written in place.
const markForm = "prism-ls store %016x is at %020d\n"

func openMark(path string) (*mark, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	m := &mark{file: file}
	content, err := io.ReadAll(io.LimitReader(file, 256))
	if err != nil {
		return nil, tools.Errorf(tools.CodeStateUnavailable, "reading %s: %w", path, err)
	}
	if len(content) == 0 {
		return m, nil
	}
	if _, err := fmt.Sscanf(string(content), markForm, &m.identity, &m.sequence); err != nil {
		// Torn by a power cut, or a person's doing: it says nothing.
		m.identity, m.sequence = 0, 0
		return m, file.Truncate(0)
	}
	return m, nil
}

// ahead reports whether the mark is of another store, or of this one later on. Without
// a mark nothing is known.
func (m *mark) ahead(identity, sequence int64) bool {
	return m.sequence != 0 && (m.identity != identity || m.sequence > sequence)
}

// write is of no consequence if it fails: the commit has happened, and the mark is
// less than it could be.
func (m *mark) write(sequence int64) {
	m.sequence = sequence
	m.buffer = fmt.Appendf(m.buffer[:0], markForm, uint64(m.identity), sequence)
	_, _ = m.file.WriteAt(m.buffer, 0)
}

func (m *mark) close() error { return m.file.Close() }

// newIdentity is a random number for a new store.
func newIdentity() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return int64(binary.LittleEndian.Uint64(b[:]) >> 1)
}

// found gives an empty store its identity.
func (w *writer) found() error {
	_, err := w.Exec(`INSERT INTO prism_meta (name, value) VALUES ('identity', $1), ('sequence', 0)`, newIdentity())
	return err
}

// position is which store this is, and how far it has come.
func (w *writer) position() (identity, sequence int64, err error) {
	err = w.Row(`SELECT (SELECT value FROM prism_meta WHERE name = 'identity'), (SELECT value FROM prism_meta WHERE name = 'sequence')`).Scan(&identity, &sequence)
	return identity, sequence, err
}
