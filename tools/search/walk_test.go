package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// TestLinksAreNotFollowed: loops, links out, and links to files and
// directories inside are names and nothing more.
func TestLinksAreNotFollowed(t *testing.T) {
	outside := tree(t, map[string]string{"secret.txt": "needle\n"})
	root := tree(t, map[string]string{
		"a/f.txt": "needle\n", "a/loop -> ..": "", "self -> self": "", "out -> " + outside: "", "file -> a/f.txt": "", "dir -> a": "",
		"dangling -> nowhere": "",
	})
	s := open(t, root, nil)
	list, err := s.List(t.Context(), ListQuery{})
	must(t, err)
	want := []string{"a", "a/f.txt", "a/loop", "dangling", "dir", "file", "out", "self"}
	if got := paths(list.Entries); !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
	found, err := s.Search(t.Context(), Query{Query: "needle"})
	must(t, err)
	if found.Text() != "a/f.txt:1:1:needle" {
		t.Errorf("found %q", found.Text())
	}
	glob, err := s.Glob(t.Context(), GlobQuery{Pattern: "**"})
	must(t, err)
	if !slices.Equal(glob.Paths, []string{"a/f.txt"}) {
		t.Errorf("globbed %q", glob.Paths)
	}
	if _, err := s.List(t.Context(), ListQuery{Path: "out"}); !errors.Is(err, tools.CodePathEscape) {
		t.Errorf("a link out as the path: %v", err)
	}
	if list, err = s.List(t.Context(), ListQuery{Path: "dir"}); err != nil || !slices.Contains(paths(list.Entries), "a/f.txt") {
		t.Errorf("a link inside as the path: %v, %v", list, err)
	}
}

// TestSpecialFiles: a FIFO is listed and never opened.
func TestSpecialFiles(t *testing.T) {
	root := tree(t, map[string]string{"f.txt": "needle\n"})
	must(t, syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600))
	s := open(t, root, nil)
	list, err := s.List(t.Context(), ListQuery{})
	must(t, err)
	if got := list.Text(); got != "file\tf.txt\t7\nother\tfifo" && got != "other\tfifo\nfile\tf.txt\t7" {
		t.Errorf("listed %q", got)
	}
	if found, err := s.Search(t.Context(), Query{Query: "needle"}); err != nil || found.MatchCount != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := s.Search(t.Context(), Query{Query: "needle", Path: "fifo"}); !errors.Is(err, tools.CodeNotFile) {
		t.Errorf("a FIFO as the path: %v", err)
	}
}

// TestDeepTrees: the depth cap is honoured, said, and raised to its hard cap.
func TestDeepTrees(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, strings.Repeat("d/", 140))
	must(t, os.MkdirAll(deep, 0o755))
	must(t, os.WriteFile(filepath.Join(deep, "f"), nil, 0o644))
	s := open(t, root, nil)
	for _, depth := range []int64{1, 32, 128} {
		list, err := s.List(t.Context(), ListQuery{MaxDepth: &depth})
		must(t, err)
		if int64(len(list.Entries)) != depth || list.TruncatedBy != "depth" {
			t.Errorf("depth %d: %d entries, truncated by %q", depth, len(list.Entries), list.TruncatedBy)
		}
	}
	below := strings.TrimSuffix(strings.Repeat("d/", 120), "/")
	if list, err := s.List(t.Context(), ListQuery{Path: below}); err != nil || len(list.Entries) != 21 || list.Truncated {
		t.Errorf("from depth 120: %+v, %v", list, err)
	}
}

