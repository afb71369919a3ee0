package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// rounds is how often each process changes something.
const rounds = 4

// workers are what processes do at the same time in one repository. Each prints a line
// for what it was told has happened, and nothing for what was refused.
func workers() map[string]func(context.Context, *Repository) error {
	refused := func(err error) bool {
		return errors.Is(err, tools.CodeGitRef) || errors.Is(err, tools.CodeGitDirty) || errors.Is(err, tools.CodeFileChanged) || errors.Is(err, tools.CodeNoChange)
	}
	all := map[string]func(context.Context, *Repository) error{
		"switcher": func(ctx context.Context, g *Repository) error {
			for i := range 2 * rounds {
				name := []string{"other", "main"}[i%2]
				if _, err := g.Switch(ctx, name, &SwitchOptions{Checkpoint: true}); err == nil {
					fmt.Println("switch", name)
				} else if !refused(err) {
					return err
				}
			}
			return nil
		},
		"patcher": func(ctx context.Context, g *Repository) error {
			ws, err := workspace.Open(g.Top(), &workspace.Options{StateDir: os.Getenv(stateVariable)})
			if err != nil {
				return err
			}
			defer ws.Close()
			for i := range rounds {
				path := fmt.Sprintf("patched/%d", i)
				opts := &PatchOptions{Checkpoint: true, Patch: []byte("diff --git a/" + path + " b/" + path + "\nnew file mode 100644\n--- /dev/null\n+++ b/" + path + "\n@@ -0,0 +1 @@\n+" + path + "\n")}
				if _, _, err := g.ApplyPatch(ctx, ws, []string{path}, opts); err == nil {
					fmt.Println("file", path)
				} else if !refused(err) {
					return err
				}
			}
			return nil
		},
	}
	for _, name := range []string{"one", "two"} {
		all[name] = func(ctx context.Context, g *Repository) error {
			for i := range rounds {
				path := fmt.Sprintf("%s/%d", name, i)
				full := filepath.Join(g.Top(), path)
				if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(path+"\n"), 0o644)); err != nil {
					return err
				}
				c, err := g.Commit(ctx, &CommitOptions{Message: path, Paths: []string{path}, Checkpoint: true})
				if err == nil {
					fmt.Println("commit", c.ID, c.Ref, path)
				} else if !refused(err) {
					return err
				}
			}
			return nil
		}
	}
	return all
}

// together lets processes work in one repository, and git beside them, and returns what
// each of them said.
func together(t *testing.T, root string, names ...string) []string {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	said := make([]bytes.Buffer, len(names))
	var running sync.WaitGroup
	for i, name := range names {
		command := exec.CommandContext(t.Context(), self)
		command.Env = append(os.Environ(), roleVariable+"="+name, rootVariable+"="+root, stepVariable+"=-1", stateVariable+"="+t.TempDir())
		command.Stdout, command.Stderr = &said[i], &said[i]
		running.Go(func() {
			if err := command.Run(); err != nil {
				t.Errorf("%s: %v\n%s", name, err, said[i].String())
			}
		})
	}
	running.Wait()
	var lines []string
	for i := range said {
		lines = append(lines, strings.Split(strings.TrimSuffix(said[i].String(), "\n"), "\n")...)
	}
	return lines
}

// person uses git in the repository until it is stopped, and returns the commits that
// git said were made. That git is refused, since another holds the index, is git's way.
func person(t *testing.T, root string) (stop func() []string) {
	done, made := make(chan struct{}), make(chan []string)
	go func() {
		var commits []string
		for i := 0; ; i++ {
			select {
			case <-done:
				made <- commits
				return
			case <-time.After(20 * time.Millisecond):
			}
			name := fmt.Sprintf("person/%d", i)
			write(t, root, name, name+"\n")
			if plainCommand(root, "add", name).Run() != nil {
				continue
			}
			if out, err := plainCommand(root, "commit", "-m", name, "--", name).Output(); err == nil {
				id, _, _ := strings.Cut(strings.TrimPrefix(string(out), "["), "]")
				commits = append(commits, id[strings.LastIndexByte(id, ' ')+1:])
			}
		}
	}()
	return func() []string {
		close(done)
		return <-made
	}
}

