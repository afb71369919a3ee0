package host_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// BenchmarkAccount is what the account adds to a write of one small file: without a
// run and in one, beside the write alone and what flushing a file costs here. All are
// taken in turn, so that a busy machine is busy for all.
func BenchmarkAccount(b *testing.B) {
	root := b.TempDir()
	cfg, err := config.Load(config.System{}, config.Flags{Root: root, StateDir: b.TempDir(), Profile: "trusted"})
	if err != nil {
		b.Fatal(err)
	}
	opened, err := host.Open(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer opened.Close()
	effects, err := opened.Effects()
	if err != nil {
		b.Fatal(err)
	}
	account, err := state.NewAccount(effects.Store, &state.AccountOptions{Look: effects.Look})
	if err != nil {
		b.Fatal(err)
	}
	defer account.Close()
	registry := func(opts *tools.RegistryOptions) *tools.Registry {
		made, err := tools.NewRegistry(opened.Registry().Tools(), opts)
		if err != nil {
			b.Fatal(err)
		}
		return made
	}
	alone, kept := registry(nil), registry(&tools.RegistryOptions{Effects: account})
	n := 0
	write := func(to *tools.Registry, run string) func() {
		return func() {
			n++
			input, _ := json.Marshal(map[string]string{"path": "a.txt", "content": fmt.Sprint("text ", n)})
			if got := to.Call(b.Context(), "write", input, tools.CallOptions{Run: run}); got.Err != nil {
				b.Fatal(got.Err)
			}
		}
	}
	file, err := os.Create(filepath.Join(root, "flushed"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	ways := []struct {
		name string
		do   func()
	}{
		{"flush", func() {
			if _, err := file.WriteString("a line of text\n"); err != nil {
				b.Fatal(err)
			}
			if err := file.Sync(); err != nil {
				b.Fatal(err)
			}
		}},
		{"alone", write(alone, "")}, {"account", write(kept, "")}, {"run", write(kept, "run")},
	}
	took := make([][]time.Duration, len(ways))
	for b.Loop() {
		for i, way := range ways {
			begun := time.Now()
			way.do()
			took[i] = append(took[i], time.Since(begun))
		}
	}
	for i, way := range ways {
		slices.Sort(took[i])
		b.ReportMetric(float64(took[i][len(took[i])/2].Microseconds()), way.name+"-µs")
	}
}
