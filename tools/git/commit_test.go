package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// messUp makes random changes of every kind, in the index and in the work tree.
func messUp(t testing.TB, root string, random *rand.Rand) {
	t.Helper()
	names := strings.Split("a b c d/a d/b e/f/g -x \"q\" sp\u00e4ce\u2003x \xff\xfe n\newline t\tab", " ")
	for _, name := range names {
		for _, where := range []string{"index", "tree"} {
			full := filepath.Join(root, name)
			switch random.IntN(6) {
			case 0:
				write(t, root, name, fmt.Sprintf("%d\n", random.IntN(3)))
			case 1:
				_ = os.Remove(full)
			case 2:
				if info, err := os.Lstat(full); err == nil && info.Mode().IsRegular() {
					must(t, os.Chmod(full, 0o644|os.FileMode(random.IntN(2)*0o111)))
				}
			case 3:
				_ = os.Remove(full)
				must(t, os.MkdirAll(filepath.Dir(full), 0o755))
				must(t, os.Symlink("target", full))
			}
			if _, err := os.Lstat(full); where == "index" && err == nil {
				plain(t, root, "add", "-A", "--", name)
			}
		}
	}
}

// copyTree copies a directory with names of any bytes, which os.CopyFS does not take.
func copyTree(t testing.TB, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
}

// TestCommitLikeGit: for random states, tree, index and what is left are as after
// git add and git commit --only of the same paths.
func TestCommitLikeGit(t *testing.T) {
	made := 0
	seeds, least := uint64(10), 5
	if os.Getenv("PRISM_SOAK") == "1" {
		seeds, least = 100, 60
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 1))
		root := repository(t)
		messUp(t, root, random)
		plain(t, root, "add", "-A")
		plain(t, root, "commit", "-q", "--allow-empty", "-m", "base")
		messUp(t, root, random)
		dirt := strings.Split(strings.TrimSuffix(plain(t, root, "status", "--porcelain", "-z", "-uall", "--no-renames"), "\x00"), "\x00")
		if dirt[0] == "" {
			continue
		}
		var paths []string
		for _, entry := range dirt {
			if random.IntN(2) == 0 {
				paths = append(paths, entry[3:])
			}
		}
		if len(paths) == 0 {
			paths = []string{dirt[0][3:]}
		}
		if random.IntN(4) == 0 && strings.Contains(strings.Join(paths, "\x00"), "d/") {
			paths = append(paths, "d")
		}
		twin := filepath.Join(t.TempDir(), "twin")
		copyTree(t, root, twin)
		plain(t, twin, "update-index", "-q", "--really-refresh", "--unmerged")
		plain(t, twin, append([]string{"--literal-pathspecs", "add", "-A", "--"}, paths...)...)
		said, theirs := plainCommand(twin, append([]string{"--literal-pathspecs", "commit", "-q", "--no-verify", "--only", "-m", "message", "--"}, paths...)...).CombinedOutput()
		ours, err := opened(t, root).Commit(t.Context(), &CommitOptions{Message: "message", Paths: paths, Checkpoint: true})
		if theirs != nil && bytes.Contains(said, []byte("did not match any file")) {
			continue // git commit does not take a file that git rm has removed; we do
		}
		if (err == nil) != (theirs == nil) {
			t.Errorf("seed %d: %q: git: %v\n%s; we: %v", seed, paths, theirs, said, err)
			continue
		}
		if err != nil {
			if !errors.Is(err, tools.CodeNoChange) {
				t.Errorf("seed %d: %v", seed, err)
			}
			continue
		}
		made++
		for _, args := range [][]string{{"rev-parse", "HEAD^{tree}"}, {"ls-files", "-s", "-z"}, {"status", "--porcelain=v2", "-z", "-uall"}} {
			if got, want := plain(t, root, args...), plain(t, twin, args...); got != want {
				t.Errorf("seed %d, paths %q, %v:\n%q\nwant\n%q", seed, paths, args, got, want)
			}
		}
		if got := strings.TrimSpace(plain(t, root, "rev-parse", ours.ID+"^{tree}")); got != ours.Tree || ours.Ref != "refs/heads/main" {
			t.Errorf("seed %d: tree %s, want %s", seed, ours.Tree, got)
		}
	}
	if made < least {
		t.Errorf("only %d commits were made", made)
	}
	t.Logf("figure: commits of random paths in random states = %d, each with the tree, index and status that git's own has", made)
}

