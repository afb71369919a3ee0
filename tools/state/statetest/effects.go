package statetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

func identity(run string) state.EffectIdentity {
	return state.EffectIdentity{Tenant: "t", Session: "s", Run: run, Operation: "write", Arguments: json.RawMessage(`{"path":"a","n":1}`)}
}

func begin(t testing.TB, store state.EffectStore, run string, opts *state.EffectOptions) (state.Effect, state.EffectClaim) {
	t.Helper()
	effect, err := store.Begin(ctx(t), ann("").Owner, identity(run), opts)
	must(t, "beginning "+run, err)
	if effect.State != state.EffectPending || effect.Claim < 1 {
		t.Fatalf("begun as %+v", effect)
	}
	return effect, state.EffectClaim{Owner: effect.Owner, Key: effect.Key, Token: effect.Claim}
}

func get(t testing.TB, store state.EffectStore, key string) state.Effect {
	t.Helper()
	effect, err := store.Get(ctx(t), ann("").Owner, key)
	must(t, "getting "+key, err)
	return effect
}

// inDoubt checks the error of Begin for what is unknown.
func inDoubt(t testing.TB, store state.EffectStore, run string) {
	t.Helper()
	_, err := store.Begin(ctx(t), ann("").Owner, identity(run), nil)
	want(t, run, err, tools.CodeEffectUnknown)
	var coded *tools.Error
	if !errors.As(err, &coded) {
		return
	}
	if effect, ok := coded.Details.(state.Effect); !ok || effect.State != state.EffectUnknown || effect.Reason == "" {
		t.Errorf("%s: details %+v", run, coded.Details)
	}
}

var someWitnesses = []tools.Witness{
	{Path: "a b\n.txt", Before: tools.Seen{Exists: true, Mode: 0o100644, SHA256: strings.Repeat("0", 64)}, After: tools.Seen{Exists: true, Mode: 0o100644, SHA256: strings.Repeat("f", 64)}},
	{Path: "not \xff UTF-8", Before: tools.Seen{Exists: true, Mode: 0o100755}},
	{Ref: "refs/heads/ä", Repository: "/r", Before: tools.Seen{}, After: tools.Seen{Exists: true, ID: strings.Repeat("1", 40)}},
}

func effectOnce(t *testing.T, s *Suite) {
	store := s.freshStores(t).Effects()
	begun, claim := begin(t, store, "run", nil)
	key, err := identity("run").Key()
	if err != nil || begun.Key != key || begun.Attempts != 1 || begun.Operation != "write" || begun.Owner != ann("").Owner {
		t.Errorf("%+v, %v", begun, err)
	}
	same := identity("run")
	same.Arguments = json.RawMessage(`{ "n": 1, "path": "\u0061" }`)
	_, err = store.Begin(ctx(t), ann("").Owner, same, nil)
	want(t, "the same, written otherwise", err, tools.CodeStateConflict)
	other, _ := begin(t, store, "another run", nil)
	if other.Key == begun.Key {
		t.Error("another run has the same key")
	}
	must(t, "dispatching", store.MarkDispatched(ctx(t), claim, someWitnesses[:1]))
	must(t, "dispatching more", store.MarkDispatched(ctx(t), claim, someWitnesses[1:]))
	got := get(t, store, key)
	if got.State != state.EffectDispatched || !reflect.DeepEqual(got.Witnesses, someWitnesses) {
		t.Errorf("dispatched %+v", got)
	}
	_, err = store.Begin(ctx(t), ann("").Owner, identity("run"), nil)
	want(t, "dispatched", err, tools.CodeStateConflict)
	result := []byte("{\"done\": \"\x00\xff\"}")
	must(t, "completing", store.Complete(ctx(t), claim, result))
	for range 2 {
		replayed, err := store.Begin(ctx(t), ann("").Owner, identity("run"), nil)
		if err != nil || replayed.State != state.EffectCompleted || string(replayed.Result) != string(result) || replayed.Attempts != 1 {
			t.Errorf("replayed as %+v, %v", replayed, err)
		}
	}
	want(t, "completing twice", store.Complete(ctx(t), claim, nil), tools.CodeStateConflict)
	want(t, "failing what is complete", store.Fail(ctx(t), claim, true, ""), tools.CodeStateConflict)
}

