package search

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

func TestMain(m *testing.M) {
	child.Main()
	os.Exit(m.Run())
}

// tree writes files, "name/" being an empty directory and "name -> target" a
// symbolic link, and returns the directory.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		link, target, isLink := strings.Cut(name, " -> ")
		full := filepath.Join(root, link)
		must(t, os.MkdirAll(filepath.Dir(full), 0o755))
		switch {
		case isLink:
			must(t, os.Symlink(target, full))
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(full, 0o755))
		default:
			must(t, os.WriteFile(full, []byte(text), 0o644))
		}
	}
	return root
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open makes a searcher for a directory that knows no git.
func open(t testing.TB, root string, opts *Options) *Searcher {
	t.Helper()
	w, err := workspace.Open(root, &workspace.Options{StateDir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { must(t, w.Close()) })
	s, err := New(w, opts)
	must(t, err)
	return s
}

// openGit makes a searcher that asks git.
func openGit(t testing.TB, root string, opts *Options) *Searcher {
	t.Helper()
	if opts == nil {
		opts = &Options{}
	}
	opts.Git = runner(t)
	return open(t, root, opts)
}

func runner(t testing.TB) *git.Runner { return observed(t, nil) }

// observed makes a runner that tells about each process.
func observed(t testing.TB, observe func([]string, child.Exit)) *git.Runner {
	t.Helper()
	path, err := git.Find(os.Getenv("PATH"))
	must(t, err)
	owner := child.NewOwner(nil)
	t.Cleanup(func() { must(t, owner.Close()) })
	return git.New(owner, &git.Options{Path: path, Env: child.Environment(os.Environ(), nil), Observe: observe})
}

// gitIn runs plain git for setting a test up.
func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	command := exec.Command("git", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func paths(entries []Entry) []string {
	list := []string{}
	for _, e := range entries {
		list = append(list, e.Path)
	}
	return list
}
