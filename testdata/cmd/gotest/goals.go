package main

import "strings"

// goal is the most that a metric of some benchmarks should be. Goals stand here,
// and not in each benchmark, where they come from one list and the benchmark
// serves several.
type goal struct {
	pkg    string // inside the module
	prefix string // of the benchmark's name
	unit   string
	most   float64
}

// goals are what the project set out to reach; a ratio is ours over the peer's.
func goals() []goal {
	return []goal{
		{"tools/edit", "Apply/8MiB/exact/", "best-ms", 15},
		{"tools/edit", "Apply/8MiB/fuzzy/", "best-ms", 30},
		{"tools/edit", "Apply/1MiB/", "best-ms", 4},
		{"tools/edit", "Patch/1%", "ratio", 0.6},
		{"tools/edit", "Patch/10%", "ratio", 0.6},
		{"tools/edit", "Patch/", "ratio", 3},
		{"tools/builtin", "ReadPage", "min-ms", 6},
		{"tools/builtin", "ReferencesAnswer", "answer-bytes", 12_000},
		{"cmd/prism-ls/internal/host", "Start", "ns/op", 8e6},
		{"cmd/prism-ls", "Start", "min-ms", 30},
		{"tools/workspace", "DurableEdit/", "ratio", 2.5},
		{"tools/state/sqlite", "CAS", "ours/fdatasync", 1.5},
		{"tools/state/sqlite", "CAS", "ours/bbolt", 0.7},
		{"langintel", "RoundTrip/small", "×Floor", 2},
		{"langintel", "RoundTrip/5.9MB", "×Stock", 0.2},
		{"langintel", "References", "over-p50-µs", 1000},
		{"langintel", "WarmDiagnostics/clangd", "p50-ms", 80},
		{"langintel", "WarmDiagnostics/rust-analyzer", "p50-ms", 250},
		{"langintel", "EditDiagnostics/typescript", "ours-p50-ms", 70},
		{"langintel", "EditDiagnostics/vtsls", "ours-p50-ms", 70},
		{"langintel", "EditDiagnostics/tsgo", "ours-p50-ms", 15},
		{"langintel", "EditDiagnostics/pyright", "ours-p50-ms", 50},
		{"langintel", "EditDiagnostics/basedpyright", "ours-p50-ms", 50},
		{"langintel", "EditDiagnostics/", "ours/raw", 2.5},
		{"langintel", "FirstAnswer/", "over-1.2-raw-ms", 1000},
		{"procsess", "Drain/100", "bare/ours", 1.053}, // 95 % of the bare loop
		{"procsess", "Drain/2", "bare/ours", 1.053},
		{"procsess", "Echo", "p50-µs", 25},
		{"procsess", "DurableEcho", "p50-µs", 150},
		{"procsess", "Grandchild", "ms", 50},
		{"procsess", "Idle", "B/session", 12 << 10},
		{"procsess", "Idle", "threads/session", 0.1},
		{"procsess", "Producer", "RSS-MB", 3.1}, // the ring, and 2 MB
		{"diagnostics", "Compare/10000/", "ms", 1000},
		{"diagnostics", "Seeded/xtools/mixed", "wrong/filter", 0.1},
		{"diagnostics", "Seeded/restic/mixed", "wrong/filter", 0.1},
		{"diagnostics", "Seeded/xtools/mixed", "wrong/tracker", 0.99},
		{"diagnostics", "Seeded/restic/mixed", "wrong/tracker", 0.99},
		{"tools/search", "AgainstRipgrep/fold/", "wall/rg", 0.8},
		{"tools/search", "AgainstRipgrep/fold/", "cpu/rg", 0.95},
		{"tools/search", "AgainstRipgrep/case/", "wall/rg", 0.8},
		{"tools/search", "AgainstRipgrep/case/", "cpu/rg", 0.95},
		{"tools/search", "AgainstRipgrep/first-1000/", "wall/rg", 1.5},
		{"tools/search", "AgainstRipgrep/list/native", "wall/rg", 0.5},
		{"tools/search", "AgainstRipgrep/list/git", "wall/rg", 0.85},
		{"tools/search", "AgainstRipgrep/enumerate+search/git", "wall/rg", 0.85},
	}
}

// goalOf finds the first goal for a metric that no benchmark set itself.
func goalOf(m *measurement, unit string) (float64, bool) {
	for _, g := range goals() {
		if g.unit == unit && g.pkg == short(m.pkg) && strings.HasPrefix(m.name, g.prefix) {
			return g.most, true
		}
	}
	return 0, false
}

// peers are benchmarks that measure somebody else's way of doing what another one
// measures, under the same names below; the unit is what the ratio is called.
func peers() []peer {
	return []peer{
		{"langintel", "RoundTrip/", "Floor/", "×Floor"},
		{"langintel", "RoundTrip/", "Stock/", "×Stock"},
		{"tools/workspace", "Open/contained", "Open/plain", "×plain"},
		{"tools/workspace", "Open/contained", "Open/os.Root", "×os.Root"},
	}
}

type peer struct{ pkg, ours, theirs, unit string }

// compareWithPeers adds the ratio of times to the measurements that have a peer.
func compareWithPeers(list []measurement) {
	times := map[string]float64{}
	for i := range list {
		times[short(list[i].pkg)+" "+list[i].name], _ = list[i].metric("ns/op")
	}
	for _, p := range peers() {
		for i := range list {
			m := &list[i]
			name, ok := strings.CutPrefix(m.name, p.ours)
			theirs := times[p.pkg+" "+p.theirs+name]
			if ours, timed := m.metric("ns/op"); ok && timed && theirs > 0 && short(m.pkg) == p.pkg {
				m.metrics = append(m.metrics, metric{p.unit, ours / theirs})
			}
		}
	}
}
