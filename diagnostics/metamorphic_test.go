package diagnostics_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// codebase is a random file whose lines say what problem stands on them, so that
// the truth about any edit is known.
type codebase struct {
	lines []string
}

func randomCode(r *rand.Rand, lines int) codebase {
	var c codebase
	for range lines {
		c.lines = append(c.lines, randomLine(r))
	}
	return c
}

func randomLine(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return fmt.Sprintf("\tcall%d(missing%d)", r.IntN(50), r.IntN(5))
	case 1:
		return ""
	default:
		return fmt.Sprintf("\tx%d := y%d + %d", r.IntN(50), r.IntN(50), r.IntN(9))
	}
}

// problems finds the planted problems: every line that names something missing.
func (c codebase) problems() []diagnostics.Diagnostic {
	var list []diagnostics.Diagnostic
	for i, line := range c.lines {
		if at := strings.Index(line, "missing"); at >= 0 {
			name := strings.TrimSuffix(line[at:], ")")
			list = append(list, problem("a.go", i, at, fmt.Sprintf("undefined: %s (a.go:%d)", name, i+1)))
		}
	}
	return list
}

// edit replaces random blocks by new lines, and says which hunks that makes.
func (c codebase) edit(r *rand.Rand) (codebase, []diagnostics.Hunk) {
	var out codebase
	var hunks []diagnostics.Hunk
	for i := 0; i < len(c.lines); {
		if r.IntN(6) > 0 {
			out.lines = append(out.lines, c.lines[i])
			i++
			continue
		}
		h := diagnostics.Hunk{OldStart: i, OldLines: min(r.IntN(4), len(c.lines)-i), NewStart: len(out.lines), NewLines: r.IntN(4)}
		for range h.NewLines {
			out.lines = append(out.lines, randomLine(r))
		}
		i += h.OldLines
		hunks = append(hunks, h)
		if i < len(c.lines) { // a run of at least one line keeps hunks apart
			out.lines = append(out.lines, c.lines[i])
			i++
		}
	}
	return out, hunks
}

func inverse(hunks []diagnostics.Hunk) []diagnostics.Hunk {
	var out []diagnostics.Hunk
	for _, h := range hunks {
		out = append(out, diagnostics.Hunk{OldStart: h.NewStart, OldLines: h.NewLines, NewStart: h.OldStart, NewLines: h.OldLines})
	}
	return out
}

func (c codebase) text() string { return strings.Join(c.lines, "\n") }

func TestRandomEdits(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		before := randomCode(r, 60)
		after, hunks := before.edit(r)
		base, head := snapshot(t, gopls(), before.problems()...), snapshot(t, gopls(), after.problems()...)
		opts := &diagnostics.Options{
			Lines:    diagnostics.Hunks{"a.go": hunks},
			Contents: sides{before.text(), after.text()},
		}
		delta := compare(t, base, head, opts)

		c := delta.Counts
		if c.Introduced+c.Unchanged != len(head.Diagnostics) || c.Fixed+c.Unchanged != len(base.Diagnostics) || c.Unknown != 0 {
			t.Fatalf("seed %d: %+v does not add up to %d of the base and %d of the head", seed, c, len(base.Diagnostics), len(head.Diagnostics))
		}
		reversed := compare(t, head, base, &diagnostics.Options{
			Lines:    diagnostics.Hunks{"a.go": inverse(hunks)},
			Contents: sides{after.text(), before.text()},
		})
		if reversed.Counts.Introduced != c.Fixed || reversed.Counts.Fixed != c.Introduced {
			t.Fatalf("seed %d: reversed %+v, want introduced and fixed of %+v swapped", seed, reversed.Counts, c)
		}
		for _, m := range delta.Unchanged {
			kept := !replacedLine(hunks, m.Base.Range.Start.Line)
			if kept && m.Via != diagnostics.ViaPosition && m.Via != diagnostics.ViaLine {
				t.Fatalf("seed %d: %s stood on an untouched line and was matched via %s", seed, short(&m.Base), m.Via)
			}
		}
	}
}