// TestOddNames: what a name holds does not change what is found.
func TestOddNames(t *testing.T) {
	root := tree(t, map[string]string{
		"-rf": "needle\n", "a\nb": "needle\n", "caf\xe9": "needle\n", "*": "needle\n", strings.Repeat("n", 255): "needle\n", "a:1:b": "needle\n",
	})
	s := open(t, root, nil)
	found, err := s.Search(t.Context(), Query{Query: "needle"})
	must(t, err)
	if found.MatchCount != 6 || strings.Count(found.Text(), "\n") != 5 {
		t.Errorf("%d matches, text\n%s", found.MatchCount, found.Text())
	}
	if !strings.Contains(found.Text(), `"caf\xe9":1:1:needle`) || !strings.Contains(found.Text(), `"a\nb":1:1:needle`) {
		t.Errorf("odd names are not quoted:\n%s", found.Text())
	}
	if glob, err := s.Glob(t.Context(), GlobQuery{Pattern: `\*`}); err != nil || !slices.Equal(glob.Paths, []string{"*"}) {
		t.Errorf("an escaped star: %v, %v", glob, err)
	}
}

// TestUnreadable: what the system refuses is counted, and the rest is found.
// Root is refused nothing, so the test runs again as nobody.
func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		again(t, 65534)
		return
	}
	root := tree(t, map[string]string{"a/f.txt": "needle\n", "locked/f.txt": "needle\n", "z.txt": "needle\n", "shut.txt": "needle\n"})
	must(t, os.Chmod(filepath.Join(root, "locked"), 0))
	must(t, os.Chmod(filepath.Join(root, "shut.txt"), 0))
	defer os.Chmod(filepath.Join(root, "locked"), 0o755)
	s := open(t, root, nil)
	found, err := s.Search(t.Context(), Query{Query: "needle"})
	must(t, err)
	if found.MatchCount != 2 || found.Skipped.Unreadable != 2 {
		t.Errorf("%d matches, %d unreadable, want 2 and 2", found.MatchCount, found.Skipped.Unreadable)
	}
	if _, err := s.List(t.Context(), ListQuery{Path: "locked"}); !errors.Is(err, tools.CodePermission) {
		t.Errorf("an unreadable directory as the path: %v", err)
	}
}

// again runs this test in a process of another user.
func again(t *testing.T, uid uint32) {
	dir, err := os.MkdirTemp("/tmp", "search")
	must(t, err)
	defer os.RemoveAll(dir)
	must(t, os.Chmod(dir, 0o777))
	program := filepath.Join(dir, "test")
	data, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	must(t, os.WriteFile(program, data, 0o755))
	command := exec.Command(program, "-test.run", "^"+t.Name()+"$", "-test.v")
	command.Dir = dir
	command.Env = []string{"TMPDIR=" + dir, "HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("as user %d: %v\n%s", uid, err, out)
	}
}

// wide makes a tree with many files and directories.
func wide(t testing.TB, dirs, files int) string {
	root := t.TempDir()
	for d := range dirs {
		dir := filepath.Join(root, fmt.Sprintf("d%02d/s%d", d%17, d))
		must(t, os.MkdirAll(dir, 0o755))
		for f := range files {
			text := fmt.Sprintf("line one\nneedle %d %d\nlast\n", d, f)
			must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.txt", f)), []byte(text), 0o644))
		}
	}
	return root
}

// TestDeterminism: 20 runs give 20 times the same, in order, also where a cap
// cuts the result off in the middle of parallel work.
func TestDeterminism(t *testing.T) {
	root := wide(t, 60, 12)
	few := int64(100)
	for name, s := range map[string]*Searcher{
		"all":     open(t, root, nil),
		"entries": open(t, root, &Options{Limits: Limits{Entries: 333}}),
		"files":   open(t, root, &Options{Limits: Limits{Files: 222}}),
		"scan":    open(t, root, &Options{Limits: Limits{ScanBytes: 5000}}),
		"threads": open(t, root, &Options{Threads: 1}),
	} {
		t.Run(name, func(t *testing.T) {
			var first string
			for run := range 20 {
				search, err := s.Search(t.Context(), Query{Query: "NEEDLE", MaxMatches: &few})
				must(t, err)
				list, err := s.List(t.Context(), ListQuery{Offset: &few})
				must(t, err)
				sorted := slices.IsSortedFunc(search.Matches, func(a, b Match) int { return slices.Compare(strings.Split(a.Path, "/"), strings.Split(b.Path, "/")) })
				if !sorted {
					t.Fatal("matches are not in order")
				}
				encoded, err := json.Marshal([]any{search, list})
				must(t, err)
				if run == 0 {
					first = string(encoded)
				} else if first != string(encoded) {
					t.Fatalf("run %d differs:\n%s\n%s", run, first, encoded)
				}
			}
		})
	}
}

