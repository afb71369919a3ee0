package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

// oddNames are names that parsers trip over. They are made in every repository that
// is compared with git's own word.
func oddNames() []string {
	return []string{
		"a b.txt", "quo\"te.txt", `back\slash.txt`, "new\nline.txt", "tab\tname.txt", "caf\xe9.txt", "-dash.txt", "--help", "🙂.txt", " lead", "trail ",
		"R100 a.txt", ":(glob)*", "*.txt", "é.txt", "\"all\"", "a\x01b", "~home", "dir with space/-x", "HEAD", "\xff\xfe",
	}
}

// porcelain writes a status as git does (git-status(1), version 2, -z --branch).
func porcelain(s *Status) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\x00", args...) }
	oid, head := s.Branch.OID, s.Branch.Name
	if oid == "" {
		oid = "(initial)"
	}
	if head == "" {
		head = "(detached)"
	}
	line("# branch.oid %s", oid)
	line("# branch.head %s", head)
	if s.Branch.Upstream != "" {
		line("# branch.upstream %s", s.Branch.Upstream)
	}
	if s.Branch.Ahead != nil {
		line("# branch.ab +%d -%d", *s.Branch.Ahead, *s.Branch.Behind)
	}
	for _, e := range s.Entries {
		switch e.Kind {
		case Untracked, Ignored:
			line("%s %s", e.Index, e.Path)
		case Unmerged:
			st := e.Stages
			line("u %s%s %s %06o %06o %06o %06o %s %s %s %s", e.Index, e.Worktree, e.Submodule, st[0].Mode, st[1].Mode, st[2].Mode, e.WorktreeMode, st[0].ID, st[1].ID, st[2].ID, e.Path)
		case Renamed:
			line("2 %s%s %s %06o %06o %06o %s %s %s %s", e.Index, e.Worktree, e.Submodule, e.HeadMode, e.IndexMode, e.WorktreeMode, e.HeadID, e.IndexID, e.Similarity, e.Path)
			line("%s", e.OrigPath)
		default:
			line("1 %s%s %s %06o %06o %06o %s %s %s", e.Index, e.Worktree, e.Submodule, e.HeadMode, e.IndexMode, e.WorktreeMode, e.HeadID, e.IndexID, e.Path)
		}
	}
	return out.String()
}

func open(t testing.TB, dir string) *Repository {
	t.Helper()
	g, err := newRunner(t, nil).Repository(t.Context(), dir)
	must(t, err)
	return g
}

// sameStatus compares with what git itself prints.
func sameStatus(t testing.TB, g *Repository, opts *StatusOptions) *Status {
	t.Helper()
	if opts == nil {
		opts = &StatusOptions{}
	}
	if opts.MaxEntries == 0 {
		opts.MaxEntries = ChangedFiles.Hard
	}
	got, err := g.Status(t.Context(), opts)
	must(t, err)
	args := []string{"-c", "status.renames=true", "-c", "core.fsmonitor=false", "status", "--porcelain=v2", "-z", "--branch", "--ignore-submodules=dirty", "--untracked-files=normal"}
	if opts.AllUntracked {
		args[len(args)-1] = "--untracked-files=all"
	}
	if opts.Ignored {
		args = append(args, "--ignored=matching")
	}
	if want := plain(t, g.Top(), args...); porcelain(got) != want {
		t.Errorf("status differs\ngot  %q\nwant %q", porcelain(got), want)
	}
	return got
}

// plant writes one file of every odd name, and an ignored one.
func plant(t testing.TB, root string) {
	t.Helper()
	for _, name := range oddNames() {
		write(t, root, name, strings.Repeat(name+"\n", 20))
	}
	write(t, root, ".gitignore", "*.log\nbuild/\n")
	write(t, root, "x.log", "x")
	write(t, root, "build/y", "y")
	write(t, root, "new/deep/z", "z")
}

