package builtin_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
)

func guarded(t *testing.T) *host {
	return newHost(t, func(d *builtin.Deps, _ *tools.RegistryOptions) { d.RequireReadBeforeWrite = true })
}

func TestGuard(t *testing.T) {
	h := guarded(t)
	h.write("a", "one\n")
	edit := args{"path": "a", "edits": []args{{"oldText": "one", "newText": "two"}}}
	h.fails("write", args{"path": "a", "content": "x"}, tools.CodeUnread)
	h.fails("edit", edit, tools.CodeUnread)
	h.fails("edit", args{"files": []args{edit}}, tools.CodeUnread)
	if h.content("a") != "one\n" {
		t.Fatal("the file has changed")
	}
	h.ok("read", args{"path": "./a"}, nil)
	h.ok("edit", edit, nil)

	// What one session has read does not count for another, nor for another owner.
	for _, opts := range []tools.CallOptions{{Session: "other", Owner: "o"}, {Session: "s", Owner: "other"}} {
		result := h.callAs(t.Context(), "write", args{"path": "a", "content": "x"}, opts)
		if result.Err == nil || result.Err.Code != tools.CodeUnread {
			t.Errorf("%+v: %v", opts, result.Err)
		}
	}
	// A failed read is none.
	h.write("b", "x")
	h.fails("read", args{"path": "b", "offset": 5}, tools.CodeOutOfRange)
	h.fails("write", args{"path": "b", "content": "y"}, tools.CodeUnread)
	h.ok("write", args{"path": "b", "content": "y", "force": true}, nil)

	h.fails("edit", args{"path": "absent", "edits": []args{{"oldText": "a", "newText": "b"}}}, tools.CodeNotFound)
	h.ok("move", args{"from": "a", "to": "renamed"}, nil)
	h.ok("write", args{"path": "renamed", "content": "x"}, nil)

	// A new file needs no reading, and is known from then on.
	h.ok("write", args{"path": "new/c", "content": "1"}, nil)
	h.ok("write", args{"path": "new/c", "content": "2"}, nil)
}

// memoryStore is a ReadPathStore.
type memoryStore map[string][]byte

func (m memoryStore) SaveReadPaths(_ context.Context, session string, document []byte) error {
	m[session] = document
	return nil
}

func (m memoryStore) LoadReadPaths(_ context.Context, session string) ([]byte, error) {
	return m[session], nil
}

func TestGuardPersists(t *testing.T) {
	h := guarded(t)
	h.write("a", "one\n")
	h.ok("read", args{"path": "a"}, nil)
	store := memoryStore{}
	if err := h.deps.ReadPaths.Save(t.Context(), store, "o", "s"); err != nil {
		t.Fatal(err)
	}
	h.deps.ReadPaths.Forget("o", "s")
	h.fails("write", args{"path": "a", "content": "x"}, tools.CodeUnread)
	if _, err := h.deps.ReadPaths.Restore(t.Context(), store, "thief", "s"); tools.AsError(err) == nil || tools.AsError(err).Code != tools.CodeExecutionDenied {
		t.Errorf("another owner restores: %v", err)
	}
	if n, err := h.deps.ReadPaths.Restore(t.Context(), store, "o", "s"); n != 1 || err != nil {
		t.Errorf("restored %d, %v", n, err)
	}
	h.ok("write", args{"path": "a", "content": "x"}, nil)

	store["s"] = []byte("{")
	if _, err := h.deps.ReadPaths.Restore(t.Context(), store, "o", "s"); err == nil {
		t.Error("a broken document restores")
	}
	store["s"] = []byte(`{"owner":"o","paths":["` + strings.Repeat("x", 1025) + `"]}`)
	if _, err := h.deps.ReadPaths.Restore(t.Context(), store, "o", "s"); err == nil {
		t.Error("an overlong path restores")
	}
	for i := range 1025 {
		h.write(fmt.Sprint("many/", i), "")
		h.ok("read", args{"path": fmt.Sprint("many/", i)}, nil)
	}
	delete(store, "s")
	if err := h.deps.ReadPaths.Save(t.Context(), store, "o", "s"); tools.AsError(err) == nil || tools.AsError(err).Code != tools.CodeLimit || store["s"] != nil {
		t.Errorf("more than 1024 paths: %v, saved %d bytes", err, len(store["s"]))
	}
}