// TestCommitTogether: processes that commit at once, and a person's git beside them,
// each get all of their commits, one after the other, and nothing is left half done.
func TestCommitTogether(t *testing.T) {
	root := repository(t)
	stop := person(t, root)
	lines := together(t, root, "one", "two")
	theirs := stop()
	if len(lines) != 2*rounds {
		t.Errorf("made %q", lines)
	}
	checkCommits(t, root, lines)
	for _, id := range theirs {
		plain(t, root, "merge-base", "--is-ancestor", id, "main")
	}
	if got := plain(t, root, "diff", "--cached", "--name-only"); strings.Contains(got, "one/") || strings.Contains(got, "two/") || strings.Contains(got, "a.txt") {
		t.Errorf("the index is not as the commits: %q", got)
	}
	whole(t, root)
	t.Logf("figure: commits of 2 processes at once, beside a person's git = %d of %d, and %d of the person's, all in one line", len(lines), 2*rounds, len(theirs))
}

// TestAllTogether: commits, switches and patches of several processes at once lose
// nothing that one of them was told has happened.
func TestAllTogether(t *testing.T) {
	root := branched(t)
	lines := together(t, root, "one", "two", "switcher", "patcher")
	checkCommits(t, root, lines)
	for _, line := range lines {
		if path, ok := strings.CutPrefix(line, "file "); ok {
			if text, err := os.ReadFile(filepath.Join(root, path)); err != nil || string(text) != path+"\n" {
				t.Errorf("%s is %q, %v", path, text, err)
			}
		}
	}
	branch := strings.TrimSpace(plain(t, root, "branch", "--show-current"))
	if got := plain(t, root, "diff", "HEAD", "--name-only", "--", "a.txt", "gone", "made", "same", "x.ignored"); got != "" {
		t.Errorf("on %s, there is a mixture: %q", branch, got)
	}
	whole(t, root)
	for _, kind := range []string{"commit", "switch", "file"} {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, kind+" ") }) {
			t.Errorf("no %s has happened: %q", kind, lines)
		}
	}
	t.Logf("figure: changes of 4 processes at once that happened = %d, none lost", len(lines))
}

// checkCommits looks for what was said to be committed.
func checkCommits(t *testing.T, root string, lines []string) {
	t.Helper()
	for _, line := range lines {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "commit" {
			continue
		}
		plain(t, root, "merge-base", "--is-ancestor", words[1], words[2])
		if got := plain(t, root, "show", "--format=%s", "--name-status", words[1]); got != words[3]+"\n\nA\t"+words[3]+"\n" {
			t.Errorf("the commit of %s is %q", words[3], got)
		}
	}
}

// whole looks for what is broken or left behind.
func whole(t *testing.T, root string) {
	t.Helper()
	plain(t, root, "fsck", "--strict", "--no-dangling")
	locks, _ := filepath.Glob(filepath.Join(root, ".git", "*.lock"))
	scratch, _ := filepath.Glob(filepath.Join(root, ".git", scratchPrefix+"*"))
	if left := slices.Concat(locks, scratch); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// cancelling is a git that says when it has moved a ref, and then takes its time.
func cancelling(t *testing.T, word string) (path, moved string) {
	t.Helper()
	real, err := Find(os.Getenv("PATH"))
	must(t, err)
	dir := t.TempDir()
	path, moved = filepath.Join(dir, "git"), filepath.Join(dir, "moved")
	script := "#!/bin/sh\n'" + real + "' \"$@\" || exit\ncase \" $* \" in *' " + word + " '*) : >'" + moved + "'; sleep 2 ;; esac\n"
	must(t, os.WriteFile(path, []byte(script), 0o755))
	return path, moved
}

// TestCancelledLate: a call that is given up when git has done its work already, and has
// only not said so, is not reported as if nothing had happened.
func TestCancelledLate(t *testing.T) {
	for word, do := range map[string]func(context.Context, *Repository) error{
		"update-ref": func(ctx context.Context, g *Repository) error {
			return errorOf(g.Commit(ctx, &CommitOptions{Message: "m", Paths: []string{"mine"}}))
		},
		"switch": func(ctx context.Context, g *Repository) error {
			return errorOf3(g.Switch(ctx, "other", &SwitchOptions{Checkpoint: true}))
		},
	} {
		root := branched(t)
		write(t, root, "mine", "mine\n")
		head := plain(t, root, "rev-parse", "HEAD")
		path, moved := cancelling(t, word)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
				if _, err := os.Lstat(moved); err == nil {
					break
				}
			}
			cancel()
		}()
		g, err := newRunner(t, &Options{Identity: nobody, Path: path}).Repository(ctx, root)
		must(t, err)
		err = do(ctx, g)
		happened := plain(t, root, "rev-parse", "HEAD") != head
		if happened != (err == nil) || !happened {
			t.Errorf("%s: it has happened: %v, and the error is %v", word, happened, err)
		}
		if got := plain(t, root, "status", "--porcelain"); got != map[string]string{"update-ref": "", "switch": "?? mine\n"}[word] {
			t.Errorf("%s: git says %q", word, got)
		}
		whole(t, root)
	}
}
