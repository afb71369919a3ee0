package git

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestSettleManyBytes: a switch that was killed is taken back however much it had
// written, also more than a patch may.
func TestSettleManyBytes(t *testing.T) {
	root := repository(t)
	const count = 5
	size := int(RewriteBytes.Hard)/count + 1
	fill := func(letter byte) {
		for i := range count {
			must(t, os.WriteFile(filepath.Join(root, string(rune('a'+i))+".bin"), bytes.Repeat([]byte{letter}, size), 0o644))
		}
	}
	plain(t, root, "config", "core.compression", "0")
	plain(t, root, "config", "core.bigFileThreshold", "1m")
	fill('1')
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "one")
	from, err := opened(t, root).Head(t.Context())
	must(t, err)
	plain(t, root, "switch", "-q", "-c", "other")
	fill('2')
	plain(t, root, "commit", "-q", "-a", "-m", "two")
	to, err := opened(t, root).Head(t.Context())
	must(t, err)
	plain(t, root, "switch", "-q", "main")

	// As after a kill in the middle: the other branch's files, the last one in part, and
	// neither index nor HEAD.
	fill('2')
	must(t, os.Truncate(filepath.Join(root, "e.bin"), int64(size/2)))
	record, err := json.Marshal(switchRecord{From: from, To: to})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(root, ".git", switchName), record, 0o600))
	must(t, opened(t, root).Settle(t.Context()))
	if status := plain(t, root, "status", "--porcelain"); status != "" {
		t.Errorf("after settling: %s", status)
	}
	if _, err := os.Lstat(filepath.Join(root, ".git", switchName)); err == nil {
		t.Error("the record is there still")
	}
}

// TestBegun: what git leaves while it writes a file is nothing or the file's beginning.
func TestBegun(t *testing.T) {
	root := repository(t)
	long := string(bytes.Repeat([]byte("0123456789abcdef"), 10_000))
	write(t, root, "file", long)
	must(t, os.Symlink("file", filepath.Join(root, "link")))
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "two")
	g := opened(t, root)
	var changes []treeChange
	for _, path := range []string{"file", "link", "a.txt"} {
		changes = append(changes, treeChange{path: path, mode: 0o100644})
	}
	w, err := g.wanted(t.Context(), "HEAD", changes)
	must(t, err)
	defer w.close()
	tree, err := os.OpenRoot(root)
	must(t, err)
	defer tree.Close()
	for text, want := range map[string]struct{ begun, made bool }{
		long: {true, true}, "": {true, false}, long[:70_000]: {true, false}, long + "x": {false, false},
		long[:70_000] + "x": {false, false}, "x" + long[1:]: {false, false},
	} {
		write(t, root, "file", text)
		made, err := w.made(tree, "file")
		if begun := w.begun(tree, "file"); begun != want.begun || made != want.made || err != nil {
			t.Errorf("%d bytes: begun %v, made %v, %v; want %+v", len(text), begun, made, err, want)
		}
	}
	must(t, os.Remove(filepath.Join(root, "file")))
	if !w.begun(tree, "file") || !w.begun(tree, "link") || !w.begun(tree, "a.txt") {
		t.Error("nothing, and what is wanted, are beginnings")
	}
	must(t, os.Remove(filepath.Join(root, "link")))
	must(t, os.Symlink("elsewhere", filepath.Join(root, "link")))
	write(t, root, "mine", "")
	if w.begun(tree, "link") || w.begun(tree, "mine") {
		t.Error("another link, and a file that is not wanted, are somebody's")
	}
}
