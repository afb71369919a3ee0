package statetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

func saveAndLoad(t *testing.T, s *Suite) {
	store := s.fresh(t)
	_, err := store.Load(ctx(t), ann("nothing"))
	want(t, "nothing there", err, tools.CodeNotFound)
	before := time.Now().Add(-time.Second)
	for i, data := range [][]byte{[]byte("text\n"), {}, {0, 0xff, '\n', '\r', 0}, nil, bytes.Repeat([]byte{'\n'}, 64<<10)} {
		key := ann(fmt.Sprint("record ", i))
		saved := mustSave(t, store, key, state.Change{Data: data, Fence: 7})
		loaded := mustLoad(t, store, key)
		for _, got := range []state.Record{saved, loaded} {
			if got.Key != key || got.Version != 1 || got.Fence != 7 || !bytes.Equal(got.Data, data) {
				t.Errorf("record %d: %+v", i, got)
			}
		}
		if !loaded.Saved.Equal(saved.Saved) || loaded.Saved.Before(before) || loaded.Saved.After(time.Now().Add(time.Second)) {
			t.Errorf("saved at %v, loaded as %v", saved.Saved, loaded.Saved)
		}
	}
	// What a caller does with its slice afterwards is not the store's.
	data := []byte("mine")
	saved := mustSave(t, store, ann("slice"), state.Change{Data: data})
	data[0], saved.Data[1] = 'X', 'X'
	if got := mustLoad(t, store, ann("slice")); string(got.Data) != "mine" {
		t.Errorf("the store shares its bytes: %q", got.Data)
	}
}

func conditions(t *testing.T, s *Suite) {
	store, key := s.fresh(t), ann("record")
	_, err := store.Save(ctx(t), key, state.Change{Version: 1})
	want(t, "changing what is not there", err, tools.CodeStateConflict)
	mustSave(t, store, key, state.Change{Data: []byte("one")})
	_, err = store.Save(ctx(t), key, state.Change{Data: []byte("other")})
	want(t, "making what is there", err, tools.CodeStateConflict)
	second := mustSave(t, store, key, state.Change{Version: 1, Data: []byte("two")})
	if second.Version != 2 {
		t.Errorf("version %d after the second save", second.Version)
	}
	for _, version := range []int64{1, 3} {
		_, err = store.Save(ctx(t), key, state.Change{Version: version})
		want(t, "another version", err, tools.CodeStateConflict)
		var coded *tools.Error
		if errors.As(err, &coded) && coded.Details != (state.Current{Version: 2}) {
			t.Errorf("details %+v", coded.Details)
		}
	}
	if got := mustLoad(t, store, key); string(got.Data) != "two" || got.Version != 2 {
		t.Errorf("what was refused changed something: %+v", got)
	}
}

func fences(t *testing.T, s *Suite) {
	store, key := s.fresh(t), ann("record")
	mustSave(t, store, key, state.Change{Fence: 5})
	mustSave(t, store, key, state.Change{Version: 1, Fence: 5})
	mustSave(t, store, key, state.Change{Version: 2, Fence: 9})
	for _, fence := range []int64{8, 0} {
		_, err := store.Save(ctx(t), key, state.Change{Version: 3, Fence: fence})
		want(t, "a lower fence", err, tools.CodeStateFence)
		want(t, "deleting with a lower fence", store.Delete(ctx(t), key, 3, fence), tools.CodeStateFence)
		// The fence is looked at first: who was overtaken has no use for a version.
		_, err = store.Save(ctx(t), key, state.Change{Version: 1, Fence: fence})
		want(t, "a lower fence and an old version", err, tools.CodeStateFence)
	}
	if got := mustLoad(t, store, key); got.Fence != 9 || got.Version != 3 {
		t.Errorf("%+v", got)
	}
}