func effectSteps(t *testing.T, s *Suite) {
	store := s.freshStores(t).Effects()
	_, claim := begin(t, store, "run", nil)
	want(t, "doubt before anything", store.MarkUnknown(ctx(t), claim, "?"), tools.CodeStateConflict)
	must(t, "failing", store.Fail(ctx(t), claim, true, "disk full"))
	if got := get(t, store, claim.Key); got.State != state.EffectFailedRetryable || got.Reason != "disk full" {
		t.Errorf("%+v", got)
	}
	again, second := begin(t, store, "run", nil)
	if again.Attempts != 2 || again.Claim <= claim.Token || again.Reason != "" {
		t.Errorf("%+v", again)
	}
	want(t, "the claim before", store.MarkDispatched(ctx(t), claim, nil), tools.CodeStateFence)
	want(t, "the claim before", store.Complete(ctx(t), claim, nil), tools.CodeStateFence)
	want(t, "the claim before", store.Fail(ctx(t), claim, false, ""), tools.CodeStateFence)
	must(t, "dispatching", store.MarkDispatched(ctx(t), second, nil))
	must(t, "failing for good", store.Fail(ctx(t), second, false, "never"))
	final, err := store.Begin(ctx(t), ann("").Owner, identity("run"), nil)
	if err != nil || final.State != state.EffectFailedTerminal || final.Reason != "never" {
		t.Errorf("%+v, %v", final, err)
	}
	// What changes nothing completes without being dispatched.
	_, claim = begin(t, store, "nothing to do", nil)
	must(t, "completing at once", store.Complete(ctx(t), claim, []byte("as it was")))
	missing := claim
	missing.Key = strings.Repeat("0", 64)
	want(t, "what is not there", store.Complete(ctx(t), missing, nil), tools.CodeNotFound)
	_, err = store.Get(ctx(t), ann("").Owner, missing.Key)
	want(t, "what is not there", err, tools.CodeNotFound)
	// Attempts are counted.
	for i := range state.EffectAttempts.Default {
		_, claim = begin(t, store, "again and again", nil)
		must(t, fmt.Sprint("failing ", i), store.Fail(ctx(t), claim, true, ""))
	}
	_, err = store.Begin(ctx(t), ann("").Owner, identity("again and again"), nil)
	want(t, "used up", err, tools.CodeStateLimit)
	begin(t, store, "again and again", &state.EffectOptions{Attempts: state.EffectAttempts.Hard})
}

// effectAtOnce claims and dispatches in one step, which is all or nothing as well.
func effectAtOnce(t *testing.T, s *Suite) {
	store, owner := s.freshStores(t).Effects(), ann("").Owner
	opts := &state.EffectOptions{Dispatched: true, Witnesses: someWitnesses}
	effect, err := store.Begin(ctx(t), owner, identity("run"), opts)
	must(t, "beginning", err)
	for _, got := range []state.Effect{effect, get(t, store, effect.Key)} {
		if got.State != state.EffectDispatched || !reflect.DeepEqual(got.Witnesses, someWitnesses) || got.Attempts != 1 {
			t.Errorf("%+v", got)
		}
	}
	claim := state.EffectClaim{Owner: owner, Key: effect.Key, Token: effect.Claim}
	must(t, "dispatching more", store.MarkDispatched(ctx(t), claim, someWitnesses[:1]))
	if got := get(t, store, effect.Key); len(got.Witnesses) != len(someWitnesses)+1 {
		t.Errorf("%+v", got)
	}
	must(t, "failing", store.Fail(ctx(t), claim, true, ""))
	again, err := store.Begin(ctx(t), owner, identity("run"), &state.EffectOptions{Dispatched: true})
	if err != nil || again.State != state.EffectDispatched || len(again.Witnesses) != 0 || again.Attempts != 2 {
		t.Errorf("%+v, %v", again, err)
	}
	huge := slices.Repeat(someWitnesses, int(state.EffectResultBytes.Hard)/100)
	_, err = store.Begin(ctx(t), owner, identity("too many"), &state.EffectOptions{Dispatched: true, Witnesses: huge})
	want(t, "too many witnesses", err, tools.CodeStateLimit)
	begin(t, store, "too many", nil)
}

