package builtin

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// ReadPathNamespace is where the paths that sessions have read are kept.
const ReadPathNamespace = "prism.coding-agent.read-path-set"

// ReadPathRecords is a ReadPathStore in a checkpoint store: one record a session, of one
// owner. A session's name belongs to the owner who saved it first, and is refused to
// others (CodeStateOwnership).
type ReadPathRecords struct {
	store state.CheckpointStore
	owner state.Owner
}

// NewReadPathRecords keeps an owner's records in store, which stays the caller's.
func NewReadPathRecords(store state.CheckpointStore, owner state.Owner) *ReadPathRecords {
	return &ReadPathRecords{store, owner}
}

// saveAttempts is how often a save is tried against others who save the same.
const saveAttempts = 5

func (r *ReadPathRecords) key(session string) state.Key {
	return state.Key{Owner: r.owner, Namespace: ReadPathNamespace, Name: session}
}

// SaveReadPaths implements ReadPathStore. Who saves last is right.
func (r *ReadPathRecords) SaveReadPaths(ctx context.Context, session string, document []byte) error {
	var err error
	for range saveAttempts {
		var now state.Record
		now, err = r.store.Load(ctx, r.key(session))
		if err != nil && !errors.Is(err, tools.CodeNotFound) {
			return err
		}
		_, err = r.store.Save(ctx, r.key(session), state.Change{Version: now.Version, Fence: now.Fence, Data: document})
		if !errors.Is(err, tools.CodeStateConflict) {
			return err
		}
	}
	return err
}

// LoadReadPaths implements ReadPathStore.
func (r *ReadPathRecords) LoadReadPaths(ctx context.Context, session string) ([]byte, error) {
	record, err := r.store.Load(ctx, r.key(session))
	if errors.Is(err, tools.CodeNotFound) {
		return nil, nil
	}
	return record.Data, err
}

// KeptReadPaths say where a set's paths outlast the process.
type KeptReadPaths struct {
	// Store returns where an owner's paths are kept.
	Store func(owner string) ReadPathStore
	// Name is under which name they are: the same for all of an owner's sessions, so
	// that one who comes again in another is known.
	Name func(owner string) string
	// Logger hears of what could not be kept; nil: nobody does.
	Logger *slog.Logger
}

// keptPaths is a set's account of what is kept.
type keptPaths struct {
	KeptReadPaths
	restored map[reader]chan struct{} // closed when it is
	unsaved  map[reader]bool
	saved    map[reader]time.Time
}

const (
	// saveInterval is how often a session's paths are saved while it reads. What is
	// lost when the process is killed in between has to be read again.
	saveInterval = time.Second
	// storeTime bounds one look into the store.
	storeTime = 5 * time.Second
)

// Keep makes the set outlast the process: what an owner has read is restored when they
// are first heard of, and saved while they read and by Flush. It is called before the
// set is used; called again it does nothing. A store that is not available costs
// nothing but having to read again.
func (s *ReadPathSet) Keep(kept KeptReadPaths) {
	if kept.Logger == nil {
		kept.Logger = slog.New(slog.DiscardHandler)
	}
	s.kept.CompareAndSwap(nil, &keptPaths{KeptReadPaths: kept, restored: map[reader]chan struct{}{}, unsaved: map[reader]bool{}, saved: map[reader]time.Time{}})
}

// restoreOnce waits until what the reader had read before is known.
func (s *ReadPathSet) restoreOnce(who reader) {
	kept := s.kept.Load()
	if kept == nil {
		return
	}
	s.mu.Lock()
	done, begun := kept.restored[who]
	if !begun {
		done = make(chan struct{})
		kept.restored[who] = done
	}
	s.mu.Unlock()
	if begun {
		<-done
		return
	}
	defer close(done)
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	if _, err := s.restoreAs(ctx, kept.Store(who.owner), who, kept.Name(who.owner)); err != nil {
		kept.Logger.Warn("what was read before is not known, and has to be read again", "owner", who.owner, "error", err)
	}
}

// saveSoon saves the reader's paths unless that was just done; Flush then does.
func (s *ReadPathSet) saveSoon(who reader) {
	kept := s.kept.Load()
	if kept == nil {
		return
	}
	s.mu.Lock()
	kept.unsaved[who] = true
	due := time.Since(kept.saved[who]) >= saveInterval
	s.mu.Unlock()
	if due {
		ctx, cancel := context.WithTimeout(context.Background(), storeTime)
		defer cancel()
		s.save(ctx, kept, who)
	}
}

func (s *ReadPathSet) save(ctx context.Context, kept *keptPaths, who reader) {
	s.mu.Lock()
	kept.unsaved[who], kept.saved[who] = false, time.Now()
	s.mu.Unlock()
	if err := s.saveAs(ctx, kept.Store(who.owner), who, kept.Name(who.owner)); err != nil {
		kept.Logger.Warn("what was read could not be kept", "owner", who.owner, "error", err)
	}
}

// Flush saves what was read since it was saved last. Without Keep it does nothing.
func (s *ReadPathSet) Flush(ctx context.Context) {
	kept := s.kept.Load()
	if kept == nil {
		return
	}
	s.mu.Lock()
	var readers []reader
	for who, unsaved := range kept.unsaved {
		if unsaved {
			readers = append(readers, who)
		}
	}
	s.mu.Unlock()
	for _, who := range readers {
		s.save(ctx, kept, who)
	}
}
