package sqlite_test

import (
	"cmp"
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
// that flushes. The three take turns, so that the disk is the same to all of them, and
// what is reported of each is from the same tenth of the time: the windows in which the
// three together took least, that is, in which others had least to do with it.
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
	three := [3]func(){ours, flushing(b), bolting(b, data)}
	for range 1000 { // the log has reached its length, and is written from the start
		ours()
	}
	var windows []window
	for b.Loop() {
		for range 200 {
			windows = append(windows, turns(three, 20))
		}
	}
	slices.SortFunc(windows, func(a, b window) int { return cmp.Compare(a.sum(), b.sum()) })
	quiet, all := mean(windows[:len(windows)/10]), mean(windows)
	micros := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
	b.ReportMetric(micros(quiet[0]), "p50-µs")
	b.ReportMetric(micros(quiet[1]), "fdatasync-µs")
	b.ReportMetric(micros(quiet[2]), "bbolt-µs")
	b.ReportMetric(micros(quiet[0])/micros(quiet[1]), "ours/fdatasync")
	b.ReportMetric(micros(quiet[0])/micros(quiet[2]), "ours/bbolt")
	// How much slower it was otherwise, on the average.
	b.ReportMetric(micros(all.sum())/micros(quiet.sum()), "load")
}

// window is the median of each of the three in a short time.
type window [3]time.Duration

func (w window) sum() time.Duration { return w[0] + w[1] + w[2] }

func mean(list []window) (m window) {
	for _, w := range list {
		for i := range w {
			m[i] += w[i] / time.Duration(len(list))
		}
	}
	return m
}

// turns has each take as many, none always after the same other one.
func turns(three [3]func(), count int) (w window) {
	var times [3][]time.Duration
	for n := range count {
		for i := range three {
			i = (i*(1+n%2) + n) % 3
			began := time.Now()
			three[i]()
			times[i] = append(times[i], time.Since(began))
		}
	}
	for i := range times {
		slices.Sort(times[i])
		w[i] = times[i][count/2]
	}
	return w
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
	fatal(b, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte("records"))
		return err
	}))
	version := uint64(0)
	return func() {
		fatal(b, db.Update(func(tx *bbolt.Tx) error {
			bucket := tx.Bucket([]byte("records"))
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