func effectExpires(t *testing.T, s *Suite) {
	store := s.freshStores(t).Effects()
	brief := &state.EffectOptions{TTL: short}
	_, pending := begin(t, store, "pending", brief)
	_, dispatched := begin(t, store, "dispatched", brief)
	must(t, "dispatching", store.MarkDispatched(ctx(t), dispatched, someWitnesses))
	over()
	for _, claim := range []state.EffectClaim{pending, dispatched} {
		want(t, "dispatching too late", store.MarkDispatched(ctx(t), claim, nil), tools.CodeStateFence)
		want(t, "completing too late", store.Complete(ctx(t), claim, nil), tools.CodeStateFence)
		want(t, "failing too late", store.Fail(ctx(t), claim, true, ""), tools.CodeStateFence)
	}
	if again, _ := begin(t, store, "pending", nil); again.Attempts != 2 || again.Claim <= pending.Token {
		t.Errorf("%+v", again)
	}
	if got := get(t, store, dispatched.Key); got.State != state.EffectUnknown || !reflect.DeepEqual(got.Witnesses, someWitnesses) {
		t.Errorf("%+v", got)
	}
	page, err := store.List(ctx(t), ann("").Owner, []state.EffectState{state.EffectUnknown}, "", 0)
	if err != nil || len(page.Effects) != 1 || page.Effects[0].Key != dispatched.Key || page.Effects[0].State != state.EffectUnknown {
		t.Errorf("unknown: %+v, %v", page, err)
	}
	page, err = store.List(ctx(t), ann("").Owner, []state.EffectState{state.EffectDispatched}, "", 0)
	if err != nil || len(page.Effects) != 0 {
		t.Errorf("dispatched: %+v, %v", page, err)
	}
	// The first is resolved before anybody has noticed, the second after.
	_, second := begin(t, store, "second", brief)
	must(t, "dispatching", store.MarkDispatched(ctx(t), second, nil))
	must(t, "resolving", store.ResolveUnknown(ctx(t), ann("").Owner, dispatched.Key, state.EffectResolution{State: state.EffectFailedRetryable}))
	begin(t, store, "dispatched", nil)
	over()
	inDoubt(t, store, "second")
	inDoubt(t, store, "second")
}

func effectDoubt(t *testing.T, s *Suite) {
	store, owner := s.freshStores(t).Effects(), ann("").Owner
	for _, resolution := range []state.EffectResolution{
		{State: state.EffectCompleted, Result: []byte("it did")}, {State: state.EffectFailedTerminal, Reason: "given up"}, {State: state.EffectFailedRetryable, Reason: "it did not"},
	} {
		run := string(resolution.State)
		_, claim := begin(t, store, run, nil)
		want(t, "no doubt", store.ResolveUnknown(ctx(t), owner, claim.Key, resolution), tools.CodeStateConflict)
		must(t, "dispatching", store.MarkDispatched(ctx(t), claim, someWitnesses))
		want(t, "no doubt yet", store.ResolveUnknown(ctx(t), owner, claim.Key, resolution), tools.CodeStateConflict)
		must(t, "doubting", store.MarkUnknown(ctx(t), claim, "the connection broke"))
		inDoubt(t, store, run)
		want(t, "completing what is unknown", store.Complete(ctx(t), claim, nil), tools.CodeStateConflict)
		for _, wrong := range []state.EffectState{state.EffectPending, state.EffectDispatched, state.EffectUnknown, "", "other"} {
			want(t, "resolving as "+string(wrong), store.ResolveUnknown(ctx(t), owner, claim.Key, state.EffectResolution{State: wrong}), tools.CodeToolInput)
		}
		must(t, "resolving", store.ResolveUnknown(ctx(t), owner, claim.Key, resolution))
		if got := get(t, store, claim.Key); got.State != resolution.State || string(got.Result) != string(resolution.Result) || got.Reason != resolution.Reason {
			t.Errorf("%+v", got)
		}
		want(t, "resolving twice", store.ResolveUnknown(ctx(t), owner, claim.Key, resolution), tools.CodeStateConflict)
	}
	begin(t, store, string(state.EffectFailedRetryable), nil)
	want(t, "what is not there", store.ResolveUnknown(ctx(t), owner, strings.Repeat("0", 64), state.EffectResolution{State: state.EffectCompleted}), tools.CodeNotFound)
}

