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

func TestGoplsSymbolBody(t *testing.T) {
	t.Parallel()
	stock := langintel.Place{Path: "stock/stock.go", Symbol: "Shelf.Count"}
	for name, c := range map[string]struct {
		q    langintel.SymbolBodyQuery
		old  string // the part of stock.go that becomes want
		want string
	}{
		"replace": {langintel.SymbolBodyQuery{Place: stock, Op: langintel.ReplaceBody, Text: "func (s *Shelf) Count() int {\n\treturn s.count\n}\n"},
			"func (s *Shelf) Count() int { return s.count }\n", "func (s *Shelf) Count() int {\n\treturn s.count\n}\n"},
		"replace with its comment": {langintel.SymbolBodyQuery{Place: stock, Op: langintel.ReplaceBody, Text: "// Count counts.\nfunc (s *Shelf) Count() int { return s.count }"},
			"// Count returns how many items are there.\n", "// Count counts.\n"},
		"replace by a use": {langintel.SymbolBodyQuery{Place: langintel.Place{Path: "till/till.go", Line: 8, Symbol: "Count"}, Op: langintel.ReplaceBody, Text: "func (s *Shelf) Count() int { return 0 + s.count }"},
			"return s.count }", "return 0 + s.count }"},
		"insert before": {langintel.SymbolBodyQuery{Place: stock, Op: langintel.InsertBefore, Text: "// Twice is more.\nfunc (s *Shelf) Twice() { s.count *= 2 }"},
			"// Count returns", "// Twice is more.\nfunc (s *Shelf) Twice() { s.count *= 2 }\n\n// Count returns"},
		"insert after the last": {langintel.SymbolBodyQuery{Place: langintel.Place{Symbol: "Shelf.String"}, Op: langintel.InsertAfter, Text: "\nfunc last() {}\n"},
			"s.Count())\n}\n", "s.Count())\n}\n\nfunc last() {}\n"},
		"a field after": {langintel.SymbolBodyQuery{Place: langintel.Place{Path: "stock/stock.go", Symbol: "Shelf.count"}, Op: langintel.InsertAfter, Text: "price int // each"},
			"\tcount int\n", "\tcount int\n\tprice int // each\n"},
		"a field before": {langintel.SymbolBodyQuery{Place: langintel.Place{Path: "stock/stock.go", Symbol: "Shelf.Name"}, Op: langintel.InsertBefore, Text: "\t\tid int"},
			"\tName  string\n", "\tid int\n\tName  string\n"},
		"a type": {langintel.SymbolBodyQuery{Place: langintel.Place{Path: "stock/stock.go", Symbol: "Counter"}, Op: langintel.ReplaceBody, Text: "type Counter interface{ Count() int }"},
			"type Counter interface {\n\tCount() int\n}\n", "type Counter interface{ Count() int }\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, nil)
			ctx := within(t, startTime)
			before := b.read("stock/stock.go")
			if strings.Count(before, c.old) != 1 {
				t.Fatalf("%q stands %d times", c.old, strings.Count(before, c.old))
			}
			dry := c.q
			dry.DryRun = true
			shown, err := b.SymbolBody(ctx, dry)
			if err != nil || shown.Change.Patch == "" || b.read("stock/stock.go") != before {
				t.Fatalf("%+v, %v", shown, err)
			}
			done, err := b.SymbolBody(ctx, c.q)
			if err != nil || done.Change.Patch != shown.Change.Patch || done.Change.UndoID == "" || done.Change.DeltaOf.Status != langintel.Complete {
				t.Fatalf("%+v, %v", done, err)
			}
			if got, want := b.read("stock/stock.go"), strings.Replace(before, c.old, c.want, 1); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			b.goTest("./...")
		})
	}
}