func ownership(t *testing.T, s *Suite) {
	store, key := s.fresh(t), ann("record")
	mustSave(t, store, key, state.Change{Data: []byte("ann's"), Fence: 3})
	for _, owner := range []state.Owner{
		{}, {Tenant: "t", Account: "a", User: "bob"}, {Tenant: "t", Account: "b", User: "ann"}, {Tenant: "u", Account: "a", User: "ann"},
		{Tenant: "ta", User: "ann"},
	} {
		other := key
		other.Owner = owner
		_, err := store.Load(ctx(t), other)
		want(t, "loading", err, tools.CodeStateOwnership)
		var coded *tools.Error
		if errors.As(err, &coded) && (coded.Details != nil || strings.Contains(coded.Message, "ann's")) {
			t.Errorf("refusal tells %q, %v", coded.Message, coded.Details)
		}
		for _, version := range []int64{0, 1, 2} {
			_, err = store.Save(ctx(t), other, state.Change{Version: version, Fence: 9})
			want(t, "saving", err, tools.CodeStateOwnership)
			want(t, "deleting", store.Delete(ctx(t), other, version, 9), tools.CodeStateOwnership)
		}
		page, err := store.List(ctx(t), other, "", 0)
		if err != nil || len(page.Records) != 0 {
			t.Errorf("%+v lists %v, %v", owner, page.Records, err)
		}
	}
	if got := mustLoad(t, store, key); string(got.Data) != "ann's" || got.Version != 1 {
		t.Errorf("%+v", got)
	}
	// The same name in another namespace is another record.
	elsewhere := key
	elsewhere.Owner, elsewhere.Namespace = state.Owner{User: "bob"}, "elsewhere"
	mustSave(t, store, elsewhere, state.Change{})
}

func limits(t *testing.T, s *Suite) {
	store, key := s.fresh(t), ann("record")
	mustSave(t, store, key, state.Change{Data: make([]byte, state.RecordBytes.Default)})
	_, err := store.Save(ctx(t), key, state.Change{Version: 1, Data: make([]byte, state.RecordBytes.Default+1)})
	want(t, "too much data", err, tools.CodeStateLimit)
	if got := mustLoad(t, store, key); got.Version != 1 {
		t.Errorf("%d", got.Version)
	}
	long := strings.Repeat("n", int(state.NameBytes.Hard))
	mustSave(t, store, state.Key{Owner: state.Owner{Tenant: long, Account: long, User: long}, Namespace: long, Name: long}, state.Change{})
	for _, key := range []state.Key{
		{Namespace: long + "n", Name: "x"}, {Namespace: "n", Name: long + "x"}, {Owner: state.Owner{User: long + "u"}, Namespace: "n", Name: "x"},
	} {
		_, err := store.Save(ctx(t), key, state.Change{})
		want(t, "a long name", err, tools.CodeStateLimit)
	}
	for _, key := range []state.Key{
		{Name: "x"}, {Namespace: "n"}, {Namespace: "n", Name: "a\x00b"}, {Namespace: "n", Name: "\xff"}, {Owner: state.Owner{Tenant: "\x00"}, Namespace: "n", Name: "x"},
	} {
		_, err := store.Save(ctx(t), key, state.Change{})
		want(t, fmt.Sprintf("%q", key), err, tools.CodeToolInput)
		_, err = store.Load(ctx(t), key)
		want(t, fmt.Sprintf("%q", key), err, tools.CodeToolInput)
	}
	for _, change := range []state.Change{{Version: -1}, {Fence: -1}} {
		_, err := store.Save(ctx(t), ann("negative"), change)
		want(t, "negative", err, tools.CodeToolInput)
		want(t, "negative", store.Delete(ctx(t), key, change.Version, change.Fence), tools.CodeToolInput)
	}
	for _, limit := range []int64{-1, state.PageRecords.Hard + 1} {
		_, err := store.List(ctx(t), ann(""), "", limit)
		want(t, "a page", err, tools.CodeToolInput)
	}
}

