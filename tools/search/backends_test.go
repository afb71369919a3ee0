package search

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/child"
)

// TestBackendsAgree: without ignored files it does not matter whether git is
// asked, for tracked, untracked, hidden, deleted, linked and empty things.
func TestBackendsAgree(t *testing.T) {
	files := map[string]string{
		"a/one.go": "needle\n", "a-b/two.go": "needle\n", "a.txt": "needle\n", "a/sub/three.go": "needle\n",
		"untracked.txt": "needle\n", "new/x/y.txt": "needle\n", "new/empty/": "", "void/in/void/": "",
		".hidden/h.txt": "needle\n", "link -> a": "", "gone.txt": "needle\n", "node_modules/m.js": "needle\n",
		"-dash.txt": "needle\n", "new\nline.txt": "needle\n", "caf\xe9.txt": "needle\n", "sp ace/é.txt": "needle\n", ".env": "needle\n",
		"replaced/inner.txt": "needle\n",
	}
	root := tree(t, files)
	must(t, os.RemoveAll(filepath.Join(root, "replaced")))
	must(t, os.WriteFile(filepath.Join(root, "replaced"), []byte("x"), 0o644))
	gitIn(t, root, "init", "-q")
	gitIn(t, root, "add", "a", "a-b", "a.txt", "gone.txt", "link", "replaced")
	must(t, os.Remove(filepath.Join(root, "gone.txt")))
	must(t, os.Remove(filepath.Join(root, "replaced")))
	must(t, os.MkdirAll(filepath.Join(root, "replaced"), 0o755))
	must(t, os.WriteFile(filepath.Join(root, "replaced", "inner.txt"), []byte("needle\n"), 0o644))
	native, aware := open(t, root, nil), openGit(t, root, nil)
	for _, path := range []string{"", "a", "new", "replaced", "void", "a.txt"} {
		for _, all := range []bool{false, true} {
			same(t, "list "+path, native, aware, func(s *Searcher) (any, error) {
				return s.List(t.Context(), ListQuery{Path: path, IncludeHidden: all})
			})
			same(t, "search "+path, native, aware, func(s *Searcher) (any, error) {
				return s.Search(t.Context(), Query{Query: "needle", Path: path, IncludeHidden: all})
			})
			same(t, "glob "+path, native, aware, func(s *Searcher) (any, error) {
				return s.Glob(t.Context(), GlobQuery{Pattern: "**", Path: path, IncludeHidden: all})
			})
		}
	}
}

func same(t *testing.T, what string, native, aware *Searcher, call func(*Searcher) (any, error)) {
	t.Helper()
	one, err := call(native)
	must(t, err)
	two, err := call(aware)
	must(t, err)
	a, _ := json.MarshalIndent(one, "", " ")
	b, _ := json.MarshalIndent(two, "", " ")
	if string(a) != string(b) {
		t.Errorf("%s: native\n%s\ngit\n%s", what, a, b)
	}
}

// TestIgnoredAsGitSays: on random trees with random ignore files, the visible
// files are exactly those that git lists itself.
func TestIgnoredAsGitSays(t *testing.T) {
	shared := runner(t)
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7))
			root := randomRepository(t, random)
			out := gitIn(t, root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
			var want []string
			for name := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
				if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
					want = append(want, name)
				}
			}
			slices.Sort(want)
			s := open(t, root, &Options{Git: shared, Exclude: []string{}})
			for range 2 { // the second time with the remembered index
				result, err := s.Glob(t.Context(), GlobQuery{Pattern: "**", IncludeHidden: true})
				must(t, err)
				got := slices.Sorted(slices.Values(result.Paths))
				if !slices.Equal(got, slices.Compact(want)) {
					t.Fatalf("got  %q\nwant %q", got, want)
				}
			}
		})
	}
}

func randomRepository(t *testing.T, random *rand.Rand) string {
	root := t.TempDir()
	gitIn(t, root, "init", "-q")
	names := []string{"a", "b", "a.b", "build", "x.log", "x.go", "A"}
	name := func() string { return names[random.IntN(len(names))] }
	write := func(times int) {
		for range times {
			dir := root
			for range random.IntN(4) {
				dir = filepath.Join(dir, name()+"d")
			}
			must(t, os.MkdirAll(dir, 0o755))
			must(t, os.WriteFile(filepath.Join(dir, name()), []byte("x\n"), 0o644))
			if random.IntN(4) == 0 {
				rules := []string{"*.log", "build", "/a", "!x.log", "ad/", "bd/*\n!bd/x.go", "**/b"}
				must(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(rules[random.IntN(len(rules))]+"\n"), 0o644))
			}
		}
	}
	write(20)
	gitIn(t, root, "add", "-A")
	write(20)
	return root
}

