package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

// readAll compares all that is read with git's own word, in a repository whose HEAD has
// a commit with a.txt in it.
func readAll(t *testing.T, root string) {
	t.Helper()
	g := open(t, root)
	c := &comparisons{t: t, g: g}
	c.status()
	c.diff(DiffOptions{})
	c.diff(DiffOptions{Base: "HEAD"}, "HEAD")
	c.diff(DiffOptions{Staged: true}, "--cached")
	c.log()
	c.log("a.txt")
	c.blame("a.txt", "")
	c.blame("a.txt", "HEAD")
	c.check("")
	blob, err := g.Show(t.Context(), "HEAD", "a.txt")
	if err != nil || string(blob.Data) != said(t, root, "show", "HEAD:a.txt") || blob.OID != strings.TrimSpace(said(t, root, "rev-parse", "HEAD:a.txt")) {
		t.Errorf("the file at HEAD: %+v, %v", blob, err)
	}
	if _, err := g.Handoff(t.Context(), &HandoffOptions{Base: "HEAD"}); err != nil {
		t.Errorf("a hand-off of nothing: %v", err)
	}
}

// past makes three commits and leaves changes, staged ones and others.
func past(t *testing.T, root string) {
	t.Helper()
	for _, text := range []string{"one\n", "one\ntwo\n", "one\n2\nthree\n"} {
		write(t, root, "a.txt", text)
		write(t, root, "sub/b.txt", text)
		plain(t, root, "add", "-A")
		plain(t, root, "commit", "-q", "-m", "with "+strings.ReplaceAll(text, "\n", " ")+"end")
	}
	write(t, root, "a.txt", "zero\none\n2\n")
	write(t, root, "sub/b.txt", "staged\n")
	plain(t, root, "add", "sub")
	write(t, root, "new", "new\n")
}

// TestShapes: repositories come in more than one shape.
func TestShapes(t *testing.T) {
	shapes := map[string]func(t *testing.T, root string) string{
		"detached": func(t *testing.T, root string) string {
			past(t, root)
			plain(t, root, "switch", "-q", "--detach", "HEAD")
			return root
		},
		"sparse": func(t *testing.T, root string) string {
			past(t, root)
			plain(t, root, "commit", "-q", "-a", "-m", "all")
			plain(t, root, "sparse-checkout", "set", "--no-cone", "/a.txt")
			write(t, root, "a.txt", "sparse\n")
			if _, err := os.Stat(filepath.Join(root, "sub")); err == nil {
				t.Fatal("the checkout is not sparse")
			}
			return root
		},
		"linked": func(t *testing.T, root string) string {
			past(t, root)
			linked := filepath.Join(t.TempDir(), "linked")
			plain(t, root, "worktree", "add", "-q", "-b", "other", linked)
			write(t, linked, "a.txt", "linked\n")
			return linked
		},
		"shallow": func(t *testing.T, root string) string {
			past(t, root)
			shallow := filepath.Join(t.TempDir(), "shallow")
			plain(t, root, "clone", "-q", "--depth=2", "file://"+root, shallow)
			write(t, shallow, "a.txt", "shallow\n")
			if n := strings.Count(said(t, shallow, "log", "--format=%H"), "\n"); n != 2 {
				t.Fatalf("a shallow clone with %d commits", n)
			}
			return shallow
		},
		"upstream": func(t *testing.T, root string) string {
			past(t, root)
			clone := filepath.Join(t.TempDir(), "clone")
			plain(t, root, "clone", "-q", root, clone)
			plain(t, clone, "reset", "-q", "--hard", "HEAD~1")
			write(t, clone, "a.txt", "own\n")
			plain(t, clone, "commit", "-q", "-a", "-m", "own")
			s, err := open(t, clone).Status(t.Context(), nil)
			if err != nil || s.Branch.Upstream != "origin/main" || *s.Branch.Ahead != 1 || *s.Branch.Behind != 1 {
				t.Errorf("the upstream: %+v, %v", s.Branch, err)
			}
			return clone
		},
		"line ends": func(t *testing.T, root string) string {
			plain(t, root, "config", "core.autocrlf", "true")
			past(t, root)
			write(t, root, "a.txt", "one\r\n2\r\nfour\r\n")
			return root
		},
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "repo")
			must(t, os.MkdirAll(root, 0o755))
			plain(t, root, "init", "-q", "-b", "main")
			readAll(t, shape(t, root))
		})
	}
	t.Run("SHA-256", func(t *testing.T) {
		root := t.TempDir()
		plain(t, root, "init", "-q", "-b", "main", "--object-format=sha256")
		past(t, root)
		readAll(t, root)
		if id, err := open(t, root).Resolve(t.Context(), "HEAD"); err != nil || len(id) != 64 {
			t.Errorf("HEAD is %q, %v", id, err)
		}
	})
}