func TestCommitRefuses(t *testing.T) {
	root := repository(t)
	write(t, root, ".gitignore", "*.ignored\n")
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "ignore")
	write(t, root, "a.txt", "two\n")
	write(t, root, "new", "new\n")
	write(t, root, "x.ignored", "ignored\n")
	g := opened(t, root)
	before := state(t, root)
	for name, c := range map[string]struct {
		opts CommitOptions
		code tools.Code
	}{
		"other changes":  {CommitOptions{Message: "m", Paths: []string{"a.txt"}}, tools.CodeGitDirty},
		"no paths":       {CommitOptions{Message: "m"}, tools.CodeToolInput},
		"no message":     {CommitOptions{Message: " \n", Paths: []string{"."}}, tools.CodeToolInput},
		"a long message": {CommitOptions{Message: strings.Repeat("x", 256<<10+1), Paths: []string{"."}}, tools.CodeToolInput},
		"no UTF-8":       {CommitOptions{Message: "\xff", Paths: []string{"."}}, tools.CodeToolInput},
		"outside":        {CommitOptions{Message: "m", Paths: []string{"../x"}}, tools.CodePathEscape},
		"unknown":        {CommitOptions{Message: "m", Paths: []string{"a.txt", "new", "missing"}}, tools.CodeNotFound},
		"ignored":        {CommitOptions{Message: "m", Paths: []string{"a.txt", "new", "x.ignored"}}, tools.CodeNotFound},
		"magic":          {CommitOptions{Message: "m", Paths: []string{":/"}}, tools.CodeNotFound},
		"unchanged":      {CommitOptions{Message: "m", Paths: []string{".gitignore"}, Checkpoint: true}, tools.CodeNoChange},
	} {
		if _, err := g.Commit(t.Context(), &c.opts); !errors.Is(err, c.code) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
		if after := state(t, root); after != before {
			t.Fatalf("%s: %s has become %s", name, before, after)
		}
	}
	refused := errors.New("not now")
	ctx := tools.WithPlanned(t.Context(), func(context.Context, []tools.Witness) error { return refused })
	if _, err := g.Commit(ctx, &CommitOptions{Message: "m", Paths: []string{"a.txt"}, Checkpoint: true}); !errors.Is(err, refused) || state(t, root) != before {
		t.Errorf("refused when planned: %v", err)
	}
	if refs := plain(t, root, "for-each-ref", "refs/prism"); refs != "" {
		t.Errorf("checkpoints of refused commits: %s", refs)
	}
	// Everything named, nothing refused; the index.lock and scratch files are gone.
	c, err := g.Commit(t.Context(), &CommitOptions{Message: "all", Paths: []string{"a.txt", "new"}})
	must(t, err)
	if !slices.Equal(c.Files, []string{"a.txt", "new"}) || plain(t, root, "status", "--porcelain") != "" {
		t.Errorf("committed %q, left %q", c.Files, plain(t, root, "status", "--porcelain"))
	}
	left, _ := filepath.Glob(filepath.Join(root, ".git", "*lock*"))
	scratch, _ := filepath.Glob(filepath.Join(root, ".git", scratchPrefix+"*"))
	if len(left)+len(scratch) > 0 {
		t.Errorf("left behind: %v %v", left, scratch)
	}
	if log := plain(t, root, "reflog", "-1", "--format=%gs %an <%ae>"); log != "commit: all A Person <person@example.com>\n" {
		t.Errorf("the log of refs says %q", log)
	}
}

