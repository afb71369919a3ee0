package state_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// ledger is a world of one number, a registry whose tools change it, and the account
// of that.
type ledger struct {
	t        *testing.T
	store    state.EffectStore
	account  *state.Account
	registry *tools.Registry
	value    atomic.Int64
	runs     atomic.Int64
	blind    atomic.Bool // nobody can look
}

var me = state.Owner{User: "me"}

type addIn struct {
	N int64 `json:"n,omitempty"`
	// Fail is what goes wrong: before, after the change, or in between.
	Fail string `json:"fail,omitempty"`
	Long int64  `json:"long,omitempty"`
}

type addOut struct {
	Value int64  `json:"value"`
	Long  string `json:"long,omitempty"`
}

// newLedger keeps account in store; nil is one in memory.
func newLedger(t *testing.T, store state.EffectStore, opts state.AccountOptions) *ledger {
	t.Helper()
	l := &ledger{t: t, store: store}
	if store == nil {
		l.store = state.NewMemory(nil).Effects()
	}
	opts.Look = l.look
	var err error
	if l.account, err = state.NewAccount(l.store, &opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.account.Close() })
	spec := tools.Spec{Name: "add", Title: "Add", Description: "Adds.", Toolset: "core", Kind: tools.KindEdit, Effect: tools.ChangesFiles}
	add, err := tools.New(spec, nil, l.add)
	if err != nil {
		t.Fatal(err)
	}
	spec.Name, spec.Effect = "launch", tools.RunsAnything
	launch, err := tools.New(spec, nil, l.launch)
	if err != nil {
		t.Fatal(err)
	}
	spec.Name, spec.Effect = "ensure", tools.RemembersLocally
	ensure, err := tools.New(spec, nil, l.launch)
	if err != nil {
		t.Fatal(err)
	}
	l.registry, err = tools.NewRegistry([]*tools.Tool{add, launch, ensure}, &tools.RegistryOptions{Effects: l.account})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func seen(value int64) tools.Seen { return tools.Seen{Exists: true, ID: fmt.Sprint(value)} }

func (l *ledger) look(context.Context, tools.Witness) (tools.Seen, error) {
	if l.blind.Load() {
		return tools.Seen{}, errors.New("too dark to see")
	}
	return seen(l.value.Load()), nil
}

func (l *ledger) add(ctx context.Context, _ *tools.Call, in addIn) (*tools.Outcome[addOut], error) {
	l.runs.Add(1)
	if in.Fail == "early" {
		return nil, tools.Errorf(tools.CodeNoMatch, "nothing to add to")
	}
	before := l.value.Load()
	if err := tools.Planned(ctx, []tools.Witness{{Ref: "value", Before: seen(before), After: seen(before + in.N)}}); err != nil {
		return nil, err
	}
	switch in.Fail {
	case "untouched":
		return nil, tools.Errorf(tools.CodeIO, "the disk is gone")
	case "halfway":
		l.value.Add(in.N / 2)
		return nil, tools.Errorf(tools.CodeIO, "the disk is gone")
	}
	l.value.Add(in.N)
	if in.Fail == "panic" {
		panic("after all was done")
	}
	return tools.Answer(fmt.Sprint("now ", l.value.Load()), addOut{l.value.Load(), strings.Repeat("x", int(in.Long))}), nil
}

func (l *ledger) launch(_ context.Context, _ *tools.Call, in addIn) (*tools.Outcome[addOut], error) {
	l.runs.Add(1)
	if in.Fail != "" {
		return nil, tools.Errorf(tools.Code(in.Fail), "it failed")
	}
	l.value.Add(in.N)
	return tools.Answer("launched", addOut{Value: l.value.Load()}), nil
}

func (l *ledger) call(tool, run string, in addIn) *tools.Result {
	l.t.Helper()
	text, err := json.Marshal(in)
	if err != nil {
		l.t.Fatal(err)
	}
	return l.registry.Call(l.t.Context(), tool, text, tools.CallOptions{Session: "s", Owner: "me", Run: run})
}

// effects are those on record, the background's work done.
func (l *ledger) effects() []state.Effect {
	l.t.Helper()
	if err := l.account.Close(); err != nil {
		l.t.Fatal(err)
	}
	page, err := l.store.List(context.Background(), me, nil, "", 0)
	if err != nil {
		l.t.Fatal(err)
	}
	return page.Effects
}