func replacedLine(hunks []diagnostics.Hunk, line int) bool {
	for _, h := range hunks {
		if line >= h.OldStart && line < h.OldStart+h.OldLines {
			return true
		}
	}
	return false
}

func TestNothingChanged(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	s := snapshot(t, gopls(), randomCode(r, 300).problems()...)
	delta := compare(t, s, s, nil)
	if c := delta.Counts; c.Introduced+c.Fixed+c.Unknown != 0 || c.Unchanged != len(s.Diagnostics) || c.Unchanged == 0 {
		t.Errorf("Compare(a, a) = %+v, want %d unchanged alone", c, len(s.Diagnostics))
	}
	for _, m := range delta.Unchanged {
		if m.Moved || m.Updated || m.Via != diagnostics.ViaPosition {
			t.Errorf("Compare(a, a) marks %+v", m)
		}
	}
}

func TestBlankLineAnywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	before := randomCode(r, 40)
	base := snapshot(t, gopls(), before.problems()...)
	for at := range len(before.lines) + 1 {
		after := codebase{append(append(append([]string{}, before.lines[:at]...), ""), before.lines[at:]...)}
		delta := compare(t, base, snapshot(t, gopls(), after.problems()...), &diagnostics.Options{
			Lines: diagnostics.Hunks{"a.go": {{OldStart: at, NewStart: at, NewLines: 1}}},
		})
		if c := delta.Counts; c.Introduced+c.Fixed+c.Unknown != 0 {
			t.Fatalf("a blank line before line %d: %+v, want nothing introduced or fixed", at, c)
		}
	}
}

