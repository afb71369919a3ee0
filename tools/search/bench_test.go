package search

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/child"
)

// BenchmarkAgainstRipgrep measures this package beside ripgrep, turn by turn,
// on the same tree with the same number of threads. It needs
//
//	PRISM_BENCH_RG    ripgrep's path
//	PRISM_BENCH_TREE  a git work tree, at least 10 000 files for the goals
//	PRISM_BENCH_TEXT  what to search for (default "retryable")
//
// and reports, from the quickest turn of each, wall and processor time as a
// multiple of ripgrep's. git's processor time counts as ours. The last row is the
// first listing and the first search of a process, with all that git is asked for
// them, beside ripgrep's listing and search.
func BenchmarkAgainstRipgrep(b *testing.B) {
	rg, root := os.Getenv("PRISM_BENCH_RG"), os.Getenv("PRISM_BENCH_TREE")
	if rg == "" || root == "" {
		b.Skip("set PRISM_BENCH_RG to ripgrep's path and PRISM_BENCH_TREE to a git work tree to measure")
	}
	text := cmp.Or(os.Getenv("PRISM_BENCH_TEXT"), "retryable")
	limits := Limits{Entries: 100_000, Files: 100_000, ScanBytes: 1 << 30}
	native := open(b, root, &Options{Limits: limits})
	var ofGit atomic.Int64
	aware := open(b, root, &Options{Limits: limits, Git: observed(b, func(_ []string, exit child.Exit) {
		ofGit.Add(int64(exit.User + exit.System))
	})})
	threads := "-j" + string(rune('0'+native.options.Threads))
	none, all := int64(0), int64(10_000)

	for _, c := range []struct {
		name string
		ours func(*Searcher) error
		args []string
	}{
		{"fold", searching(b, Query{Query: text, Context: &none, MaxMatches: &all}), []string{threads, "-i", "-F", "-n", "--column", text}},
		{"case", searching(b, Query{Query: text, CaseSensitive: true, Context: &none, MaxMatches: &all}), []string{threads, "-F", "-n", "--column", text}},
		{"first-1000", searching(b, Query{Query: "error", Context: &none}), []string{"--sort", "path", "-i", "-F", "-n", "--column", "error"}},
		{"list", listed(b), []string{threads, "--files"}},
	} {
		for name, searcher := range map[string]*Searcher{"native": native, "git": aware} {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				compare(b, func() error { return c.ours(searcher) }, &ofGit, func() error { return ripgrep(rg, root, c.args) })
			})
		}
	}
	fold, list := searching(b, Query{Query: text, Context: &none, MaxMatches: &all}), listed(b)
	b.Run("enumerate+search/git", func(b *testing.B) {
		compare(b, func() error {
			// One that has asked git nothing yet, as in the first call of a process.
			fresh, err := New(aware.workspace, &Options{Limits: limits, Git: aware.options.Git})
			if err != nil {
				return err
			}
			return errors.Join(list(fresh), fold(fresh))
		}, &ofGit, func() error {
			return errors.Join(ripgrep(rg, root, []string{threads, "--files"}), ripgrep(rg, root, []string{threads, "-i", "-F", "-n", "--column", text}))
		})
	})
}

func searching(b *testing.B, q Query) func(*Searcher) error {
	return func(s *Searcher) error {
		r, err := s.Search(b.Context(), q)
		if err == nil && len(r.Text()) == 0 {
			b.Fatal("no text")
		}
		return err
	}
}

// listed enumerates the whole tree and returns its last 10 000 files at most.
func listed(b *testing.B) func(*Searcher) error {
	return func(s *Searcher) error {
		offset, results := int64(9_000), int64(10_000)
		_, err := s.Glob(b.Context(), GlobQuery{Pattern: "**", Offset: &offset, MaxResults: &results})
		return err
	}
}

type cost struct{ wall, processor time.Duration }

func compare(b *testing.B, ours func() error, ofGit *atomic.Int64, theirs func() error) {
	// The first turn brings the files into the page cache.
	measure(b, ours)
	measure(b, theirs)
	var we, they []cost
	for b.Loop() {
		ofGit.Store(0)
		c := measure(b, ours)
		c.processor += time.Duration(ofGit.Load())
		we = append(we, c)
		they = append(they, measure(b, theirs))
	}
	wall := func(c cost) time.Duration { return c.wall }
	processor := func(c cost) time.Duration { return c.processor }
	b.ReportMetric(float64(least(we, wall))/float64(least(they, wall)), "wall/rg")
	b.ReportMetric(float64(least(we, processor))/float64(least(they, processor)), "cpu/rg")
	b.ReportMetric(float64(least(we, wall).Microseconds())/1e3, "wall-ms")
	b.ReportMetric(float64(least(we, processor).Microseconds())/1e3, "cpu-ms")
}

func least(list []cost, of func(cost) time.Duration) time.Duration {
	return of(slices.MinFunc(list, func(a, b cost) int { return cmp.Compare(of(a), of(b)) }))
}

func measure(b *testing.B, work func() error) cost {
	before, begin := processorTime(b), time.Now()
	if err := work(); err != nil {
		b.Fatal(err)
	}
	return cost{time.Since(begin), processorTime(b) - before}
}

// ripgrep runs it and sorts what it printed; first-1000 stops reading there.
func ripgrep(rg, root string, args []string) error {
	command := exec.Command(rg, append([]string{"--no-config"}, args...)...)
	command.Dir = root
	if slices.Contains(args, "--sort") {
		command = exec.Command("sh", "-c", `"$0" "$@" | head -n 1000`, rg)
		command.Args = append(command.Args, append([]string{"--no-config"}, args...)...)
		command.Dir = root
		_, err := command.Output()
		return err
	}
	out, err := command.Output()
	if err != nil {
		return err
	}
	lines := bytes.SplitAfter(out, []byte{'\n'})
	slices.SortFunc(lines, bytes.Compare)
	return nil
}

func processorTime(b *testing.B) time.Duration {
	total := time.Duration(0)
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		must(b, syscall.Getrusage(who, &usage))
		total += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return total
}
