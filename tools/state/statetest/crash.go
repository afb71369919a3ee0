package statetest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// A process that is to be killed says on its output what has been acknowledged: a line
// with the number that the counter is at, and of an effect one with its run. What an
// effect does is one line in a file, written at once.

// acknowledge changes the store until it is killed. What effects do goes into the file
// effected.
func (s *Suite) acknowledge(store state.CheckpointStore, place, effected string) error {
	if s.Stores == nil {
		for {
			if err := acknowledgeCount(store); err != nil {
				return err
			}
		}
	}
	stores, err := s.Stores(place, state.Limits{})
	if err != nil {
		return err
	}
	done, err := os.OpenFile(effected, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		if err := acknowledgeCount(store); err != nil {
			return err
		}
		run := fmt.Sprintf("%d.%d", os.Getpid(), i)
		if err := carryOut(stores.Effects(), run, done); err != nil {
			return err
		}
		fmt.Println("effect", run)
	}
}

func acknowledgeCount(store state.CheckpointStore) error {
	number, err := increment(context.Background(), store, ann("counter"))
	if err == nil {
		_, err = fmt.Println("count", number)
	}
	return err
}

// carryOut does one effect as whoever has effects does.
func carryOut(store state.EffectStore, run string, done *os.File) error {
	ctx := context.Background()
	effect, err := store.Begin(ctx, ann("").Owner, runIdentity(run), &state.EffectOptions{TTL: short})
	if err != nil || effect.State != state.EffectPending {
		return errors.Join(err, fmt.Errorf("%s is %s", run, effect.State))
	}
	claim := state.EffectClaim{Owner: effect.Owner, Key: effect.Key, Token: effect.Claim}
	witness := tools.Witness{Path: run, After: tools.Seen{Exists: true}}
	if err := store.MarkDispatched(ctx, claim, []tools.Witness{witness}); err != nil {
		return err
	}
	if _, err := done.WriteString(run + "\n"); err != nil {
		return err
	}
	return store.Complete(ctx, claim, []byte(run))
}

func runIdentity(run string) state.EffectIdentity {
	return state.EffectIdentity{Tenant: "t", Session: "s", Run: run, Operation: "append", Arguments: json.RawMessage(`{}`)}
}

// acknowledged is what processes have said.
type acknowledged struct {
	count   int64
	effects []string
}

func (a *acknowledged) take(t *testing.T, line string) {
	what, value, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch number, err := strconv.ParseInt(value, 10, 64); {
	case what == "effect":
		a.effects = append(a.effects, value)
	case what == "count" && err == nil:
		a.count = number
	default:
		t.Fatalf("it said %q", line)
	}
}

// killed kills a process that says after each change that it has happened.
func killed(t *testing.T, s *Suite) {
	rounds, place := 12, s.New(t)
	if s.Full {
		rounds = 500
	}
	effected := filepath.Join(t.TempDir(), "done")
	var said acknowledged
	lost := 0
	for range rounds {
		process := s.command(t, "acknowledge", place, effected)
		process.Stderr = os.Stderr
		output, err := process.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(output)
		for i := 0; lines.Scan(); i++ {
			said.take(t, lines.Text())
			if i == 0 {
				// At any moment of a change; those after it are said, too.
				time.AfterFunc(time.Duration(rand.IntN(20_000))*time.Microsecond, func() { _ = process.Process.Kill() })
			}
		}
		_ = process.Wait()
		store := s.open(t, place)
		got := mustLoad(t, store, ann("counter"))
		if got.Version < said.count || got.Version > said.count+1 || string(got.Data) != strconv.FormatInt(got.Version, 10) {
			lost++
			t.Errorf("acknowledged %d, there is %s at version %d", said.count, got.Data, got.Version)
		}
		must(t, "closing", store.Close())
	}
	t.Logf("figure: %d × kill -9, acknowledged changes = %d, %d lost", rounds, said.count, lost)
	if s.Stores != nil {
		settled(t, s, place, effected, said.effects)
	}
}

// settled compares what is known of effects with what has happened, and ends every
// doubt.
func settled(t *testing.T, s *Suite, place, effected string, acknowledged []string) {
	store, owner := s.openStores(t, place).Effects(), ann("").Owner
	text, err := os.ReadFile(effected)
	must(t, "reading what was done", err)
	times := map[string]int{}
	for run := range strings.Lines(string(text)) {
		times[strings.TrimSpace(run)]++
	}
	for _, run := range acknowledged {
		replayed, err := store.Begin(ctx(t), owner, runIdentity(run), nil)
		if err != nil || replayed.State != state.EffectCompleted || string(replayed.Result) != run || times[run] != 1 {
			t.Errorf("acknowledged, and happened %d times: %+v, %v", times[run], replayed, err)
		}
	}
	over() // of the claims of those that were killed
	doubts, wrong := 0, 0
	open := []state.EffectState{state.EffectUnknown, state.EffectPending, state.EffectDispatched}
	for cursor, more := "", true; more; more = cursor != "" {
		page, err := store.List(ctx(t), owner, open, cursor, 0)
		must(t, "listing", err)
		for _, effect := range page.Effects {
			switch {
			case effect.State == state.EffectUnknown:
				doubts++
				// Witnesses tell what it was about.
				if len(effect.Witnesses) != 1 {
					t.Errorf("in doubt, and nobody knows about what: %+v", effect)
					continue
				}
				resolution := state.EffectResolution{State: state.EffectFailedRetryable}
				if times[effect.Witnesses[0].Path] == 1 {
					resolution.State = state.EffectCompleted
				}
				must(t, "resolving", store.ResolveUnknown(ctx(t), owner, effect.Key, resolution))
			case effect.State == state.EffectPending: // nothing has happened of it
			default:
				t.Errorf("%+v", effect)
			}
		}
		cursor = page.Next
	}
	for run, count := range times {
		key, err := runIdentity(run).Key()
		must(t, "the key", err)
		if effect, err := store.Get(ctx(t), owner, key); err != nil || effect.State != state.EffectCompleted || count != 1 {
			wrong++
			t.Errorf("happened %d times: %+v, %v", count, effect, err)
		}
	}
	page, err := store.List(ctx(t), owner, []state.EffectState{state.EffectUnknown, state.EffectDispatched}, "", 0)
	if err != nil || len(page.Effects) > 0 {
		t.Errorf("unresolved: %+v, %v", page, err)
	}
	t.Logf("figure: effects = %d acknowledged, %d in doubt after a kill, %d unresolved, %d wrong", len(acknowledged), doubts, len(page.Effects), wrong)
}

// tokens grow, whatever becomes of the leases, and of the store.
func tokens(t *testing.T, s *Suite) {
	place, last := s.New(t), int64(0)
	for range 4 {
		stores, err := s.Stores(place, state.Limits{})
		must(t, "opening", err)
		for i := range 3 {
			lease := acquire(t, stores.Leases(), ann("lease"), "one", 0)
			if lease.Token <= last {
				t.Errorf("token %d after %d", lease.Token, last)
			}
			last = lease.Token
			if i == 2 {
				_, err := stores.Leases().TryAcquire(ctx(t), ann("lease"), "two", 0)
				want(t, "what is held", err, tools.CodeStateConflict)
			}
			must(t, "releasing", stores.Leases().Release(ctx(t), lease))
		}
		must(t, "closing", stores.Close())
	}
}
