package sqlite_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/sqlite"
)

// BenchmarkCAS measures one durable change of a record beside what it cannot be faster
// than, 4 KiB that are written in place and flushed, and beside another embedded store
// that flushes. The three take turns, so that the disk is the same to all of them.
func BenchmarkCAS(b *testing.B) {
	stores, err := sqlite.Open(filepath.Join(b.TempDir(), "state.db"), nil)
	fatal(b, err)
	defer stores.Close()
	version, data := int64(0), make([]byte, 256)
	ours := func() {
		_, err := stores.Checkpoints().Save(b.Context(), key("record"), state.Change{Version: version, Data: data})
		fatal(b, err)
		version++
	}
	floor := flushing(b)
	theirs := bolting(b, data)

	const round = 50
	var times [3][]time.Duration
	for range 1000 { // the log has reached its length, and is written from the start
		ours()
	}
	for range round {
		floor()
		theirs()
	}
	for b.Loop() {
		for range round {
			for i, one := range []func(){ours, floor, theirs} {
				began := time.Now()
				one()
				times[i] = append(times[i], time.Since(began))
			}
		}
	}
	for i := range times {
		slices.Sort(times[i])
	}
	middle := func(i int) float64 { return float64(times[i][len(times[i])/2].Nanoseconds()) }
	mean := func(i int) float64 {
		var sum time.Duration
		for _, d := range times[i] {
			sum += d
		}
		return float64(sum.Nanoseconds()) / float64(len(times[i]))
	}
	b.ReportMetric(middle(0)/1000, "p50-µs")
	b.ReportMetric(middle(1)/1000, "fdatasync-µs")
	b.ReportMetric(middle(2)/1000, "bbolt-µs")
	b.ReportMetric(middle(0)/middle(1), "ours/fdatasync")
	b.ReportMetric(middle(0)/middle(2), "ours/bbolt")
	b.ReportMetric(mean(0)/1000, "mean-µs") // checkpoints of the log are in it
}

func fatal(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// flushing returns the floor.
func flushing(b *testing.B) func() {
	file, err := os.Create(filepath.Join(b.TempDir(), "floor"))
	fatal(b, err)
	b.Cleanup(func() { _ = file.Close() })
	page := make([]byte, 4096)
	_, err = file.Write(page)
	fatal(b, err)
	fatal(b, file.Sync())
	return func() {
		page[0]++
		_, err := file.WriteAt(page, 0)
		fatal(b, err)
		fatal(b, dataSync(file))
	}
}

// bolting returns the same change in bbolt: read, compare, put.
func bolting(b *testing.B, data []byte) func() {
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "bolt.db"), 0o600, nil)
	fatal(b, err)
	b.Cleanup(func() { _ = db.Close() })
	version := uint64(0)
	return func() {
		fatal(b, db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("records"))
			if err != nil {
				return err
			}
			if kept := bucket.Get([]byte("record")); kept != nil && binary.BigEndian.Uint64(kept) != version {
				b.Fatal("another version")
			}
			version++
			return bucket.Put([]byte("record"), append(binary.BigEndian.AppendUint64(nil, version), data...))
		}))
	}
}

// BenchmarkLoad is a record that is read.
func BenchmarkLoad(b *testing.B) {
	stores, err := sqlite.Open(filepath.Join(b.TempDir(), "state.db"), nil)
	fatal(b, err)
	defer stores.Close()
	_, err = stores.Checkpoints().Save(b.Context(), key("record"), state.Change{Data: make([]byte, 256)})
	fatal(b, err)
	for b.Loop() {
		_, err := stores.Checkpoints().Load(b.Context(), key("record"))
		fatal(b, err)
	}
}

// BenchmarkEffect is all that one effect takes: claimed, dispatched, and completed.
func BenchmarkEffect(b *testing.B) {
	stores, err := sqlite.Open(filepath.Join(b.TempDir(), "state.db"), nil)
	fatal(b, err)
	defer stores.Close()
	run := 0
	for b.Loop() {
		run++
		identity := state.EffectIdentity{Run: fmt.Sprint(run), Operation: "write"}
		effect, err := stores.Effects().Begin(b.Context(), state.Owner{}, identity, &state.EffectOptions{Dispatched: true})
		fatal(b, err)
		claim := state.EffectClaim{Owner: effect.Owner, Key: effect.Key, Token: effect.Claim}
		fatal(b, stores.Effects().Complete(b.Context(), claim, nil))
	}
}

// BenchmarkOpen is what the first use of a store waits for.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "state.db")
	for b.Loop() {
		stores, err := sqlite.Open(path, nil)
		fatal(b, err)
		fatal(b, stores.Close())
	}
}
