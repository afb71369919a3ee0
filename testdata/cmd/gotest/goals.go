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
		{"tools/search", "AgainstRipgrep/fold/", "wall/rg", 0.8},
		{"tools/search", "AgainstRipgrep/fold/", "cpu/rg", 0.95},
		{"tools/search", "AgainstRipgrep/case/", "wall/rg", 0.8},
		{"tools/search", "AgainstRipgrep/case/", "cpu/rg", 0.95},
		{"tools/search", "AgainstRipgrep/first-1000/", "wall/rg", 1.5},
		{"tools/search", "AgainstRipgrep/list/native", "wall/rg", 0.5},
		{"tools/search", "AgainstRipgrep/list/git", "wall/rg", 0.85},
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
