//go:build unix

package statetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// hold saves a record under a lease until it may not any more, and says so.
func (s *Suite) hold(state.CheckpointStore) error {
	stores, err := s.Stores(os.Args[4], state.Limits{})
	if err != nil {
		return err
	}
	defer stores.Close()
	ctx := context.Background()
	lease, err := stores.Leases().TryAcquire(ctx, ann("lease"), "who is stopped", short)
	if err != nil {
		return err
	}
	for version := int64(0); ; version++ {
		_, err := stores.Checkpoints().Save(ctx, ann("record"), state.Change{Version: version, Fence: lease.Token, Data: []byte("first"), Lease: &lease})
		var coded *tools.Error
		if errors.As(err, &coded) {
			fmt.Println("refused", coded.Code)
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Println("saved", version+1)
		if renewed, err := stores.Leases().Renew(ctx, lease, short); err == nil {
			lease = renewed
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// stopped stops the holder of a lease for longer than that lasts, at any moment.
func stopped(t *testing.T, s *Suite) {
	rounds := 3
	if s.Full {
		rounds = 50
	}
	overtaken := 0
	for round := range rounds {
		place := s.New(t)
		stores := s.openStores(t, place) // while nobody is stopped whom it would wait for
		process := s.command(t, "hold", place)
		process.Stderr = os.Stderr
		output, err := process.StdoutPipe()
		must(t, "its output", err)
		must(t, "starting it", process.Start())
		lines := bufio.NewScanner(output)
		last := "" // on a slow machine its lease may have ended without this
		for i := 0; i < round%10+2 && lines.Scan(); i++ {
			last = lines.Text()
		}
		time.Sleep(time.Duration(round%10) * time.Millisecond)
		must(t, "stopping it", process.Process.Signal(syscall.SIGSTOP))
		over()
		version, took := takeOver(t, stores)
		must(t, "resuming it", process.Process.Signal(syscall.SIGCONT))
		for lines.Scan() {
			last = lines.Text()
		}
		must(t, "its end", process.Wait())
		if !strings.HasPrefix(last, "refused "+string(tools.CodeStateFence)) {
			t.Errorf("round %d: it ended with %q", round, last)
		}
		if !took {
			continue
		}
		overtaken++
		if got := mustLoad(t, stores.Checkpoints(), ann("record")); string(got.Data) != "second" || got.Version != version {
			t.Errorf("round %d: it wrote over who took it over: %+v", round, got)
		}
	}
	if overtaken == 0 {
		t.Error("it was never stopped but where nobody could take over")
	}
	t.Logf("figure: stopped past their lease, taken over, and resumed = %d, 0 wrote", overtaken)
}

// takeOver saves the record under the lease of somebody else, unless who has it was
// stopped where all have to wait for it.
func takeOver(t *testing.T, stores state.Stores) (version int64, took bool) {
	t.Helper()
	soon, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	lease, err := stores.Leases().TryAcquire(soon, ann("lease"), "who takes over", 0)
	if errors.Is(err, context.DeadlineExceeded) {
		return 0, false
	}
	must(t, "taking over", err)
	got := mustLoad(t, stores.Checkpoints(), ann("record"))
	saved := mustSave(t, stores.Checkpoints(), ann("record"), state.Change{Version: got.Version, Fence: lease.Token, Data: []byte("second"), Lease: &lease})
	return saved.Version, true
}