func TestStatus(t *testing.T) {
	root := repository(t)
	g := open(t, root)
	if s := sameStatus(t, g, nil); s.Dirty || s.Branch.Name != "main" || len(s.Branch.OID) != 40 {
		t.Errorf("clean: %+v", s)
	}
	plant(t, root)
	if s := sameStatus(t, g, nil); !s.Dirty || s.Total < len(oddNames()) {
		t.Errorf("untracked: %+v", s)
	}
	for _, opts := range []StatusOptions{{AllUntracked: true}, {Ignored: true}, {AllUntracked: true, Ignored: true}} {
		sameStatus(t, g, &opts)
	}
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "odd")
	for i, name := range oddNames() {
		switch i % 3 {
		case 0:
			plain(t, root, "mv", "--", name, "moved-"+strings.ReplaceAll(name, "/", "_"))
		case 1:
			write(t, root, name, "changed\n")
		default:
			must(t, os.Remove(filepath.Join(root, name)))
		}
	}
	s := sameStatus(t, g, nil)
	renamed := 0
	for _, e := range s.Entries {
		if e.Kind == Renamed {
			renamed++
		}
	}
	if renamed != 7 {
		t.Errorf("%d renamed entries, want 7", renamed)
	}
	if s, err := g.Status(t.Context(), &StatusOptions{MaxEntries: 3}); err != nil || len(s.Entries) != 3 || !s.Truncated || s.TruncatedBy != "entries" || s.Total != len(oddNames()) {
		t.Errorf("3 entries at most: %+v, %v", s, err)
	}
	if s, err := g.Status(t.Context(), &StatusOptions{MaxOutput: 700}); err != nil || len(s.Entries) == 0 || len(s.Entries) > 6 || !s.Dirty || !s.Truncated || s.TruncatedBy != "bytes" {
		t.Errorf("700 bytes at most: %+v, %v", s, err)
	}
	if _, err := g.Status(t.Context(), &StatusOptions{MaxEntries: ChangedFiles.Hard + 1}); !errors.Is(err, tools.CodeToolInput) {
		t.Errorf("too many entries: %v", err)
	}
}

// TestStatusOfDirectory: from a directory of the repository, paths are relative to it
// and nothing beside it is shown.
func TestStatusOfDirectory(t *testing.T) {
	root := repository(t)
	write(t, root, "sub/in.txt", "in\n")
	write(t, root, "subway/out.txt", strings.Repeat("out\n", 20))
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "sub")
	plain(t, root, "mv", "subway/out.txt", "sub/moved.txt")
	write(t, root, "a.txt", "secret\n")
	write(t, root, "sub/-new", "new\n")
	g := open(t, filepath.Join(root, "sub"))
	s, err := g.Status(t.Context(), nil)
	must(t, err)
	var got []string
	for _, e := range s.Entries {
		got = append(got, e.Index+e.Worktree+" "+e.Path+" "+e.OrigPath)
	}
	if text := strings.Join(got, "|"); text != "A. moved.txt |?? -new " {
		t.Errorf("entries %q", text)
	}
	s, err = g.Status(t.Context(), &StatusOptions{Paths: []string{"-new"}})
	if err != nil || len(s.Entries) != 1 {
		t.Errorf("one path: %+v, %v", s, err)
	}
	s, err = g.Status(t.Context(), &StatusOptions{Whole: true})
	if err != nil || len(s.Entries) != 3 || s.Entries[1].OrigPath != "subway/out.txt" {
		t.Errorf("the whole work tree: %+v, %v", s, err)
	}
	for _, path := range []string{"../a.txt", "/etc/passwd", "", "a\x00"} {
		if _, err := g.Status(t.Context(), &StatusOptions{Paths: []string{path}}); !errors.Is(err, tools.CodePathEscape) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestResolve(t *testing.T) {
	root := repository(t)
	g := open(t, root)
	id, err := g.Resolve(t.Context(), "HEAD")
	if err != nil || id != strings.TrimSpace(plain(t, root, "rev-parse", "HEAD")) {
		t.Errorf("HEAD: %q, %v", id, err)
	}
	plain(t, root, "tag", "-a", "-m", "tag", "v1")
	for _, ref := range []string{"v1", "main", "refs/tags/v1", id, id[:10], "HEAD^{/first}"} {
		if got, err := g.Resolve(t.Context(), ref); got != id {
			t.Errorf("%s: %q, %v", ref, got, err)
		}
	}
	for _, ref := range []string{"nothing", "HEAD~1", "HEAD:a.txt", strings.Repeat("0", 40), "HEAD@{9}", "a b", "HEAD^{tree}", "@{u}"} {
		if got, err := g.Resolve(t.Context(), ref); !errors.Is(err, tools.CodeGitRef) {
			t.Errorf("%s: %q, %v", ref, got, err)
		}
	}
	for _, ref := range []string{"", "-x", "--all", "^HEAD", "HEAD..main", "a\nb", strings.Repeat("a", 1025)} {
		if got, err := g.Resolve(t.Context(), ref); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%.20q: %q, %v", ref, got, err)
		}
	}
	empty := t.TempDir()
	plain(t, empty, "init", "-q", "-b", "main")
	if _, err := open(t, empty).Resolve(t.Context(), "HEAD"); !errors.Is(err, tools.CodeGitRef) {
		t.Errorf("without a commit: %v", err)
	}
}
