package state

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// MemoryOptions are the settings of Memory; nil and zero are the defaults.
type MemoryOptions struct {
	// Limits bound what is kept. One that is out of its bounds is refused by every
	// method that needs it.
	Limits Limits
	// Clock tells the time: time.Now.
	Clock func() time.Time
}

// Limits bound what stores keep; zero is the default.
type Limits struct {
	// RecordBytes is the limit RecordBytes.
	RecordBytes int64
	// EffectResultBytes is the limit EffectResultBytes.
	EffectResultBytes int64
	// ArtifactBytes is the limit ArtifactBytes.
	ArtifactBytes int64
}

// Memory keeps all four stores in this process, and ends with it. It is for tests,
// and for hosts with nothing that has to last.
type Memory struct {
	checkpoints memoryCheckpoints
	leases      memoryLeases
	effects     memoryEffects
	artifacts   memoryArtifacts
}

// memory is what the four have in common.
type memory struct {
	limits Limits
	clock  func() time.Time

	mu sync.Mutex
	// token is the last fencing token or claim that was given out.
	token     int64
	records   map[[2]string]Record // by namespace and name
	leased    map[[2]string]Lease
	claimed   map[string]Effect // by key
	artifacts map[Owner]map[string]memoryArtifact
}

// memoryView is one of the four, which may be closed alone.
type memoryView struct {
	*memory
	closed *atomic.Bool
}

// NewMemory returns empty stores.
func NewMemory(opts *MemoryOptions) *Memory {
	if opts == nil {
		opts = &MemoryOptions{}
	}
	m := &memory{
		limits: opts.Limits, clock: opts.Clock,
		records: map[[2]string]Record{}, leased: map[[2]string]Lease{}, claimed: map[string]Effect{},
		artifacts: map[Owner]map[string]memoryArtifact{},
	}
	if m.clock == nil {
		m.clock = time.Now
	}
	view := func() memoryView { return memoryView{m, new(atomic.Bool)} }
	return &Memory{memoryCheckpoints{view()}, memoryLeases{view()}, memoryEffects{view()}, memoryArtifacts{view()}}
}

// Checkpoints implements Stores.
func (m *Memory) Checkpoints() CheckpointStore { return m.checkpoints }

// Leases implements Stores.
func (m *Memory) Leases() LeaseStore { return m.leases }

// Effects implements Stores.
func (m *Memory) Effects() EffectStore { return m.effects }

// Artifacts implements Stores.
func (m *Memory) Artifacts() ArtifactStore { return m.artifacts }

// Close implements Stores.
func (m *Memory) Close() error {
	for _, view := range []memoryView{m.checkpoints.memoryView, m.leases.memoryView, m.effects.memoryView, m.artifacts.memoryView} {
		view.closed.Store(true)
	}
	return nil
}

// Close implements the stores' interfaces.
func (v memoryView) Close() error {
	v.closed.Store(true)
	return nil
}

// enter locks the stores for one call.
func (v memoryView) enter(ctx context.Context) (now time.Time, leave func(), err error) {
	switch {
	case v.closed.Load():
		return time.Time{}, nil, errClosed()
	case ctx.Err() != nil:
		return time.Time{}, nil, context.Cause(ctx)
	}
	v.mu.Lock()
	return Stamp(v.clock()), v.mu.Unlock, nil
}

func errClosed() error { return tools.Errorf(tools.CodeStateUnavailable, "the store is closed") }

// cut is one page of a sorted list of names.
func cut(names []string, cursor string, limit int64) (page []string, next string) {
	start, _ := slices.BinarySearch(names, cursor)
	if start < len(names) && cursor != "" && names[start] == cursor {
		start++
	}
	page = names[start:]
	if int64(len(page)) > limit {
		page = page[:limit]
		next = page[limit-1]
	}
	return page, next
}

func sorted[K cmp.Ordered, V any](of map[K]V, wanted func(V) bool) []K {
	var keys []K
	for key, value := range maps.All(of) {
		if wanted(value) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

type memoryCheckpoints struct{ memoryView }

// kept is what is there under a key, whoever's.
func (m *memory) kept(key Key) *Record {
	if record, ok := m.records[[2]string{key.Namespace, key.Name}]; ok {
		return &record
	}
	return nil
}

// Load implements CheckpointStore.
func (s memoryCheckpoints) Load(ctx context.Context, key Key) (Record, error) {
	if err := key.Check(true); err != nil {
		return Record{}, err
	}
	_, leave, err := s.enter(ctx)
	if err != nil {
		return Record{}, err
	}
	defer leave()
	kept := s.kept(key)
	if kept == nil {
		return Record{}, NoRecord(key)
	}
	if err := Own(kept, key); err != nil {
		return Record{}, err
	}
	return kept.clone(), nil
}

// clone shares no bytes with r.
func (r Record) clone() Record {
	r.Data = slices.Clone(r.Data)
	return r
}

// Save implements CheckpointStore.
func (s memoryCheckpoints) Save(ctx context.Context, key Key, change Change) (Record, error) {
	most, err := RecordBytes.Option(s.limits.RecordBytes)
	if err != nil {
		return Record{}, err
	}
	if err := key.Check(true); err != nil {
		return Record{}, err
	}
	if err := change.Check(most); err != nil {
		return Record{}, err
	}
	now, leave, err := s.enter(ctx)
	if err != nil {
		return Record{}, err
	}
	defer leave()
	kept := s.kept(key)
	if kept != nil {
		if err := Own(kept, key); err != nil {
			return Record{}, err
		}
	}
	if change.Lease != nil {
		if err := change.Lease.Held(s.lease(change.Lease.Key), now); err != nil {
			return Record{}, err
		}
	}
	if err := Allow(kept, key, change.Version, change.Fence); err != nil {
		return Record{}, err
	}
	record := Record{Key: key, Version: change.Version + 1, Fence: change.Fence, Data: slices.Clone(change.Data), Saved: now}
	s.records[[2]string{key.Namespace, key.Name}] = record
	return record.clone(), nil
}

// Delete implements CheckpointStore.
func (s memoryCheckpoints) Delete(ctx context.Context, key Key, version, fence int64) error {
	if err := key.Check(true); err != nil {
		return err
	}
	if err := CheckNumbers(version, fence); err != nil {
		return err
	}
	_, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	kept := s.kept(key)
	if kept == nil {
		return NoRecord(key)
	}
	if err := Allow(kept, key, version, fence); err != nil {
		return err
	}
	delete(s.records, [2]string{key.Namespace, key.Name})
	return nil
}

// List implements CheckpointStore; the order is that of the names.
func (s memoryCheckpoints) List(ctx context.Context, in Key, cursor string, limit int64) (Page, error) {
	if err := in.Check(false); err != nil {
		return Page{}, err
	}
	limit, err := PageRecords.Option(limit)
	if err != nil {
		return Page{}, err
	}
	_, leave, err := s.enter(ctx)
	if err != nil {
		return Page{}, err
	}
	defer leave()
	var names []string
	for place, record := range s.records {
		if place[0] == in.Namespace && record.Key.Owner == in.Owner {
			names = append(names, place[1])
		}
	}
	slices.Sort(names)
	names, next := cut(names, cursor, limit)
	page := Page{Next: next}
	for _, name := range names {
		page.Records = append(page.Records, s.records[[2]string{in.Namespace, name}].clone())
	}
	return page, nil
}