// names that a careless store would take for one another, or for paths.
func names(t *testing.T, s *Suite) {
	store := s.fresh(t)
	odd := []string{
		"a", "A", "a ", " a", "ä", "a\u0308", "..", ".", "/", "../../etc/passwd", "a/b", "a\\b", "con", "a\nb", "%61", "a%", "a_", "a'b", "\"", "$1", "\u202e", "🙂", "-",
	}
	for _, name := range odd {
		mustSave(t, store, ann(name), state.Change{Data: []byte(name)})
	}
	for _, name := range odd {
		if got := mustLoad(t, store, ann(name)); string(got.Data) != name || got.Key.Name != name || got.Version != 1 {
			t.Errorf("%q: %+v", name, got)
		}
	}
	for _, namespace := range odd {
		mustSave(t, store, state.Key{Namespace: namespace, Name: "x"}, state.Change{Data: []byte(namespace)})
	}
	for _, namespace := range odd {
		page, err := store.List(ctx(t), state.Key{Namespace: namespace}, "", 0)
		if err != nil || len(page.Records) != 1 || string(page.Records[0].Data) != namespace {
			t.Errorf("namespace %q: %v, %v", namespace, page.Records, err)
		}
	}
}

func deleting(t *testing.T, s *Suite) {
	store, key := s.fresh(t), ann("record")
	want(t, "what is not there", store.Delete(ctx(t), key, 0, 0), tools.CodeNotFound)
	want(t, "what is not there", store.Delete(ctx(t), key, 1, 0), tools.CodeNotFound)
	mustSave(t, store, key, state.Change{Fence: 4})
	for _, version := range []int64{0, 2} {
		want(t, "another version", store.Delete(ctx(t), key, version, 4), tools.CodeStateConflict)
	}
	if err := store.Delete(ctx(t), key, 1, 4); err != nil {
		t.Fatal(err)
	}
	_, err := store.Load(ctx(t), key)
	want(t, "what was deleted", err, tools.CodeNotFound)
	other := key
	other.Owner.User = "bob"
	if got := mustSave(t, store, other, state.Change{}); got.Version != 1 || got.Fence != 0 {
		t.Errorf("a free name: %+v", got)
	}
}

func lists(t *testing.T, s *Suite) {
	store := s.fresh(t)
	page, err := store.List(ctx(t), ann(""), "", 0)
	if err != nil || len(page.Records) != 0 || page.Next != "" {
		t.Errorf("an empty store: %+v, %v", page, err)
	}
	const count = 25
	for i := range count {
		mustSave(t, store, ann(fmt.Sprint(i)), state.Change{Data: []byte(fmt.Sprint(i))})
		mustSave(t, store, state.Key{Namespace: "test", Name: fmt.Sprint("other ", i)}, state.Change{})
	}
	for _, limit := range []int64{1, 7, 25, 100, 0} {
		seen := map[string]bool{}
		for cursor, pages := "", 0; ; pages++ {
			page, err := store.List(ctx(t), ann(""), cursor, limit)
			if err != nil || pages > 2*count || limit > 0 && int64(len(page.Records)) > limit {
				t.Fatalf("limit %d: %d records, %v after %d pages", limit, len(page.Records), err, pages)
			}
			for _, record := range page.Records {
				if seen[record.Key.Name] || string(record.Data) != record.Key.Name || record.Key != ann(record.Key.Name) {
					t.Errorf("limit %d: %+v", limit, record)
				}
				seen[record.Key.Name] = true
			}
			// What changes meanwhile does not move the rest.
			if pages == 0 && limit == 7 {
				first := page.Records[0]
				mustSave(t, store, first.Key, state.Change{Version: first.Version, Data: first.Data})
			}
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		if len(seen) != count {
			t.Errorf("limit %d: %d of %d records", limit, len(seen), count)
		}
	}
}

func ends(t *testing.T, s *Suite) {
	store, err := s.checkpoints(s.New(t))
	if err != nil {
		t.Fatal(err)
	}
	mustSave(t, store, ann("record"), state.Change{})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = store.Save(over, ann("late"), state.Change{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("saving when the context is over: %v", err)
	}
	for range 2 {
		if err := store.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	_, err = store.Load(ctx(t), ann("record"))
	want(t, "after Close", err, tools.CodeStateUnavailable)
	_, err = store.Save(ctx(t), ann("record"), state.Change{Version: 1})
	want(t, "after Close", err, tools.CodeStateUnavailable)
	_, err = store.List(ctx(t), ann(""), "", 0)
	want(t, "after Close", err, tools.CodeStateUnavailable)
	want(t, "after Close", store.Delete(ctx(t), ann("record"), 1, 0), tools.CodeStateUnavailable)
}
