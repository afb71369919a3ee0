package builtin

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prism-ls/prism-ls/tools"
)

// The bounds of a saved set of read paths.
const (
	maxReadPaths     = 1024
	maxReadPathBytes = 1024
)

// ReadPathStore keeps one document per session. A checkpoint store is one.
type ReadPathStore interface {
	SaveReadPaths(ctx context.Context, session string, document []byte) error
	// LoadReadPaths returns nil when nothing was saved.
	LoadReadPaths(ctx context.Context, session string) ([]byte, error)
}

// ReadPathSet remembers which files each session has read, for the guard that
// wants files read before they are written. It is safe for concurrent use.
type ReadPathSet struct {
	mu       sync.Mutex
	sessions map[reader]map[string]bool
	kept     atomic.Pointer[keptPaths] // nil: the set ends with the process
}

// reader is who has read: sessions of different owners never share.
type reader struct{ owner, session string }

// NewReadPathSet makes an empty set.
func NewReadPathSet() *ReadPathSet {
	return &ReadPathSet{sessions: map[reader]map[string]bool{}}
}

// mark notes that the call's session has seen path. The nil set forgets.
func (s *ReadPathSet) mark(call *tools.Call, path string) {
	if s == nil {
		return
	}
	who := reader{call.Owner, call.Session}
	s.restoreOnce(who)
	s.mu.Lock()
	if s.sessions[who] == nil {
		s.sessions[who] = map[string]bool{}
	}
	known := s.sessions[who][path]
	s.sessions[who][path] = true
	s.mu.Unlock()
	if !known {
		s.saveSoon(who)
	}
}

func (s *ReadPathSet) has(call *tools.Call, path string) bool {
	if s == nil {
		return false
	}
	who := reader{call.Owner, call.Session}
	s.restoreOnce(who)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[who][path]
}

// Forget drops a session that is over.
func (s *ReadPathSet) Forget(owner, session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, reader{owner, session})
	if kept := s.kept.Load(); kept != nil {
		delete(kept.restored, reader{owner, session})
		delete(kept.unsaved, reader{owner, session}) // nothing would take the place of what is kept
		delete(kept.saved, reader{owner, session})
	}
}

// savedPaths is the document of one session.
type savedPaths struct {
	Owner string   `json:"owner"`
	Paths []string `json:"paths"`
}

// Save stores a session's paths. A set of more than 1024 paths, or with one
// of more than 1024 bytes, is CodeLimit, and nothing of it is saved.
func (s *ReadPathSet) Save(ctx context.Context, store ReadPathStore, owner, session string) error {
	return s.saveAs(ctx, store, reader{owner, session}, session)
}

// saveAs stores a reader's paths under a name.
func (s *ReadPathSet) saveAs(ctx context.Context, store ReadPathStore, who reader, name string) error {
	s.mu.Lock()
	paths := slices.Sorted(maps.Keys(s.sessions[who]))
	s.mu.Unlock()
	if err := checkReadPaths(paths); err != nil {
		return err
	}
	document, err := json.Marshal(savedPaths{who.owner, paths})
	if err != nil {
		return err
	}
	return store.SaveReadPaths(ctx, name, document)
}

// Restore adds a session's saved paths and returns how many there are. What
// another owner saved, and what cannot be read, restores nothing.
func (s *ReadPathSet) Restore(ctx context.Context, store ReadPathStore, owner, session string) (int, error) {
	return s.restoreAs(ctx, store, reader{owner, session}, session)
}

// restoreAs adds to a reader's paths those that are stored under a name.
func (s *ReadPathSet) restoreAs(ctx context.Context, store ReadPathStore, who reader, name string) (int, error) {
	document, err := store.LoadReadPaths(ctx, name)
	if err != nil || document == nil {
		return 0, err
	}
	var saved savedPaths
	if err := json.Unmarshal(document, &saved); err != nil {
		return 0, tools.Errorf(tools.CodeStateUnavailable, "the saved read paths of this session cannot be read: %w", err)
	}
	if saved.Owner != who.owner {
		return 0, tools.Errorf(tools.CodeExecutionDenied, "the saved read paths of this session belong to another owner")
	}
	if err := checkReadPaths(saved.Paths); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[who] == nil {
		s.sessions[who] = map[string]bool{}
	}
	for _, path := range saved.Paths {
		s.sessions[who][path] = true
	}
	return len(saved.Paths), nil
}

func checkReadPaths(paths []string) error {
	if len(paths) > maxReadPaths {
		return tools.Errorf(tools.CodeLimit, "%d paths have been read in this session, at most %d can be saved", len(paths), maxReadPaths)
	}
	for _, path := range paths {
		if len(path) > maxReadPathBytes {
			return tools.Errorf(tools.CodeLimit, "a read path has %d bytes, at most %d can be saved", len(path), maxReadPathBytes)
		}
	}
	return nil
}

// guard is the read-before-write rule of one tool.
type guard struct {
	required bool
	seen     *ReadPathSet
}

// check refuses to change a file that exists and was not read.
func (g guard) check(call *tools.Call, t target, force, exists bool) error {
	if !g.required || force || !exists || g.seen.has(call, t.policy) {
		return nil
	}
	return tools.Errorf(tools.CodeUnread, "%s has not been read in this session; read it first, or set force to change it unseen", t.name)
}
