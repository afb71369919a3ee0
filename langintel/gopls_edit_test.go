package langintel_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

func TestGoplsDiagnostics(t *testing.T) {
	t.Parallel()
	b := shop(t, nil)
	ctx := within(t, startTime)
	check := func(step string, want ...string) {
		t.Helper()
		got, err := b.Diagnostics(ctx, langintel.DiagnosticsQuery{Path: "till/till.go", Severity: diagnostics.Error})
		if err != nil || got.Status != langintel.Complete || got.Barrier != langintel.BarrierPull {
			t.Fatalf("%s: %+v, %v", step, got, err)
		}
		var have []string
		for _, p := range got.Problems {
			have = append(have, p.Message)
		}
		if !slices.Equal(have, want) {
			t.Errorf("%s: %q, want %q", step, have, want)
		}
	}
	good := b.read("till/till.go")
	check("good")
	b.write("till/till.go", strings.Replace(good, "return true", "return maybe", 1))
	check("bad", "undefined: maybe")
	b.write("till/till.go", good)
	check("good again")
	// The reason is in another file, which is not open.
	stock := b.read("stock/stock.go")
	b.write("stock/stock.go", strings.Replace(stock, "Add(n int)", "Put(n int)", 1))
	if err := b.Changed(ctx, "stock/stock.go"); err != nil {
		t.Fatal(err)
	}
	check("bad through a dependency", "s.Add undefined (type *stock.Shelf has no field or method Add)")
	b.write("stock/stock.go", stock)
	if err := b.Changed(ctx, "stock/stock.go"); err != nil {
		t.Fatal(err)
	}
	check("good in the end")
}

func TestGoplsRename(t *testing.T) {
	t.Parallel()
	b := shop(t, nil)
	ctx := within(t, startTime)
	before := map[string]string{"stock/stock.go": b.read("stock/stock.go"), "till/till.go": b.read("till/till.go")}
	wantFiles := []string{"stock/stock.go", "stock/stock_test.go", "till/till.go", "till/till_test.go"}
	b.write("NOTES.md", "Call Add to put items on a shelf.\n")

	dry, err := b.Rename(ctx, langintel.RenameQuery{Place: langintel.Place{Symbol: "Shelf.Add"}, NewName: "Put", DryRun: true, AlsoText: true})
	if err != nil || !slices.Equal(dry.Files, wantFiles) || dry.UndoID != "" || dry.Delta != nil {
		t.Fatalf("%+v, %v", dry, err)
	}
	for name, text := range before {
		if b.read(name) != text {
			t.Errorf("a dry run changed %s", name)
		}
	}
	if len(dry.Leftovers) != 1 || dry.Leftovers[0].Path != "NOTES.md" || dry.Leftovers[0].Column != 6 {
		t.Errorf("leftovers %+v", dry.Leftovers)
	}
	apply := exec.Command("git", "apply", "--check", "-")
	apply.Dir, apply.Stdin = b.dir, strings.NewReader(dry.Patch)
	if out, err := apply.CombinedOutput(); err != nil {
		t.Errorf("git apply: %v\n%s\n%s", err, out, dry.Patch)
	}

	refused := errors.New("not today")
	var asked []string
	_, err = b.Rename(ctx, langintel.RenameQuery{Place: langintel.Place{Symbol: "Shelf.Add"}, NewName: "Put",
		Authorise: func(_ context.Context, patch string, paths []string) error {
			if patch != dry.Patch {
				t.Errorf("another patch than the dry run's is to be allowed:\n%s", patch)
			}
			asked = paths
			return refused
		}})
	if !errors.Is(err, refused) || !slices.Equal(asked, wantFiles) || b.read("till/till.go") != before["till/till.go"] {
		t.Fatalf("asked for %v, %v", asked, err)
	}

	done, err := b.Rename(ctx, langintel.RenameQuery{Place: langintel.Place{Symbol: "Shelf.Add"}, NewName: "Put", RejectIf: langintel.RejectNewErrors})
	if err != nil {
		t.Fatal(err)
	}
	if done.Edits != 5 || done.UndoID == "" || done.Patch != dry.Patch || done.Delta == nil || done.DeltaOf.Status != langintel.Complete || len(done.Delta.Introduced) != 0 {
		t.Errorf("%d edits, undo %q, delta %+v of %+v", done.Edits, done.UndoID, done.Delta, done.DeltaOf)
	}
	b.goTest("./...")
	if _, err := b.work.Undo(ctx, done.UndoID); err != nil {
		t.Fatal(err)
	}
	if b.read("till/till.go") != before["till/till.go"] {
		t.Error("undo did not bring the old text back")
	}
}