// TestCommitElsewhere: the first commit, a detached HEAD, a directory of a work tree,
// a linked work tree, a merge that is not finished, files that need a filter.
func TestCommitElsewhere(t *testing.T) {
	ctx := t.Context()
	unborn := t.TempDir()
	plain(t, unborn, "init", "-q", "-b", "main")
	write(t, unborn, "f", "x\n")
	c, err := opened(t, unborn).Commit(ctx, &CommitOptions{Message: "first", Paths: []string{"f"}})
	must(t, err)
	if got := plain(t, unborn, "log", "--format=%H %s"); got != c.ID+" first\n" {
		t.Errorf("the first commit: %q", got)
	}
	plain(t, unborn, "checkout", "-q", "--detach")
	write(t, unborn, "f", "y\n")
	c, err = opened(t, unborn).Commit(ctx, &CommitOptions{Message: "second", Paths: []string{"."}})
	must(t, err)
	if c.Ref != "HEAD" || strings.TrimSpace(plain(t, unborn, "rev-parse", "HEAD")) != c.ID || strings.TrimSpace(plain(t, unborn, "rev-parse", "main")) == c.ID {
		t.Errorf("detached: %+v", c)
	}

	root := repository(t)
	linked := filepath.Join(t.TempDir(), "linked")
	plain(t, root, "worktree", "add", "-q", "-b", "linked", linked)
	write(t, linked, "sub/f", "x\n")
	write(t, linked, "outside", "x\n")
	sub := opened(t, filepath.Join(linked, "sub"))
	if _, err := sub.Commit(ctx, &CommitOptions{Message: "m", Paths: []string{"f"}}); !errors.Is(err, tools.CodeGitDirty) || strings.Contains(err.Error(), "at outside") {
		t.Errorf("with a change outside of the directory: %v", err)
	}
	c, err = sub.Commit(ctx, &CommitOptions{Message: "m", Paths: []string{"."}, Checkpoint: true})
	must(t, err)
	if !slices.Equal(c.Files, []string{"f"}) || plain(t, linked, "status", "--porcelain") != "?? outside\n" || c.Ref != "refs/heads/linked" {
		t.Errorf("below a directory: %+v, left %q", c, plain(t, linked, "status", "--porcelain"))
	}

	write(t, root, ".git/MERGE_HEAD", c.ID+"\n")
	write(t, root, "a.txt", "two\n")
	if _, err := opened(t, root).Commit(ctx, &CommitOptions{Message: "m", Paths: []string{"a.txt"}}); !errors.Is(err, tools.CodeGitConflict) {
		t.Errorf("in a merge: %v", err)
	}
	must(t, os.Remove(filepath.Join(root, ".git/MERGE_HEAD")))
	write(t, root, ".git/info/attributes", "*.txt filter=lfs\n")
	before := state(t, root)
	if _, err := opened(t, root).Commit(ctx, &CommitOptions{Message: "m", Paths: []string{"a.txt"}}); !errors.Is(err, tools.CodeGitLFS) || state(t, root) != before {
		t.Errorf("a file that needs a filter: %v", err)
	}
	g, err := newRunner(t, &Options{Identity: nobody, Filters: []Filter{{Name: "lfs", Clean: "tr a-z A-Z", Smudge: "tr A-Z a-z"}}}).Repository(ctx, root)
	must(t, err)
	must(t, errorOf(g.Commit(ctx, &CommitOptions{Message: "m", Paths: []string{"a.txt"}})))
	if got := plain(t, root, "show", "HEAD:a.txt"); got != "TWO\n" {
		t.Errorf("through the filter: %q", got)
	}
}

func errorOf(_ *Committed, err error) error { return err }

// TestIndexLock: another program's lock is waited for and respected; one that we left
// and nobody holds is not in the way.
func TestIndexLock(t *testing.T) {
	root := repository(t)
	lock := filepath.Join(root, ".git", "index.lock")
	g, ctx := opened(t, root), t.Context()
	write(t, root, "a.txt", "two\n")
	must(t, os.WriteFile(lock, nil, 0o644))
	go func() {
		time.Sleep(300 * time.Millisecond)
		_ = os.Remove(lock)
	}()
	must(t, errorOf(g.Commit(ctx, &CommitOptions{Message: "waited", Paths: []string{"a.txt"}})))

	write(t, root, "a.txt", "three\n")
	must(t, os.WriteFile(lock, []byte("DIRC"), 0o644))
	before := state(t, root)
	begin := time.Now()
	_, err := g.Commit(ctx, &CommitOptions{Message: "m", Paths: []string{"a.txt"}})
	if !errors.Is(err, tools.CodeGitFailed) || !strings.Contains(err.Error(), "index.lock") || time.Since(begin) < lockWait || state(t, root) != before {
		t.Errorf("behind git's lock, after %v: %v", time.Since(begin), err)
	}
	if text, err := os.ReadFile(lock); err != nil || !bytes.Equal(text, []byte("DIRC")) {
		t.Errorf("the lock of another has become %q, %v", text, err)
	}
	must(t, os.WriteFile(lock, []byte(lockMark+scratchPrefix+"gone\n"), 0o644))
	must(t, errorOf(g.Commit(ctx, &CommitOptions{Message: "m", Paths: []string{"a.txt"}})))
}