// only is the one effect on record.
func (l *ledger) only(want state.EffectState) state.Effect {
	l.t.Helper()
	all := l.effects()
	if len(all) != 1 {
		l.t.Fatalf("%d effects on record: %+v", len(all), all)
	}
	if all[0].State != want {
		l.t.Errorf("on record is %+v, want %s", all[0], want)
	}
	return all[0]
}

func TestCallsOfARunHappenOnce(t *testing.T) {
	l := newLedger(t, nil, state.AccountOptions{})
	first := l.call("add", "r", addIn{N: 5})
	again := l.call("add", "r", addIn{N: 5})
	if first.Err != nil || again.Err != nil {
		t.Fatal(first.Err, again.Err)
	}
	if l.runs.Load() != 1 || l.value.Load() != 5 {
		t.Errorf("ran %d times, the value is %d", l.runs.Load(), l.value.Load())
	}
	if a, b := encoded(t, first), encoded(t, again); a != b {
		t.Errorf("the replay is %s, the result was %s", b, a)
	}
	l.call("add", "another", addIn{N: 5})
	l.call("add", "r", addIn{N: 6})
	l.call("add", "", addIn{N: 5})
	l.call("add", "", addIn{N: 5})
	if l.runs.Load() != 5 {
		t.Errorf("%d calls were made, want 5: another run, another input and no run are others", l.runs.Load())
	}
	if n := len(l.effects()); n != 5 {
		t.Errorf("%d effects on record, want 5", n)
	}
}

func encoded(t *testing.T, result *tools.Result) string {
	t.Helper()
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestOnRecordBeforeItHappens: whoever is told of a change has it on record when they
// return.
func TestOnRecordBeforeItHappens(t *testing.T) {
	for _, run := range []string{"", "r"} {
		l := newLedger(t, nil, state.AccountOptions{})
		account, err := l.account.Begin(t.Context(), tools.EffectCall{Tool: "add", Owner: "me", Run: run, Arguments: []byte(`{}`), Witnessed: true})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(l.listed()); n != 0 {
			t.Errorf("run %q: %d effects on record before anything is about to change", run, n)
		}
		witness := tools.Witness{Ref: "value", Before: seen(0), After: seen(1)}
		same := tools.Witness{Ref: "other", Before: seen(7), After: seen(7)}
		if err := account.Planned(t.Context(), []tools.Witness{same}); err != nil {
			t.Fatal(err)
		}
		if n := len(l.listed()); n != 0 {
			t.Errorf("run %q: %d effects on record for what changes nothing", run, n)
		}
		if err := account.Planned(t.Context(), []tools.Witness{same, witness}); err != nil {
			t.Fatal(err)
		}
		got := l.only(state.EffectDispatched)
		if len(got.Witnesses) != 1 || got.Witnesses[0] != witness {
			t.Errorf("run %q: witnesses %+v", run, got.Witnesses)
		}
	}
}

func (l *ledger) listed() []state.Effect {
	l.t.Helper()
	page, err := l.store.List(l.t.Context(), me, nil, "", 0)
	if err != nil {
		l.t.Fatal(err)
	}
	return page.Effects
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		tool string
		run  string
		fail string
		want state.EffectState // "": nothing is on record
	}{
		{"add", "", "early", ""},
		{"add", "r", "early", ""},
		{"add", "", "untouched", state.EffectFailedRetryable},
		{"add", "r", "untouched", state.EffectFailedRetryable},
		{"add", "r", "halfway", state.EffectUnknown},
		{"add", "r", "panic", state.EffectCompleted},
		{"launch", "", string(tools.CodeProcessState), state.EffectFailedRetryable},
		{"launch", "r", string(tools.CodeIO), state.EffectCompleted},
		{"launch", "", string(tools.CodeAborted), state.EffectCompleted},
		{"launch", "r", string(tools.CodeAborted), state.EffectUnknown},
		{"launch", "r", string(tools.CodeInternal), state.EffectUnknown},
	} {
		t.Run(c.tool+" "+c.run+" "+c.fail, func(t *testing.T) {
			l := newLedger(t, nil, state.AccountOptions{})
			first := l.call(c.tool, c.run, addIn{N: 4, Fail: c.fail})
			if first.Err == nil {
				t.Fatal("it did not fail")
			}
			if c.want == "" {
				if all := l.effects(); len(all) != 0 {
					t.Errorf("on record: %+v", all)
				}
				return
			}
			l.only(c.want)
			if c.run == "" {
				return
			}
			again := l.call(c.tool, c.run, addIn{N: 4, Fail: c.fail})
			switch c.want {
			case state.EffectUnknown:
				if !errors.Is(again.Err, tools.CodeEffectUnknown) || l.runs.Load() != 1 {
					t.Errorf("asked again: %v, ran %d times", again.Err, l.runs.Load())
				}
			case state.EffectCompleted:
				if encoded(t, again) != encoded(t, first) || l.runs.Load() != 1 {
					t.Errorf("asked again: %v, ran %d times", again.Err, l.runs.Load())
				}
			case state.EffectFailedRetryable:
				if l.runs.Load() != 2 {
					t.Errorf("not tried again: %v", again.Err)
				}
			}
		})
	}
}

