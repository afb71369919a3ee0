package workspace

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/prism-ls/prism-ls/tools"
)

// store is the part of the state directory that belongs to one root:
//
//	StateDir/locks                 locks between processes, for all roots
//	StateDir/roots/KEY/root        the root's path, for a person who looks
//	StateDir/roots/KEY/writers/    temporary files of steps without a journal, a file for each process
//	StateDir/roots/KEY/journals/   transactions under way, a file each
//	StateDir/roots/KEY/undo/       transactions that can be undone, a directory each
//
// It opens at the first change, and again at the next one after a failure.
type store struct {
	base, path, root string
	seam             *seam

	mu      sync.Mutex
	locks   *pathLocks // nil: not open
	slots   *slots
	doubt   bool         // something failed: make the directories again
	retired []*pathLocks // replaced, but somebody may hold a lock of theirs
}

func newStore(base, root string) *store {
	s := &store{base: base, root: root}
	if base != "" {
		key := sha256.Sum256([]byte(root))
		s.path = filepath.Join(base, "roots", hex.EncodeToString(key[:12]))
	}
	return s
}

func (s *store) journals() string { return filepath.Join(s.path, "journals") }
func (s *store) writers() string  { return filepath.Join(s.path, "writers") }
func (s *store) undo() string     { return filepath.Join(s.path, "undo") }

var errNoStateDir = errors.New("no state directory is configured")

// open makes the store usable, or says why it is not.
func (s *store) open() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openLocked()
}

func (s *store) openLocked() error {
	if s.base == "" {
		return errNoStateDir
	}
	if s.locks != nil && !s.locks.stale() && !s.doubt {
		return nil
	}
	for _, path := range []string{s.journals(), s.writers(), s.undo()} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return fmt.Errorf("state directory %s: %w", s.base, cause(err))
		}
	}
	if s.locks == nil || s.locks.stale() {
		locks, err := openPathLocks(filepath.Join(s.base, "locks"))
		if err != nil {
			return fmt.Errorf("state directory %s: %w", s.base, cause(err))
		}
		if s.locks != nil {
			s.retired = append(s.retired, s.locks)
		}
		s.locks = locks
	}
	s.doubt = false
	note := filepath.Join(s.path, "root")
	if _, err := os.Lstat(note); errors.Is(err, os.ErrNotExist) {
		// A convenience: nothing reads it, so a full disk here is no reason to fail.
		_ = os.WriteFile(note, []byte(s.root+"\n"), 0o600)
	}
	return nil
}

// failed makes the next open look again at everything.
func (s *store) failed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubt = true
}

func (s *store) close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.locks != nil {
		s.retired = append(s.retired, s.locks)
		s.locks = nil
	}
	for _, locks := range s.retired {
		locks.close()
	}
	s.retired = nil
	if s.slots != nil {
		s.slots.close()
		s.slots = nil
	}
	return nil
}

// lock takes the lock of a key between processes.
func (s *store) lock(ctx context.Context, key uint64) (release func(), err error) {
	s.mu.Lock()
	err = s.openLocked()
	locks := s.locks
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	release, err = locks.lock(ctx, key)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("state directory %s: %w", s.base, err)
	}
	return release, err
}

// slot records a step without a journal in this process's writer file.
func (s *store) slot(o *op) (*slot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := cmp.Or(s.openLocked(), s.seam.before("slot", string(o.Name))); err != nil {
		return nil, err
	}
	if s.slots != nil && s.slots.idle() && !linked(s.slots.file, s.slots.file.Name()) {
		s.slots.close() // the state directory was removed under us
		s.slots = nil
	}
	if s.slots == nil {
		opened, err := openSlots(s.writers())
		if err != nil {
			return nil, err
		}
		s.slots = opened
	}
	return s.slots.take(o)
}

// randomHex returns 2n hexadecimal digits nobody can guess.
func randomHex(n int) string {
	buf := make([]byte, n)
	rand.Read(buf) // never fails (crypto/rand)
	return hex.EncodeToString(buf)
}

// tempName is a fresh name for a short-lived file beside its target. It does
// not contain the target's name, which may have all 255 bytes already.
func tempName() string { return ".prism-" + randomHex(8) + ".tmp" }

// unavailable is the error of a change that needs the store.
func unavailable(why string) error {
	return tools.Errorf(tools.CodeStateUnavailable, "a change of several files needs the state directory for its journal, and nothing was changed: %s", why)
}

// isFull reports whether a write failed for want of space.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
