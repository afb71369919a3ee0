package state_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// TestWhatHasEndedIsRemovedInTime: once in 256 ends, so that in 256 times 40 it is as
// good as certain.
func TestWhatHasEndedIsRemovedInTime(t *testing.T) {
	asked := make(chan time.Time, 1)
	l := newLedger(t, nil, state.AccountOptions{
		Keep: time.Hour, Tidy: func(_ context.Context, before time.Time) error {
			select {
			case asked <- before:
			default:
			}
			return errors.New("of no consequence")
		},
	})
	for range 256 * 40 {
		if result := l.registry.Call(t.Context(), "add", []byte(`{"n":1}`), tools.CallOptions{}); result.Err != nil {
			t.Fatal(result.Err)
		}
		if len(asked) > 0 {
			break
		}
	}
	select {
	case before := <-asked:
		if ago := time.Since(before); ago < time.Hour || ago > 2*time.Hour {
			t.Errorf("what ended %v ago is removed", ago)
		}
	default:
		t.Error("nothing was ever removed")
	}
}
