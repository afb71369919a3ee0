package langintel_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

// startTime covers a first installation.
const startTime = 5 * time.Minute

func places(list []langintel.Location) []string {
	var out []string
	for _, l := range list {
		out = append(out, fmt.Sprintf("%s:%d:%d-%d %s", l.Path, l.Line, l.Column, l.EndColumn, l.Container))
	}
	return out
}

func TestGoplsOutline(t *testing.T) {
	t.Parallel()
	b := shop(t, nil)
	got, err := b.Symbols(within(t, startTime), langintel.SymbolsQuery{Path: "stock/stock.go"})
	if err != nil || got.Status != langintel.Complete {
		t.Fatalf("%+v, %v", got, err)
	}
	var names []string
	for _, s := range got.Symbols {
		names = append(names, s.Kind+" "+s.NamePath)
		for _, child := range s.Children {
			names = append(names, "  "+child.Kind+" "+child.NamePath)
		}
	}
	want := []string{"struct Shelf", "  field Shelf.Name", "  field Shelf.count", "interface Counter", "  method Counter.Count",
		"function New", "method Shelf.Add", "method Shelf.Count", "method Shelf.String"}
	if !slices.Equal(names, want) {
		t.Errorf("outline\n%q, want\n%q", names, want)
	}
	if s := got.Symbols[0]; s.Line != 7 || s.Column != 6 || s.EndLine != 10 {
		t.Errorf("Shelf at %d:%d to %d", s.Line, s.Column, s.EndLine)
	}
}

func TestGoplsQueries(t *testing.T) {
	t.Parallel()
	b := shop(t, nil)
	ctx := within(t, startTime)
	t.Run("references", func(t *testing.T) {
		want := []string{
			"stock/stock.go:28:17-22 Shelf.Count",
			"stock/stock.go:32:41-46 Shelf.String",
			"stock/stock_test.go:8:7-12 TestAdd",
			"stock/stock_test.go:9:30-35 TestAdd",
			"till/till.go:8:7-12 Sell",
			"till/till.go:19:14-19 Total",
			"till/till_test.go:16:50-55 TestSell",
		}
		for _, place := range []langintel.Place{
			{Symbol: "Shelf.Count"},
			{Symbol: "stock.Shelf.Count"},
			{Symbol: "Shelf.Count", Path: "stock/stock.go"},
			{Path: "till/till.go", Line: 8, Symbol: "Count"},
			{Path: "till/till.go", Line: 8, Symbol: "s.Count"},
			{Path: "till/till.go", Line: 8, Column: 7},
		} {
			got, err := b.References(ctx, langintel.ReferencesQuery{Place: place})
			if err != nil || got.Status != langintel.Complete {
				t.Fatalf("%+v: %+v, %v", place, got, err)
			}
			if list := places(got.Locations); !slices.Equal(list, want) {
				t.Errorf("%+v:\n%s\nwant\n%s", place, strings.Join(list, "\n"), strings.Join(want, "\n"))
			}
			if got.Total != len(got.Locations) || len(got.Files) != 4 {
				t.Errorf("%+v: total %d, files %v", place, got.Total, got.Files)
			}
		}
	})
	t.Run("pages", func(t *testing.T) {
		two := int64(2)
		var all []string
		for cursor := ""; ; {
			got, err := b.References(ctx, langintel.ReferencesQuery{Place: langintel.Place{Symbol: "Shelf.Count"}, Limit: &two, Cursor: cursor})
			if err != nil || len(got.Locations) > 2 {
				t.Fatalf("%+v, %v", got, err)
			}
			all = append(all, places(got.Locations)...)
			if cursor = got.NextCursor; cursor == "" {
				if len(all) != got.Total || got.Truncated {
					t.Errorf("%d of %d in pages", len(all), got.Total)
				}
				break
			}
		}
	})
	t.Run("definition", func(t *testing.T) {
		got, err := b.Definition(ctx, langintel.DefinitionQuery{Place: langintel.Place{Path: "till/till.go", Line: 11, Symbol: "Add"}})
		if err != nil || len(got.Locations) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		if l := got.Locations[0]; l.Path != "stock/stock.go" || l.Line != 23 || l.Text != "func (s *Shelf) Add(n int) {" || l.Container != "Shelf.Add" || l.Kind != "method" {
			t.Errorf("%+v", l)
		}
	})
	t.Run("implementation and type", func(t *testing.T) {
		got, err := b.Definition(ctx, langintel.DefinitionQuery{Place: langintel.Place{Symbol: "Counter"}, Kind: langintel.ToImplementation})
		if err != nil || len(got.Locations) != 1 || got.Locations[0].Text != "type Shelf struct {" {
			t.Fatalf("%+v, %v", got, err)
		}
		got, err = b.Definition(ctx, langintel.DefinitionQuery{Place: langintel.Place{Path: "till/till.go", Line: 8, Symbol: "s"}, Kind: langintel.ToType})
		if err != nil || len(got.Locations) != 1 || got.Locations[0].Line != 7 {
			t.Fatalf("%+v, %v", got, err)
		}
	})
	t.Run("dependency", func(t *testing.T) {
		got, err := b.Definition(ctx, langintel.DefinitionQuery{Place: langintel.Place{Path: "stock/stock.go", Line: 32, Symbol: "Sprintf"}})
		if err != nil || len(got.Locations) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		l := got.Locations[0]
		if !l.External || !strings.HasPrefix(l.Path, "dep:/") || !strings.HasPrefix(l.Text, "func Sprintf(") {
			t.Errorf("%+v", l)
		}
		if _, ok := b.Dependency(l.Path); !ok {
			t.Error("a path that a result named is not readable")
		}
		if _, ok := b.Dependency("dep:/etc/passwd"); ok {
			t.Error("a path that no result named is readable")
		}
	})
	t.Run("generated", func(t *testing.T) {
		got, err := b.Definition(ctx, langintel.DefinitionQuery{Place: langintel.Place{Symbol: "stock.Kinds"}})
		if err != nil || len(got.Locations) != 1 || !got.Locations[0].Generated {
			t.Fatalf("%+v, %v", got, err)
		}
	})
	t.Run("hover", func(t *testing.T) {
		got, err := b.Hover(ctx, langintel.Place{Symbol: "Shelf.Add"})
		if err != nil || got.Signature != "func (s *Shelf) Add(n int)" || !strings.Contains(got.Text, "Add puts n items on the shelf.") {
			t.Fatalf("%+v, %v", got, err)
		}
	})
	t.Run("workspace symbols", func(t *testing.T) {
		got, err := b.Symbols(ctx, langintel.SymbolsQuery{Query: "Sell"})
		if err != nil || len(got.Symbols) == 0 || got.Symbols[0].NamePath != "shop.till.Sell" && !strings.HasSuffix(got.Symbols[0].NamePath, "till.Sell") {
			t.Fatalf("%+v, %v", got, err)
		}
	})
	t.Run("ambiguous", func(t *testing.T) {
		_, err := b.Hover(ctx, langintel.Place{Symbol: "Count"})
		var coded *tools.Error
		if !errors.Is(err, tools.CodeLSPAmbiguous) || !errors.As(err, &coded) {
			t.Fatal(err)
		}
		list, _ := coded.Details.([]langintel.Candidate)
		if len(list) != 2 || list[0].Path != "stock/stock.go" || !strings.Contains(coded.Message, "Shelf.Count stock/stock.go:28:17") {
			t.Fatalf("%+v\n%s", list, coded.Message)
		}
	})
	t.Run("nothing there", func(t *testing.T) {
		if _, err := b.Hover(ctx, langintel.Place{Symbol: "Shelf.Missing"}); !errors.Is(err, tools.CodeNotFound) {
			t.Error(err)
		}
		if _, err := b.Hover(ctx, langintel.Place{Path: "till/till.go", Line: 8, Symbol: "Missing"}); !errors.Is(err, tools.CodeNotFound) {
			t.Error(err)
		}
		if _, err := b.Hover(ctx, langintel.Place{Path: "till/till.go", Line: 800, Column: 1}); !errors.Is(err, tools.CodeOutOfRange) {
			t.Error(err)
		}
	})
}

