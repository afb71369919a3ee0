package diagnostics_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prism-ls/prism-ls/diagnostics"
)

func at(line, column int) diagnostics.Range {
	p := diagnostics.Position{Line: line, UTF16: column, Byte: column}
	return diagnostics.Range{Start: p, End: p}
}

func problem(path string, line, column int, message string) diagnostics.Diagnostic {
	return diagnostics.Diagnostic{
		Producer: "gopls", Source: "compiler", Code: "E1", Severity: diagnostics.Error,
		Path: path, Range: at(line, column), Message: message,
	}
}

func gopls() diagnostics.Producer {
	return diagnostics.Producer{
		ID: "gopls", Tool: "gopls", Version: "v0.23.0", ConfigDigest: "c",
		Scope: diagnostics.Scope{All: true}, Status: diagnostics.StatusOK,
	}
}

func snapshot(t testing.TB, producer diagnostics.Producer, list ...diagnostics.Diagnostic) *diagnostics.Snapshot {
	t.Helper()
	b, err := diagnostics.NewBuilder(nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Producer(producer)
	for _, d := range list {
		if !b.Add(d) {
			t.Fatalf("Add(%+v) dropped it", d)
		}
	}
	return b.Snapshot()
}

func compare(t testing.TB, base, head *diagnostics.Snapshot, opts *diagnostics.Options) *diagnostics.Delta {
	t.Helper()
	delta, err := diagnostics.Compare(base, head, opts)
	if err != nil {
		t.Fatal(err)
	}
	return delta
}

// summary is a delta in one comparable string list.
func summary(d *diagnostics.Delta) []string {
	var out []string
	for i := range d.Introduced {
		out = append(out, "introduced "+short(&d.Introduced[i]))
	}
	for i := range d.Fixed {
		out = append(out, "fixed "+short(&d.Fixed[i]))
	}
	for _, m := range d.Unchanged {
		mark := ""
		if m.Moved {
			mark += " moved"
		}
		if m.Updated {
			mark += " updated"
		}
		out = append(out, fmt.Sprintf("unchanged %s -> %s via %s %s%s", short(&m.Base), short(&m.Head), m.Via, m.Sure, mark))
	}
	for i := range d.Unknown {
		side := "base"
		if d.Unknown[i].Side == diagnostics.Head {
			side = "head"
		}
		out = append(out, fmt.Sprintf("unknown %s %s: %s", side, short(&d.Unknown[i].Diagnostic), d.Unknown[i].Reason))
	}
	return out
}

func short(d *diagnostics.Diagnostic) string {
	return fmt.Sprintf("%s:%d:%d %s", d.Path, d.Range.Start.Line, d.Range.Start.UTF16, d.Message)
}

func TestCompare(t *testing.T) {
	inserted := diagnostics.Hunks{"a.go": {{OldStart: 2, NewStart: 2, NewLines: 1}}}
	replaced := diagnostics.Hunks{"a.go": {{OldStart: 2, OldLines: 1, NewStart: 2, NewLines: 1}}}
	tests := []struct {
		name       string
		base, head []diagnostics.Diagnostic
		opts       diagnostics.Options
		want       []string
	}{
		{
			name: "a line inserted above moves and changes nothing else",
			base: []diagnostics.Diagnostic{problem("a.go", 1, 0, "above"), problem("a.go", 5, 3, "below")},
			head: []diagnostics.Diagnostic{problem("a.go", 1, 0, "above"), problem("a.go", 6, 3, "below")},
			opts: diagnostics.Options{Lines: inserted},
			want: []string{
				"unchanged a.go:1:0 above -> a.go:1:0 above via position high",
				"unchanged a.go:5:3 below -> a.go:6:3 below via position high moved",
			},
		},
		{
			name: "the second of two equal errors is introduced, the first is not",
			base: []diagnostics.Diagnostic{problem("a.go", 5, 3, "undefined: x")},
			head: []diagnostics.Diagnostic{problem("a.go", 6, 3, "undefined: x"), problem("a.go", 2, 3, "undefined: x")},
			opts: diagnostics.Options{Lines: inserted},
			want: []string{
				"introduced a.go:2:3 undefined: x",
				"unchanged a.go:5:3 undefined: x -> a.go:6:3 undefined: x via position high moved",
			},
		},
		{
			name: "twice at one place is two",
			base: []diagnostics.Diagnostic{problem("a.go", 5, 3, "m")},
			head: []diagnostics.Diagnostic{problem("a.go", 5, 3, "m"), problem("a.go", 5, 3, "m")},
			want: []string{"introduced a.go:5:3 m", "unchanged a.go:5:3 m -> a.go:5:3 m via position high"},
		},
		{
			name: "an edited line keeps its problem",
			base: []diagnostics.Diagnostic{problem("a.go", 2, 3, "undefined: x")},
			head: []diagnostics.Diagnostic{problem("a.go", 2, 9, "undefined: x")},
			opts: diagnostics.Options{Lines: replaced},
			want: []string{"unchanged a.go:2:3 undefined: x -> a.go:2:9 undefined: x via gap medium"},
		},
		{
			name: "an edited line with another problem: one fixed, one introduced",
			base: []diagnostics.Diagnostic{problem("a.go", 2, 3, "undefined: x")},
			head: []diagnostics.Diagnostic{problem("a.go", 2, 3, "undefined: y")},
			opts: diagnostics.Options{Lines: replaced},
			want: []string{"introduced a.go:2:3 undefined: y", "fixed a.go:2:3 undefined: x"},
		},
		{
			name: "a renamed symbol in the message",
			base: []diagnostics.Diagnostic{problem("a.go", 2, 3, "p.Old undefined (type T has no field Old, see a.go:3:4)")},
			head: []diagnostics.Diagnostic{problem("a.go", 2, 3, "p.New undefined (type T has no field New, see a.go:4:4)")},
			opts: diagnostics.Options{Lines: replaced, Renames: []diagnostics.SymbolRename{{Old: "Old", New: "New"}}},
			want: []string{"unchanged a.go:2:3 p.Old undefined (type T has no field Old, see a.go:3:4)" +
				" -> a.go:2:3 p.New undefined (type T has no field New, see a.go:4:4) via rename medium updated"},
		},
		{
			name: "a rename is of whole words",
			base: []diagnostics.Diagnostic{problem("a.go", 2, 3, "undefined: Older")},
			head: []diagnostics.Diagnostic{problem("a.go", 2, 3, "undefined: Newer")},
			opts: diagnostics.Options{Renames: []diagnostics.SymbolRename{{Old: "Old", New: "New"}}},
			want: []string{"introduced a.go:2:3 undefined: Newer", "fixed a.go:2:3 undefined: Older"},
		},
		{
			name: "a renamed file",
			base: []diagnostics.Diagnostic{problem("a.go", 2, 3, "m")},
			head: []diagnostics.Diagnostic{problem("b/a.go", 2, 3, "m")},
			opts: diagnostics.Options{Files: diagnostics.NewFileChanges(diagnostics.FileChange{Old: "a.go", New: "b/a.go"})},
			want: []string{"unchanged a.go:2:3 m -> b/a.go:2:3 m via position high moved"},
		},
		{
			name: "files that swapped names",
			base: []diagnostics.Diagnostic{problem("a.go", 2, 3, "m"), problem("b.go", 7, 3, "n")},
			head: []diagnostics.Diagnostic{problem("b.go", 2, 3, "m"), problem("a.go", 7, 3, "n")},
			opts: diagnostics.Options{Files: diagnostics.NewFileChanges(
				diagnostics.FileChange{Old: "a.go", New: "b.go"}, diagnostics.FileChange{Old: "b.go", New: "a.go"})},
			want: []string{
				"unchanged b.go:7:3 n -> a.go:7:3 n via position high moved",
				"unchanged a.go:2:3 m -> b.go:2:3 m via position high moved",
			},
		},
		{
			name: "the same text in another file is another problem",
			base: []diagnostics.Diagnostic{problem("a.go", 2, 3, "m")},
			head: []diagnostics.Diagnostic{problem("b.go", 2, 3, "m")},
			want: []string{"introduced b.go:2:3 m", "fixed a.go:2:3 m"},
		},
		{
			name: "a deleted file fixes, a created one introduces",
			base: []diagnostics.Diagnostic{problem("a.go", 2, 3, "m")},
			head: []diagnostics.Diagnostic{problem("b.go", 2, 3, "m")},
			opts: diagnostics.Options{Files: diagnostics.NewFileChanges(
				diagnostics.FileChange{Old: "a.go"}, diagnostics.FileChange{New: "b.go"})},
			want: []string{"introduced b.go:2:3 m", "fixed a.go:2:3 m"},
		},
		{
			name: "a line in the message moved with the code",
			base: []diagnostics.Diagnostic{problem("a.go", 5, 3, "x redeclared, other declaration at a.go:9:2")},
			head: []diagnostics.Diagnostic{problem("a.go", 6, 3, "x redeclared, other declaration at a.go:10:2")},
			opts: diagnostics.Options{Lines: inserted},
			want: []string{"unchanged a.go:5:3 x redeclared, other declaration at a.go:9:2" +
				" -> a.go:6:3 x redeclared, other declaration at a.go:10:2 via line high moved updated"},
		},
		{
			name: "moved within the file, by count",
			base: []diagnostics.Diagnostic{problem("a.go", 5, 3, "m")},
			head: []diagnostics.Diagnostic{problem("a.go", 50, 3, "m"), problem("a.go", 60, 3, "m")},
			want: []string{"introduced a.go:60:3 m", "unchanged a.go:5:3 m -> a.go:50:3 m via file low moved"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			delta := compare(t, snapshot(t, gopls(), test.base...), snapshot(t, gopls(), test.head...), &test.opts)
			if diff := cmp.Diff(test.want, summary(delta)); diff != "" {
				t.Errorf("Compare (-want +got):\n%s", diff)
			}
			if !delta.Complete() || delta.Status() != "complete" {
				t.Errorf("Status = %s, want complete", delta.Status())
			}
		})
	}
}

func TestGapsAreAlignedBySimilarity(t *testing.T) {
	text := sides{
		base: "package p\n\nfunc f() {\n\tone(alpha, beta)\n\ttwo(gamma, delta)\n}\n",
		head: "package p\n\nfunc f() {\n\tsomething.Else()\n\tone(alpha, beta, 3)\n\ttwo(gamma, epsilon)\n}\n",
	}
	opts := &diagnostics.Options{
		Lines:    diagnostics.Hunks{"a.go": {{OldStart: 3, OldLines: 2, NewStart: 3, NewLines: 3}}},
		Contents: text,
	}
	base := snapshot(t, gopls(), problem("a.go", 3, 1, "undefined: f"), problem("a.go", 4, 1, "undefined: f"))
	head := snapshot(t, gopls(), problem("a.go", 3, 1, "undefined: f"), problem("a.go", 4, 1, "undefined: f"), problem("a.go", 5, 1, "undefined: f"))
	want := []string{
		"introduced a.go:3:1 undefined: f",
		"unchanged a.go:3:1 undefined: f -> a.go:4:1 undefined: f via gap medium moved",
		"unchanged a.go:4:1 undefined: f -> a.go:5:1 undefined: f via gap medium moved",
	}
	if diff := cmp.Diff(want, summary(compare(t, base, head, opts))); diff != "" {
		t.Errorf("Compare (-want +got):\n%s", diff)
	}
}

// sides has one text for every file of a side.
type sides struct{ base, head string }

func (s sides) Content(side diagnostics.Side, _ string) ([]byte, bool) {
	if side == diagnostics.Base {
		return []byte(s.base), true
	}
	return []byte(s.head), true
}

func TestCoverage(t *testing.T) {
	with := func(change func(*diagnostics.Producer)) diagnostics.Producer {
		p := gopls()
		change(&p)
		return p
	}
	tests := []struct {
		name       string
		base, head diagnostics.Producer
		want       []string
	}{
		{
			name: "crashed", base: gopls(), head: with(func(p *diagnostics.Producer) { p.Status = diagnostics.StatusCrashed }),
			want: []string{"introduced a.go:1:0 new", "unchanged a.go:3:0 both -> a.go:3:0 both via position high", "unknown base a.go:2:0 old: producer_incomplete"},
		},
		{
			name: "timeout of the base", base: with(func(p *diagnostics.Producer) { p.Status = diagnostics.StatusTimeout }), head: gopls(),
			want: []string{"fixed a.go:2:0 old", "unchanged a.go:3:0 both -> a.go:3:0 both via position high", "unknown head a.go:1:0 new: producer_incomplete"},
		},
		{
			name: "entries dropped", base: gopls(), head: with(func(p *diagnostics.Producer) { p.Dropped = 1 }),
			want: []string{"introduced a.go:1:0 new", "unchanged a.go:3:0 both -> a.go:3:0 both via position high", "unknown base a.go:2:0 old: producer_incomplete"},
		},
		{
			name: "another scope", base: gopls(), head: with(func(p *diagnostics.Producer) { p.Scope = diagnostics.Scope{Paths: []string{"b.go", "a.g"}} }),
			want: []string{"introduced a.go:1:0 new", "unchanged a.go:3:0 both -> a.go:3:0 both via position high", "unknown base a.go:2:0 old: not_in_scope"},
		},
		{
			name: "another configuration", base: gopls(), head: with(func(p *diagnostics.Producer) { p.ConfigDigest = "d" }),
			want: []string{"unknown head a.go:1:0 new: producer_changed", "unknown head a.go:3:0 both: producer_changed",
				"unknown base a.go:2:0 old: producer_changed", "unknown base a.go:3:0 both: producer_changed"},
		},
		{
			name: "another version", base: gopls(), head: with(func(p *diagnostics.Producer) { p.Version = "v0.24.0" }),
			want: []string{"unknown head a.go:1:0 new: producer_changed", "unknown head a.go:3:0 both: producer_changed",
				"unknown base a.go:2:0 old: producer_changed", "unknown base a.go:3:0 both: producer_changed"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			base := snapshot(t, test.base, problem("a.go", 2, 0, "old"), problem("a.go", 3, 0, "both"))
			head := snapshot(t, test.head, problem("a.go", 1, 0, "new"), problem("a.go", 3, 0, "both"))
			delta := compare(t, base, head, nil)
			if diff := cmp.Diff(test.want, summary(delta)); diff != "" {
				t.Errorf("Compare (-want +got):\n%s", diff)
			}
			if delta.Status() != "partial" {
				t.Errorf("Status = %s, want partial", delta.Status())
			}
		})
	}
	t.Run("not run", func(t *testing.T) {
		empty := &diagnostics.Snapshot{}
		delta := compare(t, snapshot(t, gopls(), problem("a.go", 2, 0, "old")), empty, nil)
		if diff := cmp.Diff([]string{"unknown base a.go:2:0 old: producer_not_run"}, summary(delta)); diff != "" {
			t.Errorf("Compare (-want +got):\n%s", diff)
		}
	})
}

func TestStrictSeverity(t *testing.T) {
	mild, bad := problem("a.go", 2, 0, "m"), problem("a.go", 2, 0, "m")
	mild.Severity = diagnostics.Warning
	base, head := snapshot(t, gopls(), mild), snapshot(t, gopls(), bad)
	strict := &diagnostics.Options{Strict: true}
	if got := compare(t, base, head, strict).Counts; got.Introduced != 1 || got.IntroducedErrors != 1 || got.Unchanged != 0 {
		t.Errorf("raised, strict: %+v, want one introduced", got)
	}
	if got := compare(t, head, base, strict).Counts; got.Introduced != 0 || got.Unchanged != 1 {
		t.Errorf("lowered, strict: %+v, want one unchanged", got)
	}
	if got := compare(t, base, head, nil); got.Counts.Unchanged != 1 || !got.Unchanged[0].Updated {
		t.Errorf("raised: %+v, want one unchanged and updated", got)
	}
}

func TestCompareRefuses(t *testing.T) {
	s := snapshot(t, gopls(), problem("a.go", 2, 0, "m"))
	for name, opts := range map[string]diagnostics.Options{
		"overlapping hunks":     {Lines: diagnostics.Hunks{"a.go": {{0, 2, 0, 2}, {1, 1, 3, 1}}}},
		"hunks that do not fit": {Lines: diagnostics.Hunks{"a.go": {{0, 1, 0, 1}, {5, 1, 4, 1}}}},
		"negative hunk":         {Lines: diagnostics.Hunks{"a.go": {{0, -1, 0, 1}}}},
		"too many entries":      {MaxEntries: 10001},
		"negative entries":      {MaxEntries: -1},
	} {
		if _, err := diagnostics.Compare(s, s, &opts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestDeltaIsBounded(t *testing.T) {
	var list []diagnostics.Diagnostic
	for i := range 30 {
		list = append(list, problem("a.go", i, 0, "m"))
	}
	delta := compare(t, snapshot(t, gopls(), list[:10]...), snapshot(t, gopls(), list...), &diagnostics.Options{MaxEntries: 25})
	if !delta.Truncated || delta.Complete() || len(delta.Introduced) != 20 || len(delta.Unchanged) != 5 || delta.Counts.Unchanged != 10 {
		t.Errorf("got %d introduced, %d unchanged of %+v, truncated %v; want 20, 5 of 10, true",
			len(delta.Introduced), len(delta.Unchanged), delta.Counts, delta.Truncated)
	}
}

func TestExact(t *testing.T) {
	a, b := problem("a.go", 1, 0, "a"), problem("a.go", 2, 0, "b")
	base := snapshot(t, gopls(), a, a, b)
	head := snapshot(t, gopls(), a, problem("a.go", 3, 0, "b"))
	delta := diagnostics.Exact(base, head)
	if len(delta.Added) != 1 || len(delta.Removed) != 2 || len(delta.Unchanged) != 1 {
		t.Errorf("Exact = %+v, want 1 added, 2 removed, 1 unchanged", delta)
	}
	head.Generation = 7
	head.Diagnostics = nil
	if delta := diagnostics.Exact(base, head); len(delta.Removed) != 3 {
		t.Errorf("an empty head removed %d, want all 3", len(delta.Removed))
	}
	if delta := diagnostics.Exact(base, base); len(delta.Added)+len(delta.Removed) != 0 {
		t.Errorf("Exact(a, a) = %+v, want nothing added or removed", delta)
	}
}

func TestOrderDoesNotDependOnInput(t *testing.T) {
	var list []diagnostics.Diagnostic
	for i := range 20 {
		list = append(list, problem("a.go", i%4, i%3, fmt.Sprintf("m%d", i%5)))
	}
	want := summary(compare(t, snapshot(t, gopls(), list[:8]...), snapshot(t, gopls(), list...), nil))
	slices.Reverse(list)
	got := summary(compare(t, snapshot(t, gopls(), list[12:]...), snapshot(t, gopls(), list...), nil))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reversed input (-want +got):\n%s", diff)
	}
}
