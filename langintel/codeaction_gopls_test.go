package langintel_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

const more = `package till

import "os"

import "fmt"

// Big is big.
func Big(a, b int) int {
	x := len("é日本😀") + a*2 + b
	fmt.Println(x)
	y := x * 3
	return x + y
}
`

// action returns the one action of a kind at a place.
func action(t *testing.T, b *bench, q langintel.CodeActionsQuery, kind string) langintel.CodeAction {
	t.Helper()
	q.Kinds = []string{kind}
	got, err := b.CodeActions(within(t, startTime), q)
	if err != nil || got.Status != langintel.Complete || got.Server == "" || len(got.Actions) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if a := got.Actions[0]; a.Kind != kind && !strings.HasPrefix(a.Kind, kind+".") {
		t.Fatalf("%+v", a)
	}
	return got.Actions[0]
}

func TestGoplsCodeActions(t *testing.T) {
	t.Parallel()
	place := func(line int) langintel.Place { return langintel.Place{Path: "till/more.go", Line: line} }
	column := func(line, column int) langintel.Place {
		return langintel.Place{Path: "till/more.go", Line: line, Column: column}
	}
	for _, c := range []struct {
		name, kind string
		at         langintel.CodeActionsQuery
		edit       func(string) string // the file before
		want       []string            // in the file after
		gone       []string
		file       string // that the action is in, when it is another
	}{
		{name: "organize imports", kind: "source.organizeImports", at: langintel.CodeActionsQuery{Place: place(1)}, want: []string{"till\n\nimport \"fmt\"\n\n//"}, gone: []string{"os"}},
		{name: "extract a function", kind: "refactor.extract.function", at: langintel.CodeActionsQuery{Place: place(10), EndLine: 11}, want: []string{"y := newFunction(x)", "func newFunction(x int) int {\n\tfmt.Println(x)\n"}},
		{name: "extract a variable", kind: "refactor.extract.variable", at: langintel.CodeActionsQuery{Place: column(9, 21), EndColumn: 24}, want: []string{"newVar := a * 2\n\tx := len(\"é日本😀\") + newVar + b\n"}},
		{name: "quick fix", kind: "quickfix", at: langintel.CodeActionsQuery{Place: place(10)}, edit: func(s string) string { return strings.Replace(s, "return x + y\n", "return missing(x, y)\n", 1) },
			want: []string{"func missing(x, y int) int"}},
		{name: "a command", kind: "source.addTest", at: langintel.CodeActionsQuery{Place: place(6)}, file: "till/more_test.go", edit: func(s string) string { return s }, want: []string{"func TestBig(t *testing.T) {", "till.Big(tt.a, tt.b)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := shop(t, nil)
			ctx := within(t, startTime)
			text := more
			if c.edit != nil {
				text = c.edit(strings.Replace(text, "import \"os\"\n\n", "", 1))
			}
			b.write("till/more.go", text)
			if c.file == "" {
				c.file = "till/more.go"
			}
			chosen := action(t, b, c.at, c.kind)
			dry, err := b.ApplyCodeAction(ctx, langintel.ApplyActionQuery{ID: chosen.ID, ChangeOptions: langintel.ChangeOptions{DryRun: true}})
			if err != nil || !slices.Equal(dry.Files, []string{c.file}) || dry.Patch == "" || b.read("till/more.go") != text {
				t.Fatalf("%+v, %v", dry, err)
			}
			no := errors.New("no")
			var asked []string
			opts := langintel.ChangeOptions{
				Authorise: func(_ context.Context, patch string, paths []string) error {
					if asked = paths; patch != dry.Patch {
						t.Errorf("another patch than the dry run's:\n%s", patch)
					}
					return no
				},
				Run: func(_ context.Context, server, command string, _ []byte) error {
					t.Errorf("%s %s is known to edit only", server, command)
					return nil
				},
			}
			if _, err := b.ApplyCodeAction(ctx, langintel.ApplyActionQuery{ID: chosen.ID, ChangeOptions: opts}); !errors.Is(err, no) || !slices.Equal(asked, dry.Files) || b.read("till/more.go") != text {
				t.Fatalf("asked for %q, %v", asked, err)
			}
			no = nil
			done, err := b.ApplyCodeAction(ctx, langintel.ApplyActionQuery{ID: chosen.ID, ChangeOptions: opts})
			if err != nil || done.UndoID == "" || done.DeltaOf.Status != langintel.Complete || done.Delta.Counts.IntroducedErrors != 0 {
				t.Fatalf("%+v, %v", done, err)
			}
			after := b.read(c.file)
			for _, want := range c.want {
				if !strings.Contains(after, want) {
					t.Errorf("no %q in\n%s", want, after)
				}
			}
			for _, gone := range c.gone {
				if strings.Contains(after, gone) {
					t.Errorf("%q is in\n%s", gone, after)
				}
			}
			if _, err := b.work.Undo(ctx, done.UndoID); err != nil || b.read("till/more.go") != text {
				t.Errorf("%v\n%s", err, b.read("till/more.go"))
			}
		})
	}
}

// An id is for one text, and says so.
func TestGoplsCodeActionIDs(t *testing.T) {
	t.Parallel()
	b := shop(t, nil)
	ctx := within(t, startTime)
	b.write("till/more.go", more)
	q := langintel.CodeActionsQuery{Place: langintel.Place{Path: "till/more.go", Line: 1}}
	chosen := action(t, b, q, "source.organizeImports")
	all, err := b.CodeActions(ctx, q)
	if err != nil || !slices.Contains(all.Actions, chosen) {
		t.Errorf("%+v is not among %+v, %v", chosen, all, err)
	}
	b.write("till/more.go", more+"\n")
	if err := b.Changed(ctx, "till/more.go"); err != nil {
		t.Fatal(err)
	}
	apply := func(id string, q langintel.CodeActionsQuery) error {
		_, err := b.ApplyCodeAction(ctx, langintel.ApplyActionQuery{ID: id, CodeActionsQuery: q})
		return err
	}
	if err := apply(chosen.ID, langintel.CodeActionsQuery{}); !errors.Is(err, tools.CodeLSPStale) || b.read("till/more.go") != more+"\n" {
		t.Error(err)
	}
	for _, id := range []string{"", "x", "01234567-0123456789ab"} {
		if err := apply(id, langintel.CodeActionsQuery{}); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%q: %v", id, err)
		}
	}
	// A client that did not list it is told where.
	other := open(t, b.dir, nil)
	b.write("till/more.go", more)
	if _, err := other.ApplyCodeAction(ctx, langintel.ApplyActionQuery{ID: chosen.ID}); !errors.Is(err, tools.CodeToolInput) {
		t.Error(err)
	}
	if _, err := other.ApplyCodeAction(ctx, langintel.ApplyActionQuery{ID: chosen.ID, CodeActionsQuery: q}); err != nil || b.read("till/more.go") == more {
		t.Error(err)
	}
}