func effectOwners(t *testing.T, s *Suite) {
	store := s.freshStores(t).Effects()
	_, claim := begin(t, store, "run", nil)
	other := bob("").Owner
	_, err := store.Begin(ctx(t), other, identity("run"), nil)
	want(t, "beginning", err, tools.CodeStateOwnership)
	_, err = store.Get(ctx(t), other, claim.Key)
	want(t, "getting", err, tools.CodeStateOwnership)
	stolen := claim
	stolen.Owner = other
	want(t, "dispatching", store.MarkDispatched(ctx(t), stolen, nil), tools.CodeStateOwnership)
	want(t, "completing", store.Complete(ctx(t), stolen, nil), tools.CodeStateOwnership)
	want(t, "failing", store.Fail(ctx(t), stolen, true, ""), tools.CodeStateOwnership)
	want(t, "doubting", store.MarkUnknown(ctx(t), stolen, ""), tools.CodeStateOwnership)
	want(t, "resolving", store.ResolveUnknown(ctx(t), other, claim.Key, state.EffectResolution{State: state.EffectCompleted}), tools.CodeStateOwnership)
	page, err := store.List(ctx(t), other, nil, "", 0)
	if err != nil || len(page.Effects) != 0 {
		t.Errorf("%+v, %v", page, err)
	}
	must(t, "completing", store.Complete(ctx(t), claim, nil))
	if n, err := store.Cleanup(ctx(t), other, time.Now().Add(time.Hour), 0); n != 0 || err != nil {
		t.Errorf("cleaned up %d of another owner's, %v", n, err)
	}
}

func effectLimits(t *testing.T, s *Suite) {
	store, owner := s.freshStores(t).Effects(), ann("").Owner
	for _, opts := range []state.EffectOptions{{TTL: -1}, {TTL: time.Duration(state.EffectTime.Hard)*time.Second + 1}, {Attempts: -1}, {Attempts: state.EffectAttempts.Hard + 1}} {
		_, err := store.Begin(ctx(t), owner, identity("run"), &opts)
		want(t, fmt.Sprintf("%+v", opts), err, tools.CodeToolInput)
	}
	for _, arguments := range []string{`{"a":1,"a":2}`, `{"a":1.5}`, `{`, "{\"a\":\"\xff\"}", strings.Repeat("[", tools.MaxDepth+1) + strings.Repeat("]", tools.MaxDepth+1)} {
		wrong := identity("run")
		wrong.Arguments = json.RawMessage(arguments)
		_, err := store.Begin(ctx(t), owner, wrong, nil)
		want(t, arguments, err, tools.CodeToolInput)
	}
	_, claim := begin(t, store, "run", nil)
	much := make([]byte, state.EffectResultBytes.Default)
	want(t, "a long reason", store.Fail(ctx(t), claim, true, strings.Repeat("r", int(state.ReasonBytes.Hard)+1)), tools.CodeStateLimit)
	want(t, "a reason with NUL", store.Fail(ctx(t), claim, true, "\x00"), tools.CodeToolInput)
	want(t, "much to witness", store.MarkDispatched(ctx(t), claim, []tools.Witness{{Path: string(make([]byte, len(much)))}}), tools.CodeStateLimit)
	want(t, "a large result", store.Complete(ctx(t), claim, append(much, 0)), tools.CodeStateLimit)
	if got := get(t, store, claim.Key); got.State != state.EffectPending {
		t.Errorf("what was refused changed it: %+v", got)
	}
	must(t, "as much as may be", store.Complete(ctx(t), claim, much))
	if got := get(t, store, claim.Key); len(got.Result) != len(much) {
		t.Errorf("%d bytes", len(got.Result))
	}
}