// TestIgnoredFiles: they are left out, counted, and said to match.
func TestIgnoredFiles(t *testing.T) {
	root := tree(t, map[string]string{
		".gitignore": "*.log\n/build/\n", "a.go": "alpha\n", "x.log": "omega\nomega\n", "build/out.txt": "omega\n", "keep.log": "alpha\n",
	})
	gitIn(t, root, "init", "-q")
	gitIn(t, root, "add", "-f", "a.go", "keep.log")
	s := openGit(t, root, nil)
	result, err := s.Search(t.Context(), Query{Query: "omega"})
	must(t, err)
	if result.MatchCount != 0 || result.IgnoredMatches != 3 || result.Skipped.Ignored != 2 {
		t.Errorf("%d matches, %d ignored matches, skipped %+v; want 0, 3, 2 ignored", result.MatchCount, result.IgnoredMatches, result.Skipped)
	}
	result, err = s.Search(t.Context(), Query{Query: "omega", IncludeIgnored: true})
	must(t, err)
	if result.MatchCount != 3 || result.IgnoredMatches != 0 {
		t.Errorf("with ignored files: %d matches, %d ignored", result.MatchCount, result.IgnoredMatches)
	}
	result, err = s.Search(t.Context(), Query{Query: "alpha"})
	must(t, err)
	if result.Text() != "a.go:1:1:alpha\nkeep.log:1:1:alpha" { // tracked although ignored
		t.Errorf("text %q", result.Text())
	}
	for _, path := range []string{"build", "build/out.txt", "x.log"} { // named, so seen
		if result, err = s.Search(t.Context(), Query{Query: "omega", Path: path}); err != nil || result.MatchCount == 0 {
			t.Errorf("path %s: %d matches, %v", path, result.MatchCount, err)
		}
	}
}

// TestNestedRepositories: their content is shown, whether git knows them or not.
func TestNestedRepositories(t *testing.T) {
	root := tree(t, map[string]string{
		"top.txt": "x\n", "module/m.txt": "x\n", "clone/deep/c.txt": "x\n", "clone/deep/.git/": "", "loose/repo/r.txt": "x\n",
	})
	for _, dir := range []string{"module", "clone/deep", "loose/repo", "."} {
		full := filepath.Join(root, dir)
		must(t, os.RemoveAll(filepath.Join(full, ".git")))
		gitIn(t, full, "init", "-q")
	}
	gitIn(t, filepath.Join(root, "module"), "add", "m.txt")
	gitIn(t, filepath.Join(root, "module"), "commit", "-q", "-m", "m")
	gitIn(t, root, "add", "top.txt", "module") // a gitlink, as a submodule is
	native, aware := open(t, root, nil), openGit(t, root, nil)
	for _, path := range []string{"", "module", "clone"} {
		same(t, "list "+path, native, aware, func(s *Searcher) (any, error) { return s.List(t.Context(), ListQuery{Path: path}) })
	}
	result, err := aware.List(t.Context(), ListQuery{})
	must(t, err)
	want := []string{"clone", "clone/deep", "clone/deep/c.txt", "loose", "loose/repo", "loose/repo/r.txt", "module", "module/m.txt", "top.txt"}
	if got := paths(result.Entries); !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
}

// TestIndexChanges: what was remembered of an index does not outlive it.
func TestIndexChanges(t *testing.T) {
	root := tree(t, map[string]string{".gitignore": "*.log\n", "a.log": "x\n", "b.log": "x\n"})
	gitIn(t, root, "init", "-q")
	s := openGit(t, root, nil)
	for _, step := range []struct {
		args []string
		want []string
	}{
		{[]string{"add", ".gitignore"}, []string{}},
		{[]string{"add", "-f", "a.log"}, []string{"a.log"}},
		{[]string{"add", "-f", "b.log"}, []string{"a.log", "b.log"}},
		{[]string{"rm", "-q", "--cached", "a.log"}, []string{"b.log"}},
	} {
		gitIn(t, root, step.args...)
		result, err := s.Glob(t.Context(), GlobQuery{Pattern: "**"})
		must(t, err)
		if !slices.Equal(result.Paths, step.want) {
			t.Errorf("after %v: %q, want %q", step.args, result.Paths, step.want)
		}
	}
}

// TestProcessesPerCall: at most two, and none where all names are tracked and
// known already.
func TestProcessesPerCall(t *testing.T) {
	root := tree(t, map[string]string{"a.go": "x\n", "b/c.go": "x\n"})
	gitIn(t, root, "init", "-q")
	gitIn(t, root, "add", "-A")
	// As old as it must be to be remembered.
	before := time.Now().Add(-time.Second)
	must(t, os.Chtimes(filepath.Join(root, ".git/index"), before, before))
	var started []string
	s := open(t, root, &Options{Git: observed(t, func(args []string, _ child.Exit) { started = append(started, args[0]) })})
	count := func(name string, most int) {
		t.Helper()
		started = nil
		_, err := s.List(t.Context(), ListQuery{})
		must(t, err)
		listings := len(slices.DeleteFunc(started, func(name string) bool { return name != "ls-files" }))
		if listings > most {
			t.Errorf("%s: %d listings by git, want at most %d", name, listings, most)
		}
	}
	count("first", 1)
	count("known", 0)
	must(t, os.WriteFile(filepath.Join(root, "new.go"), nil, 0o644))
	count("untracked", 1)
	gitIn(t, root, "add", "b", "new.go")
	must(t, os.WriteFile(filepath.Join(root, "newer.go"), nil, 0o644))
	count("both", 2)
}

// TestGitFailsClosed: once git has accepted a work tree, its failure is the
// call's failure.
func TestGitFailsClosed(t *testing.T) {
	root := tree(t, map[string]string{".gitignore": "secret.txt\n", "secret.txt": "x\n"})
	gitIn(t, root, "init", "-q")
	gitIn(t, root, "add", ".gitignore")
	s := openGit(t, root, nil)
	_, err := s.List(t.Context(), ListQuery{})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(root, ".git", "index"), []byte("not an index"), 0o644))
	if result, err := s.List(t.Context(), ListQuery{}); err == nil {
		t.Fatalf("listed %v with a damaged index", result.Entries)
	}
}
