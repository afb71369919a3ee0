package langintel_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
	"github.com/prism-ls/prism-ls/tools"
)

func nodes(list []langintel.HierarchyNode) []string {
	var out []string
	for _, n := range list {
		seen := ""
		if n.Seen {
			seen = " seen"
		}
		out = append(out, fmt.Sprintf("%s%s %s %s:%d %v%s", strings.Repeat(" ", n.Depth), n.Kind, n.Name, n.Location.Path, n.Location.Line, n.Sites, seen))
	}
	return out
}

func TestGoplsHierarchy(t *testing.T) {
	t.Parallel()
	b := shop(t, nil)
	ctx := within(t, startTime)
	b.write("till/deep.go", `package till

import "example.com/shop/stock"

func Ping(n int, s *stock.Shelf) {
	if n > 0 {
		Pong(n-1, s)
	}
}

func Pong(n int, s *stock.Shelf) { Ping(n, s); Sell(s) }
`)
	deep := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		q    langintel.HierarchyQuery
		want []string
	}{
		"callers": {langintel.HierarchyQuery{Place: langintel.Place{Symbol: "till.Sell"}, Kind: langintel.Calls, Direction: langintel.In}, []string{
			"function Sell till/till.go:7 []", " function Pong till/deep.go:11 [11]", " function TestSell till/till_test.go:9 [12 12]"}},
		"called": {langintel.HierarchyQuery{Place: langintel.Place{Symbol: "till.Sell"}, Kind: langintel.Calls, Direction: langintel.Out}, []string{
			"function Sell till/till.go:7 []", " function Add stock/stock.go:23 [11]", " function Count stock/stock.go:28 [8]"}},
		"a cycle": {langintel.HierarchyQuery{Place: langintel.Place{Symbol: "till.Ping"}, Kind: langintel.Calls, Direction: langintel.Out, Depth: deep(3)}, []string{
			"function Ping till/deep.go:5 []", " function Pong till/deep.go:11 [7]", "  function Ping till/deep.go:5 [11] seen", "  function Sell till/till.go:7 [11]",
			"   function Add stock/stock.go:23 [11]", "   function Count stock/stock.go:28 [8]"}},
		"supertypes": {langintel.HierarchyQuery{Place: langintel.Place{Symbol: "stock.Shelf"}, Kind: langintel.Types, Direction: langintel.In}, []string{
			"class Shelf stock/stock.go:7 []", " interface Counter stock/stock.go:13 []"}},
		"subtypes": {langintel.HierarchyQuery{Place: langintel.Place{Symbol: "stock.Counter"}, Kind: langintel.Types, Direction: langintel.Out}, []string{
			"interface Counter stock/stock.go:13 []", " class Shelf stock/stock.go:7 []"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := b.Hierarchy(ctx, c.q)
			if err != nil || got.Status != langintel.Complete || got.Truncated {
				t.Fatalf("%+v, %v", got, err)
			}
			list := slices.DeleteFunc(nodes(got.Nodes), func(s string) bool { return strings.Contains(s, "dep:") })
			if name != "a cycle" { // there the order says what was reached from what
				slices.Sort(list[1:])
			}
			if !slices.Equal(list, c.want) {
				t.Errorf("%s\nwant\n%s", strings.Join(list, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
	for _, q := range []langintel.HierarchyQuery{
		{Kind: "x", Direction: langintel.In}, {Kind: langintel.Calls, Direction: "x"}, {Kind: langintel.Calls, Direction: langintel.In, Depth: deep(6)},
		{Kind: langintel.Calls, Direction: langintel.In, Limit: deep(5001)},
	} {
		q.Place = langintel.Place{Symbol: "till.Sell"}
		if _, err := b.Hierarchy(ctx, q); !errors.Is(err, tools.CodeToolInput) && !errors.Is(err, tools.CodeLimit) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	got, err := b.Hierarchy(ctx, langintel.HierarchyQuery{Place: langintel.Place{Symbol: "till.Sell"}, Kind: langintel.Calls, Direction: langintel.In, Limit: deep(2)})
	if err != nil || len(got.Nodes) != 2 || !got.Truncated {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestScriptedHierarchyUnsupported(t *testing.T) {
	t.Parallel()
	b, _ := scripted(t, &lsptest.Script{}, nil)
	got, err := b.Hierarchy(within(t, 20*time.Second), langintel.HierarchyQuery{Place: langintel.Place{Path: "a.x", Line: 1, Column: 1}, Kind: langintel.Types, Direction: langintel.In})
	if err != nil || got.Status != langintel.Unsupported {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestGoplsFormat(t *testing.T) {
	t.Parallel()
	b := shop(t, nil)
	ctx := within(t, startTime)
	crooked := "package till\n\nfunc   Odd( a int )int{\n    return a+  len(\"é日本😀\")}\n\nfunc   Other( ) { }"
	b.write("till/odd.go", crooked)
	q := langintel.FormatQuery{Path: "till/odd.go", ChangeOptions: langintel.ChangeOptions{DryRun: true}}
	dry, err := b.Format(ctx, q)
	if err != nil || !slices.Equal(dry.Files, []string{"till/odd.go"}) || b.read("till/odd.go") != crooked {
		t.Fatalf("%+v, %v", dry, err)
	}
	q.DryRun = false
	done, err := b.Format(ctx, q)
	want := "package till\n\nfunc Odd(a int) int {\n\treturn a + len(\"é日本😀\")\n}\n\nfunc Other() {}\n"
	if err != nil || done.Patch != dry.Patch || done.UndoID == "" || b.read("till/odd.go") != want {
		t.Fatalf("%+v, %v\n%s", done, err, b.read("till/odd.go"))
	}
	again, err := b.Format(ctx, q)
	if err != nil || len(again.Files) != 0 || again.Patch != "" || again.Status != langintel.Complete {
		t.Fatalf("%+v, %v", again, err)
	}
	if _, err := b.Format(ctx, langintel.FormatQuery{Path: "till/odd.go", Line: 1, EndLine: 3}); !errors.Is(err, tools.CodeLSPUnsupported) || !strings.Contains(err.Error(), "leave the lines out") {
		t.Error(err)
	}
	for _, q := range []langintel.FormatQuery{{Path: "till/odd.go", EndLine: 2}, {Path: "till/odd.go", Line: 3, EndLine: 2}, {Path: "till/odd.go", Line: -1}} {
		if _, err := b.Format(ctx, q); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// The options that a formatter gets are what the file itself does.
func TestScriptedFormat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"two spaces":  {"a {\n  b {\n    c\n  }\n}\n", `"options":{"tabSize":2,"insertSpaces":true}`},
		"four spaces": {"a {\n    b {\n        c\n    }\n}\n", `"options":{"tabSize":4,"insertSpaces":true}`},
		"tabs":        {"a {\n\tb {\n\t\tc\n\t}\n}\n", `"insertSpaces":false}`},
		"comments":    {"/*\n * a\n * b\n */\na {\n    b\n}\n", `"options":{"tabSize":4,"insertSpaces":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			b, record := scripted(t, &lsptest.Script{Capabilities: `{"textDocumentSync":1,"documentFormattingProvider":true,"documentRangeFormattingProvider":{}}`, On: append(quiet(),
				on("textDocument/formatting", lsptest.Action{Reply: `[{"range":{"start":{"line":0,"character":0},"end":{"line":99999,"character":0}},"newText":"x"}]`}),
				on("textDocument/rangeFormatting", lsptest.Action{Reply: `[` + lspEdit(1, 0, 1, "Y") + `]`}))}, &langintel.Options{Timeout: 2 * time.Second})
			b.write("a.x", c.text)
			ctx := within(t, 20*time.Second)
			if _, err := b.Format(ctx, langintel.FormatQuery{Path: "a.x", Line: 2, EndLine: 3}); err != nil {
				t.Fatal(err)
			}
			part := sent(record, t, "textDocument/rangeFormatting")
			if len(part) != 1 || !strings.Contains(string(part[0].Params), c.want) || !strings.Contains(string(part[0].Params), `"start":{"line":1,"character":0}`) {
				t.Fatalf("%+v", part)
			}
			if !strings.HasPrefix(strings.SplitN(b.read("a.x"), "\n", 3)[1], "Y") {
				t.Errorf("%q", b.read("a.x"))
			}
			if _, err := b.Format(ctx, langintel.FormatQuery{Path: "a.x"}); err != nil || b.read("a.x") != "x" {
				t.Errorf("%q, %v", b.read("a.x"), err)
			}
		})
	}
}

func TestGoplsSignature(t *testing.T) {
	t.Parallel()
	b := shop(t, nil)
	ctx := within(t, startTime)
	got, err := b.Signature(ctx, langintel.Place{Path: "till/till_test.go", Line: 15, Column: 11})
	if err != nil || got.Status != langintel.Complete || len(got.Signatures) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if s := got.Signatures[0]; s.Label != "Total(shelves ...*stock.Shelf) int" || !slices.Equal(s.Parameters, []string{"shelves ...*stock.Shelf"}) || s.Active != 0 || !strings.Contains(s.Documentation, "several shelves") {
		t.Errorf("%+v", s)
	}
	if got, err = b.Signature(ctx, langintel.Place{Path: "till/till.go", Line: 1, Column: 1}); err != nil || len(got.Signatures) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestScriptedInlayHints(t *testing.T) {
	t.Parallel()
	b, record := scripted(t, &lsptest.Script{Capabilities: `{"textDocumentSync":1,"inlayHintProvider":true,"signatureHelpProvider":{},"hoverProvider":true}`, On: append(quiet(),
		on("textDocument/hover", lsptest.Action{Reply: `{"contents":"just words"}`}),
		on("textDocument/signatureHelp", lsptest.Action{Reply: `{"signatures":[{"label":"f(é😀 int)","documentation":{"kind":"markdown","value":"*d*"},"parameters":[{"label":[2,9]}]}],"activeSignature":7,"activeParameter":3}`}),
		on("textDocument/inlayHint", lsptest.Action{Reply: `[{"position":{"line":1,"character":6},"label":[{"value":"x"},{"value":":"}],"kind":2},{"position":{"line":0,"character":3},"label":": \u001bint","kind":1}]`}))}, nil)
	ctx := within(t, 20*time.Second)
	got, err := b.InlayHints(ctx, langintel.InlayHintsQuery{Path: "a.x"})
	want := []langintel.InlayHint{{Line: 1, Column: 4, Label: `: \x1bint`, Kind: "type"}, {Line: 2, Column: 6, Label: "x:", Kind: "parameter"}}
	if err != nil || got.Status != langintel.Complete || !slices.Equal(got.Hints, want) {
		t.Errorf("%+v, %v", got, err)
	}
	one := int64(1)
	if got, err = b.InlayHints(ctx, langintel.InlayHintsQuery{Path: "a.x", Line: 2, Limit: &one}); err != nil || len(got.Hints) != 1 || !got.Truncated {
		t.Errorf("%+v, %v", got, err)
	}
	if asked := sent(record, t, "textDocument/inlayHint"); !strings.Contains(string(asked[1].Params), `"range":{"start":{"line":1,"character":0},"end":{"line":1,"character":11}}`) {
		t.Errorf("%s", asked[1].Params)
	}
	signature, err := b.Signature(ctx, langintel.Place{Path: "a.x", Line: 1, Column: 1})
	if err != nil || len(signature.Signatures) != 1 || signature.Active != 0 {
		t.Fatalf("%+v, %v", signature, err)
	}
	if s := signature.Signatures[0]; !slices.Equal(s.Parameters, []string{"é😀 int"}) || s.Active != -1 || s.Documentation != "*d*" {
		t.Errorf("%+v", s)
	}
	// A hover without one gets its signature from there.
	if h, err := hover(b); err != nil || h.Text != "just words" || h.Signature != "f(é😀 int)" {
		t.Errorf("%+v, %v", h, err)
	}
}