func TestGoplsSymbolBodyReadAndDelete(t *testing.T) {
	t.Parallel()
	b := shop(t, nil)
	ctx := within(t, startTime)
	for symbol, want := range map[string]string{
		"Shelf.Count": "func (s *Shelf) Count() int { return s.count }",
		"Shelf":       "type Shelf struct {\n\tName  string\n\tcount int\n}",
		"Shelf.Name":  "\tName  string",
	} {
		got, err := b.SymbolBody(ctx, langintel.SymbolBodyQuery{Place: langintel.Place{Path: "stock/stock.go", Symbol: symbol}, Op: langintel.ReadBody})
		if err != nil || got.Status != langintel.Complete || got.Text != want {
			t.Errorf("%s: %q, %v", symbol, got.Text, err)
		}
	}
	before := b.read("stock/stock.go")
	_, err := b.SymbolBody(ctx, langintel.SymbolBodyQuery{Place: langintel.Place{Symbol: "Shelf.Add"}, Op: langintel.DeleteBody})
	var coded *tools.Error
	if !errors.Is(err, tools.CodeLSPWorkspace) || !errors.As(err, &coded) || b.read("stock/stock.go") != before {
		t.Fatal(err)
	}
	uses, _ := coded.Details.([]langintel.Location)
	if want := []string{"stock/stock_test.go:7:4-7 TestAdd", "till/till.go:11:4-7 Sell", "till/till_test.go:11:4-7 TestSell"}; !slices.Equal(places(uses), want) {
		t.Errorf("%q", places(uses))
	}
	// One that only calls itself is not used.
	loop := "// Loop is\n// endless.\nfunc Loop() { Loop() }"
	b.write("stock/stock.go", strings.Replace(before, "// Add puts", loop+"\n\n// Add puts", 1))
	done, err := b.SymbolBody(ctx, langintel.SymbolBodyQuery{Place: langintel.Place{Path: "stock/stock.go", Symbol: "Loop"}, Op: langintel.DeleteBody})
	if err != nil || b.read("stock/stock.go") != before || done.Change.Delta == nil {
		t.Fatalf("%+v, %v\n%s", done, err, b.read("stock/stock.go"))
	}
	b.goTest("./...")
	for name, q := range map[string]langintel.SymbolBodyQuery{
		"no op":            {Place: langintel.Place{Symbol: "Shelf.Add"}},
		"text for nothing": {Place: langintel.Place{Symbol: "Shelf.Add"}, Op: langintel.DeleteBody, Text: "x"},
		"no text":          {Place: langintel.Place{Symbol: "Shelf.Add"}, Op: langintel.ReplaceBody, Text: " \n"},
	} {
		if _, err := b.SymbolBody(ctx, q); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for place, code := range map[langintel.Place]tools.Code{
		{Path: "stock/stock.go", Line: 32, Symbol: "Sprintf"}: tools.CodeNotFound,
		{Path: "stock/stock.go", Line: 1, Column: 1}:          tools.CodeNotFound,
		{Path: "till/till.go", Line: 18, Symbol: "total"}:     tools.CodeNotFound,
	} {
		if _, err := b.SymbolBody(ctx, langintel.SymbolBodyQuery{Place: place, Op: langintel.DeleteBody}); !errors.Is(err, code) {
			t.Errorf("%+v: %v", place, err)
		}
	}
}

// What servers of other languages leave out of a range, and what people expect of
// their layout.
func TestScriptedSymbolBody(t *testing.T) {
	t.Parallel()
	type declaration struct{ name, from, to string } // the server's range: from the one text to behind the other
	for name, c := range map[string]struct {
		lang, text string
		declared   []declaration
		symbol     string
		op         langintel.BodyOp
		given      string
		want       string // the text after, or what was read
	}{
		"read with keywords":             {"typescript", "export const a = 1;\nexport const b = () => {\n  x;\n};\n", []declaration{{"a", "a = 1", "1"}, {"b", "b = ", "\n}"}}, "b", langintel.ReadBody, "", "export const b = () => {\n  x;\n};"},
		"replace the range alone":        {"typescript", "export const a = 1; // one\n", []declaration{{"a", "a = 1", "1"}}, "a", langintel.ReplaceBody, "a = 2", "export const a = 2; // one\n"},
		"replace the statement":          {"typescript", "export const a = 1;\n", []declaration{{"a", "a = 1", "1"}}, "a", langintel.ReplaceBody, "let a = 2;\n", "let a = 2;\n"},
		"delete the statement":           {"typescript", "/** A. */\nexport const a = 1; // one\n\nexport const b = 2;\n", []declaration{{"a", "a = 1", "1"}, {"b", "b = 2", "2"}}, "a", langintel.DeleteBody, "", "export const b = 2;\n"},
		"delete with decorators":         {"typescript", "import x;\n\n/* C */\n@Component({\n  name: \"(c)\",\n})\n@Other\nexport class C {\n}\n\nclass D {\n}\n", []declaration{{"C", "export class C", "{\n}"}, {"D", "class D", "D {\n}"}}, "C", langintel.DeleteBody, "", "import x;\n\nclass D {\n}\n"},
		"a range with its comments":      {"rust", "/// Doc.\n#[inline]\npub fn f() {\n    1\n}\n", []declaration{{"f", "/// Doc.", "\n}"}}, "f", langintel.ReplaceBody, "pub fn f() {\n    2\n}", "/// Doc.\n#[inline]\npub fn f() {\n    2\n}\n"},
		"a comment kept apart":           {"typescript", "// License.\n\n// F.\nfunction f() {\n}\n", []declaration{{"f", "function f", "{\n}"}}, "f", langintel.DeleteBody, "", "// License.\n"},
		"a comment of another":           {"typescript", "const a = 1; // one\nfunction f() {\n}\n", []declaration{{"a", "a = 1", "1"}, {"f", "function f", "{\n}"}}, "f", langintel.DeleteBody, "", "const a = 1; // one\n"},
		"python, indented for its place": {"python", "class C:\n    # one\n    @prop\n    def a(self):\n        return 1\n\n    def b(self):\n        return 2\n", []declaration{{"a", "def a", "return 1"}, {"b", "def b", "return 2"}}, "a", langintel.ReplaceBody, "def a(self):\n        return 3\n", "class C:\n    # one\n    @prop\n    def a(self):\n        return 3\n\n    def b(self):\n        return 2\n"},
		"python, not indented":           {"python", "class C:\n    def a(self):\n        return 1\n\n    def b(self):\n        return 2\n", []declaration{{"a", "def a", "return 1"}, {"b", "def b", "return 2"}}, "a", langintel.InsertAfter, "def c(self):\n    return 3\n", "class C:\n    def a(self):\n        return 1\n\n    def c(self):\n        return 3\n\n    def b(self):\n        return 2\n"},
		"python, two lines apart":        {"python", "def a():\n    pass\n\n\n@x(\n    1\n)\ndef b():\n    pass", []declaration{{"a", "def a", "pass"}, {"b", "def b", "pass"}}, "b", langintel.InsertBefore, "def c():\n    pass", "def a():\n    pass\n\n\ndef c():\n    pass\n\n\n@x(\n    1\n)\ndef b():\n    pass"},
		"at the end, no line's end":      {"python", "def a():\n    pass", []declaration{{"a", "def a", "pass"}}, "a", langintel.InsertAfter, "def b():\n    pass\n", "def a():\n    pass\n\ndef b():\n    pass"},
		"the last deleted":               {"python", "import x\n\n\ndef a():\n    pass", []declaration{{"a", "def a", "pass"}}, "a", langintel.DeleteBody, "", "import x"},
		"first in a block":               {"typescript", "class C {\n  a() {\n  }\n\n  b() {\n  }\n}\n", []declaration{{"a", "a() {", "a() {\n  }"}, {"b", "b() {", "b() {\n  }"}}, "a", langintel.DeleteBody, "", "class C {\n  b() {\n  }\n}\n"},
		"last in a block":                {"typescript", "class C {\n  a() {\n  }\n\n  b() {\n  }\n}\n", []declaration{{"a", "a() {", "a() {\n  }"}, {"b", "b() {", "b() {\n  }"}}, "b", langintel.DeleteBody, "", "class C {\n  a() {\n  }\n}\n"},
		"members after the last":         {"typescript", "enum E {\n  a,\n  b\n}\n", []declaration{{"a", "a", "a"}, {"b", "b", "b"}}, "b", langintel.InsertAfter, "c", "enum E {\n  a,\n  b,\n  c\n}\n"},
		"members before":                 {"typescript", "enum E {\n  a,\n  b\n}\n", []declaration{{"a", "a", "a"}, {"b", "b", "b"}}, "b", langintel.InsertBefore, "c", "enum E {\n  a,\n  c,\n  b\n}\n"},
		"the last of JSON":               {"json", "{\n  \"a\": 1,\n  \"b\": 2\n}\n", []declaration{{"a", "\"a\"", "1"}, {"b", "\"b\"", "2"}}, "b", langintel.DeleteBody, "", "{\n  \"a\": 1\n}\n"},
		"CRLF":                           {"typescript", "function a() {\r\n}\r\n\r\nfunction b() {\r\n}\r\n", []declaration{{"a", "function a", "a() {\r\n}"}, {"b", "function b", "b() {\r\n}"}}, "a", langintel.InsertAfter, "function c() {\n}\n", "function a() {\r\n}\r\n\r\nfunction c() {\r\n}\r\n\r\nfunction b() {\r\n}\r\n"},
		"wide characters before":         {"typescript", "/* é日本😀 */ function a() {}\n", []declaration{{"a", "function a", "{}"}}, "a", langintel.ReplaceBody, "function a() { return \"😀\"; }", "/* é日本😀 */ function a() { return \"😀\"; }\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var symbols []string
			for _, d := range c.declared {
				from := strings.Index(c.text, d.from)
				to := from + strings.Index(c.text[from:], d.to) + len(d.to)
				at := from + strings.Index(c.text[from:], d.name)
				symbols = append(symbols, fmt.Sprintf(`{"name":%q,"kind":12,"range":%s,"selectionRange":%s}`, d.name, utf16Range(c.text, from, to), utf16Range(c.text, at, at+len(d.name))))
			}
			program, args, _ := lsptest.Command(t, &lsptest.Script{
				Capabilities: `{"textDocumentSync":1,"documentSymbolProvider":true,"referencesProvider":true}`,
				On:           append(quiet(), on("textDocument/documentSymbol", lsptest.Action{Reply: "[" + strings.Join(symbols, ",") + "]"}), on("textDocument/references", lsptest.Action{Reply: "[]"})),
			})
			spec := langintel.Spec{Name: "scripted", Program: program, Args: args, Languages: []langintel.Language{{ID: c.lang, Patterns: []string{"*.x"}}}, Ready: langintel.Blocks()}
			b := open(t, t.TempDir(), &langintel.Options{Timeout: 2 * time.Second, Servers: []langintel.Spec{spec}})
			b.write("a.x", c.text)
			got, err := b.SymbolBody(within(t, 20*time.Second), langintel.SymbolBodyQuery{Place: langintel.Place{Path: "a.x", Symbol: c.symbol}, Op: c.op, Text: c.given})
			if err != nil {
				t.Fatal(err)
			}
			after := b.read("a.x")
			if c.op == langintel.ReadBody {
				after = got.Text
			}
			if after != c.want {
				t.Errorf("got\n%q, want\n%q", after, c.want)
			}
		})
	}
}