// TestUnborn: before the first commit there is a status and a comparison, and history
// is empty or clearly not there.
func TestUnborn(t *testing.T) {
	root := t.TempDir()
	plain(t, root, "init", "-q", "-b", "main")
	g := open(t, root)
	if s := sameStatus(t, g, nil); s.Dirty || s.Branch.OID != "" || s.Branch.Name != "main" {
		t.Errorf("empty: %+v", s)
	}
	write(t, root, "a.txt", "one\n")
	plain(t, root, "add", "-A")
	write(t, root, "a.txt", "two\n")
	sameStatus(t, g, nil)
	c := &comparisons{t: t, g: g}
	c.diff(DiffOptions{})
	c.diff(DiffOptions{Staged: true}, "--cached")
	c.check("unborn")
	if log, err := g.Log(t.Context(), nil); err != nil || len(log.Commits) != 0 {
		t.Errorf("log: %+v, %v", log, err)
	}
	for name, err := range map[string]error{
		"log of HEAD": second(g.Log(t.Context(), &LogOptions{Ref: "HEAD"})),
		"diff":        second(g.Diff(t.Context(), &DiffOptions{Base: "HEAD"})),
		"show":        second(g.Show(t.Context(), "HEAD", "a.txt")),
		"blame":       second(g.Blame(t.Context(), "a.txt", &BlameOptions{Content: []byte("two\n")})),
		"hand-off":    second(g.Handoff(t.Context(), &HandoffOptions{Base: "main"})),
	} {
		if !errors.Is(err, tools.CodeGitRef) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestFetchesNothing: what a partial clone lacks is fetched neither by a command that
// reads nor by one that writes files, whatever remote its configuration names.
func TestFetchesNothing(t *testing.T) {
	root := filepath.Join(t.TempDir(), "repo")
	must(t, os.MkdirAll(root, 0o755))
	plain(t, root, "init", "-q", "-b", "main")
	past(t, root)
	plain(t, root, "config", "uploadpack.allowFilter", "true")
	plain(t, root, "config", "uploadpack.allowAnySHA1InWant", "true")
	clone := filepath.Join(t.TempDir(), "clone")
	plain(t, root, "clone", "-q", "--filter=blob:none", "file://"+root, clone)
	r := newRunner(t, nil)
	g, err := r.Repository(t.Context(), clone)
	must(t, err)
	if s, err := g.Status(t.Context(), nil); err != nil || s.Dirty {
		t.Errorf("status: %+v, %v", s, err)
	}
	if _, err := g.Show(t.Context(), "HEAD~2", "a.txt"); err == nil {
		t.Error("a file that the clone does not have was shown")
	}
	allowed := &RunOptions{Config: []string{"protocol.file.allow=always"}}
	for _, args := range [][]string{{"cat-file", "blob", "HEAD~2:a.txt"}, {"diff", "HEAD~2", "HEAD", "--", "a.txt"}, {"log", "-p", "--", "a.txt"}, {"blame", "HEAD", "--", "a.txt"}, {"restore", "--source=HEAD~2", "--", "a.txt"}, {"switch", "-q", "--detach", "HEAD~2"}} {
		if _, err := r.Run(t.Context(), clone, args, allowed); !errors.Is(err, tools.CodeGitFailed) {
			t.Errorf("git %v went on with what is not there: %v", args, err)
		}
	}
	if text := plain(t, clone, "show", "HEAD~2:a.txt"); text != "one\n" { // git itself fetches it
		t.Errorf("plain git says %q", text)
	}
}
