package diagnostics_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// identified is a line with an identity that edits keep and that Compare does not
// see, so that a test knows which problem is the same one.
type identified struct {
	id   int
	text string
}

// history makes random edits of a file and knows what they did.
type history struct {
	r      *rand.Rand
	lastID int
}

func (h *history) line() identified {
	h.lastID++
	return identified{h.lastID, randomLine(h.r)}
}

func (h *history) file(lines int) []identified {
	var list []identified
	for range lines {
		list = append(list, h.line())
	}
	return list
}

// edit inserts, deletes and rewrites lines in small blocks. A rewritten line
// keeps its identity and most of its text; now and then its problem is another.
func (h *history) edit(before []identified) (after []identified, hunks []diagnostics.Hunk) {
	for i := 0; i < len(before); {
		after = append(after, before[i]) // a kept line keeps hunks apart
		i++
		if h.r.IntN(12) > 0 {
			continue
		}
		hunk := diagnostics.Hunk{OldStart: i, NewStart: len(after)}
		for range 1 + h.r.IntN(4) {
			switch kind := h.r.IntN(3); {
			case kind == 0 || i == len(before):
				after = append(after, h.line())
			case kind == 1:
				i++
			default:
				after = append(after, h.rewrite(before[i]))
				i++
			}
		}
		hunk.OldLines, hunk.NewLines = i-hunk.OldStart, len(after)-hunk.NewStart
		hunks = append(hunks, hunk)
	}
	return after, hunks
}

func (h *history) rewrite(l identified) identified {
	if strings.Contains(l.text, "missing") && h.r.IntN(4) == 0 {
		return identified{l.id, strings.Replace(l.text, "missing", "missingToo", 1)}
	}
	return identified{l.id, l.text + fmt.Sprintf(" // %d", h.r.IntN(100))}
}

// tally is how often a judgement of the head's problems was wrong.
type tally struct{ problems, introduced, falselyIntroduced, missed int }

func (t *tally) add(trulyNew, judgedNew bool) {
	t.problems++
	switch {
	case trulyNew && !judgedNew:
		t.missed++
	case !trulyNew && judgedNew:
		t.falselyIntroduced++
	}
	if trulyNew {
		t.introduced++
	}
}

func (t tally) String() string {
	return fmt.Sprintf("%d false, %d missed of %d introduced among %d", t.falselyIntroduced, t.missed, t.introduced, t.problems)
}

// TestJudgementAgainstTruth measures both views on random edits, and holds the
// tracked one to a share of wrong answers.
func TestJudgementAgainstTruth(t *testing.T) {
	rounds := uint64(100)
	if os.Getenv("PRISM_SOAK") == "1" {
		rounds = 5000
	}
	var exact, tracked tally
	for seed := range rounds {
		h := &history{r: rand.New(rand.NewPCG(seed, 2))}
		before := h.file(200)
		after, hunks := h.edit(before)
		judge(t, before, after, hunks, &exact, &tracked)
	}
	t.Logf("figure: introduced problems told by the exact view = %s", exact)
	t.Logf("figure: introduced problems told by the tracked view = %s", tracked)
	if tracked.introduced == 0 || tracked.falselyIntroduced*50 > tracked.introduced || tracked.missed*20 > tracked.introduced {
		t.Errorf("the tracked view is wrong too often: %s", tracked)
	}
}

func judge(t *testing.T, before, after []identified, hunks []diagnostics.Hunk, exact, tracked *tally) {
	base, head := snapshot(t, gopls(), problemsOf(before)...), snapshot(t, gopls(), problemsOf(after)...)
	old := map[string]bool{} // identity and message
	for i := range base.Diagnostics {
		d := &base.Diagnostics[i]
		old[fmt.Sprint(before[d.Range.Start.Line].id, d.Message)] = true
	}
	count := func(to *tally, judgedNew bool, list []diagnostics.Diagnostic) {
		for i := range list {
			truth := old[fmt.Sprint(after[list[i].Range.Start.Line].id, list[i].Message)]
			to.add(!truth, judgedNew)
		}
	}
	view := diagnostics.Exact(base, head)
	count(exact, true, view.Added)
	count(exact, false, view.Unchanged)
	delta := compare(t, base, head, &diagnostics.Options{
		Lines:    diagnostics.Hunks{"a.go": hunks},
		Contents: sides{textOf(before), textOf(after)},
	})
	count(tracked, true, delta.Introduced)
	for _, m := range delta.Unchanged {
		count(tracked, false, []diagnostics.Diagnostic{m.Head})
	}
}

func problemsOf(lines []identified) []diagnostics.Diagnostic {
	var c codebase
	for _, l := range lines {
		c.lines = append(c.lines, l.text)
	}
	list := c.problems()
	for i := range list { // the message has no position, as most have none
		list[i].Message, _, _ = strings.Cut(list[i].Message, " (")
	}
	return list
}

func textOf(lines []identified) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	return b.String()
}
