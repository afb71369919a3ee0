package statetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// writers is how many goroutines change one record at the same time.
const writers = 16

// increment adds one to the number that a record holds, whoever else does too.
func increment(ctx context.Context, store state.CheckpointStore, key state.Key) (int64, error) {
	for {
		var version, number int64
		record, err := store.Load(ctx, key)
		if err == nil {
			version = record.Version
			number, err = strconv.ParseInt(string(record.Data), 10, 64)
		}
		if err != nil && !errors.Is(err, tools.CodeNotFound) {
			return 0, err
		}
		_, err = store.Save(ctx, key, state.Change{Version: version, Data: strconv.AppendInt(nil, number+1, 10)})
		if !errors.Is(err, tools.CodeStateConflict) {
			return number + 1, err
		}
	}
}

// incrementAll has all writers increment, and returns the first error.
func incrementAll(ctx context.Context, store state.CheckpointStore, key state.Key, rounds int) error {
	var wait sync.WaitGroup
	failures := make([]error, writers)
	for i := range writers {
		wait.Go(func() {
			for range rounds {
				if _, err := increment(ctx, store, key); err != nil {
					failures[i] = err
					return
				}
			}
		})
	}
	wait.Wait()
	return errors.Join(failures...)
}

func checkNumber(t *testing.T, store state.CheckpointStore, key state.Key, number int) {
	t.Helper()
	got := mustLoad(t, store, key)
	if string(got.Data) != strconv.Itoa(number) || got.Version != int64(number) {
		t.Errorf("%s at version %d, want %d", got.Data, got.Version, number)
	}
}

func goroutines(t *testing.T, s *Suite) {
	store, rounds := s.fresh(t), 4
	if s.Full {
		rounds = 1000
	}
	if err := incrementAll(ctx(t), store, ann("counter"), rounds); err != nil {
		t.Fatal(err)
	}
	checkNumber(t, store, ann("counter"), writers*rounds)
	// Of those that make a record, one does.
	var wait sync.WaitGroup
	made := make([]error, writers)
	for i := range writers {
		wait.Go(func() { _, made[i] = store.Save(ctx(t), ann("new"), state.Change{}) })
	}
	wait.Wait()
	count := 0
	for _, err := range made {
		if err == nil {
			count++
		} else {
			want(t, "making the same", err, tools.CodeStateConflict)
		}
	}
	if count != 1 {
		t.Errorf("%d of %d made the same record", count, writers)
	}
}

func reopened(t *testing.T, s *Suite) {
	place := s.New(t)
	first, second := s.open(t, place), s.open(t, place)
	mustSave(t, first, ann("record"), state.Change{Data: []byte("kept"), Fence: 2})
	if got := mustLoad(t, second, ann("record")); string(got.Data) != "kept" {
		t.Errorf("another store sees %+v", got)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	third := s.open(t, place)
	_, err := third.Save(ctx(t), ann("record"), state.Change{Version: 1, Fence: 1})
	want(t, "a lower fence after a restart", err, tools.CodeStateFence)
	mustSave(t, third, ann("record"), state.Change{Version: 1, Fence: 2})
}

// roleFlag marks a process of the suite: its arguments are the suite's name, what to
// do, where, and what else that needs.
const roleFlag = "--prism-state-suite"

// Main takes this process over if it is one of the suite's. It belongs into TestMain.
func (s *Suite) Main() {
	if len(os.Args) < 5 || os.Args[1] != roleFlag || os.Args[2] != s.Name {
		return
	}
	store, err := s.checkpoints(os.Args[4])
	if err == nil {
		switch os.Args[3] {
		case "increment":
			err = incrementAll(context.Background(), store, ann("counter"), s.processRounds())
		case "contend":
			err = s.contend(store)
		case "acknowledge":
			err = s.acknowledge(store, os.Args[4], os.Args[5])
		case "hold":
			err = s.hold(store)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (s *Suite) processRounds() int {
	if s.Full {
		return 100
	}
	return 2
}

func (s *Suite) command(t *testing.T, what, place string, more ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exec.CommandContext(ctx(t), self, append([]string{roleFlag, s.Name, what, place}, more...)...)
}

// contenders is how many processes change the store at once, each that many times.
const contenders = 16

func (s *Suite) contentions() int {
	if s.Full {
		return 1000
	}
	return 40
}

// contend makes changes, each of which has to go through: a record of its own, which
// nobody else is in the way of, and one that all change.
func (s *Suite) contend(store state.CheckpointStore) error {
	own := ann(fmt.Sprint("counter ", os.Getpid()))
	for i := range s.contentions() {
		key := own
		if i%4 == 3 {
			key = ann("counter")
		}
		if _, err := increment(context.Background(), store, key); err != nil {
			return err
		}
	}
	return nil
}

func contention(t *testing.T, s *Suite) {
	place := s.New(t)
	_ = s.open(t, place) // nobody has to make it while others do
	began := time.Now()
	var wait sync.WaitGroup
	var failed atomic.Int64
	for range contenders {
		wait.Go(func() {
			if out, err := s.command(t, "contend", place).CombinedOutput(); err != nil {
				failed.Add(1)
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wait.Wait()
	took := time.Since(began)
	store, total := s.open(t, place), int64(0)
	for cursor, more := "", true; more; more = cursor != "" {
		page, err := store.List(ctx(t), ann(""), cursor, 0)
		must(t, "listing", err)
		for _, record := range page.Records {
			number, err := strconv.ParseInt(string(record.Data), 10, 64)
			if err != nil || number != record.Version {
				t.Errorf("%s holds %q at version %d", record.Key.Name, record.Data, record.Version)
			}
			total += number
		}
		cursor = page.Next
	}
	want := int64(contenders * s.contentions())
	if total != want {
		t.Errorf("%d changes, want %d", total, want)
	}
	t.Logf("figure: %d processes × %d transactions = %d busy, %d lost, in %v", contenders, s.contentions(), failed.Load(), want-total, took.Round(time.Millisecond))
}

func processes(t *testing.T, s *Suite) {
	const count = 4
	place := s.New(t)
	var wait sync.WaitGroup
	for range count {
		wait.Go(func() {
			if out, err := s.command(t, "increment", place).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wait.Wait()
	checkNumber(t, s.open(t, place), ann("counter"), count*writers*s.processRounds())
}