// lapse makes a call of a run that dies between being on record and its end, and lets
// its claim run out.
func (l *ledger) lapse(clock *atomic.Int64, tool string, happened bool) {
	l.t.Helper()
	call := tools.EffectCall{Tool: tool, Session: "s", Owner: "me", Run: "r", Arguments: []byte(`{"n":3}`), Witnessed: tool == "add"}
	account, err := l.account.Begin(l.t.Context(), call)
	if err != nil {
		l.t.Fatal(err)
	}
	var witnesses []tools.Witness
	if call.Witnessed {
		witnesses = []tools.Witness{{Ref: "value", Before: seen(0), After: seen(3)}}
	}
	if err := account.Planned(l.t.Context(), witnesses); err != nil {
		l.t.Fatal(err)
	}
	if happened {
		l.value.Store(3)
	}
	again := l.call(tool, "r", addIn{N: 3})
	if !errors.Is(again.Err, tools.CodeStateConflict) {
		l.t.Errorf("while the claim lasts: %v", again.Err)
	}
	clock.Add(int64(time.Hour))
}

func TestAfterACrash(t *testing.T) {
	for _, c := range []struct {
		name     string
		tool     string
		happened bool
		meddle   int64 // what somebody else has made of the value since
		blind    bool
		code     tools.Code
		runs     int64
		value    int64
	}{
		{"it had happened", "add", true, 0, false, "", 0, 3},
		{"it had not", "add", false, 0, false, "", 1, 3},
		{"somebody changed it since", "add", true, 40, false, tools.CodeEffectUnknown, 0, 40},
		{"nobody can look", "add", true, 0, true, tools.CodeEffectUnknown, 0, 3},
		{"it may be made again", "ensure", false, 0, false, "", 1, 3},
		{"it leaves no trace", "launch", true, 0, false, tools.CodeEffectUnknown, 0, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var clock atomic.Int64
			stores := state.NewMemory(&state.MemoryOptions{Clock: func() time.Time { return time.Unix(1e9, clock.Load()) }})
			l := newLedger(t, stores.Effects(), state.AccountOptions{})
			l.lapse(&clock, c.tool, c.happened)
			if c.meddle != 0 {
				l.value.Store(c.meddle)
			}
			l.blind.Store(c.blind)
			again := l.call(c.tool, "r", addIn{N: 3})
			if c.code == "" && again.Err != nil || c.code != "" && !errors.Is(again.Err, c.code) {
				t.Errorf("taken up: %v, want %q", again.Err, c.code)
			}
			if l.runs.Load() != c.runs || l.value.Load() != c.value {
				t.Errorf("ran %d times, the value is %d", l.runs.Load(), l.value.Load())
			}
			if c.name == "it had happened" && !strings.Contains(again.Content[0].Text, "happened already") {
				t.Errorf("the answer is %+v", again.Content)
			}
			if c.code == "" {
				return
			}
			key := l.listed()[0].Key
			if !strings.Contains(again.Err.Message, key) {
				t.Errorf("the message does not name the effect: %s", again.Err.Message)
			}
			if err := l.store.ResolveUnknown(t.Context(), me, key, state.EffectResolution{State: state.EffectFailedTerminal, Reason: "leave it"}); err != nil {
				t.Fatal(err)
			}
			if given := l.call(c.tool, "r", addIn{N: 3}); !errors.Is(given.Err, tools.CodeExecutionDenied) || !strings.Contains(given.Err.Message, "leave it") {
				t.Errorf("given up: %v", given.Err)
			}
		})
	}
}

