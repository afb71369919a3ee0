package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/sqlite"
	"github.com/prism-ls/prism-ls/tools/state/sqlstate"
)

func key(name string) state.Key { return state.Key{Namespace: "test", Name: name} }

func open(t *testing.T, path string, opts *sqlite.Options) *sqlstate.Stores {
	t.Helper()
	stores, err := sqlite.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stores.Close() })
	return stores
}

func save(t *testing.T, stores state.Stores, name string, version int64) {
	t.Helper()
	if _, err := stores.Checkpoints().Save(t.Context(), key(name), state.Change{Version: version, Data: []byte(name)}); err != nil {
		t.Fatal(err)
	}
}

// fill writes to a store, and closes it, so that all of it is in the one file.
func fill(t *testing.T, path string, from, to int64) {
	t.Helper()
	stores := open(t, path, nil)
	for version := from; version < to; version++ {
		save(t, stores, "record", version)
	}
	if err := stores.Close(); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// refused checks that a store is not used, and that the way is named.
func refused(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, tools.CodeStateUnavailable) || !strings.Contains(err.Error(), "prism-ls state accept") {
		t.Errorf("an older copy: %v", err)
	}
}

func TestAnOlderCopyIsNoticed(t *testing.T) {
	for name, putBack := range map[string]func(t *testing.T, path string, old []byte){
		"while nobody has it open": write,
		"by another file":          func(t *testing.T, path string, old []byte) { write(t, path+".new", old); rename(t, path+".new", path) },
		"that is none":             func(t *testing.T, path string, _ []byte) { remove(t, path) },
		"that is empty":            func(t *testing.T, path string, _ []byte) { write(t, path, nil) },
		"of another store": func(t *testing.T, path string, _ []byte) {
			other := filepath.Join(t.TempDir(), "other.db")
			fill(t, other, 0, 100)
			write(t, path, content(t, other))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			fill(t, path, 0, 5)
			old := content(t, path)
			fill(t, path, 5, 6) // one more is enough
			putBack(t, path, old)
			for range 2 {
				_, err := sqlite.Open(path, nil)
				refused(t, err)
			}
			summary, err := sqlite.Summarize(t.Context(), path, nil)
			if exists(path) && (err != nil || !summary.Behind) {
				t.Errorf("%+v, %v", summary, err)
			}
			accepted, err := sqlite.Accept(t.Context(), path, nil)
			if err != nil || accepted.Sequence < 1<<32 {
				t.Fatalf("accepting: %+v, %v", accepted, err)
			}
			if again, err := sqlite.Accept(t.Context(), path, nil); err != nil || again.Sequence != 0 {
				t.Errorf("nothing to accept: %+v, %v", again, err)
			}
			stores := open(t, path, nil)
			save(t, stores, "after", 0)
		})
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestAnOlderCopyIsNoticedByWhoHasItOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	fill(t, path, 0, 5)
	old := content(t, path)
	stores := open(t, path, nil)
	save(t, stores, "record", 5)
	write(t, path+".new", old)
	rename(t, path+".new", path)
	// The log of the newer file is there still, and must not be taken for the older's.
	for _, suffix := range []string{"-wal", "-shm"} {
		remove(t, path+suffix)
	}
	_, err := stores.Checkpoints().Load(t.Context(), key("record"))
	refused(t, err)
	_, err = stores.Checkpoints().Save(t.Context(), key("record"), state.Change{Version: 5})
	refused(t, err)
	if _, err := sqlite.Accept(t.Context(), path, nil); err != nil {
		t.Fatal(err)
	}
	got, err := stores.Checkpoints().Load(t.Context(), key("record"))
	if err != nil || got.Version != 5+1<<32 {
		t.Errorf("the same stores after it was accepted: %+v, %v", got, err)
	}
}

func TestWithoutAMarkNothingIsKnown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	fill(t, path, 0, 3)
	for _, text := range [][]byte{nil, []byte("prism-ls store 00"), []byte(strings.Repeat("x", 300))} {
		write(t, path+".mark", text)
		failedNow(t, open(t, path, nil).Close())
	}
	fill(t, path, 3, 4)
	old := content(t, path)
	fill(t, path, 4, 5)
	write(t, path, old)
	_, err := sqlite.Open(path, nil)
	refused(t, err)
}

// TestWhatAnOlderCopyMustNotAllow: what was given out in the time that is lost counts
// for nothing.
func TestWhatAnOlderCopyMustNotAllow(t *testing.T) {
	path, owner := filepath.Join(t.TempDir(), "state.db"), state.Owner{}
	begin := func(stores state.Stores, run string) (state.Effect, error) {
		return stores.Effects().Begin(t.Context(), owner, state.EffectIdentity{Run: run, Operation: "write"}, nil)
	}
	claimOf := func(e state.Effect) state.EffectClaim {
		return state.EffectClaim{Owner: owner, Key: e.Key, Token: e.Claim}
	}
	stores := open(t, path, nil)
	pending, err := begin(stores, "pending")
	failedNow(t, err)
	dispatched, err := begin(stores, "dispatched")
	failedNow(t, err)
	failedNow(t, stores.Effects().MarkDispatched(t.Context(), claimOf(dispatched), nil))
	again, err := begin(stores, "again")
	failedNow(t, err)
	failedNow(t, stores.Effects().Fail(t.Context(), claimOf(again), true, "later"))
	early, err := stores.Leases().TryAcquire(t.Context(), key("early"), "one", 0)
	failedNow(t, err)
	_, err = stores.Checkpoints().Save(t.Context(), key("fenced"), state.Change{Fence: early.Token})
	failedNow(t, err)
	failedNow(t, stores.Close())
	old := content(t, path)

	stores = open(t, path, nil)
	failedNow(t, stores.Effects().Complete(t.Context(), claimOf(pending), nil))
	late, err := stores.Leases().TryAcquire(t.Context(), key("late"), "one", 0)
	failedNow(t, err)
	failedNow(t, stores.Close())
	write(t, path, old)

	accepted, err := sqlite.Accept(t.Context(), path, nil)
	if err != nil || accepted.Effects != 3 || accepted.Leases != 1 || accepted.Records != 1 || accepted.Sequence <= late.Token {
		t.Errorf("%+v, %v", accepted, err)
	}
	stores = open(t, path, nil)
	for _, run := range []string{"pending", "dispatched", "again"} {
		if _, err := begin(stores, run); !errors.Is(err, tools.CodeEffectUnknown) {
			t.Errorf("%s: %v", run, err)
		}
	}
	for _, lease := range []state.Lease{early, late} {
		if _, err := stores.Leases().Renew(t.Context(), lease, 0); !errors.Is(err, tools.CodeStateFence) {
			t.Errorf("renewing %s: %v", lease.Key.Name, err)
		}
		next, err := stores.Leases().TryAcquire(t.Context(), lease.Key, "two", 0)
		if err != nil || next.Token <= accepted.Sequence {
			t.Errorf("%+v, %v", next, err)
		}
	}
	for _, fence := range []int64{early.Token, late.Token} {
		if _, err := stores.Checkpoints().Save(t.Context(), key("fenced"), state.Change{Version: 1, Fence: fence}); !errors.Is(err, tools.CodeStateFence) {
			t.Errorf("a fence of before: %v", err)
		}
	}
}

func failedNow(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
