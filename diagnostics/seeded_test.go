package diagnostics_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// The seeded benchmark: real code, random edits whose every line keeps a hidden
// identity, problems that belong to those identities, and so a known truth for
// every problem of the head. What is edited how is in seeded_edit_test.go, what
// problems look like in seeded_problem_test.go, who takes part in
// contender_test.go.

// repositories are what the edits are made in. Only this test needs them, so they
// are pinned here and not in go.mod.
func repositories() []repository {
	return []repository{
		{"xtools", "golang.org/x/tools", "v0.52.0"},
		{"restic", "github.com/restic/restic", "v0.18.0"},
	}
}

const (
	quickCases = 10
	fullCases  = 60
	kindCases  = 15 // of each kind of edit alone
)

// verdict is how often the problems of the head were judged wrongly.
type verdict struct{ old, introduced, falsely, missed int }

func (v verdict) wrong() int { return v.falsely + v.missed }

// precision is the share of those called introduced that were.
func (v verdict) precision() float64 {
	found := v.introduced - v.missed
	return float64(found) / float64(max(1, found+v.falsely))
}

// recall is the share of the introduced that were called so.
func (v verdict) recall() float64 {
	return float64(v.introduced-v.missed) / float64(max(1, v.introduced))
}

func (v verdict) String() string {
	return fmt.Sprintf("%d false, %d missed of %d introduced beside %d old: precision %.4f, recall %.4f",
		v.falsely, v.missed, v.introduced, v.old, v.precision(), v.recall())
}

// judge counts for one case what a contender said.
func (v *verdict) judge(c *seededCase, called []diagnostics.Diagnostic) {
	said := map[int]bool{}
	for i := range called {
		said[idOf(&called[i])] = true
	}
	for i := range c.head.Diagnostics {
		id := idOf(&c.head.Diagnostics[i])
		if c.old[id] {
			v.old++
			if said[id] {
				v.falsely++
			}
			continue
		}
		v.introduced++
		if !said[id] {
			v.missed++
		}
	}
}

// play runs every contender on the same cases.
func play(t testing.TB, repo repository, edits []edit, cases int) map[string]*verdict {
	t.Helper()
	files := repo.load(t)
	results := map[string]*verdict{}
	for n := range cases {
		c := newSeededCase(t, files, edits, uint64(n))
		for _, one := range contenders() {
			if results[one.name] == nil {
				results[one.name] = &verdict{}
			}
			results[one.name].judge(c, one.introduced(t, c))
		}
	}
	return results
}

// bestTracker is the classic tracker that was wrong least often.
func bestTracker(results map[string]*verdict) *verdict {
	var best *verdict
	for _, one := range contenders() {
		if v := results[one.name]; one.classic && (best == nil || v.wrong() < best.wrong()) {
			best = v
		}
	}
	return best
}

// TestSeededEdits holds the tracked view to what it promises: a tenth of the
// changed-line filter's wrong answers, and fewer than any classic tracker's.
func TestSeededEdits(t *testing.T) {
	cases := quickCases
	if os.Getenv("PRISM_SOAK") == "1" {
		cases = fullCases
	}
	for _, repo := range repositories() {
		t.Run(repo.name, func(t *testing.T) {
			results := play(t, repo, mixedEdits(), cases)
			for _, one := range contenders() {
				t.Logf("figure: introduced by %d changes of mixed edits to %s, as the %s tells = %s", cases, repo.module, one.name, results[one.name])
			}
			ours, filter, tracker := results[tracked], results[changedLines], bestTracker(results)
			if ours.introduced == 0 || ours.old == 0 || filter.falsely == 0 || tracker.wrong() == 0 {
				t.Fatalf("the edits make no difference: ours %s, filter %s, tracker %s", ours, filter, tracker)
			}
			if ours.falsely*10 > filter.falsely || ours.missed*10 > filter.missed {
				t.Errorf("ours has %s; more than a tenth of what the changed-line filter has wrong: %s", ours, filter)
			}
			if ours.wrong() >= tracker.wrong() || ours.falsely >= tracker.falsely {
				t.Errorf("ours has %s; the best classic tracker %s", ours, tracker)
			}
		})
	}
}

// BenchmarkSeeded publishes what the contenders got wrong at full size, for mixed
// edits and for each kind alone.
func BenchmarkSeeded(b *testing.B) {
	for _, repo := range repositories() {
		for _, kind := range append([]edit{{name: "mixed"}}, mixedEdits()...) {
			b.Run(repo.name+"/"+kind.name, func(b *testing.B) {
				edits, cases := []edit{kind}, kindCases
				if kind.name == "mixed" {
					edits, cases = mixedEdits(), fullCases
				}
				var results map[string]*verdict
				for b.Loop() {
					results = play(b, repo, edits, cases)
				}
				ours, filter, tracker, exact := results[tracked], results[changedLines], bestTracker(results), results[exactIdentity]
				b.ReportMetric(float64(ours.wrong())/float64(max(1, filter.wrong())), "wrong/filter")
				b.ReportMetric(float64(ours.wrong())/float64(max(1, tracker.wrong())), "wrong/tracker")
				b.ReportMetric(ours.precision(), "precision")
				b.ReportMetric(ours.recall(), "recall")
				for _, one := range []struct {
					name string
					v    *verdict
				}{{"ours", ours}, {"filter", filter}, {"tracker", tracker}, {"exact", exact}} {
					b.ReportMetric(float64(one.v.falsely), one.name+"-false")
					b.ReportMetric(float64(one.v.missed), one.name+"-missed")
				}
			})
		}
	}
}
