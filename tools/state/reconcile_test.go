package state_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

func TestCompare(t *testing.T) {
	none := tools.Seen{}
	file := func(text string) tools.Seen { return tools.Seen{Exists: true, Mode: 0o100644, SHA256: text} }
	script := tools.Seen{Exists: true, Mode: 0o100755, SHA256: "old"}
	large := tools.Seen{Exists: true, Mode: 0o100644}
	dir := tools.Seen{Exists: true, Mode: 0o040750}
	link := tools.Seen{Exists: true, Mode: 0o120777, SHA256: "old"}
	write := tools.Witness{Path: "a", Before: file("old"), After: file("new")}
	drop := tools.Witness{Path: "b", Before: file("old"), After: none}
	commit := tools.Witness{Ref: "r", Repository: "/", Before: tools.Seen{Exists: true, ID: "1"}, After: tools.Seen{Exists: true, ID: "2"}}
	aside := tools.Witness{Ref: "copy", Repository: "/", Aside: true, After: tools.Seen{Exists: true, ID: "9"}}
	for _, c := range []struct {
		name string
		list []tools.Witness
		now  []tools.Seen // by what it is of, in order of the list
		want state.Finding
	}{
		{"written", []tools.Witness{write}, []tools.Seen{file("new")}, state.FoundCommitted},
		{"not written", []tools.Witness{write}, []tools.Seen{file("old")}, state.FoundNotApplied},
		{"somebody else wrote", []tools.Witness{write}, []tools.Seen{file("other")}, state.FoundUnknown},
		{"somebody else changed the mode", []tools.Witness{write}, []tools.Seen{script}, state.FoundUnknown},
		{"what was to be written is gone", []tools.Witness{write}, []tools.Seen{none}, state.FoundUnknown},
		{"there is a link instead", []tools.Witness{write}, []tools.Seen{link}, state.FoundUnknown},
		{"deleted", []tools.Witness{drop}, []tools.Seen{none}, state.FoundCommitted},
		{"deleted and made again", []tools.Witness{drop}, []tools.Seen{file("new")}, state.FoundUnknown},
		{"both", []tools.Witness{write, drop}, []tools.Seen{file("new"), none}, state.FoundCommitted},
		{"neither", []tools.Witness{write, drop}, []tools.Seen{file("old"), file("old")}, state.FoundNotApplied},
		{"one of two", []tools.Witness{write, drop}, []tools.Seen{file("new"), file("old")}, state.FoundUnknown},
		{"too large to be read", []tools.Witness{{Path: "a", Before: none, After: large}}, []tools.Seen{large}, state.FoundUnknown},
		{"too large, and not there", []tools.Witness{{Path: "a", Before: none, After: large}}, []tools.Seen{none}, state.FoundNotApplied},
		{"a directory of unknown mode", []tools.Witness{{Path: "a", After: tools.Seen{Exists: true, Mode: 0o040000}}}, []tools.Seen{dir}, state.FoundCommitted},
		{"a file instead of it", []tools.Witness{{Path: "a", After: tools.Seen{Exists: true, Mode: 0o040000}}}, []tools.Seen{file("x")}, state.FoundUnknown},
		{"a commit", []tools.Witness{commit}, []tools.Seen{{Exists: true, ID: "2"}}, state.FoundCommitted},
		{"no commit", []tools.Witness{commit}, []tools.Seen{{Exists: true, ID: "1"}}, state.FoundNotApplied},
		{"others committed", []tools.Witness{commit}, []tools.Seen{{Exists: true, ID: "3"}}, state.FoundUnknown},
		{"a commit and a file that does not go with it", []tools.Witness{commit, write}, []tools.Seen{{Exists: true, ID: "2"}, file("old")}, state.FoundUnknown},
		{"step by step", []tools.Witness{write, {Path: "a", Before: file("new"), After: file("newer")}}, []tools.Seen{file("newer")}, state.FoundCommitted},
		{"the first step alone", []tools.Witness{write, {Path: "a", Before: file("new"), After: file("newer")}}, []tools.Seen{file("new")}, state.FoundUnknown},
		{"taken back", []tools.Witness{write, {Path: "a", Before: file("new"), After: file("old")}}, []tools.Seen{file("old")}, state.FoundNotApplied},
		{"nothing to look at", nil, nil, state.FoundUnknown},
		{"a copy for safety, and then nothing", []tools.Witness{aside, commit}, []tools.Seen{{Exists: true, ID: "9"}, {Exists: true, ID: "1"}}, state.FoundNotApplied},
		{"only a copy for safety", []tools.Witness{aside}, []tools.Seen{{Exists: true, ID: "9"}}, state.FoundUnknown},
		{"a part that cannot be looked at", []tools.Witness{write, {}}, []tools.Seen{file("new")}, state.FoundUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := map[string]tools.Seen{}
			for i, seen := range c.now {
				now[c.list[i].Name()] = seen
			}
			look := func(_ context.Context, w tools.Witness) (tools.Seen, error) { return now[w.Name()], nil }
			found, why := state.Compare(t.Context(), c.list, look)
			if found != c.want || (found == state.FoundUnknown) != (why != "") {
				t.Errorf("got %s, %q, want %s", found, why, c.want)
			}
		})
	}
	dark := func(context.Context, tools.Witness) (tools.Seen, error) {
		return tools.Seen{}, tools.Errorf(tools.CodePermission, "no light")
	}
	if found, why := state.Compare(t.Context(), []tools.Witness{write}, dark); found != state.FoundUnknown || !strings.Contains(why, "no light") {
		t.Errorf("got %s, %s", found, why)
	}
}

