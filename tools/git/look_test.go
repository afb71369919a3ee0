package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

func TestLook(t *testing.T) {
	root := repository(t)
	r, g, ctx := newRunner(t, nil), opened(t, root), t.Context()
	head := strings.TrimSpace(plain(t, root, "rev-parse", "HEAD"))
	branch := strings.TrimSpace(plain(t, root, "symbolic-ref", "HEAD"))
	path := filepath.Join(t.TempDir(), "odd \xff")
	_, err := g.AddWorktree(ctx, path, &AddOptions{Branch: "task"})
	must(t, err)
	look := func(want tools.Seen, w tools.Witness) {
		t.Helper()
		got, err := r.Look(ctx, w)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", w.Name(), got, err, want)
		}
	}
	refuse := func(w tools.Witness) {
		t.Helper()
		if got, err := r.Look(ctx, w); err == nil {
			t.Errorf("%s: %+v", w.Name(), got)
		}
	}
	look(tools.Seen{Exists: true, ID: head}, tools.Witness{Ref: branch, Repository: root})
	look(tools.Seen{}, tools.Witness{Ref: "refs/heads/none", Repository: root})
	look(tools.Seen{Exists: true, ID: head}, tools.Witness{Ref: "HEAD", Repository: root, After: seen(head)})
	look(tools.Seen{Exists: true, ID: branch}, tools.Witness{Ref: "HEAD", Repository: root, Before: seen("refs/heads/x")})
	look(tools.Seen{Exists: true, ID: "refs/heads/task"}, tools.Witness{Ref: "HEAD", Repository: path, After: seen("refs/heads/task")})
	refuse(tools.Witness{Ref: "--all", Repository: root})
	below := filepath.Join(root, "below")
	must(t, os.MkdirAll(below, 0o755))
	refuse(tools.Witness{Ref: "HEAD", Repository: below})

	lock := filepath.Join(root, ".git", "index.lock")
	must(t, os.WriteFile(lock, nil, 0o644))
	refuse(tools.Witness{Ref: "HEAD", Repository: root})
	look(tools.Seen{Exists: true, ID: head}, tools.Witness{Ref: branch, Repository: root})
	must(t, os.Remove(lock))
	index := strings.TrimSpace(plain(t, path, "rev-parse", "--git-path", "index"))
	must(t, os.Rename(index, index+"-"))
	refuse(tools.Witness{Ref: "HEAD", Repository: path})
	must(t, os.Rename(index+"-", index))
	must(t, g.RemoveWorktree(ctx, path, nil))
	look(tools.Seen{}, tools.Witness{Ref: "HEAD", Repository: path, Before: seen(head)})
	refuse(tools.Witness{Ref: "refs/heads/task", Repository: path})
}