// The characters before a symbol take one, two, three or four bytes, and one or
// two UTF-16 units; lines end in CRLF.
func TestGoplsRenameBehindWideCharacters(t *testing.T) {
	t.Parallel()
	b := shop(t, nil)
	ctx := within(t, startTime)
	text := strings.ReplaceAll(b.read("label/label.go"), "\n", "\r\n")
	b.write("label/label.go", text)
	for line, column := range map[int]int{9: 20, 10: 21, 11: 20} {
		got, err := b.Definition(ctx, langintel.DefinitionQuery{Place: langintel.Place{Path: "label/label.go", Line: line, Column: column}})
		if err != nil || len(got.Locations) != 1 || got.Locations[0].Line != 5 {
			t.Fatalf("line %d: %+v, %v", line, got, err)
		}
	}
	done, err := b.Rename(ctx, langintel.RenameQuery{Place: langintel.Place{Path: "label/label.go", Line: 12, Symbol: "Price"}, NewName: "Preis日"})
	if err != nil || len(done.Delta.Introduced) != 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	// gopls renames the declaration's own comment too; every other byte stays.
	want := strings.ReplaceAll(text, "Price", "Preis日")
	want = strings.Replace(want, "has a use of Preis日 behind", "has a use of Price behind", 1)
	if got := b.read("label/label.go"); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	b.goTest("./label")
}

// gopls does not look into packages that import by a dot and do not use the
// symbol: only the delta shows that the name is taken there.
func TestGoplsRenameRejected(t *testing.T) {
	t.Parallel()
	b := shop(t, nil)
	ctx := within(t, startTime)
	q := langintel.RenameQuery{Place: langintel.Place{Symbol: "stock.Kinds"}, NewName: "Make", AllowGenerated: true}
	refused := q
	refused.AllowGenerated = false
	if _, err := b.Rename(ctx, refused); !errors.Is(err, tools.CodeLSPWorkspace) {
		t.Errorf("a generated file: %v", err)
	}
	before := b.read("stock/kinds_string.go")
	q.RejectIf = langintel.RejectNewErrors
	_, err := b.Rename(ctx, q)
	var coded *tools.Error
	if !errors.Is(err, tools.CodeLSPWorkspace) || !errors.As(err, &coded) {
		t.Fatal(err)
	}
	rejection, _ := coded.Details.(*langintel.Rejection)
	if rejection == nil || rejection.Delta.Counts.IntroducedErrors == 0 || rejection.Introduced[0].Path != "dotty/dotty.go" {
		t.Fatalf("%+v\n%v", rejection, err)
	}
	if b.read("stock/kinds_string.go") != before {
		t.Error("the rejected rename is still there")
	}
	got, err := b.Diagnostics(ctx, langintel.DiagnosticsQuery{Path: "dotty/dotty.go", Severity: diagnostics.Error})
	if err != nil || len(got.Problems) != 0 {
		t.Errorf("the server was not told of the rollback: %+v, %v", got, err)
	}
	q.RejectIf = ""
	done, err := b.Rename(ctx, q)
	if err != nil || done.Delta.Counts.IntroducedErrors == 0 {
		t.Errorf("without rejectIf the errors are reported: %+v, %v", done, err)
	}
}

func TestGoplsRestartAfterKill(t *testing.T) {
	t.Parallel()
	b := shop(t, nil)
	ctx := within(t, startTime)
	place := langintel.Place{Symbol: "Shelf.Count"}
	first, err := b.References(ctx, langintel.ReferencesQuery{Place: place})
	if err != nil {
		t.Fatal(err)
	}
	status := statusOf(t, b, "gopls")
	if status.State != "ready" || status.PID == 0 || status.MemoryBytes == 0 || status.Version == "" {
		t.Fatalf("%+v", status)
	}
	process, err := os.FindProcess(status.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	var again *langintel.LocationsResult
	for {
		// The question that finds the server dying may fail; the next one starts it.
		if again, err = b.References(ctx, langintel.ReferencesQuery{Place: place}); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil || !slices.Equal(places(first.Locations), places(again.Locations)) {
		t.Fatalf("%+v, %v", again, err)
	}
	if status = statusOf(t, b, "gopls"); status.Restarts != 1 || status.State != "ready" {
		t.Errorf("%+v", status)
	}
}

func TestGoplsCancelled(t *testing.T) {
	t.Parallel()
	b := shop(t, nil)
	if _, err := b.Hover(within(t, startTime), langintel.Place{Symbol: "Shelf.Add"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.References(ctx, langintel.ReferencesQuery{Place: langintel.Place{Symbol: "Shelf.Count"}}); !errors.Is(err, tools.CodeAborted) {
		t.Error(err)
	}
	if _, err := b.Hover(within(t, startTime), langintel.Place{Symbol: "Shelf.Add"}); err != nil {
		t.Errorf("after a cancelled question: %v", err)
	}
}

// What gopls does not check is said, and is not looked up by the go command.
func TestGoplsRenameBesideOtherSystems(t *testing.T) {
	t.Parallel()
	b := shop(t, nil)
	ctx := within(t, startTime)
	b.write("till/till_plan9.go", "package till\n\nfunc plan9() bool { return true }\n")
	done, err := b.Rename(ctx, langintel.RenameQuery{Place: langintel.Place{Symbol: "Shelf.Add"}, NewName: "Put", RejectIf: langintel.RejectNewErrors})
	if err != nil {
		t.Fatal(err)
	}
	if done.DeltaOf.Status != langintel.Partial || !strings.Contains(done.DeltaOf.Reason, "till/till_plan9.go: it is not for ") {
		t.Errorf("%+v", done.DeltaOf)
	}
	if done.Delta.Counts.Introduced != 0 || done.Delta.Counts.Unknown != 0 {
		t.Errorf("%+v", done.Delta.Counts)
	}
}
