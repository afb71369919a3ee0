// Package statetest is the conformance suite of package state's stores.
//
//	var files = &statetest.Suite{Name: "files", New: …, Open: …, Shared: true}
//
//	func TestMain(m *testing.M) { files.Main(); os.Exit(m.Run()) }
//	func TestFiles(t *testing.T) { files.Run(t) }
package statetest

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// Suite is one implementation.
type Suite struct {
	Name string
	// New makes an empty place for a store and returns what Open finds it by.
	New func(t testing.TB) string
	// Open opens the store there; several at a time if it is Shared.
	Open func(place string) (state.CheckpointStore, error)
	// Stores opens all four there, in place of Open, and they are tried, too.
	Stores func(place string, limits state.Limits) (state.Stores, error)
	// Shared: other stores and other processes can open the same place, and what
	// they saved outlasts them.
	Shared bool
	// Full runs the long parts for minutes, and not for seconds.
	Full bool
}

// Run runs all of the suite.
func (s *Suite) Run(t *testing.T) {
	for _, part := range []struct {
		name string
		run  func(t *testing.T, s *Suite)
	}{
		{"what is saved is loaded", saveAndLoad},
		{"changes are on condition", conditions},
		{"a fence never goes back", fences},
		{"other owners are refused", ownership},
		{"limits", limits},
		{"names", names},
		{"deleting", deleting},
		{"lists", lists},
		{"ends", ends},
		{"nothing is lost between goroutines", goroutines},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, s) })
	}
	if s.Stores != nil {
		s.runStores(t)
	}
	if !s.Shared {
		return
	}
	t.Run("it outlasts its store", func(t *testing.T) { reopened(t, s) })
	t.Run("nothing is lost between processes", func(t *testing.T) { processes(t, s) })
	t.Run("16 processes are not in each other's way", func(t *testing.T) { contention(t, s) })
	t.Run("nothing that was acknowledged is lost by kill -9", func(t *testing.T) { killed(t, s) })
	if s.Stores != nil {
		t.Run("who was stopped past a lease cannot write", func(t *testing.T) { stopped(t, s) })
		t.Run("tokens grow when the store is opened again", func(t *testing.T) { tokens(t, s) })
	}
}

// fresh is a store at a new place.
func (s *Suite) fresh(t testing.TB) state.CheckpointStore {
	t.Helper()
	return s.open(t, s.New(t))
}

func (s *Suite) open(t testing.TB, place string) state.CheckpointStore {
	t.Helper()
	store, err := s.checkpoints(place)
	if err != nil {
		t.Fatal(err)
	}
	closeAfter(t, store)
	return store
}

// checkpoints opens a CheckpointStore, which ends with all that was opened for it.
func (s *Suite) checkpoints(place string) (state.CheckpointStore, error) {
	if s.Stores == nil {
		return s.Open(place)
	}
	stores, err := s.Stores(place, state.Limits{})
	if err != nil {
		return nil, err
	}
	return onlyCheckpoints{stores.Checkpoints(), stores}, nil
}

type onlyCheckpoints struct {
	state.CheckpointStore
	stores state.Stores
}

func (o onlyCheckpoints) Close() error { return o.stores.Close() }

func closeAfter(t testing.TB, store io.Closer) {
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

// freshStores are all four at a new place.
func (s *Suite) freshStores(t testing.TB) state.Stores {
	t.Helper()
	return s.openStores(t, s.New(t))
}

func (s *Suite) openStores(t testing.TB, place string) state.Stores {
	t.Helper()
	stores, err := s.Stores(place, state.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	closeAfter(t, stores)
	return stores
}

func ctx(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func ann(name string) state.Key {
	return state.Key{Owner: state.Owner{Tenant: "t", Account: "a", User: "ann"}, Namespace: "test", Name: name}
}

func want(t testing.TB, what string, err error, code tools.Code) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}

func mustSave(t testing.TB, store state.CheckpointStore, key state.Key, change state.Change) state.Record {
	t.Helper()
	record, err := store.Save(ctx(t), key, change)
	if err != nil {
		t.Fatalf("saving %s: %v", key.Name, err)
	}
	return record
}

func mustLoad(t testing.TB, store state.CheckpointStore, key state.Key) state.Record {
	t.Helper()
	record, err := store.Load(ctx(t), key)
	if err != nil {
		t.Fatalf("loading %s: %v", key.Name, err)
	}
	return record
}
