package diagnostics_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// everyState is a delta with a problem of every kind, by two producers of which
// one crashed over the head.
func everyState(t *testing.T) (d *diagnostics.Delta, base, head *diagnostics.Snapshot, text trees) {
	t.Helper()
	text = trees{
		base: map[string]string{"a b.go": "x := missingOne()\ny := missingTwo()\n", "gen.go": "\n"},
		head: map[string]string{"a b.go": "// é😀 \ny := missingTwo()\n\"😀\", missingNew()\n", "gen.go": "missingGen()\n"},
	}
	related := problem("a b.go", 2, 5, "undefined: missingNew")
	related.Range = diagnostics.Range{Start: diagnostics.Position{Line: 2, UTF16: -1, Byte: 8}, End: diagnostics.Position{Line: 2, UTF16: -1, Byte: 18}}
	related.Related = []diagnostics.Related{{Path: "gen.go", Range: at(0, 0), Message: "see here"}}
	updated := problem("a b.go", 1, 5, "undefined: missingTwo (line 2)")
	updated.Severity = diagnostics.Hint
	lost := problem("a b.go", 1, 0, "long line")
	lost.Producer, lost.Source, lost.Code = "lint", "", ""
	crashed := diagnostics.Producer{ID: "lint", Tool: "linter", Scope: diagnostics.Scope{All: true}, Status: diagnostics.StatusCrashed}
	working := crashed
	working.Status = diagnostics.StatusOK
	build := func(revision string, lint diagnostics.Producer, list ...diagnostics.Diagnostic) *diagnostics.Snapshot {
		b, err := diagnostics.NewBuilder(nil)
		if err != nil {
			t.Fatal(err)
		}
		b.Revision(revision, "", 1)
		b.Producer(gopls())
		b.Producer(lint)
		for _, one := range list {
			b.Add(one)
		}
		return b.Snapshot()
	}
	base = build(strings.Repeat("b", 40), working, problem("a b.go", 0, 5, "undefined: missingOne"), problem("a b.go", 1, 5, "undefined: missingTwo (line 9)"), lost)
	head = build(strings.Repeat("a", 40), crashed, updated, related, problem("gen.go", 0, 0, "undefined: missingGen"))
	d = compare(t, base, head, &diagnostics.Options{Contents: text, Generated: func(path string) bool { return path == "gen.go" }})
	return d, base, head, text
}

func TestSARIF(t *testing.T) {
	delta, base, head, text := everyState(t)
	got, err := delta.SARIF(base, head, text)
	if err != nil {
		t.Fatal(err)
	}
	report, err := sarif.FromBytes(got)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Validate(); err != nil {
		t.Fatalf("the library's schema: %v", err)
	}
	// What the library does not know it drops; so it must give back all of ours.
	again, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var ours, theirs any
	for text, to := range map[string]*any{string(got): &ours, string(again): &theirs} {
		if err := json.Unmarshal([]byte(text), to); err != nil {
			t.Fatal(err)
		}
	}
	if lost := missing("", ours, theirs); lost != "" {
		t.Errorf("the library knows no %s", lost)
	}
	states := map[string]int{}
	for _, run := range report.Runs {
		for _, result := range run.Results {
			if result.BaselineState != nil {
				states[*result.BaselineState]++
			}
			if result.PartialFingerprints["prismProblem/v1"] == "" {
				t.Errorf("%s has no fingerprint", *result.Message.Text)
			}
		}
	}
	if want := map[string]int{"new": 2, "absent": 1, "updated": 1}; !cmp.Equal(want, states) {
		t.Errorf("baseline states %v, want %v", states, want)
	}
	golden(t, "delta.sarif", got)
}

var update = flag.Bool("update", false, "write the golden files of testdata anew")

// golden compares with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// missing names the first value of a that b does not have.
func missing(at string, a, b any) string {
	switch a := a.(type) {
	case map[string]any:
		other, _ := b.(map[string]any)
		for key, value := range a {
			if lost := missing(at+"."+key, value, other[key]); lost != "" {
				return lost
			}
		}
		return ""
	case []any:
		other, _ := b.([]any)
		if len(other) != len(a) {
			return at
		}
		for i := range a {
			if lost := missing(fmt.Sprintf("%s[%d]", at, i), a[i], other[i]); lost != "" {
				return lost
			}
		}
		return ""
	}
	if !cmp.Equal(a, b) {
		return fmt.Sprintf("%s = %v (it has %v)", at, a, b)
	}
	return ""
}

func TestSARIFRefusesOtherSnapshots(t *testing.T) {
	delta, _, _, text := everyState(t)
	if log, err := delta.SARIF(&diagnostics.Snapshot{}, &diagnostics.Snapshot{}, text); err == nil {
		t.Errorf("wrote %s", log)
	}
}