// TestPages: pages put together are the whole, without a gap or a repetition.
func TestPages(t *testing.T) {
	s := open(t, wide(t, 20, 5), nil)
	whole, err := s.List(t.Context(), ListQuery{})
	must(t, err)
	var parts []Entry
	size := int64(7)
	for offset := new(int64); offset != nil; {
		page, err := s.List(t.Context(), ListQuery{MaxResults: &size, Offset: offset})
		must(t, err)
		parts = append(parts, page.Entries...)
		offset = page.NextOffset
	}
	if !slices.Equal(paths(parts), paths(whole.Entries)) {
		t.Errorf("pages hold %d entries, the whole %d", len(parts), len(whole.Entries))
	}
}

// TestChangingTree: files and directories that come and go while it is walked
// neither fail a call nor leave descriptors open.
func TestChangingTree(t *testing.T) {
	root := wide(t, 30, 5)
	s := open(t, root, nil)
	before := descriptors(t)
	stop := make(chan struct{})
	var changing sync.WaitGroup
	changing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			dir := filepath.Join(root, fmt.Sprintf("d%02d", i%17))
			_ = os.Rename(dir, dir+"x")
			_ = os.WriteFile(filepath.Join(dir+"x", "s1", "f1.txt"), []byte("needle"), 0o644)
			_ = os.Remove(filepath.Join(dir+"x", "s2"))
			_ = os.Symlink("/etc", filepath.Join(root, "swap"))
			_ = os.Rename(dir+"x", dir)
			_ = os.Remove(filepath.Join(root, "swap"))
		}
	})
	for range 50 {
		_, err := s.Search(t.Context(), Query{Query: "needle"})
		must(t, err)
		_, err = s.List(t.Context(), ListQuery{})
		must(t, err)
	}
	close(stop)
	changing.Wait()
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(list)
}

// TestCancel: a call ends within 100 ms of its context, whatever it is in the
// middle of, and leaves no goroutine and no descriptor.
func TestCancel(t *testing.T) {
	root := tree(t, map[string]string{"slow.txt": strings.Repeat("a", 7<<20)})
	s := open(t, root, nil)
	descriptorsBefore, goroutines := descriptors(t), runtime.NumGoroutine()
	for _, query := range []string{`(a{1,30}){1,30}b`, `(a|b|ab)*c`} {
		// The best of ten: a busy machine may keep any one of them waiting.
		best := time.Hour
		for range 10 {
			if best = min(best, cancelled(t, s, query)); best <= 100*time.Millisecond {
				break
			}
		}
		if best > 100*time.Millisecond {
			t.Errorf("%s: stopped %v after the end of its context", query, best)
		}
	}
	if descriptors(t) > descriptorsBefore || runtime.NumGoroutine() > goroutines {
		t.Errorf("left behind: %d descriptors (%d before), %d goroutines (%d before)", descriptors(t), descriptorsBefore, runtime.NumGoroutine(), goroutines)
	}
}

// cancelled ends a search in the middle and returns how long it then took.
func cancelled(t *testing.T, s *Searcher, query string) time.Duration {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var at atomic.Int64
	timer := time.AfterFunc(50*time.Millisecond, func() { at.Store(time.Now().UnixNano()); cancel() })
	defer timer.Stop()
	_, err := s.Search(ctx, Query{Query: query, Mode: ModeRegex})
	if !errors.Is(err, tools.CodeAborted) {
		t.Fatalf("%s: %v", query, err)
	}
	return time.Duration(time.Now().UnixNano() - at.Load())
}

