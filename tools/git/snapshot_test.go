package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSnapshot(t *testing.T) {
	root := repository(t)
	dirty(t, root)
	g := opened(t, root)
	before := state(t, root)
	s, err := g.Snapshot(t.Context(), nil)
	must(t, err)
	if after := state(t, root); after != before {
		t.Errorf("looking has changed\n%s\nto\n%s", before, after)
	}
	c, err := g.Checkpoint(t.Context(), nil)
	must(t, err)
	if s.Tree != c.Tree || s.Head != c.Head {
		t.Errorf("%+v, the checkpoint is %+v", s, c)
	}
	// What was left out makes no difference, whatever becomes of it.
	without, err := g.Snapshot(t.Context(), []string{"both", "not there"})
	must(t, err)
	must(t, os.Remove(filepath.Join(root, "both")))
	again, err := g.Snapshot(t.Context(), []string{"both"})
	must(t, err)
	if without.Tree == s.Tree || again.Tree != without.Tree {
		t.Errorf("%s, %s, %s", s.Tree, without.Tree, again.Tree)
	}
	// It is the same tree when it is committed.
	full, err := g.Snapshot(t.Context(), nil)
	must(t, err)
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "all of it")
	committed, err := g.Snapshot(t.Context(), nil)
	must(t, err)
	if tree := strings.TrimSpace(plain(t, root, "rev-parse", "HEAD^{tree}")); full.Tree != tree || committed.Tree != tree || committed.Head.ID == full.Head.ID {
		t.Errorf("%+v, %+v, the commit's is %s", full, committed, tree)
	}
}

func TestSnapshotBeforeTheFirstCommit(t *testing.T) {
	root := t.TempDir()
	plain(t, root, "init", "-q")
	write(t, root, "a", "a\n")
	s, err := opened(t, root).Snapshot(t.Context(), nil)
	must(t, err)
	if s.Head.ID != "" || s.Tree == "" {
		t.Errorf("%+v", s)
	}
}
