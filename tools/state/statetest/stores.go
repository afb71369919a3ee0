package statetest

import (
	"errors"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// short is how long a lease or claim lasts whose end a test waits for.
const short = 250 * time.Millisecond

// over waits until what lasted short has ended, by any clock.
func over() { time.Sleep(short + short/2) }

// runStores runs what is about the other three.
func (s *Suite) runStores(t *testing.T) {
	for _, part := range []struct {
		name string
		run  func(t *testing.T, s *Suite)
	}{
		{"a lease is one holder's", leases},
		{"a lease that ended is over", leaseEnds},
		{"leases of other owners are refused", leaseOwners},
		{"one of many gets a lease", leaseRace},
		{"a record is saved under a lease", guarded},
		{"leases have bounds", leaseLimits},
		{"an effect happens once", effectOnce},
		{"an effect's steps", effectSteps},
		{"an effect claimed and dispatched at once", effectAtOnce},
		{"an effect whose claim ends", effectExpires},
		{"an effect in doubt", effectDoubt},
		{"effects of other owners are refused", effectOwners},
		{"effects have bounds", effectLimits},
		{"effects are listed and cleaned up", effectLists},
		{"one of many begins an effect", effectRace},
		{"artifacts", artifacts},
		{"artifacts of other owners are not there", artifactOwners},
		{"artifacts have bounds", artifactLimits},
		{"artifacts are listed", artifactLists},
		{"the end of all four", storesEnd},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, s) })
	}
}