// broken is a store that cannot be used while on is set, or that hangs.
type broken struct {
	state.EffectStore
	on, hangs atomic.Bool
	asked     atomic.Int64
}

func (b *broken) fails(ctx context.Context) error {
	b.asked.Add(1)
	if b.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if b.on.Load() {
		return tools.Errorf(tools.CodeStateUnavailable, "the disk is full")
	}
	return nil
}

func (b *broken) Begin(ctx context.Context, owner state.Owner, identity state.EffectIdentity, opts *state.EffectOptions) (state.Effect, error) {
	if err := b.fails(ctx); err != nil {
		return state.Effect{}, err
	}
	return b.EffectStore.Begin(ctx, owner, identity, opts)
}

func (b *broken) Get(ctx context.Context, owner state.Owner, key string) (state.Effect, error) {
	if err := b.fails(ctx); err != nil {
		return state.Effect{}, err
	}
	return b.EffectStore.Get(ctx, owner, key)
}

func (b *broken) Complete(ctx context.Context, claim state.EffectClaim, result []byte) error {
	if err := b.fails(ctx); err != nil {
		return err
	}
	return b.EffectStore.Complete(ctx, claim, result)
}

// TestStoreFailures: tools go on without account, but what may not happen twice does
// not happen at all.
func TestStoreFailures(t *testing.T) {
	store := &broken{EffectStore: state.NewMemory(nil).Effects()}
	l := newLedger(t, store, state.AccountOptions{Wait: 20 * time.Millisecond})
	store.on.Store(true)
	for _, tool := range []string{"add", "launch"} {
		if got := l.call(tool, "", addIn{N: 1}); got.Err != nil {
			t.Errorf("%s: %v", tool, got.Err)
		}
		if got := l.call(tool, "r", addIn{N: 1}); !errors.Is(got.Err, tools.CodeStateUnavailable) {
			t.Errorf("%s of a run: %v", tool, got.Err)
		}
	}
	if l.value.Load() != 2 {
		t.Errorf("the value is %d, want 2", l.value.Load())
	}
	asked := store.asked.Load()
	l.call("add", "", addIn{N: 1})
	if store.asked.Load() != asked {
		t.Error("a store that has just failed is tried for every call")
	}
	store.on.Store(false)
	if got := l.call("add", "r", addIn{N: 1}); got.Err != nil {
		t.Errorf("recovered: %v", got.Err)
	}
	// It fails between the effect and its end: the result stands, and a run that asks
	// again is not lied to.
	store.hangs.Store(true)
	hung := newLedger(t, store, state.AccountOptions{Wait: 20 * time.Millisecond})
	begun := time.Now()
	if got := hung.call("add", "", addIn{N: 1}); got.Err != nil || time.Since(begun) > time.Second {
		t.Errorf("a store that hangs: %v after %v", got.Err, time.Since(begun))
	}
	store.hangs.Store(false)
}

func TestEndThatIsNotRecorded(t *testing.T) {
	var clock atomic.Int64
	stores := state.NewMemory(&state.MemoryOptions{Clock: func() time.Time { return time.Unix(1e9, clock.Load()) }})
	store := &endless{EffectStore: stores.Effects()}
	l := newLedger(t, store, state.AccountOptions{})
	if got := l.call("add", "r", addIn{N: 3}); got.Err != nil || string(got.Metadata) != `{"value":3}` {
		t.Errorf("got %v, %s", got.Err, got.Metadata)
	}
	clock.Add(int64(time.Hour))
	if got := l.call("add", "r", addIn{N: 3}); got.Err != nil || l.runs.Load() != 1 || l.value.Load() != 3 {
		t.Errorf("asked again: %v, ran %d times", got.Err, l.runs.Load())
	}
}

// endless never records an end.
type endless struct{ state.EffectStore }

func (endless) Complete(context.Context, state.EffectClaim, []byte) error {
	return tools.Errorf(tools.CodeStateUnavailable, "the disk is full")
}