func TestSARIFOfNothing(t *testing.T) {
	empty := &diagnostics.Snapshot{}
	got, err := compare(t, empty, empty, nil).SARIF(empty, empty, nil)
	if err != nil {
		t.Fatal(err)
	}
	report, err := sarif.FromBytes(got)
	if err != nil || report.Validate() != nil || len(report.Runs) != 0 {
		t.Errorf("%s: %v", got, err)
	}
}

// A cut delta says so, in every form.
func TestCutIsSaid(t *testing.T) {
	var list []diagnostics.Diagnostic
	for i := range 30 {
		list = append(list, problem("a.go", i, 0, "m"))
	}
	base, head := snapshot(t, gopls()), snapshot(t, gopls(), list...)
	delta := compare(t, base, head, &diagnostics.Options{MaxEntries: 20})
	if text := delta.Text(nil); !strings.Contains(text, "the lists hold 20 of 30 entries") || !strings.Contains(text, "[10 more]") {
		t.Errorf("%s", text)
	}
	log, err := delta.SARIF(base, head, nil)
	if err != nil || !strings.Contains(string(log), "20 of 30") {
		t.Errorf("%s: %v", log, err)
	}
}

func TestIDs(t *testing.T) {
	text := trees{head: map[string]string{"a.go": "// one\n\n\tf(missing)\n\tf(missing)\n"}}
	shifted := trees{head: map[string]string{"a.go": "\n\n\n\n// one\n\n  f( missing )\n  f(missing)\n"}}
	at := func(lines ...int) []diagnostics.Diagnostic {
		var list []diagnostics.Diagnostic
		for _, line := range lines {
			list = append(list, problem("a.go", line, 3, fmt.Sprintf("undefined: missing, see a.go:%d", line)))
		}
		return list
	}
	before, after := diagnostics.IDs(at(2, 3), diagnostics.Head, text), diagnostics.IDs(at(7, 6), diagnostics.Head, shifted)
	if before[0] == before[1] || before[0] != after[1] || before[1] != after[0] {
		t.Errorf("ids %v, and %v of the same problems further down in opposite order", before, after)
	}
	if !regexp.MustCompile(`^[0-9a-f]{20}$`).MatchString(before[0]) || before[1] != before[0]+"-2" {
		t.Errorf("ids %v", before)
	}
	other := at(2)
	other[0].Path = "b.go"
	if diagnostics.IDs(other, diagnostics.Head, text)[0] == before[0] {
		t.Error("two files share an id")
	}
}

func TestByChangedLines(t *testing.T) {
	text := trees{
		base: map[string]string{"a.go": "a\nmissingOld\nc\n", "n.go": ""},
		head: map[string]string{"a.go": "a\n\tmissingOld\nmissingAdded\nc\n", "b.go": "missingCreated\n"},
	}
	problems := append(planted(text.head), problem("a.go", 3, 0, "from afar"))
	delta := compare(t, snapshot(t, gopls(), planted(text.base)...), snapshot(t, gopls(), problems...), &diagnostics.Options{
		Contents: text, Files: diagnostics.NewFileChanges(diagnostics.FileChange{New: "b.go"}),
	})
	on, off := delta.ByChangedLines()
	var got []string
	for _, list := range [][]diagnostics.Diagnostic{on, off} {
		for i := range list {
			got = append(got, short(&list[i]))
		}
		got = append(got, "")
	}
	want := []string{"a.go:2:0 undefined: missingAdded", "b.go:0:0 undefined: missingCreated", "", "a.go:3:0 from afar", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ByChangedLines (-want +got):\n%s", diff)
	}
}

// Whether a file is generated is asked of the base, by its name there.
func TestGenerated(t *testing.T) {
	var asked []string
	opts := &diagnostics.Options{
		Files:     diagnostics.NewFileChanges(diagnostics.FileChange{Old: "x.gen.go", New: "x.go"}, diagnostics.FileChange{New: "new.gen.go"}),
		Generated: func(path string) bool { asked = append(asked, path); return strings.HasSuffix(path, ".gen.go") },
	}
	head := snapshot(t, gopls(), problem("x.go", 1, 0, "m"), problem("new.gen.go", 2, 0, "n"), problem("y.go", 1, 0, "o"))
	delta := compare(t, snapshot(t, gopls()), head, opts)
	if c := delta.Counts; c.Introduced != 1 || c.Generated != 2 || c.IntroducedErrors != 1 || len(delta.Generated) != 2 || delta.Introduced[0].Path != "y.go" {
		t.Errorf("%+v of %v", c, asked)
	}
	if text := delta.Text(nil); !strings.Contains(text, "introduced in generated files:\nnew.gen.go:3:1: error: n [E1]\nx.go:2:1") {
		t.Errorf("%s", text)
	}
	if !cmp.Equal(asked, []string{"new.gen.go", "x.gen.go", "y.go"}) {
		t.Errorf("asked about %v", asked)
	}
}
