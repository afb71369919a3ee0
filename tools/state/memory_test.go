package state_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/statetest"
)

func TestMemory(t *testing.T) {
	suite := &statetest.Suite{
		Name: "memory", New: func(testing.TB) string { return "" },
		Stores: func(_ string, limits state.Limits) (state.Stores, error) {
			return state.NewMemory(&state.MemoryOptions{Limits: limits}), nil
		},
	}
	suite.Run(t)
}

func TestLazy(t *testing.T) {
	suite := &statetest.Suite{
		Name: "lazy", New: func(testing.TB) string { return "" },
		Stores: func(_ string, limits state.Limits) (state.Stores, error) {
			return state.NewLazy(func(context.Context) (state.Stores, error) {
				return state.NewMemory(&state.MemoryOptions{Limits: limits}), nil
			}), nil
		},
	}
	suite.Run(t)
}

func TestLazyOpensWhenItIsAskedAndTriesAgain(t *testing.T) {
	opened, failure := 0, error(tools.Errorf(tools.CodeToolInput, "no such place"))
	stores := state.NewLazy(func(context.Context) (state.Stores, error) {
		opened++
		if failure != nil {
			return nil, failure
		}
		return state.NewMemory(nil), nil
	})
	records := stores.Checkpoints()
	if opened != 0 {
		t.Fatal("it was opened before anything was asked")
	}
	for _, failure = range []error{failure, errors.New("anything"), tools.CodeStateUnavailable} {
		if _, err := records.Load(t.Context(), key("x")); !errors.Is(err, tools.CodeStateUnavailable) {
			t.Errorf("%v: %v", failure, err)
		}
	}
	failure = nil
	for range 3 {
		if _, err := records.Load(t.Context(), key("x")); !errors.Is(err, tools.CodeNotFound) {
			t.Errorf("when it can be opened: %v", err)
		}
	}
	if opened != 4 {
		t.Errorf("opened %d times", opened)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := records.Load(over, key("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("when the context is over: %v", err)
	}
	if err := stores.Close(); err != nil {
		t.Error(err)
	}
	if _, err := stores.Artifacts().List(t.Context(), state.Owner{}, "", 0); !errors.Is(err, tools.CodeStateUnavailable) || opened != 4 {
		t.Errorf("after Close: %v", err)
	}
}

// TestLazyIsNotWaitedForLongerThanTheCaller has a place that does not answer.
func TestLazyIsNotWaitedForLongerThanTheCaller(t *testing.T) {
	answers := make(chan struct{})
	stores := state.NewLazy(func(ctx context.Context) (state.Stores, error) {
		select {
		case <-answers:
			return state.NewMemory(nil), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := stores.Checkpoints().Load(short, key("x")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it is opened: %v", err)
	}
	close(answers)
	if _, err := stores.Checkpoints().Load(t.Context(), key("x")); !errors.Is(err, tools.CodeNotFound) {
		t.Errorf("the opening did not go on: %v", err)
	}
	if err := stores.Close(); err != nil {
		t.Error(err)
	}

	begun, ended := make(chan struct{}), make(chan struct{})
	never := state.NewLazy(func(ctx context.Context) (state.Stores, error) {
		close(begun)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	})
	waiting := make(chan error)
	go func() {
		_, err := never.Open(context.Background())
		waiting <- err
	}()
	<-begun
	if err := never.Close(); err != nil {
		t.Error(err)
	}
	<-ended
	if err := <-waiting; !errors.Is(err, tools.CodeStateUnavailable) {
		t.Errorf("closed while it is opened: %v", err)
	}
}

func TestMemoryClockAndLimits(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	stores := state.NewMemory(&state.MemoryOptions{
		Clock: func() time.Time { return now }, Limits: state.Limits{RecordBytes: 10, ArtifactBytes: state.ArtifactBytes.Hard + 1},
	})
	lease, err := stores.Leases().TryAcquire(t.Context(), key("lease"), "one", 0)
	if err != nil || !lease.Expires.Equal(now.Add(30*time.Second)) {
		t.Errorf("%+v, %v", lease, err)
	}
	now = now.Add(30 * time.Second)
	if _, err := stores.Leases().Renew(t.Context(), lease, 0); !errors.Is(err, tools.CodeStateFence) {
		t.Errorf("renewing in its last moment: %v", err)
	}
	if _, err := stores.Checkpoints().Save(t.Context(), key("record"), state.Change{Data: make([]byte, 11)}); !errors.Is(err, tools.CodeStateLimit) {
		t.Errorf("a record over its bound: %v", err)
	}
	if _, err := stores.Artifacts().Put(t.Context(), state.Owner{}, nil); !errors.Is(err, tools.CodeToolInput) {
		t.Errorf("a bound over its bound: %v", err)
	}
}