// TestReconcile: only what is in doubt is decided, and only what can be told.
func TestReconcile(t *testing.T) {
	store := state.NewMemory(nil).Effects()
	owner := state.Owner{User: "me"}
	look := func(context.Context, tools.Witness) (tools.Seen, error) {
		return tools.Seen{Exists: true, ID: "2"}, nil
	}
	begin := func(run, after string, ended bool) state.Effect {
		t.Helper()
		w := tools.Witness{Ref: "r", Before: tools.Seen{Exists: true, ID: "1"}, After: tools.Seen{Exists: true, ID: after}}
		e, err := store.Begin(t.Context(), owner, state.EffectIdentity{Run: run, Operation: "op"}, &state.EffectOptions{Dispatched: true, Witnesses: []tools.Witness{w}})
		if err != nil {
			t.Fatal(err)
		}
		if ended {
			if err := store.MarkUnknown(t.Context(), state.EffectClaim{Owner: owner, Key: e.Key, Token: e.Claim}, "lost"); err != nil {
				t.Fatal(err)
			}
		}
		return e
	}
	done, err := state.Reconcile(t.Context(), store, begin("happened", "2", true), look)
	if got, _ := store.Get(t.Context(), owner, done.Effect.Key); err != nil || done.Finding != state.FoundCommitted || got.State != state.EffectCompleted {
		t.Errorf("%+v, %v, %s", done, err, got.State)
	}
	done, err = state.Reconcile(t.Context(), store, begin("elsewhere", "3", true), look)
	if got, _ := store.Get(t.Context(), owner, done.Effect.Key); err != nil || done.Finding != state.FoundUnknown || got.State != state.EffectUnknown {
		t.Errorf("%+v, %v, %s", done, err, got.State)
	}
	if done, err = state.Reconcile(t.Context(), store, begin("blind", "2", true), nil); err != nil || done.Finding != state.FoundUnknown {
		t.Errorf("%+v, %v", done, err)
	}
	if _, err = state.Reconcile(t.Context(), store, begin("under way", "2", false), look); !errors.Is(err, tools.CodeStateConflict) {
		t.Errorf("got %v", err)
	}
}
