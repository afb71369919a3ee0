package builtin_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/state"
)

// keptReads is a host whose set of read paths is kept in store.
func keptReads(t *testing.T, root string, store state.CheckpointStore) *host {
	h := hostAt(t, root, t.TempDir(), func(d *builtin.Deps, _ *tools.RegistryOptions) {
		d.RequireReadBeforeWrite = true
		d.ReadPaths.Keep(builtin.KeptReadPaths{
			Store: func(owner string) builtin.ReadPathStore {
				return builtin.NewReadPathRecords(store, state.Owner{User: owner})
			},
			Name: func(owner string) string { return owner + " in here" },
		})
	})
	return h
}

func as(owner, session string) tools.CallOptions {
	return tools.CallOptions{Owner: owner, Session: session}
}

// TestAnAgentThatStartsAnewHasReadWhatItHad: in another process and session, but as the
// same owner.
func TestAnAgentThatStartsAnewHasReadWhatItHad(t *testing.T) {
	store, err := state.NewFiles(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, name := range []string{"a", "b"} {
		put(t, root, name, "old\n")
	}
	first := keptReads(t, root, store)
	for _, name := range []string{"a", "b"} { // the second follows too soon to be saved at once
		if result := first.callAs(t.Context(), "read", args{"path": name}, as("ann", "one")); result.Err != nil {
			t.Fatal(result.Err)
		}
	}
	// Killed: what was read last is not known, and refused.
	killed := keptReads(t, root, store)
	if result := killed.callAs(t.Context(), "write", args{"path": "a", "content": "new\n"}, as("ann", "two")); result.Err != nil {
		t.Error(result.Err)
	}
	if result := killed.callAs(t.Context(), "write", args{"path": "b", "content": "new\n"}, as("ann", "two")); !errors.Is(result.Err, tools.CodeUnread) {
		t.Error(result.Err)
	}
	// Ended as it should.
	first.deps.ReadPaths.Flush(t.Context())
	ended := keptReads(t, root, store)
	if result := ended.callAs(t.Context(), "write", args{"path": "b", "content": "new\n"}, as("bob", "one")); !errors.Is(result.Err, tools.CodeUnread) {
		t.Errorf("another owner: %v", result.Err)
	}
	if result := ended.callAs(t.Context(), "write", args{"path": "b", "content": "new\n"}, as("ann", "three")); result.Err != nil {
		t.Error(result.Err)
	}
}

func TestReadPathsWithoutTheirStore(t *testing.T) {
	store, err := state.NewFiles("", nil)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	put(t, root, "a", "old\n")
	h := keptReads(t, root, store)
	if result := h.callAs(t.Context(), "write", args{"path": "a", "content": "new\n"}, as("ann", "one")); !errors.Is(result.Err, tools.CodeUnread) {
		t.Error(result.Err)
	}
	if result := h.callAs(t.Context(), "read", args{"path": "a"}, as("ann", "one")); result.Err != nil {
		t.Error(result.Err)
	}
	if result := h.callAs(t.Context(), "write", args{"path": "a", "content": "new\n"}, as("ann", "one")); result.Err != nil {
		t.Error(result.Err)
	}
	h.deps.ReadPaths.Flush(t.Context())
}

func TestReadPathRecords(t *testing.T) {
	dir := t.TempDir()
	store, err := state.NewFiles(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	mine, others := builtin.NewReadPathRecords(store, state.Owner{User: "ann"}), builtin.NewReadPathRecords(store, state.Owner{User: "bob"})
	if document, err := mine.LoadReadPaths(t.Context(), "s"); err != nil || document != nil {
		t.Errorf("%q, %v", document, err)
	}
	for _, text := range []string{"one", "two"} {
		if err := mine.SaveReadPaths(t.Context(), "s", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if document, err := mine.LoadReadPaths(t.Context(), "s"); err != nil || string(document) != "two" {
		t.Errorf("%q, %v", document, err)
	}
	if document, err := others.LoadReadPaths(t.Context(), "s"); !errors.Is(err, tools.CodeStateOwnership) || len(document) > 0 {
		t.Errorf("another owner: %q, %v", document, err)
	}
	if err := others.SaveReadPaths(t.Context(), "s", nil); !errors.Is(err, tools.CodeStateOwnership) {
		t.Errorf("another owner: %v", err)
	}
}

// TestReadPathCaps: a set that is too large is not kept in part.
func TestReadPathCaps(t *testing.T) {
	store, err := state.NewFiles(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	records := builtin.NewReadPathRecords(store, state.Owner{User: "o"})
	h := newHost(t, nil)
	for i := range 1025 {
		name := fmt.Sprint("f", i)
		if err := os.WriteFile(filepath.Join(h.root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		h.ok("read", args{"path": name}, nil)
		if i == 1023 {
			if err := h.deps.ReadPaths.Save(t.Context(), records, "o", "s"); err != nil {
				t.Error(err)
			}
		}
	}
	if err := h.deps.ReadPaths.Save(t.Context(), records, "o", "s"); !errors.Is(err, tools.CodeLimit) {
		t.Error(err)
	}
	if n, err := builtin.NewReadPathSet().Restore(t.Context(), records, "o", "s"); n != 1024 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if err := records.SaveReadPaths(t.Context(), "s", []byte(`{"owner":"o","paths":["`+strings.Repeat("x", 1025)+`"]}`)); err != nil {
		t.Fatal(err)
	}
	if n, err := builtin.NewReadPathSet().Restore(t.Context(), records, "o", "s"); n != 0 || !errors.Is(err, tools.CodeLimit) {
		t.Errorf("%d, %v", n, err)
	}
}

// TestASessionThatIsForgottenIsKept: forgetting it in this process is no forgetting of
// what is kept.
func TestASessionThatIsForgottenIsKept(t *testing.T) {
	store, err := state.NewFiles(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	h := keptReads(t, root, store)
	for _, name := range []string{"a", "b"} { // the second is not saved at once
		put(t, root, name, "old\n")
		if result := h.callAs(t.Context(), "read", args{"path": name}, as("ann", "one")); result.Err != nil {
			t.Fatal(result.Err)
		}
	}
	h.deps.ReadPaths.Forget("ann", "one")
	h.deps.ReadPaths.Flush(t.Context())
	again := keptReads(t, root, store)
	if result := again.callAs(t.Context(), "write", args{"path": "a", "content": "new\n"}, as("ann", "two")); result.Err != nil {
		t.Error(result.Err)
	}
}