// TestOnlyOneOfMany: however many make the same call of a run at once, one does.
func TestOnlyOneOfMany(t *testing.T) {
	for range 20 {
		l := newLedger(t, nil, state.AccountOptions{})
		var all sync.WaitGroup
		var done atomic.Int64
		for range 16 {
			all.Go(func() {
				got := l.call("add", "r", addIn{N: 1})
				switch {
				case got.Err == nil:
					done.Add(1)
				case !errors.Is(got.Err, tools.CodeStateConflict):
					t.Errorf("got %v", got.Err)
				}
			})
		}
		all.Wait()
		if l.value.Load() != 1 || done.Load() < 1 {
			t.Fatalf("the value is %d, %d were answered", l.value.Load(), done.Load())
		}
	}
}

func TestMoreThanCanBeKept(t *testing.T) {
	l := newLedger(t, nil, state.AccountOptions{})
	first := l.call("add", "long", addIn{N: 1, Long: 300_000})
	again := l.call("add", "long", addIn{N: 1, Long: 300_000})
	if first.Err != nil || again.Err != nil || l.runs.Load() != 1 {
		t.Fatal(first.Err, again.Err, l.runs.Load())
	}
	var out addOut
	if err := json.Unmarshal(again.Metadata, &out); err != nil || out.Value != 1 || len(out.Long) < 1000 || len(out.Long) > 64<<10 {
		t.Errorf("the metadata that was kept: %v, %d bytes", err, len(out.Long))
	}
	account, err := l.account.Begin(t.Context(), tools.EffectCall{Tool: "add", Owner: "me", Witnessed: true})
	if err != nil {
		t.Fatal(err)
	}
	var many []tools.Witness
	for i := range 2000 {
		many = append(many, tools.Witness{Ref: fmt.Sprint("refs/heads/", i), Before: seen(0), After: seen(1)})
	}
	if err := account.Planned(t.Context(), many); err != nil {
		t.Fatal(err)
	}
	page, err := l.store.List(t.Context(), me, []state.EffectState{state.EffectDispatched}, "", 0)
	if err != nil || len(page.Effects) != 1 || len(page.Effects[0].Witnesses) != 1 || page.Effects[0].Witnesses[0] != (tools.Witness{}) {
		t.Errorf("%v: %+v", err, page.Effects)
	}
}

func TestRunsThatCannotBe(t *testing.T) {
	l := newLedger(t, nil, state.AccountOptions{})
	for _, run := range []string{strings.Repeat("r", 257), "\xff"} {
		if got := l.call("add", run, addIn{N: 1}); !errors.Is(got.Err, tools.CodeToolInput) {
			t.Errorf("%q: %v", run, got.Err)
		}
	}
	if got := l.call("add", "r", addIn{N: 1 << 60}); !errors.Is(got.Err, tools.CodeToolInput) {
		t.Errorf("a number without a form of its own: %v", got.Err)
	}
	if l.value.Load() != 0 {
		t.Error("something changed")
	}
	for _, opts := range []state.AccountOptions{{TTL: 2 * time.Hour}, {Attempts: 11}, {ResultBytes: 1 << 30}} {
		if _, err := state.NewAccount(l.store, &opts); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%+v: %v", opts, err)
		}
	}
}

// TestAPartIsNotTheWhole: what was seen to happen says nothing of what cannot be seen.
func TestAPartIsNotTheWhole(t *testing.T) {
	visible := tools.Witness{Ref: "value", Before: seen(0), After: seen(3)}
	for _, order := range [][][]tools.Witness{{{visible}, nil}, {nil, {visible}}, {{visible, {Ref: "odd\xff", Before: seen(0), After: seen(3)}}}} {
		l := newLedger(t, nil, state.AccountOptions{})
		account, err := l.account.Begin(t.Context(), tools.EffectCall{Tool: "add", Owner: "me", Witnessed: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, witnesses := range order {
			if err := account.Planned(t.Context(), witnesses); err != nil {
				t.Fatal(err)
			}
		}
		l.value.Store(3)
		if found, why := state.Compare(t.Context(), l.only(state.EffectDispatched).Witnesses, l.look); found != state.FoundUnknown {
			t.Errorf("%v: %s, %s", order, found, why)
		}
	}
}