func must(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func acquire(t testing.TB, store state.LeaseStore, key state.Key, holder string, ttl time.Duration) state.Lease {
	t.Helper()
	lease, err := store.TryAcquire(ctx(t), key, holder, ttl)
	if err != nil {
		t.Fatalf("acquiring %s for %s: %v", key.Name, holder, err)
	}
	if lease.Key != key || lease.Holder != holder || lease.Token < 1 {
		t.Fatalf("%+v", lease)
	}
	return lease
}

func bob(name string) state.Key {
	key := ann(name)
	key.Owner.User = "bob"
	return key
}

func leases(t *testing.T, s *Suite) {
	store, key := s.freshStores(t).Leases(), ann("lease")
	first := acquire(t, store, key, "one", 0)
	for _, holder := range []string{"two", "one"} {
		_, err := store.TryAcquire(ctx(t), key, holder, 0)
		want(t, "taking what is held", err, tools.CodeStateConflict)
		var coded *tools.Error
		if !errors.As(err, &coded) {
			continue
		}
		if held, ok := coded.Details.(state.Lease); !ok || held.Holder != "one" || held.Token != 0 || !held.Expires.Equal(first.Expires) {
			t.Errorf("details %+v", coded.Details)
		}
	}
	other := acquire(t, store, ann("other"), "two", 0)
	renewed, err := store.Renew(ctx(t), first, time.Minute)
	must(t, "renewing", err)
	if renewed.Token != first.Token || !renewed.Expires.After(first.Expires) {
		t.Errorf("renewed %+v, was %+v", renewed, first)
	}
	must(t, "releasing with what was before the renewal", store.Release(ctx(t), first))
	must(t, "releasing again", store.Release(ctx(t), renewed))
	_, err = store.Renew(ctx(t), renewed, 0)
	want(t, "renewing what was released", err, tools.CodeStateFence)
	second := acquire(t, store, key, "two", 0)
	if second.Token <= first.Token || second.Token <= other.Token {
		t.Errorf("token %d after %d and %d", second.Token, first.Token, other.Token)
	}
	must(t, "releasing what others have", store.Release(ctx(t), first))
	_, err = store.TryAcquire(ctx(t), key, "three", 0)
	want(t, "what others have is released by nobody else", err, tools.CodeStateConflict)
}

func leaseEnds(t *testing.T, s *Suite) {
	store, key := s.freshStores(t).Leases(), ann("lease")
	first := acquire(t, store, key, "one", short)
	over()
	_, err := store.Renew(ctx(t), first, 0)
	want(t, "renewing what has ended", err, tools.CodeStateFence)
	second := acquire(t, store, key, "one", 0)
	if second.Token <= first.Token {
		t.Errorf("token %d after %d", second.Token, first.Token)
	}
	_, err = store.Renew(ctx(t), first, 0)
	want(t, "an earlier life of the holder", err, tools.CodeStateFence)
	_, err = store.Renew(ctx(t), second, 0)
	must(t, "renewing", err)
}

func leaseOwners(t *testing.T, s *Suite) {
	store, key, other := s.freshStores(t).Leases(), ann("lease"), bob("lease")
	lease := acquire(t, store, key, "one", short)
	_, err := store.TryAcquire(ctx(t), other, "two", 0)
	want(t, "another owner's", err, tools.CodeStateOwnership)
	var coded *tools.Error
	if errors.As(err, &coded) && coded.Details != nil {
		t.Errorf("a refusal tells %+v", coded.Details)
	}
	stolen := lease
	stolen.Key = other
	_, err = store.Renew(ctx(t), stolen, 0)
	want(t, "renewing another owner's", err, tools.CodeStateFence)
	must(t, "releasing another owner's", store.Release(ctx(t), stolen))
	_, err = store.Renew(ctx(t), lease, short)
	must(t, "it is held still", err)
	over()
	if got := acquire(t, store, other, "two", 0); got.Token <= lease.Token {
		t.Errorf("token %d after %d", got.Token, lease.Token)
	}
}

func leaseRace(t *testing.T, s *Suite) {
	store, key := s.freshStores(t).Leases(), ann("lease")
	last := int64(0)
	for range 3 {
		type got struct {
			lease state.Lease
			err   error
		}
		results := make(chan got)
		for range writers {
			go func() {
				lease, err := store.TryAcquire(t.Context(), key, "one of many", 0)
				results <- got{lease, err}
			}()
		}
		count := 0
		var held state.Lease
		for range writers {
			if result := <-results; result.err == nil {
				count++
				held = result.lease
			} else {
				want(t, "too late", result.err, tools.CodeStateConflict)
			}
		}
		if count != 1 || held.Token <= last {
			t.Fatalf("%d got the lease, token %d after %d", count, held.Token, last)
		}
		last = held.Token
		must(t, "releasing", store.Release(ctx(t), held))
	}
}

func guarded(t *testing.T, s *Suite) {
	stores, key := s.freshStores(t), ann("record")
	lease := acquire(t, stores.Leases(), ann("lease"), "one", short)
	under := func(version int64, lease state.Lease) state.Change {
		return state.Change{Version: version, Fence: lease.Token, Data: []byte("under a lease"), Lease: &lease}
	}
	saved := mustSave(t, stores.Checkpoints(), key, under(0, lease))
	if saved.Fence != lease.Token {
		t.Errorf("%+v", saved)
	}
	mustSave(t, stores.Checkpoints(), bob("bob's"), state.Change{})
	_, err := stores.Checkpoints().Save(ctx(t), ann("bob's"), under(0, lease))
	want(t, "another owner's record", err, tools.CodeStateOwnership)
	_, err = stores.Checkpoints().Save(ctx(t), key, under(7, lease))
	want(t, "another version", err, tools.CodeStateConflict)
	over()
	_, err = stores.Checkpoints().Save(ctx(t), key, under(1, lease))
	want(t, "a lease that ended", err, tools.CodeStateFence)
	_, err = stores.Checkpoints().Save(ctx(t), ann("new"), under(0, lease))
	want(t, "a new record under a lease that ended", err, tools.CodeStateFence)
	_, err = stores.Checkpoints().Save(ctx(t), ann("bob's"), under(1, lease))
	want(t, "another owner's record under a lease that ended", err, tools.CodeStateOwnership)
	next := acquire(t, stores.Leases(), ann("lease"), "two", 0)
	_, err = stores.Checkpoints().Save(ctx(t), key, under(1, lease))
	want(t, "a lease that others have", err, tools.CodeStateFence)
	mustSave(t, stores.Checkpoints(), key, under(1, next))
	must(t, "releasing", stores.Leases().Release(ctx(t), next))
	_, err = stores.Checkpoints().Save(ctx(t), key, under(2, next))
	want(t, "a lease that was released", err, tools.CodeStateFence)
	invented := next
	invented.Key = ann("no lease")
	_, err = stores.Checkpoints().Save(ctx(t), key, under(2, invented))
	want(t, "a lease that never was", err, tools.CodeStateFence)
	if got := mustLoad(t, stores.Checkpoints(), key); got.Version != 2 || got.Fence != next.Token {
		t.Errorf("%+v", got)
	}
}

func leaseLimits(t *testing.T, s *Suite) {
	store := s.freshStores(t).Leases()
	hard := time.Duration(state.LeaseTime.Hard) * time.Second
	for _, ttl := range []time.Duration{-1, hard + 1} {
		_, err := store.TryAcquire(ctx(t), ann("lease"), "one", ttl)
		want(t, ttl.String(), err, tools.CodeToolInput)
	}
	lease := acquire(t, store, ann("lease"), "one", hard)
	_, err := store.Renew(ctx(t), lease, hard+1)
	want(t, "renewing for longer", err, tools.CodeToolInput)
	for _, holder := range []string{"", "a\x00b", "\xff"} {
		_, err := store.TryAcquire(ctx(t), ann("other"), holder, 0)
		want(t, holder, err, tools.CodeToolInput)
	}
	_, err = store.TryAcquire(ctx(t), state.Key{Namespace: "n"}, "one", 0)
	want(t, "no name", err, tools.CodeToolInput)
}

func storesEnd(t *testing.T, s *Suite) {
	stores, err := s.Stores(s.New(t), state.Limits{})
	must(t, "opening", err)
	for range 2 {
		must(t, "closing", stores.Close())
	}
	_, err = stores.Checkpoints().Load(ctx(t), ann("record"))
	want(t, "a record", err, tools.CodeStateUnavailable)
	_, err = stores.Leases().TryAcquire(ctx(t), ann("lease"), "one", 0)
	want(t, "a lease", err, tools.CodeStateUnavailable)
	_, err = stores.Effects().Begin(ctx(t), ann("").Owner, identity("late"), nil)
	want(t, "an effect", err, tools.CodeStateUnavailable)
	_, err = stores.Artifacts().List(ctx(t), ann("").Owner, "", 0)
	want(t, "artifacts", err, tools.CodeStateUnavailable)
	must(t, "closing one of them", stores.Artifacts().Close())
	// One of the four can be closed alone.
	stores = s.freshStores(t)
	must(t, "closing one of them", stores.Leases().Close())
	_, err = stores.Leases().TryAcquire(ctx(t), ann("lease"), "one", 0)
	want(t, "a lease", err, tools.CodeStateUnavailable)
	mustSave(t, stores.Checkpoints(), ann("record"), state.Change{})
}