// TestTimeCap: the time cap is a result with what was found.
func TestTimeCap(t *testing.T) {
	root := tree(t, map[string]string{"a.txt": "aab\n", "slow.txt": strings.Repeat("a", 7<<20)})
	s := open(t, root, &Options{Limits: Limits{Time: time.Second}})
	result, err := s.Search(t.Context(), Query{Query: `(a{1,30}){1,30}b`, Mode: ModeRegex})
	must(t, err)
	if result.TruncatedBy != "time" || result.MatchCount != 1 {
		t.Errorf("%d matches, truncated by %q", result.MatchCount, result.TruncatedBy)
	}
}

// TestSecretsAndGitInternals are never shown or searched, hidden names or not.
func TestSecretsAndGitInternals(t *testing.T) {
	root := tree(t, map[string]string{
		".env": "needle\n", ".env.example": "needle\n", "sub/.env.local": "needle\n", ".ssh/id": "needle\n", ".git/config": "needle\n", "a.txt": "needle\n",
	})
	s := open(t, root, nil)
	found, err := s.Search(t.Context(), Query{Query: "needle", IncludeHidden: true, IncludeIgnored: true})
	must(t, err)
	if found.Text() != ".env.example:1:1:needle\na.txt:1:1:needle" || found.Skipped.Secret != 3 {
		t.Errorf("found\n%s\nskipped %+v", found.Text(), found.Skipped)
	}
	glob, err := s.Glob(t.Context(), GlobQuery{Pattern: "**", IncludeHidden: true})
	must(t, err)
	if !slices.Equal(glob.Paths, []string{".env.example", "a.txt"}) || glob.Skipped.Secret != 3 {
		t.Errorf("globbed %q, skipped %+v", glob.Paths, glob.Skipped)
	}
	if list, err := s.List(t.Context(), ListQuery{}); err != nil || !slices.Equal(paths(list.Entries), []string{"a.txt", "sub"}) || list.Skipped.Secret != 3 {
		t.Errorf("listed %+v, %v", list, err)
	}
	for _, path := range []string{".env", "sub/.env.local", ".ssh"} {
		found, err := s.Search(t.Context(), Query{Query: "needle", Path: path})
		must(t, err)
		if found.MatchCount != 0 || found.Skipped.Secret != 1 {
			t.Errorf("%s: %d matches, skipped %+v", path, found.MatchCount, found.Skipped)
		}
	}
	for _, path := range []string{".git", ".git/config"} {
		if _, err := s.List(t.Context(), ListQuery{Path: path}); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestReadOnlyRoot: a root beside the workspace is listed by its absolute path.
func TestReadOnlyRoot(t *testing.T) {
	extra := tree(t, map[string]string{"lib/x.go": "needle\n"})
	w, err := workspace.Open(t.TempDir(), &workspace.Options{StateDir: t.TempDir(), ReadRoots: []string{extra}})
	must(t, err)
	defer w.Close()
	s, err := New(w, nil)
	must(t, err)
	found, err := s.Search(t.Context(), Query{Query: "needle", Path: extra})
	must(t, err)
	if len(found.Matches) != 1 || found.Matches[0].Path != filepath.Join(extra, "lib/x.go") {
		t.Errorf("found %+v", found.Matches)
	}
}

// TestRootIsGone: a root that was removed is an error, and not an empty directory.
func TestRootIsGone(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a removed directory is told from an empty one on Linux only")
	}
	root := tree(t, map[string]string{"f.txt": "needle\n"})
	s := open(t, root, nil)
	must(t, os.RemoveAll(root))
	if list, err := s.List(t.Context(), ListQuery{}); !errors.Is(err, tools.CodeNotFound) {
		t.Errorf("listed %+v, %v", list, err)
	}
	if found, err := s.Search(t.Context(), Query{Query: "needle"}); !errors.Is(err, tools.CodeNotFound) {
		t.Errorf("found %+v, %v", found, err)
	}
	if glob, err := s.Glob(t.Context(), GlobQuery{Pattern: "**"}); !errors.Is(err, tools.CodeNotFound) {
		t.Errorf("globbed %+v, %v", glob, err)
	}
}