func effectLists(t *testing.T, s *Suite) {
	store, owner := s.freshStores(t).Effects(), ann("").Owner
	const count = 9
	for i := range count {
		_, claim := begin(t, store, fmt.Sprint(i), nil)
		switch i % 3 {
		case 0:
			must(t, "completing", store.Complete(ctx(t), claim, nil))
		case 1:
			must(t, "dispatching", store.MarkDispatched(ctx(t), claim, nil))
			must(t, "doubting", store.MarkUnknown(ctx(t), claim, "?"))
		}
	}
	for _, limit := range []int64{1, 2, 9, 0} {
		for states, most := range map[string]int{"": count, "completed": 3, "unknown": 3, "pending completed": 6, "failed_terminal": 0} {
			var of []state.EffectState
			for _, name := range strings.Fields(states) {
				of = append(of, state.EffectState(name))
			}
			seen := map[string]bool{}
			for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
				page, err := store.List(ctx(t), owner, of, cursor, limit)
				if err != nil || pages > count || limit > 0 && int64(len(page.Effects)) > limit {
					t.Fatalf("%q, limit %d: %+v, %v", states, limit, page, err)
				}
				for _, effect := range page.Effects {
					seen[effect.Key] = true
				}
				cursor = page.Next
			}
			if len(seen) != most {
				t.Errorf("%q, limit %d: %d effects, want %d", states, limit, len(seen), most)
			}
		}
	}
	_, err := store.List(ctx(t), owner, []state.EffectState{"other"}, "", 0)
	want(t, "no state", err, tools.CodeToolInput)
	if n, err := store.Cleanup(ctx(t), owner, time.Now().Add(-time.Hour), 0); n != 0 || err != nil {
		t.Errorf("cleaned up %d that are new, %v", n, err)
	}
	_, claim := begin(t, store, "to be tried again", nil)
	must(t, "failing", store.Fail(ctx(t), claim, true, "?"))
	// Claims on what is pending last longer than a minute, and less than an hour.
	for _, step := range []struct {
		until time.Duration
		most  int
	}{{time.Minute, 2}, {time.Minute, 2}, {time.Minute, 0}, {time.Hour, 2}, {time.Hour, 1}, {time.Hour, 0}} {
		if n, err := store.Cleanup(ctx(t), owner, time.Now().Add(step.until), 2); n != step.most || err != nil {
			t.Errorf("cleaned up %d, %v, want %d", n, err, step.most)
		}
	}
	page, err := store.List(ctx(t), owner, nil, "", 0)
	if err != nil || len(page.Effects) != 3 || page.Effects[0].State != state.EffectUnknown {
		t.Errorf("%d are left, %v", len(page.Effects), err)
	}
}

func effectRace(t *testing.T, s *Suite) {
	store := s.freshStores(t).Effects()
	for round := range 3 {
		results := make(chan error)
		for range writers {
			go func() {
				_, err := store.Begin(t.Context(), ann("").Owner, identity(fmt.Sprint("race ", round)), nil)
				results <- err
			}()
		}
		count := 0
		for range writers {
			if err := <-results; err == nil {
				count++
			} else {
				want(t, "too late", err, tools.CodeStateConflict)
			}
		}
		if count != 1 {
			t.Errorf("%d may carry it out", count)
		}
	}
}
