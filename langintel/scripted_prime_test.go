package langintel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
)

// What loads the projects of a workspace stays open while other files come and go,
// and is worked out anew when there are new ones.
func TestScriptedPrime(t *testing.T) {
	t.Parallel()
	spec, record := scriptedSpec(t, &lsptest.Script{On: []lsptest.Rule{
		on("textDocument/references", lsptest.Action{Reply: `[]`}), on("textDocument/hover", lsptest.Action{Reply: aHover}),
	}})
	spec.Ready = langintel.Blocks()
	spec.Prime = func(files *langintel.Files) []string { return files.Match("p*.x") }
	b := open(t, scriptedRoot(t), &langintel.Options{Servers: []langintel.Spec{spec}, MaxOpen: 6})
	b.write("p1.x", "one\n")
	for i := range 12 {
		b.write(fmt.Sprintf("f%d.x", i), "one\n")
	}
	ctx := within(t, 30*time.Second)
	ask := func() {
		t.Helper()
		if got, err := b.References(ctx, langintel.ReferencesQuery{Place: firstWord}); err != nil || got.Status != langintel.Complete {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	// open says whether the server has a file open when it was asked last.
	open := func(name string) bool {
		t.Helper()
		is := false
		for _, m := range record.Messages(t) {
			switch params := string(m.Params); {
			case !strings.Contains(params, "/"+name+`"`):
			case m.Method == "textDocument/didOpen":
				is = true
			case m.Method == "textDocument/didClose":
				is = false
			}
		}
		return is
	}
	ask()
	if !open("p1.x") {
		t.Fatal("p1.x is not open")
	}
	for i := range 12 { // others take its place
		if _, err := b.Hover(ctx, langintel.Place{Path: fmt.Sprintf("f%d.x", i), Line: 1, Column: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if open("p1.x") {
		t.Fatal("p1.x is still open, so this shows nothing")
	}
	ask()
	if !open("p1.x") {
		t.Error("p1.x was closed and not opened again")
	}
	b.write("p2.x", "one\n")
	ask()
	if !open("p2.x") {
		t.Error("p2.x is new and not open")
	}
}
