package langintel_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
	"github.com/prism-ls/prism-ls/tools"
)

// One edit as large as may be is made, one that is larger ends the server, and
// nothing is written.
func TestScriptedGiantEdit(t *testing.T) {
	t.Parallel()
	const size = 20 << 20
	script := &lsptest.Script{On: append(quiet(), on("textDocument/rename", lsptest.Action{
		Reply: `{"changes":{"${root}/a.x":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"newText":"${fill}"}]}}`, Fill: size,
	}))}
	q := langintel.RenameQuery{Place: firstWord, NewName: "x"}
	t.Run("over the cap", func(t *testing.T) {
		b, _ := scripted(t, script, nil)
		before := treeOf(t, b.dir)
		if _, err := b.Rename(within(t, time.Minute), q); !errors.Is(err, tools.CodeLSPFraming) {
			t.Fatal(err)
		}
		sameTree(t, treeOf(t, b.dir), before)
	})
	t.Run("within a raised one", func(t *testing.T) {
		b, _ := scripted(t, script, &langintel.Options{MaxMessageBytes: 32 << 20, Timeout: 2 * time.Second})
		done, err := b.Rename(within(t, time.Minute), q)
		if err != nil || done.UndoID == "" {
			t.Fatal(err)
		}
		if got := b.read("a.x"); len(got) != size+len(" two\né日本😀 three\n") || strings.TrimLeft(got, "x") != " two\né日本😀 three\n" {
			t.Fatalf("%d bytes, … %q", len(got), got[max(0, len(got)-40):])
		}
	})
}
