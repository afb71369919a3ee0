package langintel_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/git"
)

// goplsProgram is the gopls that the clients use.
func goplsProgram(t testing.TB, b *bench) string {
	t.Helper()
	if _, err := b.Symbols(within(t, startTime), langintel.SymbolsQuery{Query: "Main"}); err != nil {
		t.Fatal(err)
	}
	status, err := b.Status(within(t, time.Minute))
	at := slices.IndexFunc(status, func(s langintel.ServerStatus) bool { return s.Name == "gopls" })
	if err != nil || at < 0 || status[at].Program == "" {
		t.Fatalf("gopls does not run: %v", err)
	}
	return status[at].Program
}

// commandLine asks gopls itself, without this package.
func commandLine(t *testing.T, gopls, dir, position string) []string {
	t.Helper()
	cmd := exec.Command(gopls, "references", "-d", position)
	cmd.Dir = dir
	cmd.Env = append(child.Environment(os.Environ(), nil), "GOTOOLCHAIN=local", "GOPACKAGESDRIVER=off")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("gopls references: %v\n%s", err, out)
	}
	var list []string
	for line := range strings.Lines(string(out)) {
		list = append(list, strings.TrimPrefix(strings.TrimSpace(line), dir+string(filepath.Separator)))
	}
	slices.Sort(list)
	return list
}

// asCommandLine writes locations as gopls does: columns are bytes there, and in
// the lines at hand bytes and characters are the same.
func asCommandLine(list []langintel.Location) []string {
	var out []string
	for _, l := range list {
		name := strings.TrimPrefix(l.Path, "dep:")
		out = append(out, name+":"+strconv.Itoa(l.Line)+":"+strconv.Itoa(l.Column)+"-"+strconv.Itoa(l.EndColumn))
	}
	slices.Sort(out)
	return out
}

func compareReferences(t *testing.T, b *bench, symbol string) *langintel.LocationsResult {
	t.Helper()
	gopls := goplsProgram(t, b)
	all := int64(5000)
	ctx := within(t, startTime)
	got, err := b.References(ctx, langintel.ReferencesQuery{Place: langintel.Place{Symbol: symbol}, Limit: &all})
	if err != nil || got.Status != langintel.Complete || got.Total == 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	definition, err := b.Definition(ctx, langintel.DefinitionQuery{Place: langintel.Place{Symbol: symbol}})
	if err != nil || len(definition.Locations) != 1 {
		t.Fatalf("%+v, %v", definition, err)
	}
	d := definition.Locations[0]
	want := commandLine(t, gopls, b.dir, d.Path+":"+strconv.Itoa(d.Line)+":"+strconv.Itoa(d.Column))
	if have := asCommandLine(got.Locations); !slices.Equal(have, want) {
		t.Errorf("%s: %d references, gopls alone finds %d", symbol, len(have), len(want))
	}
	for _, l := range got.Locations {
		if l.Text == "" {
			t.Errorf("%s:%d has no text", l.Path, l.Line)
		}
	}
	t.Logf("%s: %d references in %d files", symbol, got.Total, len(got.Files))
	return got
}

func TestToolsReferences(t *testing.T) {
	t.Parallel()
	b := open(t, module(t, "golang.org/x/tools"), &langintel.Options{Timeout: 2 * time.Minute})
	got := compareReferences(t, b, "inspector.Inspector.Preorder")
	if got.Total < 30 || len(got.Files) < 20 {
		t.Errorf("%d references in %d files", got.Total, len(got.Files))
	}
}

// A rename across a real project: afterwards it builds, and its tests pass.
func TestCobraRename(t *testing.T) {
	t.Parallel()
	gitPath, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, module(t, "github.com/spf13/cobra"), &langintel.Options{
		Git: git.New(owner(), &git.Options{Path: gitPath, Env: child.Environment(os.Environ(), nil)}),
	})
	refs := compareReferences(t, b, "cobra.Command.Flags")
	began := time.Now()
	done, err := b.Rename(within(t, startTime), langintel.RenameQuery{
		Place: langintel.Place{Symbol: "cobra.Command.Flags"}, NewName: "AllTheFlags", RejectIf: langintel.RejectNewErrors, AlsoText: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d edits in %d files in %v, %d places left in text", done.Edits, len(done.Files), time.Since(began), len(done.Leftovers))
	// A file for another system is in no build here, and the answer says so.
	if done.DeltaOf.Status != langintel.Partial || !strings.Contains(done.DeltaOf.Reason, "command_win.go") || done.Delta.Counts.Introduced != 0 {
		t.Errorf("delta %+v of %+v", done.Delta.Counts, done.DeltaOf)
	}
	if done.Edits < refs.Total || !slices.ContainsFunc(done.Leftovers, func(l langintel.Location) bool { return strings.HasPrefix(l.Path, "site/") }) {
		t.Errorf("%d edits for %d references, leftovers in %d places", done.Edits, refs.Total, len(done.Leftovers))
	}
	// Those tests write into a directory that refuses them, which it does not when
	// they run as root.
	b.goTest("-skip", "^TestFailGen", "./...")
}

func TestToolsRename(t *testing.T) {
	t.Parallel()
	if !soak() {
		t.Skip("set PRISM_SOAK=1: it type-checks most of golang.org/x/tools twice")
	}
	b := open(t, module(t, "golang.org/x/tools"), nil)
	done, err := b.Rename(within(t, startTime), langintel.RenameQuery{
		Place: langintel.Place{Symbol: "inspector.Inspector.Preorder"}, NewName: "Visit", RejectIf: langintel.RejectNewErrors,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d edits in %d files, delta %+v of %+v", done.Edits, len(done.Files), done.Delta.Counts, done.DeltaOf)
	// What that one test reads is a module of its own, which the zip leaves out.
	b.goTest("-skip", "^TestImportComment$", "./go/ast/...", "./go/analysis/passes/...")
}