// Nothing that was not looked at is called clean, and what was changed is looked at.
func TestGoplsDiagnosticsOfTheWorkspace(t *testing.T) {
	t.Parallel()
	b := shop(t, nil)
	ctx := within(t, startTime)
	got, err := b.Diagnostics(ctx, langintel.DiagnosticsQuery{})
	if err != nil || got.Status != langintel.Partial || len(got.Problems) != 0 {
		t.Fatalf("before any question: %+v, %v", got, err)
	}
	b.write("till/till.go", strings.Replace(b.read("till/till.go"), "return true", "return maybe", 1))
	if err := b.Changed(ctx, "till/till.go"); err != nil {
		t.Fatal(err)
	}
	got, err = b.Diagnostics(ctx, langintel.DiagnosticsQuery{})
	if err != nil || got.Status != langintel.Complete || len(got.Problems) != 1 || got.Problems[0].Message != "undefined: maybe" {
		t.Fatalf("after a change: %+v, %v", got, err)
	}
}

// gopls lists a hundred symbols and does not say that there are more.
func TestGoplsManySymbols(t *testing.T) {
	t.Parallel()
	b := shop(t, nil)
	var text strings.Builder
	text.WriteString("package stock\n")
	for i := range 130 {
		fmt.Fprintf(&text, "func Manifold%03d() {}\n\ntype T%03d struct{}\n\nfunc (T%03d) Same() {}\n", i, i, i)
	}
	b.write("stock/many.go", text.String())
	got, err := b.Symbols(within(t, startTime), langintel.SymbolsQuery{Query: "Manifold"})
	if err != nil || got.Status != langintel.Partial || !got.Truncated || len(got.Symbols) != 100 {
		t.Fatalf("%d symbols, %v, %+v, %v", len(got.Symbols), got.Truncated, got.Answer, err)
	}
	// Where only a part is listed, one match proves nothing.
	if _, err := b.Hover(within(t, startTime), langintel.Place{Symbol: "Same"}); !errors.Is(err, tools.CodeLSPAmbiguous) {
		t.Error(err)
	}
	if _, err := b.Hover(within(t, startTime), langintel.Place{Symbol: "T077.Same"}); err != nil {
		t.Error(err)
	}
}