func TestManyDiagnostics(t *testing.T) {
	base, head, hunks, text := manyDiagnostics(t)
	for name, opts := range map[string]*diagnostics.Options{
		"given hunks": {Lines: hunks, MaxEntries: 10000},
		"texts":       {Contents: text, MaxEntries: 10000},
	} {
		start := time.Now()
		delta := compare(t, base, head, opts)
		took := time.Since(start)
		if delta.Counts.Unchanged != len(head.Diagnostics) || delta.Counts.Introduced != 0 {
			t.Errorf("%s: %+v, want %d unchanged", name, delta.Counts, len(head.Diagnostics))
		}
		t.Logf("figure: delta of 10000 x 10000 diagnostics over 100000 lines, by %s = %s", name, took.Round(time.Millisecond))
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("a.go\x00undefined: x (a.go:3)\x001\x002", "a.go\x00undefined: y\x001\x002", uint8(1), uint8(0), uint8(2))
	f.Add("a\x00\x1b[31m(12,3): line 4\x000\x000", "b\x00(1,3): line 9\x000\x000", uint8(0), uint8(3), uint8(1))
	f.Fuzz(func(t *testing.T, baseText, headText string, start, oldLines, newLines uint8) {
		base, head := fuzzSnapshot(baseText), fuzzSnapshot(headText)
		hunk := diagnostics.Hunk{OldStart: int(start), OldLines: int(oldLines), NewStart: int(start), NewLines: int(newLines)}
		opts := &diagnostics.Options{
			Lines:    diagnostics.Hunks{"a.go": {hunk}, "a": {hunk}},
			Contents: sides{baseText, headText},
			Renames:  []diagnostics.SymbolRename{{Old: "x", New: "y"}},
		}
		delta, err := diagnostics.Compare(base, head, opts)
		if err != nil {
			t.Fatal(err)
		}
		unknown := map[diagnostics.Side]int{}
		for _, u := range delta.Unknown {
			unknown[u.Side]++
		}
		c := delta.Counts
		if c.Introduced+c.Unchanged+unknown[diagnostics.Head] != len(head.Diagnostics) {
			t.Fatalf("%+v does not add up to the head's %d", c, len(head.Diagnostics))
		}
		if c.Fixed+c.Unchanged+unknown[diagnostics.Base] != len(base.Diagnostics) {
			t.Fatalf("%+v does not add up to the base's %d", c, len(base.Diagnostics))
		}
		for _, r := range delta.Text(&diagnostics.TextOptions{Contents: sides{baseText, headText}}) {
			if r < ' ' && r != '\n' || r == 0x7f {
				t.Fatalf("control character %q in the text form", r)
			}
		}
	})
}

// fuzzSnapshot reads four fields a diagnostic: path, message, line, column.
func fuzzSnapshot(text string) *diagnostics.Snapshot {
	b, _ := diagnostics.NewBuilder(nil)
	b.Producer(gopls())
	fields := strings.Split(text, "\x00")
	for len(fields) >= 4 {
		b.Add(problem(fields[0], len(fields[2]), len(fields[3]), fields[1]))
		fields = fields[4:]
	}
	return b.Snapshot()
}

// A hunk too big to align is still answered, and soon.
func TestHugeHunk(t *testing.T) {
	const lines = 3000
	r := rand.New(rand.NewPCG(5, 5))
	before, after := randomCode(r, lines), randomCode(r, lines)
	start := time.Now()
	delta := compare(t, snapshot(t, gopls(), before.problems()[:400]...), snapshot(t, gopls(), after.problems()[:400]...), &diagnostics.Options{
		Lines:    diagnostics.Hunks{"a.go": {{OldLines: lines, NewLines: lines}}},
		Contents: sides{before.text(), after.text()},
	})
	if c := delta.Counts; c.Introduced+c.Unchanged != 400 || c.Fixed+c.Unchanged != 400 {
		t.Errorf("%+v does not add up to 400", c)
	}
	t.Logf("figure: delta over one hunk of 3000 x 3000 lines = %s", time.Since(start).Round(time.Millisecond))
}

// FuzzCompareTexts has no hunks given: whatever the texts, everything is
// accounted for, and the reversed change swaps introduced and fixed.
func FuzzCompareTexts(f *testing.F) {
	f.Add("a\nmissing1()\nb\n", "missing1()\na\n", "x\n", "a\nmissing1()\nb\n")
	f.Add("func f(missing int) {\n\tmissing(1)\n}\n", "", "}\r\n}\r", "func f(missing int) {\n\tmissing(1)\n}\n")
	f.Fuzz(func(t *testing.T, oneBase, oneHead, twoBase, twoHead string) {
		text := trees{map[string]string{"a.go": oneBase, "b.go": twoBase}, map[string]string{"a.go": oneHead, "b.go": twoHead}}
		base, head := fuzzPlanted(text.base), fuzzPlanted(text.head)
		delta := compare(t, base, head, &diagnostics.Options{Contents: text, MaxEntries: 10_000})
		c := delta.Counts
		if c.Introduced+c.Unchanged != len(head.Diagnostics) || c.Fixed+c.Unchanged != len(base.Diagnostics) {
			t.Fatalf("%+v does not add up to %d and %d", c, len(base.Diagnostics), len(head.Diagnostics))
		}
		back := compare(t, head, base, &diagnostics.Options{Contents: text.reversed(), MaxEntries: 10_000}).Counts
		if back.Introduced != c.Fixed || back.Fixed != c.Introduced {
			t.Fatalf("reversed %+v, want introduced and fixed of %+v swapped", back, c)
		}
	})
}

// fuzzPlanted has a problem on every line that holds a "missing".
func fuzzPlanted(files map[string]string) *diagnostics.Snapshot {
	b, _ := diagnostics.NewBuilder(nil)
	b.Producer(gopls())
	for path, text := range files {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
		for i, line := range strings.Split(text, "\n") {
			if at := strings.Index(line, "missing"); at >= 0 {
				b.Add(problem(path, i, at, "undefined: "+strings.TrimSpace(line[at:])))
			}
		}
	}
	return b.Snapshot()
}
