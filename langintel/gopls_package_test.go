package langintel_test

import (
	"slices"
	"testing"

	"github.com/prism-ls/prism-ls/langintel"
)

// gopls moves a package's directory when the package is renamed: an operation on a
// directory beside the edits of everything that imports it.
func TestGoplsRenamePackage(t *testing.T) {
	t.Parallel()
	b := shop(t, nil)
	ctx := within(t, startTime)
	before := treeOf(t, b.dir)
	done, err := b.Rename(ctx, langintel.RenameQuery{Place: langintel.Place{Path: "stock/stock.go", Line: 2, Symbol: "stock"}, NewName: "store", AllowGenerated: true, RejectIf: langintel.RejectNewErrors})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(done.Files, "store/stock.go") {
		t.Errorf("%q", done.Files)
	}
	b.goTest("./...")
	if _, err := b.work.Undo(ctx, done.UndoID); err != nil {
		t.Fatal(err)
	}
	sameTree(t, treeOf(t, b.dir), before)
}