func utf16Range(text string, from, to int) string {
	position := func(at int) string {
		line := strings.Count(text[:at], "\n")
		units := 0
		for _, r := range text[strings.LastIndexByte(text[:at], '\n')+1 : at] {
			if units++; r > 0xFFFF {
				units++
			}
		}
		return fmt.Sprintf(`{"line":%d,"character":%d}`, line, units)
	}
	return `{"start":` + position(from) + `,"end":` + position(to) + `}`
}

func TestScriptedSymbolBodyRefusals(t *testing.T) {
	t.Parallel()
	one := func(symbols string, more ...lsptest.Rule) *bench {
		b, _ := scripted(t, &lsptest.Script{Capabilities: `{"textDocumentSync":1,"documentSymbolProvider":true,"referencesProvider":true}`,
			On: append(append(quiet(), more...), on("textDocument/documentSymbol", lsptest.Action{Reply: symbols}))}, &langintel.Options{Timeout: time.Second})
		b.write("a.x", "one two\n")
		return b
	}
	place := langintel.Place{Path: "a.x", Symbol: "one"}
	ask := func(b *bench, op langintel.BodyOp, text string) error {
		_, err := b.SymbolBody(within(t, 20*time.Second), langintel.SymbolBodyQuery{Place: place, Op: op, Text: text})
		return err
	}
	flat := one(`[{"name":"one","kind":12,"location":{"uri":"${root}/a.x","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}}}}]`)
	if err := ask(flat, langintel.DeleteBody, ""); !errors.Is(err, tools.CodeLSPUnsupported) || !strings.Contains(err.Error(), "where declarations end") {
		t.Error(err)
	}
	if got, err := flat.SymbolBody(within(t, 20*time.Second), langintel.SymbolBodyQuery{Place: place, Op: langintel.ReadBody}); err != nil || got.Status != langintel.Unsupported {
		t.Errorf("%+v, %v", got, err)
	}
	shared := one(`[{"name":"one","kind":12,"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"selectionRange":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}}}]`)
	for op, text := range map[langintel.BodyOp]string{langintel.DeleteBody: "", langintel.InsertAfter: "x", langintel.InsertBefore: "x"} {
		if err := ask(shared, op, text); !errors.Is(err, tools.CodeLSPUnsupported) || !strings.Contains(err.Error(), "shares its line") {
			t.Errorf("%s: %v", op, err)
		}
	}
	// A server that may not know of every use yet is not believed.
	unsure := one(`[{"name":"one","kind":12,"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":7}},"selectionRange":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}}}]`,
		on("textDocument/references", lsptest.Action{Reply: "[]"}))
	if err := ask(unsure, langintel.DeleteBody, ""); !errors.Is(err, tools.CodeLSPTimeout) || unsure.read("a.x") != "one two\n" {
		t.Error(err)
	}
}
