package workspace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// slotSize holds the JSON of any single step: two paths of 4095 bytes, quoted
// at four characters a byte in the worst case, and the rest.
const slotSize = 64 << 10

// slots is the record of what one process has in flight without a journal, so
// that whoever opens the workspace after it can remove its temporary files.
// The process holds a lock on the file while it lives; every step under way
// has a slot of the file, written before its temporary file is made. A sparse
// file of fixed slots cannot grow with the number of steps.
type slots struct {
	file *os.File
	mu   sync.Mutex
	free []int64
	next int64
	used int
}

type slot struct {
	owner *slots
	at    int64
}

func openSlots(dir string) (*slots, error) {
	file, err := createLocked(filepath.Join(dir, fmt.Sprintf("%d-%s", os.Getpid(), randomHex(4))))
	if err != nil {
		return nil, err
	}
	return &slots{file: file}, nil
}

func (s *slots) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used == 0 {
		os.Remove(s.file.Name())
	}
	s.file.Close()
}

func (s *slots) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used == 0
}

func (s *slots) take(o *op) (*slot, error) {
	s.mu.Lock()
	taken := &slot{owner: s, at: s.next}
	if n := len(s.free); n > 0 {
		taken.at = s.free[n-1]
		s.free = s.free[:n-1]
	} else {
		s.next += slotSize
	}
	s.used++
	s.mu.Unlock()
	if err := taken.write(o); err != nil {
		taken.release()
		return nil, err
	}
	return taken, nil
}

// write records the step as it is known now.
func (s *slot) write(o *op) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = s.owner.file.WriteAt(append(data, 0), s.at)
	return err
}

// release forgets the step, whose temporary files are gone.
func (s *slot) release() {
	if s == nil {
		return
	}
	// A record that cannot be wiped names files that are gone: harmless.
	_, _ = s.owner.file.WriteAt([]byte{0}, s.at)
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	s.owner.used--
	s.owner.free = append(s.owner.free, s.at)
}

// readSlots returns the steps that a writer file still names. A record cut off
// by a crash is skipped: its temporary file was not made yet.
func readSlots(file *os.File) ([]*op, error) {
	var ops []*op
	buf := make([]byte, slotSize)
	for at := int64(0); ; at += slotSize {
		n, err := file.ReadAt(buf, at)
		if n > 0 {
			record, _, _ := bytes.Cut(buf[:n], []byte{0})
			var o op
			if len(record) > 0 && json.Unmarshal(record, &o) == nil {
				ops = append(ops, &o)
			}
		}
		if err == io.EOF {
			return ops, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
